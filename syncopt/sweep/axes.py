"""Shapes to sweep: ranges, lists, and rows of CSV files."""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path

from syncopt.api import InputError, Source, Span

Shape = Mapping[str, int]
"""Values of arguments by name."""

_MOST = 100_000
"""Values of one argument, and shapes."""
_NUMBER = r"\s*([+-]?\d{1,12})\s*"
_PART = re.compile(rf"{_NUMBER}(?::{_NUMBER}(?::{_NUMBER})?)?")
_HELP = "first:last:step (the last one included), values with commas between them, or both"


def values(text: str, what: str) -> tuple[int, ...]:
    """The integers of `128:4224:512`, of `128,640` or of both mixed, each once.

    Parameters
    ----------
    text : str
        Parts with commas between them. A range has a first and a last value, which is included where the step meets
        it, and a step above 0 (1 if left out).
    what : str
        What the text is, for errors.

    Raises
    ------
    InputError
        If a part is neither an integer nor a range that goes up.
    """
    found: dict[int, None] = {}
    for part in text.split(","):
        more = _part(part, f"{what} {text!r}")
        if len(found) + len(more) > _MOST:
            raise InputError(f"{what} {text!r} stands for more than {_MOST:,} values", help=_HELP)
        found.update(dict.fromkeys(more))
    return tuple(found)


def _part(part: str, what: str) -> range:
    match = _PART.fullmatch(part)
    if match is None:
        raise InputError(f"{what}: {part.strip()!r} is neither an integer nor a range", help=_HELP)
    first, last, step = (None if text is None else int(text) for text in match.groups())
    assert first is not None
    if last is None:
        return range(first, first + 1)
    step = 1 if step is None else step
    if step < 1 or last < first:
        raise InputError(f"{what}: {part.strip()} does not go up from first to last", help=_HELP)
    return range(first, last + 1, step)


def shapes(axes: Mapping[str, Sequence[int]], rows: Sequence[Shape] = ()) -> tuple[Shape, ...]:
    """Every combination of the values of some arguments, with each of some rows; the last axis changes fastest.

    Parameters
    ----------
    axes : mapping of name to sequence of int
        Values of one argument each.
    rows : sequence of mapping
        Values of several arguments that belong together, such as those of `shapes_of_file`.

    Raises
    ------
    InputError
        If an argument is given by an axis and by a row, or there are too many shapes.
    """
    number = prod(map(len, axes.values())) * max(1, len(rows))
    if number > _MOST:
        raise InputError(f"{number:,} shapes are more than a sweep takes at a time", help=f"at most {_MOST:,}")
    twice = next((name for row in rows for name in row if name in axes), None)
    if twice is not None:
        raise InputError(f"argument {twice} has values of its own and a column in the file", help="give one of the two")
    names = tuple(axes)
    found: dict[tuple[tuple[str, int], ...], Shape] = {}
    for row in rows or ({},):
        for numbers in product(*axes.values()):
            shape = {**row, **dict(zip(names, numbers, strict=True))}
            found.setdefault(tuple(shape.items()), shape)
    return tuple(found.values())


def shapes_of_file(path: Path) -> tuple[Shape, ...]:
    """The rows of a CSV file: names of arguments in its first line, an integer for each in all others.

    Raises
    ------
    InputError
        With line and column, if it cannot be read or a cell holds something else.
    """
    try:
        source = Source(str(path), path.read_bytes())
        lines = source.data.decode("utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not numbered:
        raise InputError(
            "no shapes in this file", source, help="names of arguments in the first line, then their values"
        )
    header = [cell.strip().removeprefix("%") for cell in numbered[0][1].split(",")]
    if len(header) == 1 and (other := next((mark for mark in ";\t" if mark in header[0]), None)):
        raise _at(source, numbered[0][0], header[0].index(other), f"{other!r} between names", help="put a comma there")
    if "" in header or len(set(header)) < len(header):
        raise _at(source, numbered[0][0], 0, "a column has no name, or that of another one")
    if not numbered[1:]:
        raise _at(source, numbered[0][0], 0, "no shapes below the names of the arguments")
    return tuple(_row(source, number, line, header) for number, line in numbered[1:])


def _row(source: Source, number: int, line: str, header: Sequence[str]) -> Shape:
    cells = line.split(",")
    if len(cells) != len(header):
        raise _at(source, number, 0, f"{len(cells)} values, the first line has {len(header)} names")
    shape: dict[str, int] = {}
    column = 0
    for name, cell in zip(header, cells, strict=True):
        try:
            shape[name] = int(cell)
        except ValueError:
            raise _at(source, number, column, f"{name} = {cell.strip()!r} is not an integer") from None
        column += len(cell) + 1
    return shape


def _at(source: Source, line: int, column: int, message: str, help: str = "") -> InputError:
    before = source.data.splitlines(keepends=True)[: line - 1]
    start = sum(map(len, before)) + column
    return InputError(message, source, Span(start, start + 1), help)
