"""What is wrong with one execution of a kernel."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from syncopt.check.clocks import LANE, Clock
from syncopt.check.events import EarlySet, EventScope, Reuse
from syncopt.check.faults import GRADING, Fault, Faults, Grading
from syncopt.check.findings import Severity
from syncopt.check.happens_before import HappensBefore
from syncopt.check.memories import Record
from syncopt.check.observer import Observer, OpenHazard, UnfencedLoad
from syncopt.check.proof import Recording
from syncopt.hwmodel import Machine, UnmodelledWork
from syncopt.ir.kernel import Barrier, Flag, Kernel, Op, SetFlag, WaitFlag, walk
from syncopt.ir.pipes import Memory, Pipe, PipePair
from syncopt.ir.pointers import shared_pointers
from syncopt.ir.trace import Instance
from syncopt.sim import Replay, StressedCosts, replay

Trace = Callable[[], Iterable[Instance]]
"""Starts the trace of an execution anew."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What one execution shows.

    Parameters
    ----------
    faults : tuple of Fault
        Each pair of ops once per kind.
    replay : Replay or None
        Its replay, if one was made.
    open_queues : bool
        A wait stands before its set in program order and, for want of a cost, no replay tells whether the queues
        between them suffice.
    """

    faults: tuple[Fault, ...]
    replay: Replay | None
    open_queues: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """Who looks at the heads of loops in an execution of which `decided` ifs on data are decided in advance."""

    recording: Recording
    decided: int


@dataclass(frozen=True, slots=True)
class Rules:
    """How strictly a kernel is judged.

    Parameters
    ----------
    grading : Grading
        How severe doubtful things are.
    events : EventScope
        What tells flags apart.
    stress : int
        Number of replays with other costs, for executions in which something depends on times.
    """

    grading: Grading = GRADING
    events: EventScope = EventScope.PAIR
    stress: int = 0


class Inspector:
    """Judges executions of one kernel on one machine.

    Parameters
    ----------
    kernel : Kernel
        Whose executions.
    machine : Machine
        Flag rules, and costs for what only times can tell.
    rules : Rules
        How strictly.
    """

    def __init__(self, kernel: Kernel, machine: Machine, rules: Rules) -> None:
        self._kernel = kernel
        self._machine = machine
        self._rules = rules
        self._faults = Faults(kernel, rules.grading, machine.event_ids)
        self._shared = shared_pointers(kernel)
        self._impossible = frozenset(op for op in walk(kernel.body) if _is_impossible(op))
        self._stressed = [StressedCosts(machine, seed) for seed in range(rules.stress)]

    @property
    def illegal(self) -> tuple[Fault, ...]:
        """Flags and barriers that the hardware does not have, whatever is executed."""
        return tuple(self._illegal())

    def inspect(self, trace: Trace, watched: Watched | None = None, always_replay: bool = False) -> Inspection:
        """Run one execution by order, and by time where order does not decide."""
        watcher = _Watcher()
        order = _Order(HappensBefore(self._machine, self._shared, watcher, self._rules.events))
        if watched is not None:
            watched.recording.attach(order.happens_before, watcher.stores, watched.decided)
        for instance in self._executable(trace()):
            order.take(instance)
        if watched is not None:
            watched.recording.detach()
        depends = bool(watcher.early) or order.waits_ahead
        timed = self._replay(trace) if always_replay or depends else None
        faults = [
            *self._hangs(order, timed),
            *map(self._faults.race, watcher.hazards.values()),
            *self._early_sets(watcher, timed),
            *(self._stress(trace, timed) if depends and timed is not None else ()),
            *map(self._faults.unfenced, watcher.unfenced_loads.values()),
            *self._wrong_ids(order),
            *self._left(order, watcher),
        ]
        return Inspection(tuple(faults), timed, order.waits_ahead and timed is None)

    def _executable(self, trace: Iterable[Instance]) -> Iterable[Instance]:
        if not self._impossible:
            return trace
        return (instance for instance in trace if instance.op not in self._impossible)

    def _replay(self, trace: Trace) -> Replay | None:
        try:
            return replay(self._executable(trace()), self._machine, source=self._kernel.source)
        except UnmodelledWork:
            return None

    # -- which faults there are ------------------------------------------------------------------------------------

    def _illegal(self) -> Iterator[Fault]:
        for op in walk(self._kernel.body):
            if isinstance(op, Flag):
                fault = self._faults.illegal_pair(op)
                yield from () if fault is None else (fault,)
            elif isinstance(op, Barrier) and op.pipe is Pipe.S:
                yield self._faults.scalar_barrier(op)

    def _wrong_ids(self, order: "_Order") -> Iterator[Fault]:
        for instance in order.flags.values():
            fault = self._faults.wrong_id(instance)
            yield from () if fault is None else (fault,)

    def _hangs(self, order: "_Order", timed: Replay | None) -> Iterator[Fault]:
        """Waits that no set answers, and dispatch that no queue lets through."""
        blocked = order.happens_before.blocked
        if blocked:
            never = tuple(head for head in blocked if order.balance[_key(head)] < 0)
            yield self._faults.unanswered(never) if never else self._faults.circular(blocked)
        elif timed is not None and timed.deadlock is not None:
            yield self._faults.full_queue(timed.deadlock.blocked, timed.deadlock.op)

    def _early_sets(self, watcher: "_Watcher", timed: Replay | None) -> Iterator[Fault]:
        """Sets that may come before the wait for the set before: certainly, by the times, or only by order."""
        double = {early.op for early in timed.double_sets} if timed is not None else set[Op]()
        if timed is not None:
            yield from map(self._faults.double_set, timed.double_sets)
        for op, early in watcher.early.items():
            if op not in double:
                yield self._faults.reused(early, timed is not None)

    def _stress(self, trace: Trace, timed: Replay) -> Iterator[Fault]:
        """What breaks when ops take longer or shorter than they should."""
        known = {double.op for double in timed.double_sets}
        for seed, pricing in enumerate(self._stressed):
            run = replay(self._executable(trace()), self._machine, source=self._kernel.source, pricing=pricing)
            how = f"with cost factors of 0.5 to 2 (seed {seed}): "
            for double in run.double_sets:
                if double.op not in known:
                    known.add(double.op)
                    yield _doubtful(self._faults.double_set(double), how)
            if run.deadlock is not None and timed.deadlock is None:
                yield _doubtful(self._faults.full_queue(run.deadlock.blocked, run.deadlock.op), how)

    def _left(self, order: "_Order", watcher: "_Watcher") -> Iterator[Fault]:
        """Flags that are up, and stores that may not be complete, at the end."""
        happens_before = order.happens_before
        if happens_before.blocked:
            return
        for _, event, raised in happens_before.flags_up:
            yield self._faults.left_up(event, raised)
        clock = happens_before.clock(Pipe.S)
        for lane, store in watcher.stores.items():
            if clock[lane] < store.number:
                yield self._faults.undrained(store.instance)


def _doubtful(fault: Fault, how: str) -> Fault:
    return fault._replace(severity=Severity.WARNING, message=how + fault.message)


def _is_impossible(op: Op) -> bool:
    """Whether nothing can be said of what an op does."""
    match op:
        case Flag():
            return Pipe.ALL in op.pair
        case Barrier():
            return op.pipe is Pipe.S
        case _:
            return False


def _key(flag: Instance) -> tuple[PipePair, int]:
    assert isinstance(flag.op, Flag)
    return flag.op.pair, flag.event


class _Order:
    """Happens-before, and what program order says of flags.

    `balance` is sets less waits per flag, `waits_ahead` whether a wait stands before its set in program order: only
    then can a full queue keep the set from being dispatched. `flags` holds one instance per flag op with a new id.
    """

    def __init__(self, happens_before: HappensBefore) -> None:
        self.happens_before = happens_before
        self.balance: Counter[tuple[PipePair, int]] = Counter()
        self.waits_ahead = False
        self.flags: dict[tuple[Op, int], Instance] = {}

    def take(self, instance: Instance) -> None:
        """Take the next instance in program order."""
        kind = instance.op.__class__
        if kind is SetFlag or kind is WaitFlag:
            self._flag(instance, kind is SetFlag)
        self.happens_before.take(instance)

    def _flag(self, instance: Instance, rises: bool) -> None:
        self.flags.setdefault((instance.op, instance.event), instance)
        key = _key(instance)
        self.balance[key] += 1 if rises else -1
        self.waits_ahead = self.waits_ahead or self.balance[key] < 0


class _Watcher(Observer):
    """Collects what a pass tells: the first open hazard per pair of ops, the early sets per op, the last stores."""

    def __init__(self) -> None:
        self.hazards: dict[tuple[Op, Op], OpenHazard] = {}
        self.early: dict[Op, EarlySet] = {}
        self.unfenced_loads: dict[tuple[Op, Op], UnfencedLoad] = {}
        self.stores: dict[int, Record] = {}

    def started(self, record: Record) -> None:
        """Keep the last store of each pipe."""
        work = record.instance.work
        if work is not None and any(operand.memory is Memory.GM for operand in work.outs):
            self.stores[LANE[record.instance.pipe]] = record

    def open_hazard(self, hazard: OpenHazard) -> Clock:
        """Keep it, and go on as if it were ordered, so that what follows from it is not reported again."""
        self.hazards.setdefault((hazard.earlier.instance.op, hazard.later.op), hazard)
        return hazard.earlier.completion

    def early_set(self, early: EarlySet) -> None:
        """Keep the first per op, and the first that only durations can tell."""
        known = self.early.setdefault(early.set.op, early)
        if known.reuse is Reuse.EAGER and early.reuse is Reuse.TIMED:
            self.early[early.set.op] = early

    def unfenced(self, load: UnfencedLoad) -> None:
        """Keep the first per pair of ops."""
        self.unfenced_loads.setdefault((load.store.instance.op, load.load.op), load)
