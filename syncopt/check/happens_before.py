"""Happens-before over a trace: what each pipe knows to be complete, and which hazards that leaves open.

Every instruction has an index on its pipe. The clock of a pipe says for each pipe the index up to which everything is
known complete before the next instruction of this pipe starts. Only flags, barriers and work on the scalar pipe add to
that knowledge; issue order alone proves nothing.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from syncopt.hwmodel import Machine
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Barrier, Op, SetFlag, TileOp, Value, WaitFlag
from syncopt.ir.pipes import PIPES, Memory, Pipe, PipePair
from syncopt.ir.trace import Instance

Clock = tuple[int, ...]
"""Per pipe, in the order of `PIPES`, the index up to which its instructions are known complete (-1: none)."""

LANE = {pipe: number for number, pipe in enumerate(PIPES)}
_NOTHING: Clock = (-1,) * len(PIPES)
_SCALAR = LANE[Pipe.S]


class HazardKind(Enum):
    """Read after write, write after read, write after write."""

    RAW = "RAW"
    WAR = "WAR"
    WAW = "WAW"


class Record(NamedTuple):
    """A tile op instance that touched bytes: number on its pipe, place in the trace, its pipe's clock at its start."""

    number: int
    place: int
    instance: Instance
    clock: Clock

    @property
    def completion(self) -> Clock:
        """What is known once this instance, and all before it on its pipe, are complete."""
        lane = LANE[self.instance.pipe]
        return (*self.clock[:lane], max(self.number, self.clock[lane]), *self.clock[lane + 1 :])


class OpenHazard(NamedTuple):
    """Two conflicting instances of which nothing proves that the earlier completes before the later starts.

    `all_earlier` is the clock of a pipe that knows everything before the later instance to be complete.
    """

    kind: HazardKind
    earlier: Record
    later: Instance
    all_earlier: Clock


class EarlySet(NamedTuple):
    """A set that nothing orders behind the wait before it on its id."""

    pair: PipePair
    event: int
    set: Instance


def join(a: Clock, b: Clock) -> Clock:
    """The knowledge of both."""
    return tuple(map(max, a, b))


@dataclass(slots=True, eq=False)
class Cell:
    """The last accesses of one footprint per pipe, and the footprints it meets (itself included)."""

    footprint: Footprint
    meets: list["Cell"]
    writes: dict[int, Record] = field(default_factory=dict[int, Record])
    reads: dict[int, Record] = field(default_factory=dict[int, Record])


class Memories:
    """Last accesses by footprint.

    Parameters
    ----------
    shared : frozenset of Value
        Pointer arguments whose accesses can conflict (see `shared_pointers`); others are not followed.
    """

    def __init__(self, shared: frozenset[Value]) -> None:
        self._shared = shared
        self._cells: dict[Footprint, Cell] = {}
        self._by_space: dict[Memory | Value, list[Cell]] = {}
        self._known: dict[int, tuple[tuple[Cell, bool], ...]] = {}
        self._kept: list[Instance] = []

    def cells(self, instance: Instance) -> tuple[tuple[Cell, bool], ...]:
        """The cell of each access of an instance and whether it is written."""
        # Static ops share one tuple of accesses, kept alive below, so its identity is a faithful key.
        key = id(instance.accesses)
        found = self._known.get(key)
        if found is None:
            found = tuple(
                (self._cell(access.footprint), access.writes)
                for access in instance.accesses
                if isinstance(access.footprint.space, Memory) or access.footprint.space in self._shared
            )
            self._known[key] = found
            self._kept.append(instance)
        return found

    def _cell(self, footprint: Footprint) -> Cell:
        cell = self._cells.get(footprint)
        if cell is None:
            neighbours = self._by_space.setdefault(footprint.space, [])
            cell = Cell(footprint, [other for other in neighbours if other.footprint.meets(footprint)])
            for other in cell.meets:
                other.meets.append(cell)
            cell.meets.append(cell)
            neighbours.append(cell)
            self._cells[footprint] = cell
        return cell


class _Event:
    """Payloads of sets that no wait has taken yet, and the last wait's index on the target pipe."""

    __slots__ = ("last_wait", "payloads")

    def __init__(self) -> None:
        self.payloads: deque[tuple[Clock, Instance]] = deque()
        self.last_wait = -1


