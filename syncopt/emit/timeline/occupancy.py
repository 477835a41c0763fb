"""What memories and flags hold over time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from syncopt.emit.timeline.slices import Slice
from syncopt.emit.timeline.versions import Arrows
from syncopt.ir.footprint import Footprint
from syncopt.ir.pipes import Memory, Pipe, PipePair


@dataclass(frozen=True)
class Steps:
    """A step function: `values[k]` from cycle `times[k]` on."""

    times: tuple[int, ...]
    values: tuple[int, ...]

    @property
    def most(self) -> int:
        """The largest value."""
        return max(self.values, default=0)


@dataclass(frozen=True, slots=True)
class Held:
    """`amount` of something from cycle `start` to cycle `end`, the latter excluded."""

    amount: int
    start: int
    end: int


def steps(held: Iterable[Held]) -> Steps:
    """The sum over time."""
    changes: Counter[int] = Counter({0: 0})
    for piece in held:
        changes[piece.start] += piece.amount
        changes[piece.end] -= piece.amount
    level = changes.pop(0)
    times, values = [0], [level]
    for time in sorted(changes):
        if changes[time]:
            level += changes[time]
            times.append(time)
            values.append(level)
    return Steps(tuple(times), tuple(values))


def live_bytes(pieces: Iterable[Slice]) -> Mapping[Memory, Steps]:
    """Bytes per on-chip memory that hold a value which is still read.

    A value lives from the start of the op that writes it to the completion of the last op that reads it, or to that of
    the writing op if nothing reads it. `pieces` are in program order.
    """
    memories: dict[Memory, _Values] = {}
    for piece in pieces:
        read = [access.footprint for access in piece.instance.accesses if not access.writes]
        written = [access.footprint for access in piece.instance.accesses if access.writes]
        for footprint in (*read, *written):
            if isinstance(footprint.space, Memory):
                memories.setdefault(footprint.space, _Values())
        for memory, values in memories.items():
            values.access(_runs(read, memory), _runs(written, memory), piece.start, piece.done)
    return {memory: steps(memories[memory].lifetimes()) for memory in Memory if memory in memories}


def live_ids(pieces: Iterable[Slice]) -> Mapping[PipePair, Steps]:
    """Event ids in use per pair of pipes: from the start of a set to the end of the wait that takes it.

    A set whose wait is not among `pieces` is not counted, nor a wait whose set is not.
    """
    arrows = Arrows()
    held: dict[PipePair, list[Held]] = {}
    for piece in pieces:
        arrow = arrows.arrow(piece)
        if arrow is not None and piece.flag is not None:
            held.setdefault(piece.flag.pair, []).append(Held(1, arrow[0].start, arrow[1].end))
    order = list(Pipe)
    pairs = sorted(held, key=lambda pair: (order.index(pair.source), order.index(pair.target)))
    return {pair: steps(held[pair]) for pair in pairs}


_Run = tuple[int, int]
"""Bytes `first` to `last`, the latter excluded."""


def _runs(footprints: Sequence[Footprint], memory: Memory) -> list[_Run]:
    found: list[_Run] = []
    for footprint in footprints:
        if footprint.space is memory:
            steps_of_dims = [range(0, count * stride, stride) for count, stride in footprint.dims]
            starts = (footprint.start + sum(offsets) for offsets in product(*steps_of_dims))
            found.extend((start, start + footprint.width) for start in starts)
    return found


@dataclass(slots=True)
class _Value:
    """Bytes `first` to `last` (excluded) that were written at cycle `born` and last used at cycle `used`."""

    first: int
    last: int
    born: int
    used: int


class _Values:
    """What one memory holds, as pieces that do not overlap."""

    def __init__(self) -> None:
        self._values: list[_Value] = []
        self._dead: list[Held] = []

    def access(self, read: Sequence[_Run], written: Sequence[_Run], start: int, done: int) -> None:
        """An op: what it reads is used until it is done; what it writes without reading it first is a new value."""
        for run in read:
            self._split(run)
            for value in self._inside(run):
                value.used = max(value.used, done)
        for run in written:
            self._split(run)
            kept = [value for value in self._inside(run) if any(a <= value.first < b for a, b in read)]
            for value in self._inside(run):
                if value in kept:
                    value.used = max(value.used, done)
                else:
                    self._end(value)
            self._values.extend(_Value(first, last, start, done) for first, last in _gaps(run, kept))

    def lifetimes(self) -> list[Held]:
        """Every value there was."""
        for value in list(self._values):
            self._end(value)
        return self._dead

    def _end(self, value: _Value) -> None:
        self._dead.append(Held(value.last - value.first, value.born, value.used))
        self._values.remove(value)

    def _split(self, run: _Run) -> None:
        """Cut the values at the ends of a run."""
        for edge in run:
            for value in [value for value in self._values if value.first < edge < value.last]:
                self._values.append(_Value(edge, value.last, value.born, value.used))
                value.last = edge

    def _inside(self, run: _Run) -> list[_Value]:
        return [value for value in self._values if run[0] <= value.first and value.last <= run[1]]


def _gaps(run: _Run, kept: Sequence[_Value]) -> Iterator[_Run]:
    """What of a run no kept value covers."""
    at = run[0]
    for value in sorted(kept, key=lambda value: value.first):
        if value.first > at:
            yield at, value.first
        at = max(at, value.last)
    if at < run[1]:
        yield at, run[1]
