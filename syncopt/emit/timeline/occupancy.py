"""What memories and flags hold over time."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from syncopt.emit.timeline.slices import Slice
from syncopt.emit.timeline.versions import Arrows, Cycles
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


def steps(held: Iterable[Held], first: int = 0) -> Steps:
    """The sum over time, from cycle `first` on."""
    changes: Counter[int] = Counter({first: 0})
    for piece in held:
        changes[max(piece.start, first)] += piece.amount
        changes[max(piece.end, first)] -= piece.amount
    level = changes.pop(first)
    times, values = [first], [level]
    for time in sorted(changes):
        if changes[time]:
            level += changes[time]
            times.append(time)
            values.append(level)
    return Steps(tuple(times), tuple(values))


class Occupancy:
    """Bytes and event ids in use during a part of a run; takes the slices of the whole run in program order.

    Holds what is in use, and what was during that part.
    """

    def __init__(self, cycles: Cycles) -> None:
        self._cycles = cycles
        self._memories: dict[Memory, _Values] = {}
        self._ids: dict[PipePair, list[Held]] = {}
        self._arrows = Arrows()

    def add(self, piece: Slice) -> None:
        """Take the next slice."""
        arrow = self._arrows.arrow(piece)
        if arrow is not None and piece.flag is not None:
            self._ids.setdefault(piece.flag.pair, []).extend(self._within(Held(1, arrow[0].start, arrow[1].end)))
        read = [access.footprint for access in piece.instance.accesses if not access.writes]
        written = [access.footprint for access in piece.instance.accesses if access.writes]
        for memory in {footprint.space for footprint in (*read, *written) if isinstance(footprint.space, Memory)}:
            values = self._memories.setdefault(memory, _Values(self._within))
            values.access(_runs(read, memory), _runs(written, memory), piece.start, piece.done)

    def live_bytes(self) -> Mapping[Memory, Steps]:
        """Bytes per on-chip memory that hold a value which is still read.

        A value lives from the start of the op that writes it to the completion of the last op that reads it, or to that
        of the writing op if nothing reads it.
        """
        first = self._cycles.first
        return {m: steps(self._memories[m].lifetimes(), first) for m in Memory if m in self._memories}

    def live_ids(self) -> Mapping[PipePair, Steps]:
        """Event ids in use per pair of pipes: from the start of a set to the end of the wait that takes it.

        A set without a wait is not counted.
        """
        order = list(Pipe)
        pairs = sorted(self._ids, key=lambda pair: (order.index(pair.source), order.index(pair.target)))
        return {pair: steps(self._ids[pair], self._cycles.first) for pair in pairs}

    def _within(self, held: Held) -> Iterator[Held]:
        """The same if it is during the part."""
        if held.end > self._cycles.first and (self._cycles.last is None or held.start <= self._cycles.last):
            yield held


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
    """What one memory holds, as pieces that do not overlap, and what it held of what `within` lets through."""

    def __init__(self, within: Callable[[Held], Iterable[Held]]) -> None:
        self._within = within
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
        """Every value there was and is."""
        alive = [Held(value.last - value.first, value.born, value.used) for value in self._values]
        return [*self._dead, *(held for value in alive for held in self._within(value))]

    def _end(self, value: _Value) -> None:
        self._dead.extend(self._within(Held(value.last - value.first, value.born, value.used)))
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
