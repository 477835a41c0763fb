"""What an order of starts and completions must keep to: the rules by which happens-before proves order, and no others.

Every instruction starts and completes. Instructions of one pipe start in order; what the scalar unit waits for holds
back everything behind it; a wait ends when its set has risen, a set rises when all earlier instructions of its pipe
have completed, a barrier ends likewise. The k-th wait of a flag takes the k-th set, as in the replay, so that flags
count. On one pipe an instruction that conflicts with an earlier one starts when that one is complete, unless the
hardware asks for a barrier between them: then nothing orders them. Queues are unlimited: no kernel may rely on a full
one.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from syncopt.execute.program import Program
from syncopt.hwmodel import Machine
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Barrier, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.trace import Instance

MOST_IN_FLIGHT = 256
"""Tile ops of one pipe that may have started and not completed: bounds the results that are held back."""

Event = int
"""Twice the place of an instruction in the trace for its start, one more for its completion."""


def start_of(place: int) -> Event:
    """The start of the instruction at a place of the trace."""
    return 2 * place


def completion_of(place: int) -> Event:
    """Its completion: of a set, the rise of its flag; of a wait or barrier, its end."""
    return 2 * place + 1


@dataclass(frozen=True, eq=False, slots=True)
class Constraints:
    """Which events must come before which.

    Parameters
    ----------
    program : Program
        Whose events.
    before : tuple of tuple of Event
        For each event the ones that it comes after.
    unanswered : frozenset of int
        Places of waits that no set answers: they never end.
    """

    program: Program
    before: tuple[tuple[Event, ...], ...]
    unanswered: frozenset[int]

    def after(self) -> tuple[list[Event], ...]:
        """For each event the ones that come after it."""
        found: tuple[list[Event], ...] = tuple([] for _ in self.before)
        for event, earlier in enumerate(self.before):
            for other in earlier:
                found[other].append(event)
        return found


def constraints_of(program: Program) -> Constraints:
    """Find what an execution of a program must keep to."""
    return _Builder(program).constraints()


@dataclass(slots=True)
class _Touched:
    """Places of the tile ops of one pipe behind its last barrier, by the footprint that they read or write last.

    The footprints stand in the order of their last place.
    """

    reads: dict[Footprint, deque[int]] = field(default_factory=dict[Footprint, deque[int]])
    writes: dict[Footprint, deque[int]] = field(default_factory=dict[Footprint, deque[int]])

    def note(self, footprint: Footprint, place: int, writes: bool) -> None:
        """An access; whoever comes after a write comes after what the write came after."""
        places = self.reads.pop(footprint, None) or deque[int](maxlen=MOST_IN_FLIGHT)
        if writes:
            self.writes.pop(footprint, None)
            self.writes[footprint] = deque([place])
        else:
            places.append(place)
            self.reads[footprint] = places

    def met(self, footprint: Footprint, writes: bool, since: int) -> Iterator[int]:
        """Places from `since` on of the accesses that an access conflicts with."""
        start, end = footprint.start, footprint.end
        for kept in (self.writes, self.reads) if writes else (self.writes,):
            for other, places in reversed(kept.items()):
                if places[-1] < since:
                    break
                if other.start < end and start < other.end and other.meets(footprint):
                    yield from places


@dataclass(slots=True)
class _Lane:
    """One pipe so far.

    `last` is its last start; `complete` stands for everything that is complete behind its last set or barrier, `open`
    holds the completions of the tile ops since then; `window` the places of the last tile ops.
    """

    last: list[Event] = field(default_factory=list[Event])
    complete: list[Event] = field(default_factory=list[Event])
    open: list[Event] = field(default_factory=list[Event])
    window: deque[int] = field(default_factory=lambda: deque[int](maxlen=MOST_IN_FLIGHT))
    touched: dict[object, _Touched] = field(default_factory=lambda: defaultdict[object, _Touched](_Touched))

    def everything(self) -> list[Event]:
        """The events behind which all of the pipe so far is complete."""
        return [*self.complete, *self.open, *self.last]

    def completed(self, by: Event) -> None:
        """Everything so far is complete behind an event that later instructions of the pipe come after."""
        self.complete, self.open = [by], []
        self.touched.clear()


class _Builder:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._machine: Machine = program.machine
        self._before: list[list[Event]] = []
        self._lanes: dict[Pipe, _Lane] = defaultdict(_Lane)
        self._gate: list[Event] = []
        self._sets = _sets_of_waits(program.instances)

    def constraints(self) -> Constraints:
        """Go through the trace."""
        for place, instance in enumerate(self._program.instances):
            self._before += [list(self._gate), [start_of(place)]]
            match instance.op:
                case Barrier(pipe=Pipe.ALL):
                    self._barrier_all(place)
                case Barrier():
                    self._barrier(place, self._lanes[instance.pipe])
                case SetFlag():
                    self._set(place, self._lanes[instance.pipe])
                case WaitFlag():
                    self._before[start_of(place)] += self._sets.get(place, [])
                case TileOp():
                    self._tile_op(place, instance, self._lanes[instance.pipe])
            self._in_order(place, instance)
        waits = (place for place, i in enumerate(self._program.instances) if isinstance(i.op, WaitFlag))
        unanswered = frozenset(place for place in waits if place not in self._sets)
        return Constraints(self._program, tuple(tuple(events) for events in self._before), unanswered)

    def _in_order(self, place: int, instance: Instance) -> None:
        """Instructions of a pipe start in order; the scalar unit goes on when what it does has ended."""
        if instance.pipe in (Pipe.S, Pipe.ALL):
            self._gate = [completion_of(place)] if not isinstance(instance.op, SetFlag) else self._gate
            return
        lane = self._lanes[instance.pipe]
        self._before[start_of(place)] += lane.last
        lane.last = [start_of(place)]

    def _barrier_all(self, place: int) -> None:
        for lane in self._lanes.values():
            self._before[start_of(place)] += lane.everything()
            lane.completed(completion_of(place))

    def _barrier(self, place: int, lane: _Lane) -> None:
        self._before[start_of(place)] += [*lane.complete, *lane.open]
        lane.completed(start_of(place))

    def _set(self, place: int, lane: _Lane) -> None:
        self._before[completion_of(place)] += [*lane.complete, *lane.open]
        lane.complete, lane.open = [completion_of(place)], []

    def _tile_op(self, place: int, instance: Instance, lane: _Lane) -> None:
        before = self._before[start_of(place)]
        if len(lane.window) == MOST_IN_FLIGHT:
            before.append(completion_of(lane.window[0]))
        before += [completion_of(other) for other in sorted(set(self._conflicts(instance, lane)))]
        lane.window.append(place)
        lane.open.append(completion_of(place))
        for footprint, writes in instance.accesses:
            lane.touched[footprint.space].note(footprint, place, writes)

    def _conflicts(self, instance: Instance, lane: _Lane) -> Iterator[int]:
        """Earlier tile ops of the pipe that must be complete before this one starts."""
        since = lane.window[0] if len(lane.window) == MOST_IN_FLIGHT else 0
        for footprint, writes in instance.accesses:
            touched = lane.touched.get(footprint.space)
            for place in touched.met(footprint, writes, since) if touched is not None else ():
                if not self._needs_barrier(self._program.instances[place], instance):
                    yield place

    def _needs_barrier(self, earlier: Instance, later: Instance) -> bool:
        assert earlier.work is not None and later.work is not None
        return self._machine.same_pipe_barrier_needed(earlier.work, later.work)


def _sets_of_waits(instances: Sequence[Instance]) -> dict[int, list[Event]]:
    """For the k-th wait of each flag the rise of its k-th set."""
    sets: dict[tuple[PipePair, int], list[int]] = defaultdict(list)
    waits: dict[tuple[PipePair, int], list[int]] = defaultdict(list)
    for place, instance in enumerate(instances):
        if isinstance(instance.op, SetFlag):
            sets[instance.op.pair, instance.event].append(place)
        elif isinstance(instance.op, WaitFlag):
            waits[instance.op.pair, instance.event].append(place)
    return {
        wait: [completion_of(set_)]
        for flag, ends in waits.items()
        for wait, set_ in zip(ends, sets[flag], strict=False)
    }
