"""What can be wrong or doubtful in one execution: one method per kind of fault."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from syncopt.check.events import EarlySet, Reuse
from syncopt.check.findings import FindingKind, Severity
from syncopt.check.observer import OpenHazard, UnfencedLoad
from syncopt.check.wording import Nest, name_of, race_hint, race_text
from syncopt.ir.kernel import Barrier, Flag, Kernel, Op
from syncopt.ir.pipes import LEGAL_PAIRS, PipePair
from syncopt.ir.trace import Instance
from syncopt.sim import DoubleSet


class Fault(NamedTuple):
    """Something wrong or doubtful; `ops` ends with the op where it shows."""

    kind: FindingKind
    severity: Severity
    ops: tuple[Op, ...]
    message: str
    hint: str
    iteration: str = ""


@dataclass(frozen=True, slots=True)
class Grading:
    """How severe it is what only a cautious user objects to.

    Parameters
    ----------
    timed : Severity
        A flag that only durations keep from being set twice.
    undrained : Severity
        A store that may not be complete when the kernel ends.
    """

    timed: Severity = Severity.WARNING
    undrained: Severity = Severity.ERROR


GRADING = Grading()


class Faults:
    """Puts faults into words.

    Parameters
    ----------
    kernel : Kernel
        The kernel they are in.
    grading : Grading
        How severe they are.
    event_ids : int
        How many ids a pair has.
    """

    def __init__(self, kernel: Kernel, grading: Grading, event_ids: int) -> None:
        self._kernel = kernel
        self._nest = Nest(kernel)
        self._grading = grading
        self._event_ids = event_ids

    def race(self, hazard: OpenHazard) -> Fault:
        """Nothing orders two accesses that conflict."""
        ops = (hazard.earlier.instance.op, hazard.later.op)
        way = self._nest.way(hazard.earlier.instance, hazard.later)
        hint = race_hint(self._kernel, hazard)
        return _error(FindingKind.RACE, ops, race_text(self._kernel, hazard), hint, way)

    def unanswered(self, waits: Sequence[Instance]) -> Fault:
        """No set answers these waits."""
        names = ", ".join(self._name(wait) for wait in waits)
        hint = "set the flag on every path that leads here (before the loop, if the first round waits for it)"
        return self._hang(waits, f"hangs: no set answers {names}", f"{hint}, or take the wait away")

    def circular(self, waits: Sequence[Instance]) -> Fault:
        """These waits stand before each other's sets."""
        names = ", ".join(self._name(wait) for wait in waits)
        return self._hang(
            waits, f"hangs: a circle of waits: {names}", "put one of the sets before the other pipe's wait"
        )

    def full_queue(self, waits: Sequence[Instance], stopped: Op) -> Fault:
        """The set that a wait waits for is not dispatched, for a full queue stands before it."""
        names = ", ".join(self._name(wait) for wait in waits)
        message = f"hangs: dispatch stops at {name_of(self._kernel, stopped)} before a full queue, behind {names}"
        ops = (*(wait.op for wait in waits), stopped)
        return _error(FindingKind.DEADLOCK, ops, message, "put the set further up in the program", self._at(waits[-1]))

    def double_set(self, double: DoubleSet, how: str = "") -> Fault:
        """A set rises while the flag is up."""
        message = f"{how}{name_of(self._kernel, double.op)} while the flag is still up"
        where = self._nest.place(double.op, double.iteration)
        hint = "wait for the flag before it is set again, or use another id"
        return _error(FindingKind.DOUBLE_SET, (double.op,), message, hint, where)

    def reused(self, early: EarlySet, is_replayed: bool) -> Fault:
        """A set is not ordered behind the wait before it; the times, if known, show no double set."""
        name, where, hint = self._name(early.set), self._at(early.set), _reuse_hint(early.pair)
        flag = "the wait before it" if early.other == early.pair else f"the wait on {early.other} with its id"
        if early.reuse is Reuse.EAGER:
            text = f"{name} comes behind all that {flag} waits for, but nothing says that it has taken the flag down"
            return Fault(FindingKind.ID_REUSE, Severity.NOTE, (early.set.op,), text, hint, where)
        if not is_replayed:
            text = f"{name} is not ordered behind {flag}, and without all costs no times tell more"
            return _error(FindingKind.DOUBLE_SET, (early.set.op,), text, hint, where)
        text = f"{name}: only the times of this machine put it behind {flag}, not the flags"
        severity = self._grading.timed
        kind = FindingKind.DOUBLE_SET if severity is Severity.ERROR else FindingKind.ID_REUSE
        return Fault(kind, severity, (early.set.op,), text, hint, where)

    def left_up(self, event: int, raised: Instance) -> Fault:
        """A flag is up at the end."""
        name = name_of(self._kernel, raised.op, event)
        message = f"{name} is still up at the end: a wait is missing"
        hint = "wait for the flag before the kernel ends, or do not set it the last time"
        return _error(FindingKind.UNBALANCED, (raised.op,), message, hint, self._at(raised))

    def undrained(self, store: Instance) -> Fault:
        """A store may go on behind the end of the kernel."""
        name = name_of(self._kernel, store.op)
        text = f"{name} may not be complete when the kernel ends: no final barrier"
        hint = "end the kernel with pto.barrier <PIPE_ALL>"
        severity = self._grading.undrained
        return Fault(FindingKind.UNBALANCED, severity, (store.op,), text, hint, self._at(store))

    def unfenced(self, unfenced: UnfencedLoad) -> Fault:
        """Flags order a load behind a store, but do not make the stored bytes visible."""
        store, later = unfenced.store.instance, unfenced.load
        first, last = name_of(self._kernel, store.op), name_of(self._kernel, later.op)
        text = f"{last} loads what {first} has stored: flags order the pipes, but do not make the store visible"
        hint = f"put a barrier of all pipes before {last}"
        way = self._nest.way(store, later)
        return Fault(FindingKind.VISIBILITY, Severity.WARNING, (store.op, later.op), text, hint, way)

    def wrong_id(self, flag: Instance) -> Fault | None:
        """The hardware has no such id; None if it has."""
        if 0 <= flag.event < self._event_ids:
            return None
        message = f"{self._name(flag)}: ids are 0..{self._event_ids - 1}"
        return _error(FindingKind.ILLEGAL, (flag.op,), message, "use an id that exists", self._at(flag))

    def illegal_pair(self, op: Flag) -> Fault | None:
        """The hardware has no flags between these pipes; None if it has."""
        if op.pair in LEGAL_PAIRS:
            return None
        name = name_of(self._kernel, op)
        message = f"{name}: the hardware has no flags from {op.pair.source} to {op.pair.target}"
        return _error(FindingKind.ILLEGAL, (op,), message, "lead the flags through another pipe, or use barrier ALL")

    def scalar_barrier(self, op: Barrier) -> Fault:
        """A barrier on the scalar pipe."""
        message = f"{name_of(self._kernel, op)}: the scalar pipe has no barrier"
        return _error(FindingKind.ILLEGAL, (op,), message, "take it away: scalar work is in order")

    def _hang(self, waits: Sequence[Instance], message: str, hint: str) -> Fault:
        return _error(FindingKind.DEADLOCK, tuple(wait.op for wait in waits), message, hint, self._at(waits[-1]))

    def _name(self, flag: Instance) -> str:
        return name_of(self._kernel, flag.op, flag.event)

    def _at(self, instance: Instance) -> str:
        return self._nest.place(instance.op, instance.iteration)


def _error(kind: FindingKind, ops: tuple[Op, ...], message: str, hint: str, iteration: str = "") -> Fault:
    return Fault(kind, Severity.ERROR, ops, message, hint, iteration)


def _reuse_hint(pair: PipePair) -> str:
    back = PipePair(pair.target, pair.source)
    if back not in LEGAL_PAIRS:
        return "use another id"
    return f"use another id, or order it behind the wait by a flag {back}"
