"""Changes of a program that can make it wrong."""

from collections.abc import Callable

from hypothesis import strategies as st

from syncopt.ir.source import InputError
from tests.check.statements import FLAGS, OPS, Program

_Change = Callable[[list[str], int, int], list[str]]
"""Changes the line at a place, by some number of lines where that means anything."""


def _deleted(lines: list[str], at: int, _by: int) -> list[str]:
    return [*lines[:at], *lines[at + 1 :]]


def _doubled(lines: list[str], at: int, by: int) -> list[str]:
    there = max(0, min(len(lines), at + by))
    return [*lines[:there], lines[at], *lines[there:]]


def _moved(lines: list[str], at: int, by: int) -> list[str]:
    rest = _deleted(lines, at, by)
    there = max(0, min(len(rest), at + by))
    return [*rest[:there], lines[at], *rest[there:]]


def _renumbered(lines: list[str], at: int, _by: int) -> list[str]:
    """Another id for all flags of the same name."""
    old = lines[at].split(" ", 1)[1]
    number = old.rsplit(" ", 1)[-1]
    new = f"{old[:-1]}{(int(number) + 7) % 8}" if number.isdigit() else old
    return [line.replace(old, new) if line.startswith(FLAGS) else line for line in lines]


def _merged(lines: list[str], at: int, _by: int) -> list[str]:
    """One id for all flags of a pair."""
    pair = lines[at].split(" ", 1)[1].rsplit(" ", 1)[0]
    names = [line.rsplit(" ", 1)[0] if line.startswith(FLAGS) else "" for line in lines]
    return [f"{name} 0" if name.endswith(f" {pair}") else line for name, line in zip(names, lines, strict=True)]


def _silenced(lines: list[str], at: int, _by: int) -> list[str]:
    """Without all flags of the same name, or all barriers of a pipe."""
    name = lines[at].split(" ", 1)[1]
    return [line for line in lines if not (line.startswith((*FLAGS, "barrier")) and line.endswith(name))]


def _crossed(lines: list[str], at: int, _by: int) -> list[str]:
    """Two lines change places with the two behind them, such as an op and its set with the wait and its op."""
    start = max(0, at - 1)
    first, second = lines[start : start + 2], lines[start + 2 : start + 4]
    if not all(line.startswith((*FLAGS, *OPS, "barrier")) for line in first + second):
        return lines
    return [*lines[:start], *second, *first, *lines[start + 4 :]]


_CHANGES: tuple[_Change, ...] = (_moved, _deleted, _doubled, _renumbered, _merged, _silenced, _crossed)


@st.composite
def changed(draw: st.DrawFn, program: Program) -> Program:
    """A flag, a barrier, sometimes an op is taken away, doubled, moved or renumbered."""
    lines = list(program.lines)
    places = [at for at, line in enumerate(lines) if line.startswith((*FLAGS, "barrier"))]
    places += [at for at, line in enumerate(lines) if line.startswith(OPS)]
    if not places:
        return program
    change, at, by = draw(st.tuples(st.sampled_from(_CHANGES), st.sampled_from(places), st.integers(-4, 4)))
    made = Program(program.pipeline, tuple(change(lines, at, by)))
    try:
        made.kernel()
    except InputError:
        # The line names a slot or an id of a loop that it has left.
        return program
    return made
