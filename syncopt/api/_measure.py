"""What a plan is worth: its baseline, and both on other machines and for other arguments."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from syncopt.api._job import Subject
from syncopt.check import Finding, FindingKind, Judgement, judge
from syncopt.hwmodel import Machine, sensitivity_machines
from syncopt.ir.kernel import Kernel
from syncopt.ir.trace import Setting, Tracer
from syncopt.sim import Replay, replay

_FAULTS = {
    FindingKind.RACE: "has a race",
    FindingKind.UNBALANCED: "leaves a flag up",
    FindingKind.ILLEGAL: "is illegal",
}
"""Faults that a replay does not show."""


class BaselineKind(Enum):
    """What a plan is measured against: the kernel with its own flags, or its order with the flags of a fixed order."""

    AS_WRITTEN = "as-written"
    FIXED_ORDER = "fixed-order"


@dataclass(frozen=True)
class Baseline:
    """The kernel that a plan is compared with.

    Parameters
    ----------
    cycles : int
        Of the full shape; up to where it stops, if it hangs.
    kind : BaselineKind
        What it is.
    valid : bool
        Whether the execution of the given arguments shows no fault.
    kernel : Kernel
        With its flags.
    drawn : Kernel
        The same for timelines: its ops have the lines of the input, flags that were added have none.
    errors : tuple of Finding
        What is wrong with it.
    hangs : bool
        Whether it never ends: then its cycles compare with nothing.
    """

    cycles: int
    kind: BaselineKind
    valid: bool
    kernel: Kernel
    drawn: Kernel
    errors: tuple[Finding, ...] = ()
    hangs: bool = False


def written_baseline(kernel: Kernel, judgement: Judgement) -> Baseline:
    """A kernel with its own flags, as judged."""
    run = judgement.replay
    return Baseline(
        cycles=0 if run is None else run.cycles,
        kind=BaselineKind.AS_WRITTEN,
        valid=judgement.valid,
        kernel=kernel,
        drawn=kernel,
        errors=judgement.errors,
        hangs=run is None or run.deadlock is not None,
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Plan and baseline in one run each.

    Parameters
    ----------
    cycles, baseline : int
        Of the plan and of the baseline.
    faults : tuple of str
        What is wrong with which of them.
    hangs : bool
        Whether one of them does not end: then the cycles do not compare.
    """

    cycles: int
    baseline: int
    faults: tuple[str, ...] = ()
    hangs: bool = False

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with either."""
        return not self.faults

    @property
    def speedup(self) -> float | None:
        """Baseline cycles per plan cycle; None where one of them does not end or there is nothing to do."""
        return None if self.hangs or not self.cycles else self.baseline / self.cycles

    @property
    def is_slower(self) -> bool:
        """Whether the plan takes longer."""
        return not self.hangs and self.cycles > self.baseline


@dataclass(frozen=True, kw_only=True)
class SensitivityRow(Comparison):
    """Plan and baseline on another machine."""

    machine: str


@dataclass(frozen=True, kw_only=True)
class AlsoRow(Comparison):
    """Plan and baseline for other arguments, by name; `notes` are the arguments that were left open."""

    arguments: Mapping[str, int]
    notes: tuple[str, ...] = ()


def on_other_machines(machine: Machine, plan: Kernel, baseline: Baseline, setting: Setting) -> Iterator[SensitivityRow]:
    """Plan and baseline on the sensitivity machines; what the baseline does wrong by its order holds on all of them."""
    known = tuple(f"baseline {fault}" for fault in faults_of_order(baseline.errors))
    for label, other in sensitivity_machines(machine):
        runs = _Runs(replay(Tracer(plan, setting), other), replay(Tracer(baseline.kernel, setting), other))
        yield SensitivityRow(
            machine=label,
            cycles=runs.plan.cycles,
            baseline=runs.baseline.cycles,
            faults=(*runs.faults, *known),
            hangs=runs.hangs,
        )


def for_other_arguments(
    machine: Machine, plan: Kernel, baseline: Baseline, subjects: Iterable[Subject]
) -> Iterator[AlsoRow]:
    """Plan and baseline for other arguments."""
    for subject in subjects:
        judgement = judge(baseline.kernel, subject.setting, machine)
        assert judgement.replay is not None, "all its ops have costs"
        runs = _Runs(replay(Tracer(plan, subject.setting), machine), judgement.replay)
        yield AlsoRow(
            arguments=subject.setting.arguments,
            notes=subject.notes,
            cycles=runs.plan.cycles,
            baseline=runs.baseline.cycles,
            faults=(*runs.faults, *(f"baseline {fault}" for fault in faults_of_order(judgement.errors))),
            hangs=runs.hangs,
        )


def faults_of_order(errors: Iterable[Finding]) -> tuple[str, ...]:
    """In words, what is wrong with a kernel besides what its replay shows."""
    kinds = dict.fromkeys(finding.kind for finding in errors)
    return tuple(_FAULTS[kind] for kind in kinds if kind in _FAULTS)


def faults_of_run(run: Replay) -> tuple[str, ...]:
    """In words, what a replay shows to be wrong."""
    faults = (("hangs", run.deadlock is not None), ("sets a flag twice", bool(run.double_sets)))
    return tuple(fault for fault, shows in faults if shows)


class _Runs(NamedTuple):
    plan: Replay
    baseline: Replay

    @property
    def hangs(self) -> bool:
        return any(run.deadlock is not None for run in self)

    @property
    def faults(self) -> tuple[str, ...]:
        """In words, which of the two hangs or sets a flag twice."""
        return tuple(
            f"{name} {fault}"
            for name, run in (("plan", self.plan), ("baseline", self.baseline))
            for fault in faults_of_run(run)
        )