class Observer:
    """What a happens-before pass tells while it runs."""

    def started(self, record: Record) -> None:
        """A tile op instance starts; its open hazards have been told."""
        del record

    def open_hazard(self, hazard: OpenHazard) -> Clock | None:
        """Nothing proves this hazard. A clock handed back is taken as known by the later instance from here on."""
        del hazard
        return None

    def early_set(self, early: EarlySet) -> None:
        """A set is not ordered behind the wait before it on its id."""
        del early


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
    """

    def __init__(self, machine: Machine, shared: frozenset[Value], observer: Observer) -> None:
        self._machine = machine
        self._observer = observer
        self._memories = Memories(shared)
        self._clocks: list[Clock] = [_NOTHING] * len(PIPES)
        self._next = [0] * len(PIPES)
        self._scalar: Clock = _NOTHING
        self._pending: list[deque[tuple[Instance, Clock]]] = [deque() for _ in PIPES]
        self._events: dict[tuple[PipePair, int], _Event] = {}
        # Ops hash by identity, which is much faster than by pipe; every op has one pipe and, unless it is a flag with a
        # run-time id, one event.
        self._lane_of: dict[Op, int] = {}
        self._event_of: dict[tuple[Op, int], _Event] = {}
        self._hung = False
        self._place = 0

    def run(self, trace: Iterable[Instance]) -> "HappensBefore":
        """Take the whole trace."""
        for instance in trace:
            self.take(instance)
        return self

    def take(self, instance: Instance) -> None:
        """Take the next instance in program order; after a hang everything is ignored."""
        if self._hung:
            return
        if instance.pipe is Pipe.ALL:
            self._barrier_all()
        elif instance.pipe is Pipe.S:
            self._on_scalar(instance)
        else:
            lane = self._lane_of.get(instance.op, -1)
            if lane < 0:
                lane = self._lane_of[instance.op] = LANE[instance.pipe]
            if self._pending[lane] or not self._execute(lane, instance, self._scalar):
                self._pending[lane].append((instance, self._scalar))

    @property
    def blocked(self) -> tuple[Instance, ...]:
        """Waits at the heads of their pipes that no set has answered."""
        return tuple(pending[0][0] for pending in self._pending if pending)

    @property
    def flags_up(self) -> tuple[tuple[PipePair, int, Instance], ...]:
        """Flags that are up, with the set that raised them."""
        return tuple((pair, event, s) for (pair, event), e in self._events.items() for _, s in e.payloads)

    def raised(self, instance: Instance, lane: int) -> None:
        """A set is about to rise on a lane; for passes that look at other flags of its pair."""
        del instance, lane

    def clock_of(self, lane: int) -> Clock:
        """What the next instruction of a lane knows."""
        return self._clocks[lane]

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

    def _on_scalar(self, instance: Instance) -> None:
        self._clocks[_SCALAR] = self._scalar
        if isinstance(instance.op, WaitFlag) and not self._event(instance).payloads:
            self._hung = True
            self._pending[_SCALAR].append((instance, self._scalar))
            return
        self._execute(_SCALAR, instance, self._scalar)
        clock = self._clocks[_SCALAR]
        self._scalar = (self._next[_SCALAR] - 1, *clock[1:])

    def _event(self, instance: Instance) -> _Event:
        op = instance.op
        found = self._event_of.get((op, instance.event))
        if found is None:
            assert isinstance(op, SetFlag | WaitFlag)
            found = self._events.setdefault((op.pair, instance.event), _Event())
            self._event_of[op, instance.event] = found
        return found

    def _execute(self, lane: int, instance: Instance, scalar: Clock) -> bool:
        """Let an instruction at the head of its pipe start; False if no set has answered its wait yet."""
        if scalar is not _NOTHING:
            self._clocks[lane] = join(self._clocks[lane], scalar)
        kind = instance.op.__class__
        if kind is WaitFlag:
            event = self._event(instance)
            if not event.payloads:
                return False
            payload, _ = event.payloads.popleft()
            self._clocks[lane] = join(self._clocks[lane], payload)
            event.last_wait = self._next[lane]
            self._next[lane] += 1
            return True
        index = self._next[lane]
        self._next[lane] = index + 1
        if kind is TileOp:
            self._tile_op(lane, index, instance)
        elif kind is Barrier:
            self._know(lane, index)
        else:
            self._set(lane, index, instance)
        return True

    def _know(self, lane: int, index: int) -> None:
        clock = self._clocks[lane]
        self._clocks[lane] = (*clock[:lane], index, *clock[lane + 1 :])

    def _set(self, lane: int, index: int, instance: Instance) -> None:
        assert isinstance(instance.op, SetFlag)
        event = self._event(instance)
        clock = self._clocks[lane]
        self.raised(instance, lane)
        target = LANE[instance.op.pair.target]
        if event.payloads or clock[target] < event.last_wait:
            self._observer.early_set(EarlySet(instance.op.pair, instance.event, instance))
        event.payloads.append(((*clock[:lane], index, *clock[lane + 1 :]), instance))
        self._wake(target, instance)

    def _wake(self, lane: int, by: Instance) -> None:
        pending = self._pending[lane]
        if lane == _SCALAR or not pending:
            return
        head = pending[0][0]
        if head.event != by.event or not isinstance(head.op, WaitFlag) or not isinstance(by.op, SetFlag):
            return
        if head.op.pair != by.op.pair:
            return
        while pending and self._execute(lane, *pending[0]):
            pending.popleft()

    def _tile_op(self, lane: int, index: int, instance: Instance) -> None:
        cells = self._memories.cells(instance)
        found: list[tuple[HazardKind, Record]] = []
        for cell, writes in cells:
            for other in cell.meets:
                if other.writes:
                    self.compare(lane, instance, other, HazardKind.WAW if writes else HazardKind.RAW, found)
                if writes and other.reads:
                    self.compare(lane, instance, other, HazardKind.WAR, found)
        if found:
            self._tell(lane, instance, found)
        record = Record(index, self._place, instance, self._clocks[lane])
        self._place += 1
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
            all_earlier = tuple(n - 1 for n in (*self._next[:lane], self._next[lane] - 1, *self._next[lane + 1 :]))
            known = self._observer.open_hazard(OpenHazard(kind, record, instance, all_earlier))
            if known is not None:
                self._clocks[lane] = join(self._clocks[lane], known)

    def _needs_barrier(self, earlier: Instance, later: Instance) -> bool:
        assert earlier.work is not None and later.work is not None
        return self._machine.same_pipe_barrier_needed(earlier.work, later.work)
