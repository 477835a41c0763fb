"""A timeline in characters: one row per pipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from syncopt.emit.timeline.slices import Slice, SliceKind
from syncopt.emit.timeline.versions import Shown, Version, show
from syncopt.ir.pipes import Pipe


class Mark(Enum):
    """What a column of a row shows: what the pipe did for most of its cycles."""

    OP = "#"
    WAIT = "."
    BARRIER = "|"
    IDLE = " "


_MARKS: Mapping[SliceKind, Mark] = {
    SliceKind.OP: Mark.OP,
    SliceKind.WAIT: Mark.WAIT,
    SliceKind.BARRIER: Mark.BARRIER,
}
_ORDER = (Mark.OP, Mark.WAIT, Mark.BARRIER, Mark.IDLE)
"""Which mark wins where two have equally many cycles."""


@dataclass(frozen=True)
class Gantt:
    """A version, drawn.

    Parameters
    ----------
    shown : Shown
        What is drawn.
    rows : mapping of Pipe to Mark per column
        The pipes that executed anything, in the order of timelines.
    """

    shown: Shown
    rows: Mapping[Pipe, tuple[Mark, ...]]


def gantt(version: Version, first: int, last: int, columns: int) -> Gantt:
    """Draw a version from cycle `first` to cycle `last` (excluded), in so many columns or one per cycle."""
    columns = max(1, min(columns, last - first))
    lanes: dict[Pipe, list[dict[Mark, int]]] = {}

    def draw(piece: Slice) -> None:
        cells = lanes.setdefault(piece.lane, [{} for _ in range(columns)])
        mark = _MARKS.get(piece.kind)
        if mark is not None:
            _fill(cells, mark, (piece.start - first, piece.end - first), last - first)

    shown = show(version, draw)
    return Gantt(shown, {pipe: _row(lanes[pipe], last - first) for pipe in Pipe if pipe in lanes})


def _fill(cells: Sequence[dict[Mark, int]], mark: Mark, times: tuple[int, int], total: int) -> None:
    """Add the cycles of a slice to the columns it touches; column c begins at cycle c * total // columns."""
    columns = len(cells)
    start, end = max(times[0], 0), min(times[1], total)
    if start >= end:
        return
    for column in range(start * columns // total, (end - 1) * columns // total + 1):
        left, right = _edge(column, total, columns), _edge(column + 1, total, columns)
        cells[column][mark] = cells[column].get(mark, 0) + max(0, min(end, right) - max(start, left))


def _edge(column: int, total: int, columns: int) -> int:
    return -(-column * total // columns)


def _row(cells: Sequence[Mapping[Mark, int]], total: int) -> tuple[Mark, ...]:
    edges = [_edge(column, total, len(cells)) for column in range(len(cells) + 1)]
    return tuple(_mark(cell, right - left) for cell, (left, right) in zip(cells, pairwise(edges), strict=True))


def _mark(cell: Mapping[Mark, int], width: int) -> Mark:
    cycles = {**cell, Mark.IDLE: width - sum(cell.values())}
    return max(_ORDER, key=lambda mark: cycles.get(mark, 0))
