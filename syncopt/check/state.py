"""The state of a happens-before pass at the head of a loop, in a form in which equal states have equal futures.

Only comparisons of clocks with the numbers of recorded accesses and waits decide what a pass finds, so each number is
replaced by its rank among those that can still be compared, and what every pipe knows already is left out. Accesses of
global memory are relative to the iteration (see `syncopt.ir.recurrence`).
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from syncopt.check.clocks import LANE, Clock, join
from syncopt.check.events import Dispatched, Event
from syncopt.check.happens_before import State
from syncopt.check.memories import Record
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Value
from syncopt.ir.pipes import PIPES, Memory, Pipe, PipePair
from syncopt.ir.pointers import Space

Shift = Callable[[Value], int]
"""How many bytes the accesses of a pointer have moved since the first iteration."""

_LANES = range(len(PIPES))
_WITH_BARRIERS = frozenset({LANE[Pipe.V], LANE[Pipe.M]})
"""Lanes on which an op may have to wait for an earlier one of its own pipe."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """Makes canonical states for one kernel.

    Parameters
    ----------
    pipes : mapping of space to set of Pipe
        Which pipes touch a memory or the memory of a pointer at all.
    """

    pipes: Mapping[Space, frozenset[Pipe]]
    _observers: dict[tuple[Space, int], tuple[int, ...]] = field(
        default_factory=dict[tuple[Space, int], tuple[int, ...]], repr=False, compare=False
    )

    def of(self, state: State, stores: Mapping[int, Record], shift: Shift) -> Hashable:
        """The canonical form of a state.

        Parameters
        ----------
        state : State
            Of a happens-before pass.
        stores : mapping of lane to Record
            The last store of each pipe.
        shift : callable
            Bytes by which accesses of a pointer have moved so far.
        """
        return _Form(self, state, stores).key(shift)

    def open_pointers(self, state: State, stores: Mapping[int, Record]) -> frozenset[Value]:
        """Pointers of which some access can still conflict with what comes."""
        return _Form(self, state, stores).pointers

    def observers(self, space: Space, lane: int) -> tuple[int, ...]:
        """The lanes that can meet an access of `lane` in `space`."""
        found = self._observers.get((space, lane))
        if found is None:
            lanes = (LANE[pipe] for pipe in self.pipes.get(space, frozenset()))
            found = tuple(other for other in lanes if other != lane or lane in _WITH_BARRIERS)
            self._observers[space, lane] = found
        return found


class _Access(NamedTuple):
    """A recorded access that some pipe can still conflict with."""

    footprint: Footprint
    writes: bool
    lane: int
    record: Record


class _Flag(NamedTuple):
    """A flag that is up, or (`early`) whose last wait a set could still come too early for."""

    pair: PipePair
    number: int
    event: Event
    early: bool


class _Form:
    """One state on its way to its canonical form: first what counts, then the ranks of its numbers."""

    def __init__(self, canonical: Canonical, state: State, stores: Mapping[int, Record]) -> None:
        self._canonical = canonical
        self._state = state
        self._known = [
            clock if pending else join(clock, state.scalar)
            for clock, pending in zip(state.clocks, state.pending, strict=True)
        ]
        self._common: Clock = tuple(map(min, *self._known))
        self._accesses = list(self._open_accesses())
        self._flags = list(self._open_flags())
        self._stores = [(lane, record) for lane, record in stores.items() if state.scalar[lane] < record.number]
        self._settled = tuple(state.spacing.settled)
        worked = tuple(state.spacing.worked)
        self._worked = _beyond(worked, tuple(map(min, self._settled, self._common)))
        self._behind = [_beyond(clock, self._settled) for clock in state.spacing.behind]
        self._awaited = [_beyond(clock, self._common) for clock in state.spacing.awaited]
        self._numbers = self._compared()
        self._active = [lane for lane in _LANES if self._numbers[lane]]

    def key(self, shift: Shift) -> Hashable:
        """The canonical form."""
        rank, state = self._ranks, self._state
        return (
            tuple(self._active),
            frozenset((_place(access.footprint, shift), self._access(access)) for access in self._accesses),
            frozenset((flag.pair, flag.number, self._flag(flag)) for flag in self._flags),
            tuple(map(rank, self._known)),
            rank(state.scalar),
            tuple(self._waiting(entry, shift) for pending in state.pending for entry in pending),
            tuple(map(rank, (self._settled, self._worked, *self._behind, *self._awaited))),
            frozenset((lane, r.instance.op.uid, self._rank(lane, r.number)) for lane, r in self._stores),
        )

    @property
    def pointers(self) -> frozenset[Value]:
        """Pointers whose accesses are kept."""
        spaces = (access.footprint.space for access in self._accesses)
        return frozenset(space for space in spaces if not isinstance(space, Memory))

    # -- what counts -----------------------------------------------------------------------------------------------

    def _open_accesses(self) -> Iterator[_Access]:
        known, common = self._known, self._common
        for cell in self._state.cells:
            for writes, records in ((True, cell.writes), (False, cell.reads)):
                for lane, record in records.items():
                    if common[lane] >= record.number:
                        continue
                    observers = self._canonical.observers(cell.footprint.space, lane)
                    if any(known[other][lane] < record.number for other in observers):
                        yield _Access(cell.footprint, writes, lane, record)

    def _open_flags(self) -> Iterator[_Flag]:
        for (pair, number), event in self._state.events.items():
            early = self._known[LANE[pair.source]][LANE[pair.target]] < event.last_wait
            if event.payloads or early:
                yield _Flag(pair, number, event, early)

    def _fires(self, flag: _Flag) -> Clock:
        """What the last wait waited for, as far as the flag's source does not know it yet."""
        return _beyond(flag.event.fires, self._known[LANE[flag.pair.source]])

    def _is_behind(self, lane: int, number: int) -> int:
        """What sets of a lane stand behind, -1 if any further one comes apart from them."""
        return -1 if self._settled[lane] >= number else number

    # -- ranks -----------------------------------------------------------------------------------------------------

    def _compared(self) -> list[list[int]]:
        """The numbers that clocks can still be compared with, by lane."""
        found: list[set[int]] = [set() for _ in _LANES]
        for access in self._accesses:
            found[access.lane].add(access.record.number)
        for flag in self._flags:
            if flag.early:
                found[LANE[flag.pair.target]].add(flag.event.last_wait)
            source = LANE[flag.pair.source]
            behind = (flag.event.behind, *(raised.behind for raised in flag.event.payloads))
            found[source].update(self._is_behind(source, number) for number in behind)
        for lane, record in self._stores:
            found[lane].add(record.number)
        fires = (self._fires(flag) for flag in self._flags if flag.early)
        for clock in (self._worked, *self._behind, *self._awaited, *fires):
            for lane, number in enumerate(clock):
                found[lane].add(number)
        return [sorted(numbers - {-1}) for numbers in found]

    def _rank(self, lane: int, number: int) -> int:
        return bisect_right(self._numbers[lane], number)

    def _ranks(self, clock: Clock) -> tuple[int, ...]:
        return tuple([bisect_right(self._numbers[lane], clock[lane]) for lane in self._active])

    def _access(self, access: _Access) -> Hashable:
        lane, instance = access.lane, access.record.instance
        work = instance.work if lane in _WITH_BARRIERS else None
        return access.writes, lane, instance.op.uid, work, self._rank(lane, access.record.number)

    def _waiting(self, entry: Dispatched, shift: Shift) -> Hashable:
        instance = entry.instance
        places = tuple(_place(access.footprint, shift) for access in instance.accesses)
        ahead = sum(other.place < entry.place for pending in self._state.pending for other in pending)
        return instance.op.uid, instance.event, instance.work, places, self._ranks(entry.scalar), ahead

    def _flag(self, flag: _Flag) -> Hashable:
        source = LANE[flag.pair.source]

        def behind(number: int) -> int:
            return self._rank(source, self._is_behind(source, number))

        up = tuple(
            (self._ranks(raised.clock), raised.set.op.uid, behind(raised.behind)) for raised in flag.event.payloads
        )
        if not flag.early:
            return up
        last = self._rank(LANE[flag.pair.target], flag.event.last_wait)
        return up, last, behind(flag.event.behind), self._ranks(self._fires(flag))


def _beyond(clock: Clock, known: Clock) -> Clock:
    """What a clock knows beyond another one, -1 elsewhere."""
    return tuple([-1 if there >= number else number for number, there in zip(clock, known, strict=True)])


def _place(footprint: Footprint, shift: Shift) -> Hashable:
    space = footprint.space
    if isinstance(space, Memory):
        return footprint
    return space, footprint.start - shift(space), footprint.width, footprint.dims
