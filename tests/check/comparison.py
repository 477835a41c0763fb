"""What the check and the brute force say of a kernel, side by side.

On one execution both must say the same of hangs, races, flags left up, stores not drained, loads of what was stored and
double sets, op by op, with these exceptions:

- Behind a race the check goes on as if the two ops were in order, so it tells of fewer faults of other kinds, races
  included. It must tell of one race, and of nothing that the brute force does not know.
- Where a trace hangs, flags left up and stores not drained are not told, and races with ops that never run need not be.
- Of several stores that a load comes behind, the check tells one; of a pair that races, it may tell that as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from syncopt.check import Finding, FindingKind, Severity
from syncopt.ir.kernel import Kernel, SetFlag, walk
from syncopt.ir.trace import Instance
from tests.check.brute_force import IdReuse, Outcome, id_reuse, reuse_at

GRADES = {
    Severity.ERROR: {IdReuse.TIMED},
    Severity.WARNING: {IdReuse.TIMED},
    Severity.NOTE: {IdReuse.EAGER},
}
"""What can keep a set apart of which something is found, by the severity of that."""

Ops = frozenset[tuple[int, ...]]
NONE: Ops = frozenset()


@dataclass(frozen=True)
class Faults:
    """What is wrong, each as the uids of the ops that it is about; of `sure_races` (brute force only) both ops run."""

    deadlock: bool = False
    races: Ops = NONE
    sure_races: Ops = NONE
    early: Ops = NONE
    left: Ops = NONE
    undrained: Ops = NONE
    unfenced: Ops = NONE

    def __or__(self, other: "Faults") -> "Faults":
        return Faults(
            self.deadlock or other.deadlock,
            self.races | other.races,
            self.sure_races | other.sure_races,
            self.early | other.early,
            self.left | other.left,
            self.undrained | other.undrained,
            self.unfenced | other.unfenced,
        )

    @property
    def firm(self) -> "Faults":
        """What must be told whatever else is: behind a race only what the flags themselves show."""
        known = Faults(self.deadlock, left=self.left)
        return known if self.races else replace(known, early=self.early, undrained=self.undrained)

    @property
    def most(self) -> "Faults":
        """What may be told: loads of what was stored also where the two race."""
        return replace(self, unfenced=self.unfenced | self.races)


def told(kernel: Kernel, findings: Iterable[Finding]) -> Faults:
    """What the check tells; hangs, races and flags left up count only where it is sure."""
    sets = {op.uid for op in walk(kernel.body) if isinstance(op, SetFlag)}
    ops = {kind: set[tuple[int, ...]]() for kind in FindingKind}
    errors = {kind: set[tuple[int, ...]]() for kind in FindingKind}
    for finding in findings:
        ops[finding.kind].add(finding.ops)
        if finding.severity is Severity.ERROR:
            errors[finding.kind].add(finding.ops)
    assert not ops[FindingKind.ILLEGAL]
    return Faults(
        deadlock=bool(errors[FindingKind.DEADLOCK]),
        races=frozenset(errors[FindingKind.RACE]),
        early=frozenset(ops[FindingKind.DOUBLE_SET] | ops[FindingKind.ID_REUSE]),
        left=frozenset(about for about in errors[FindingKind.UNBALANCED] if about[0] in sets),
        undrained=frozenset(about for about in ops[FindingKind.UNBALANCED] if about[0] not in sets),
        unfenced=frozenset(ops[FindingKind.VISIBILITY]),
    )


def known(trace: Sequence[Instance], lazy: Outcome) -> Faults:
    """What the brute force knows.

    Of stores that are not drained the check tells the last of each pipe.
    """

    def uids(*at: int) -> tuple[int, ...]:
        return tuple(trace[place].op.uid for place in at)

    last = {trace[place].pipe: place for place in sorted(lazy.undrained)}
    return Faults(
        deadlock=lazy.deadlock,
        races=frozenset(uids(*pair) for pair in lazy.races),
        sure_races=frozenset(uids(*pair) for pair in lazy.races - lazy.stuck),
        early=frozenset(map(uids, lazy.doubles)),
        left=frozenset(map(uids, lazy.left)),
        undrained=frozenset(map(uids, last.values())),
        unfenced=frozenset(uids(*pair) for pair in lazy.unfenced),
    )


def loads(unfenced: Ops) -> set[int]:
    """The loads among stores and loads."""
    return {load for _, load in unfenced}


def disagreements(check: Faults, brute: Faults) -> Iterator[str]:
    """What the two say differently of one execution."""
    if check.deadlock is not brute.deadlock:
        yield f"deadlock: {check.deadlock}, brute force {brute.deadlock}"
    if not check.races <= brute.races or (brute.sure_races and not check.races):
        yield f"races: {set(check.races)}, brute force {set(brute.races)}"
    if check.left != brute.left and not brute.deadlock:
        yield f"left: {set(check.left)}, brute force {set(brute.left)}"
    if not check.early <= brute.early or (check.early != brute.early and not brute.races):
        yield f"early: {set(check.early)}, brute force {set(brute.early)}"
    some, all_ = check.undrained, brute.undrained
    if not brute.deadlock and (not some <= all_ or (some != all_ and not brute.races)):
        yield f"undrained: {set(some)}, brute force {set(all_)}"
    some, all_ = check.unfenced, brute.unfenced
    if not some <= brute.most.unfenced or (loads(some) != loads(all_) and not brute.races):
        yield f"unfenced: {set(some)}, brute force {set(all_)}"


def wrong_grades(
    findings: Iterable[Finding], trace: Sequence[Instance], lazy: Outcome, eager: Outcome
) -> Iterator[str]:
    """Sets whose finding does not say what keeps them apart."""
    errors = 0
    for finding in findings:
        if finding.kind in (FindingKind.DOUBLE_SET, FindingKind.ID_REUSE):
            errors += finding.severity is Severity.ERROR
            grades = [reuse_at(at, lazy, eager) for at, i in enumerate(trace) if i.op.uid == finding.ops[0]]
            worst = max(grades, key=list(IdReuse).index)
            if worst not in GRADES[finding.severity]:
                yield f"{finding.severity}: {finding.message}, brute force {worst.value}"
    if id_reuse(lazy, eager) is IdReuse.CERTAIN and not errors:
        yield "no error, brute force certain"
