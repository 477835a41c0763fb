"""What timelines show: versions of a kernel, and the part of their runs that is shown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from syncopt.emit.timeline.slices import Slice, SliceKind, slices
from syncopt.hwmodel import Machine
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import Source
from syncopt.ir.trace import Instance
from syncopt.sim import Replay


@dataclass(frozen=True, slots=True)
class Cycles:
    """The slices that touch cycles `first` to `last`, both included; `last` is None for the end of the run."""

    first: int = 0
    last: int | None = None

    def shows(self, piece: Slice) -> bool:
        """Whether a slice is in it."""
        return piece.end >= self.first and (self.last is None or piece.start <= self.last)

    def __str__(self) -> str:
        return f"cycles {self.first:,} to {'the end' if self.last is None else f'{self.last:,}'}"


@dataclass(frozen=True)
class Version:
    """One version of a kernel.

    Parameters
    ----------
    name : str
        What it is called: `as written`, `plan`.
    source : Source
        Its file.
    trace : iterable of Instance
        What it executes; it can be iterated again.
    machine : Machine
        What it runs on.
    run : str
        What of the full execution the trace holds, in words.
    cycles : Cycles
        What of the run is shown.
    most : int or None
        Most slices that are shown, in program order; None for all.
    """

    name: str
    source: Source
    trace: Iterable[Instance]
    machine: Machine
    run: str
    cycles: Cycles = field(default_factory=Cycles)
    most: int | None = None


@dataclass(frozen=True)
class Shown:
    """What a timeline shows of a version.

    Parameters
    ----------
    version : Version
        What was asked for.
    replay : Replay
        Of its whole trace.
    slices, instructions, blocked : int
        How many slices are shown, how many instructions were dispatched, and how many of these never execute.
    """

    version: Version
    replay: Replay
    slices: int
    instructions: int
    blocked: int

    @property
    def statement(self) -> str:
        """In one sentence, what is shown and what is left out."""
        version = self.version
        text = f"{version.run}, {_counted(self.replay.cycles, 'cycle')}"
        if self.slices == self.instructions:
            return f"{text}: all {_counted(self.slices, 'instruction')} shown"
        parts = [str(version.cycles)] if version.cycles != Cycles() else []
        parts += ["the first in program order"] if version.most == self.slices else []
        text += f": {self.slices:,} of {_counted(self.instructions, 'instruction')} shown"
        text += f" ({', '.join(parts)})" if parts else ""
        if self.replay.deadlock is not None:
            text += f"; the run hangs: {self.blocked:,} of them never execute"
        return text


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _ignore(_: Slice) -> None:
    pass


def show(version: Version, sink: Callable[[Slice], None], every: Callable[[Slice], None] = _ignore) -> Shown:
    """Replay a version; the slices that are to be shown go to `sink`, all of them to `every`, in program order."""
    shown = executed = 0

    def take(piece: Slice) -> None:
        nonlocal shown, executed
        executed += 1
        every(piece)
        if version.cycles.shows(piece) and (version.most is None or shown < version.most):
            shown += 1
            sink(piece)

    result, blocked = slices(version.trace, version.machine, version.source, take)
    return Shown(version, result, shown, executed + blocked, blocked)


def lanes_of(pieces: Iterable[Slice]) -> tuple[Pipe, ...]:
    """The pipes that hold a slice, in the order of timelines."""
    found = {piece.lane for piece in pieces}
    return tuple(pipe for pipe in Pipe if pipe in found)


class Arrows:
    """Pairs the sets and waits that are shown; holds the sets that have no wait yet, and the other way round."""

    def __init__(self) -> None:
        self._alone: dict[int, Slice] = {}

    def arrow(self, piece: Slice) -> tuple[Slice, Slice] | None:
        """The set and the wait of an arrow, as soon as both were shown."""
        if piece.flag is None:
            return None
        other = self._alone.pop(piece.flag.number, None)
        if other is None:
            self._alone[piece.flag.number] = piece
            return None
        return (piece, other) if piece.kind is SliceKind.SET else (other, piece)
