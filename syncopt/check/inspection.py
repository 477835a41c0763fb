"""What is wrong with one execution of a kernel."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from syncopt.check.findings import FindingKind, Severity
from syncopt.check.happens_before import LANE, Clock, EarlySet, HappensBefore, Observer, OpenHazard, Record
from syncopt.check.wording import name_of, race_text
from syncopt.hwmodel import Machine, UnmodelledWork
from syncopt.ir.kernel import Barrier, Flag, Kernel, Op, SetFlag, WaitFlag, walk
from syncopt.ir.pipes import LEGAL_PAIRS, Memory, Pipe, PipePair
from syncopt.ir.pointers import shared_pointers
from syncopt.ir.trace import Instance
from syncopt.sim import Replay, replay

Trace = Callable[[], Iterable[Instance]]
"""Starts the trace of an execution anew."""


class Fault(NamedTuple):
    """Something wrong or doubtful; `ops` ends with the op where it shows."""

    kind: FindingKind
    severity: Severity
    ops: tuple[Op, ...]
    message: str


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


class Inspector:
    """Judges executions of one kernel on one machine.

    Parameters
    ----------
    kernel : Kernel
        Whose executions.
    machine : Machine
        Flag rules, and costs for what only times can tell.
    """

    def __init__(self, kernel: Kernel, machine: Machine) -> None:
        self._kernel = kernel
        self._machine = machine
        self._shared = shared_pointers(kernel)
        self._impossible = frozenset(op for op in walk(kernel.body) if _is_impossible(op))

    @property
    def illegal(self) -> tuple[Fault, ...]:
        """Flags and barriers that the hardware does not have, whatever is executed."""
        return tuple(self._illegal())

    def inspect(self, trace: Trace, always_replay: bool = False) -> Inspection:
        """Run one execution by order, and by time where order does not decide."""
        watcher = _Watcher()
        order = _Order(HappensBefore(self._machine, self._shared, watcher))
        for instance in self._executable(trace()):
            order.take(instance)
        timed = None
        if always_replay or watcher.early or order.waits_ahead:
            timed = self._replay(trace)
        faults = [
            *self._hangs(order, timed),
            *(self._race(hazard) for hazard in watcher.hazards.values()),
            *self._early_sets(watcher, timed, replayed=timed is not None),
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

    # -- one method per kind of fault ------------------------------------------------------------------------------

    def _illegal(self) -> Iterator[Fault]:
        for op in walk(self._kernel.body):
            name = name_of(self._kernel, op)
            if isinstance(op, Flag) and op.pair not in LEGAL_PAIRS:
                yield _error(
                    FindingKind.ILLEGAL,
                    f"{name}: the hardware has no flags from {op.pair.source} to {op.pair.target}",
                    op,
                )
            elif isinstance(op, Barrier) and op.pipe is Pipe.S:
                yield _error(FindingKind.ILLEGAL, f"{name}: the scalar pipe has no barrier", op)

    def _wrong_ids(self, order: "_Order") -> Iterator[Fault]:
        """Event ids that do not exist."""
        for instance in order.flags.values():
            if not 0 <= instance.event < self._machine.event_ids:
                name = name_of(self._kernel, instance.op, instance.event)
                yield _error(FindingKind.ILLEGAL, f"{name}: ids are 0..{self._machine.event_ids - 1}", instance.op)

    def _hangs(self, order: "_Order", timed: Replay | None) -> Iterator[Fault]:
        """Waits that no set answers, and dispatch that no queue lets through."""
        blocked = order.happens_before.blocked
        if blocked:
            never = tuple(head for head in blocked if order.balance[_key(head)] < 0) or blocked
            names = ", ".join(name_of(self._kernel, head.op, head.event) for head in never)
            yield _error(FindingKind.DEADLOCK, f"hangs: no set answers {names}", *(head.op for head in never))
        elif timed is not None and timed.deadlock is not None:
            op, heads = timed.deadlock.op, timed.deadlock.blocked
            names = ", ".join(name_of(self._kernel, head.op, head.event) for head in heads)
            message = f"hangs: dispatch stops at {name_of(self._kernel, op)} before a full queue, behind {names}"
            yield _error(FindingKind.DEADLOCK, message, *(head.op for head in heads), op)

    def _race(self, hazard: OpenHazard) -> Fault:
        text = race_text(self._kernel, hazard)
        return _error(FindingKind.RACE, text, hazard.earlier.instance.op, hazard.later.op)

    def _early_sets(self, watcher: "_Watcher", timed: Replay | None, replayed: bool) -> Iterator[Fault]:
        """Sets that may come before the wait for the set before: certainly, by the times, or only by order."""
        double = {early.op: early.op for early in timed.double_sets} if timed is not None else {}
        for op in double:
            name = name_of(self._kernel, op)
            yield _error(FindingKind.DOUBLE_SET, f"{name} while the flag is still up", op)
        for op, early in watcher.early.items():
            name = name_of(self._kernel, op, early.event)
            if not replayed:
                text = f"{name} is not ordered behind the wait before it, and without all costs no times tell more"
                yield _error(FindingKind.DOUBLE_SET, text, op)
            elif op not in double:
                text = f"{name}: only the times of this machine put it behind the wait before it, not the flags"
                yield Fault(FindingKind.ID_REUSE, Severity.WARNING, (op,), text)

    def _left(self, order: "_Order", watcher: "_Watcher") -> Iterator[Fault]:
        """Flags that are up, and stores that may not be complete, at the end."""
        happens_before = order.happens_before
        if happens_before.blocked:
            return
        for _, event, raised in happens_before.flags_up:
            name = name_of(self._kernel, raised.op, event)
            yield _error(FindingKind.UNBALANCED, f"{name} is still up at the end: a wait is missing", raised.op)
        clock = happens_before.clock(Pipe.S)
        for lane, store in watcher.stores.items():
            if clock[lane] < store.number:
                name = name_of(self._kernel, store.instance.op)
                text = f"{name} may not be complete when the kernel ends: no final barrier"
                yield Fault(FindingKind.UNBALANCED, Severity.WARNING, (store.instance.op,), text)


def _error(kind: FindingKind, message: str, *ops: Op) -> Fault:
    return Fault(kind, Severity.ERROR, ops, message)


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
        """Keep the first per op."""
        self.early.setdefault(early.set.op, early)
