"""Happens-before over a trace: what each pipe knows to be complete, and which hazards that leaves open.

Every instruction has an index on its pipe. The clock of a pipe says for each pipe the index up to which everything is
known complete before the next instruction of this pipe starts. Only flags, barriers and work on the scalar pipe add to
that knowledge; issue order alone proves nothing.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from syncopt.check.clocks import LANE, NOTHING, SCALAR, Clock, join, with_lane
from syncopt.check.events import Dispatched, EarlySet, Event, EventScope, Raised, Reuse
from syncopt.check.memories import Cell, HazardKind, Memories, Record
from syncopt.check.observer import Observer, OpenHazard, UnfencedLoad
from syncopt.check.spacing import Spacing
from syncopt.hwmodel import Machine
from syncopt.ir.kernel import Barrier, Op, SetFlag, TileOp, Value, WaitFlag
from syncopt.ir.pipes import PIPES, Memory, Pipe, PipePair
from syncopt.ir.trace import Instance


class State(NamedTuple):
    """What a pass over a trace holds at one point of it."""

    cells: Iterable[Cell]
    events: dict[tuple[PipePair, int], Event]
    clocks: list[Clock]
    scalar: Clock
    pending: list[deque[Dispatched]]
    spacing: Spacing


class HappensBefore:
    """One pass over a trace in program order.

    Parameters
    ----------
    machine : Machine
        Says which dependences on one pipe need a barrier.
    shared : frozenset of Value
        Pointer arguments to follow.
    observer : Observer
        Is told what is found.
    scope : EventScope
        What tells flags apart.
    """

    def __init__(
        self, machine: Machine, shared: frozenset[Value], observer: Observer, scope: EventScope = EventScope.PAIR
    ) -> None:
        self._machine = machine
        self._observer = observer
        self._scope = scope
        self._memories = Memories(shared)
        self._clocks: list[Clock] = [NOTHING] * len(PIPES)
        self._next = [0] * len(PIPES)
        self._scalar: Clock = NOTHING
        self._pending: list[deque[Dispatched]] = [deque() for _ in PIPES]
        self._spacing = Spacing(machine)
        self._events: dict[tuple[PipePair, int], Event] = {}
        # Ops hash by identity, which is much faster than by pipe; every op has one pipe and, unless it is a flag with a
        # run-time id, one event.
        self._lane_of: dict[Op, int] = {}
        self._event_of: dict[tuple[Op, int], Event] = {}
        self._hung = False
        self._taken = 0
        self._waiting = 0

    def run(self, trace: Iterable[Instance]) -> "HappensBefore":
        """Take the whole trace."""
        for instance in trace:
            self.take(instance)
        return self

    def take(self, instance: Instance) -> None:
        """Take the next instance in program order; after a hang everything is ignored."""
        if self._hung:
            return
        self._taken += 1
        if instance.pipe is not Pipe.S or instance.op.__class__ is not SetFlag:
            self._spacing.clock_moves(self._next[SCALAR] - 1)
        if instance.pipe is Pipe.ALL:
            self._barrier_all()
        elif instance.pipe is Pipe.S:
            self._on_scalar(instance)
        else:
            lane = self._lane_of.get(instance.op, -1)
            if lane < 0:
                lane = self._lane_of[instance.op] = LANE[instance.pipe]
            dispatched = Dispatched(instance, self._scalar, self._taken)
            if self._pending[lane] or not self._execute(lane, dispatched):
                self._wait_in(lane, dispatched)

    @property
    def blocked(self) -> tuple[Instance, ...]:
        """Waits at the heads of their pipes that no set has answered."""
        return tuple(pending[0].instance for pending in self._pending if pending)

    @property
    def flags_up(self) -> tuple[tuple[PipePair, int, Instance], ...]:
        """Flags that are up, with the set that raised them."""
        return tuple((pair, event, s.set) for (pair, event), e in self._events.items() for s in e.payloads)

    def raised(self, instance: Instance, lane: int) -> None:
        """A set is about to rise on a lane; for passes that look at other flags of its pair."""
        del instance, lane

    def clock_of(self, lane: int) -> Clock:
        """What the next instruction of a lane knows."""
        return self._clocks[lane]

    def state(self) -> State:
        """Everything that what comes later can depend on; what it holds changes with the pass."""
        return State(self._memories.all(), self._events, self._clocks, self._scalar, self._pending, self._spacing)

    def event_state(self, pair: PipePair, event: int) -> tuple[bool, int]:
        """Whether a flag is up, and the index of its last wait on the target pipe (-1: none)."""
        found = self._events.get((pair, event))
        return (False, -1) if found is None else (bool(found.payloads), found.last_wait)

    def clock(self, pipe: Pipe) -> Clock:
        """What the next instruction of a pipe knows."""
        return join(self._clocks[LANE[pipe]], self._scalar)

    def _barrier_all(self) -> None:
        if self.blocked:
            self._hung = True
            return
        self._scalar = tuple(n - 1 for n in self._next)
        self._spacing.all_done()

    def _on_scalar(self, instance: Instance) -> None:
        dispatched = Dispatched(instance, self._scalar, self._taken)
        if isinstance(instance.op, WaitFlag) and not self._event(instance).payloads:
            self._hung = True
            self._wait_in(SCALAR, dispatched)
            return
        self._execute(SCALAR, dispatched)
        clock = self._clocks[SCALAR]
        self._scalar = (self._next[SCALAR] - 1, *clock[1:])

    def _wait_in(self, lane: int, dispatched: Dispatched) -> None:
        self._pending[lane].append(dispatched)
        self._waiting += 1

    def _event(self, instance: Instance) -> Event:
        op = instance.op
        found = self._event_of.get((op, instance.event))
        if found is None:
            assert isinstance(op, SetFlag | WaitFlag)
            found = self._events.setdefault((op.pair, instance.event), Event())
            self._event_of[op, instance.event] = found
        return found

    def _execute(self, lane: int, dispatched: Dispatched) -> bool:
        """Let an instruction at the head of its pipe start; False if no set has answered its wait yet."""
        instance, scalar, _ = dispatched
        if scalar is not NOTHING:
            self._clocks[lane] = join(self._clocks[lane], scalar)
            self._spacing.knows(lane, scalar)
        kind = instance.op.__class__
        if kind is WaitFlag:
            event = self._event(instance)
            if not event.payloads:
                return False
            self._wait(lane, event)
            return True
        index = self._next[lane]
        self._next[lane] = index + 1
        if kind is TileOp:
            self._tile_op(lane, index, dispatched)
            self._spacing.tile_op(lane, index, self._clocks[lane])
        elif kind is Barrier:
            self._clocks[lane] = with_lane(self._clocks[lane], lane, index)
            self._spacing.barrier(lane, index)
        else:
            self._set(lane, index, instance)
        return True

    def _wait(self, lane: int, event: Event) -> None:
        raised = event.payloads.popleft()
        self._clocks[lane] = join(self._clocks[lane], raised.clock)
        self._spacing.wait_flag(lane, raised, event)
        event.last_wait = self._next[lane]
        self._next[lane] += 1

    def _set(self, lane: int, index: int, instance: Instance) -> None:
        assert isinstance(instance.op, SetFlag)
        event = self._event(instance)
        clock = self._clocks[lane]
        self.raised(instance, lane)
        pair, payload = instance.op.pair, with_lane(clock, lane, index)
        for other, rival in self._rivals(pair, instance.event, event):
            if rival.payloads or clock[LANE[other.target]] < rival.last_wait:
                is_apart = not rival.payloads and self._spacing.keeps_apart(lane, payload, rival)
                reuse = Reuse.EAGER if is_apart else Reuse.TIMED
                self._observer.early_set(EarlySet(pair, instance.event, instance, reuse, other))
        behind = self._spacing.set_flag(lane, index, clock)
        event.payloads.append(Raised(payload, instance, lane, behind))
        self._wake(LANE[pair.target])

    def _rivals(self, pair: PipePair, number: int, event: Event) -> Iterator[tuple[PipePair, Event]]:
        """The flags that a set must not find up."""
        yield pair, event
        if self._scope is EventScope.SOURCE:
            for (other, its), rival in self._events.items():
                if its == number and other.source is pair.source and rival is not event:
                    yield other, rival

    def _wake(self, lane: int) -> None:
        """Let go on what has waited for a set that has come."""
        pending = self._pending[lane]
        while pending and self._execute(lane, pending[0]):
            pending.popleft()
            self._waiting -= 1

    def _tile_op(self, lane: int, index: int, started: Dispatched) -> None:
        instance, place = started.instance, started.place
        cells = self._memories.cells(instance)
        found = self._hazards(lane, started, cells)
        if found:
            self._tell(lane, instance, [hazard for hazard in found if hazard[1].place < place])
        if self._waiting:
            self._overtakes(lane, instance, place)
        record = Record(index, place, instance, self._clocks[lane])
        for cell, writes in cells:
            if writes:
                # Whoever comes later and is ordered behind this write is ordered behind what it was ordered behind.
                cell.writes.clear()
                cell.reads.clear()
                cell.writes[lane] = record
        for cell, writes in cells:
            if not writes:
                cell.reads[lane] = record
        self._observer.started(record)

    def _hazards(
        self, lane: int, started: Dispatched, cells: Iterable[tuple[Cell, bool]]
    ) -> list[tuple[HazardKind, Record]]:
        instance, found = started.instance, list[tuple[HazardKind, Record]]()
        for cell, writes in cells:
            if not writes and not isinstance(cell.footprint.space, Memory):
                self._fence(lane, started, cell)
            for other in cell.meets:
                if other.writes:
                    self.compare(lane, instance, other, HazardKind.WAW if writes else HazardKind.RAW, found)
                if writes and other.reads:
                    self.compare(lane, instance, other, HazardKind.WAR, found)
        return found

    def compare(
        self, lane: int, instance: Instance, cell: Cell, kind: HazardKind, found: list[tuple[HazardKind, Record]]
    ) -> None:
        """Add the accesses of a cell that `instance` conflicts with and does not know to be complete to `found`."""
        clock = self._clocks[lane]
        for source, record in (cell.reads if kind is HazardKind.WAR else cell.writes).items():
            if clock[source] >= record.number:
                continue
            if source != lane or self._needs_barrier(record.instance, instance):
                found.append((kind, record))

    def _tell(self, lane: int, instance: Instance, found: list[tuple[HazardKind, Record]]) -> None:
        """Tell open hazards, the latest first: what a flag behind it brings may prove the others."""
        found.sort(key=lambda hazard: -hazard[1].place)
        told: set[int] = set()
        for kind, record in found:
            if self._clocks[lane][LANE[record.instance.pipe]] >= record.number or record.place in told:
                continue
            told.add(record.place)
            known = self._observer.open_hazard(OpenHazard(kind, record, instance, self._all_earlier(lane)))
            if known is not None:
                self._clocks[lane] = join(self._clocks[lane], known)

    def _fence(self, lane: int, load: Dispatched, cell: Cell) -> None:
        """Flags between other pipes do not make what was stored visible to a load.

        The scalar unit must know the store to be complete before it passes the load: by a barrier of all pipes, or by a
        wait of its own. A store behind the load in the program is not what it should see.
        """
        for other in cell.meets:
            for source, record in other.writes.items():
                if source == lane or record.place > load.place:
                    continue
                if load.scalar[source] < record.number <= self._clocks[lane][source]:
                    known = self._observer.unfenced(UnfencedLoad(record, load.instance))
                    if known is not None:
                        self._clocks[lane] = join(self._clocks[lane], known)

    def _overtakes(self, lane: int, instance: Instance, place: int) -> None:
        """Ops that come before this one in the program, but still wait for a flag, are not ordered before it."""
        for waiting in (entry for pending in self._pending for entry in pending):
            if (
                waiting.place < place
                and waiting.instance.work is not None
                and waiting.instance.pipe is not instance.pipe
            ):
                kind = self._memories.conflict(waiting.instance, instance)
                if kind is not None:
                    record = Record(-1, waiting.place, waiting.instance, NOTHING)
                    self._observer.open_hazard(OpenHazard(kind, record, instance, self._all_earlier(lane)))

    def _all_earlier(self, lane: int) -> Clock:
        return tuple(n - 1 for n in (*self._next[:lane], self._next[lane] - 1, *self._next[lane + 1 :]))

    def _needs_barrier(self, earlier: Instance, later: Instance) -> bool:
        assert earlier.work is not None and later.work is not None
        return self._machine.same_pipe_barrier_needed(earlier.work, later.work)
