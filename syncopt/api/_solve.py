"""`solve`: the best plan of a kernel, proven, written back and measured."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from syncopt.api._agreement import first_difference
from syncopt.api._cpp import proven_cpp, refuse_what_has_no_cpp
from syncopt.api._job import Job, Subject, read, with_arguments
from syncopt.api._measure import (
    AlsoRow,
    Baseline,
    BaselineKind,
    SensitivityRow,
    for_other_arguments,
    on_other_machines,
    written_baseline,
)
from syncopt.api._moves import Move, moves
from syncopt.api._plans import Answer, Plans, remembered_plan
from syncopt.api._simulate import full_bound, is_synchronised
from syncopt.api._wrong import WrongPlan
from syncopt.check import Execution, Report, check_kernel, judge
from syncopt.emit import check_writable, render
from syncopt.frontend import parse_module
from syncopt.ir.forcing import TripCounts
from syncopt.ir.kernel import Kernel, TileOp
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Tracer
from syncopt.model.addresses import with_addresses
from syncopt.model.flags.insertion import with_flags
from syncopt.model.planner import Plan, Planner
from syncopt.model.prices import priced
from syncopt.model.rewrite import strip_flags
from syncopt.model.window import Window
from syncopt.sim import Replay, replay
from syncopt.solve.bounds import LowerBound
from syncopt.solve.cpsat.search import Step
from syncopt.solve.driver import OrderMode, Solution, best_plan
from syncopt.solve.orders import Budget, window_bound

_ROUNDS = 8
"""Plans that are derived at most."""
_FAILING_AT_ONCE = 4
"""Executions in which a plan fails that are taken into the next derivation."""
_KEPT_SCOPE = "the makespan of the window for any order of its ops, whatever flags they have"


class Output(Enum):
    """What a plan is written as besides the kernel's own text."""

    CPP = "cpp"


@dataclass(frozen=True)
class Solved:
    """A proven plan and what it is worth.

    Parameters
    ----------
    job : Job
        What was asked.
    subject : Subject
        The kernel and its setting.
    solution : Solution
        The plan, its window and its proof.
    text : bytes
        The kernel with the plan, as `.pto`.
    kernel : Kernel
        As read from that text.
    window : Window
        What of the full execution the window leaves out.
    replay : Replay
        Of the emitted text on the full shape.
    bound : LowerBound
        Of the full shape.
    baseline : Baseline
        What it is compared with.
    sensitivity : tuple of SensitivityRow
        On the sensitivity machines.
    also : tuple of AlsoRow
        For other arguments.
    moves : tuple of Move
        Ops that moved.
    report : Report
        The check of the emitted text.
    seconds : float
        Wall time of everything.
    cpp : bytes or None
        The kernel with the plan as PTO-ISA C++, if that was asked for.
    remembered : bool
        Whether the search was remembered, not done.
    slower_plan : int or None
        Cycles of the best plan found, where the kernel as written is clean and takes fewer: then that is the answer.
    """

    job: Job
    subject: Subject
    solution: Solution
    text: bytes
    kernel: Kernel
    window: Window
    replay: Replay
    bound: LowerBound
    baseline: Baseline
    sensitivity: tuple[SensitivityRow, ...]
    also: tuple[AlsoRow, ...]
    moves: tuple[Move, ...]
    report: Report
    seconds: float
    cpp: bytes | None = None
    remembered: bool = False
    slower_plan: int | None = None

    @property
    def gap(self) -> float:
        """Distance of the full-shape replay from its bound, as a fraction of the bound."""
        return (self.replay.cycles - self.bound.cycles) / self.bound.cycles if self.bound.cycles else 0.0

    @property
    def speedup(self) -> float:
        """Baseline cycles per plan cycle; not a number where the baseline hangs or there is nothing to do."""
        comparable = self.replay.cycles and not self.baseline.hangs
        return self.baseline.cycles / self.replay.cycles if comparable else float("nan")

    @property
    def slower_on(self) -> tuple[str, ...]:
        """Machines and arguments where the plan takes longer than the baseline."""
        machines = [row.machine for row in self.sensitivity if row.is_slower]
        shapes = [
            ", ".join(f"{name}={value}" for name, value in row.arguments.items()) for row in self.also if row.is_slower
        ]
        return (*machines, *shapes)


@dataclass(frozen=True)
class Request:
    """How to solve a job.

    Parameters
    ----------
    mode : OrderMode
        Whether the issue order is open.
    budget : Budget
        For the search.
    also : tuple of tuple of int
        Further arguments, in order, to measure the plan on.
    report : callable
        Is told of progress.
    stage : callable
        Is told in words what begins.
    outputs : frozenset of Output
        What else the plan is written as.
    plans : Plans or None
        Remembers searches; None to do every one.
    """

    mode: OrderMode
    budget: Budget
    also: tuple[tuple[int, ...], ...] = ()
    report: Callable[[Step], None] = lambda _: None
    stage: Callable[[str], None] = lambda _: None
    outputs: frozenset[Output] = frozenset()
    plans: Plans | None = None


@dataclass(frozen=True)
class _Emitted:
    """A planned kernel, its text, the kernel read from that text, and its check."""

    planned: Kernel
    text: bytes
    kernel: Kernel
    report: Report


def solve(job: Job, request: Request) -> Solved:
    """Find the best plan, write it, read it again, check it and replay it.

    Raises
    ------
    InputError
        Bad input.
    NoPlan
        The budget ended before there was any plan.
    WrongPlan
        The emitted kernel failed its check or did not replay in the claimed cycles; this is a fault of syncopt.
    """
    began = time.monotonic()
    subject = read(job)
    check_writable(subject.kernel)
    stripped = strip_flags(subject.kernel)
    refuse_no_work(subject, stripped)
    _refuse_unrelated_starts(stripped)
    if Output.CPP in request.outputs:
        refuse_what_has_no_cpp(subject)
    also = [_priced(job, arguments) for arguments in request.also]
    planner, (solution, remembered), emitted = _proven(job, subject, stripped, request)
    request.stage("replaying the plan in full")
    result = _replayed(job, subject, emitted)
    moved = tuple(moves(subject.kernel, emitted.kernel, planner, solution.plan))
    request.stage("replaying the baseline")
    baseline = _baseline(job, subject, stripped, request.plans)
    slower_plan = None
    kept = _kept_as_written(job, subject, baseline) if baseline.cycles < result.cycles else None
    if kept is not None:
        slower_plan, moved, emitted = result.cycles, (), kept
        result, solution = _replayed(job, subject, kept), _as_written(planner, subject.kernel, solution)
    cpp = _as_cpp(job, subject, also, emitted, result.cycles, request)
    request.stage("measuring both on other machines")
    return Solved(
        job=job,
        subject=subject,
        solution=solution,
        text=emitted.text,
        kernel=emitted.kernel,
        window=planner.window,
        replay=result,
        bound=full_bound(planner),
        baseline=baseline,
        sensitivity=tuple(on_other_machines(job.machine, emitted.kernel, baseline, subject.setting)),
        also=tuple(for_other_arguments(job.machine, emitted.kernel, baseline, also)),
        moves=moved,
        report=emitted.report,
        seconds=time.monotonic() - began,
        cpp=cpp,
        remembered=remembered,
        slower_plan=slower_plan,
    )


def _kept_as_written(job: Job, subject: Subject, baseline: Baseline) -> _Emitted | None:
    """The kernel with its own flags; None if it has none, or anything is found in it."""
    if baseline.kind is not BaselineKind.AS_WRITTEN or not baseline.valid:
        return None
    emitted = _emit(job, subject, subject.kernel)
    return None if emitted.report.findings else emitted


def _as_written(planner: Planner, kernel: Kernel, solution: Solution) -> Solution:
    """What is proven of a kernel with its own flags: no bound of the search covers them."""
    makespan = replay(Tracer(kernel, planner.setting, planner.window), planner.machine).cycles
    return replace(solution, makespan=makespan, bound=window_bound(planner).cycles, scope=_KEPT_SCOPE)


def _priced(job: Job, arguments: tuple[int, ...]) -> Subject:
    """The kernel of a job for other arguments, which may execute ops that those of the job do not.

    Raises
    ------
    UnmodelledWork
        If one of them has no cost: refused before the search, not when the plan is measured.
    """
    subject = read(with_arguments(job, arguments))
    for _ in priced(Tracer(subject.kernel, subject.setting), job.machine, subject.kernel.source):
        pass
    return subject


def refuse_no_work(subject: Subject, kernel: Kernel) -> None:
    """Refuse arguments with which the core executes nothing: every plan of that would be optimal.

    Raises
    ------
    InputError
        If a kernel executes no tile op with the arguments and the core of a subject.
    """
    if any(isinstance(instance.op, TileOp) for instance in Tracer(kernel, subject.setting)):
        return
    setting = subject.setting
    given = ", ".join(f"{name}={value}" for name, value in setting.arguments.items())
    where = f"core {setting.block_idx} of {setting.block_num}" + (f" with {given}" if given else "")
    message = f"{where} executes no tile op: there is nothing to optimise"
    raise InputError(message, subject.kernel.source, subject.kernel.span, "choose other arguments or another core")


def _refuse_unrelated_starts(kernel: Kernel) -> None:
    """Refuse loops of one upper bound that start at different values, an argument among them.

    Not all pairs of their trip counts are run by the check, so that a plan could be wrong for other arguments.
    """
    trips = TripCounts(kernel)
    loops = {loop.op.uid: loop.op for loop in trips.loops}
    for group in trips.groups:
        starts = {trips.numbers[loops[uid].lower]: loops[uid] for uid in group.loops}
        for loop in starts.values() if len(starts) > 1 else ():
            if trips.definitions.ancestry(loop.lower) & trips.definitions.arguments:
                message = f"loops up to {group.name} start at different values, one of them from an argument"
                raise InputError(message, kernel.source, loop.span, "start them at one value, or at constants")


def _proven(job: Job, subject: Subject, stripped: Kernel, request: Request) -> tuple[Planner, Answer, _Emitted]:
    """The best plan whose emitted text passes the check; executions that fail are taken into the derivation."""
    began = time.monotonic()
    failing: list[Execution] = []
    rounds = 0
    while True:
        request.stage("deriving flags")
        planner = Planner(stripped, subject.setting, job.machine, failing)
        spent = time.monotonic() - began if failing else 0.0
        budget = replace(request.budget, seconds=request.budget.seconds - spent)
        answer = _searched(planner, replace(request, budget=budget))
        request.stage("checking the plan")
        emitted = _emit(job, subject, _flagged(planner, answer.solution.plan))
        if not emitted.report.findings:
            return planner, answer, emitted
        rounds += 1
        fresh = _smallest(emitted.report, failing)
        if not fresh or rounds == _ROUNDS:
            first = emitted.report.findings[0]
            raise WrongPlan(f"the plan is not clean: {first.message} ({first.execution or 'every execution'})")
        failing += fresh


def _smallest(report: Report, known: Sequence[Execution]) -> list[Execution]:
    """The smallest executions in which something was found, without those that are known."""
    found: list[Execution] = []
    executions = (finding.execution for finding in report.findings if finding.execution is not None)
    for execution in sorted(executions, key=Execution.size):
        if execution not in known and execution not in found:
            found.append(execution)
    return found[:_FAILING_AT_ONCE]


def _searched(planner: Planner, request: Request) -> Answer:
    if request.plans is not None:
        return remembered_plan(request.plans, planner, request.mode, request.budget)
    return Answer(best_plan(planner, request.mode, request.budget, request.report), remembered=False)


def _flagged(planner: Planner, plan: Plan) -> Kernel:
    return with_flags(planner.ordered(plan.order), plan.placement, plan.ids)


def _emit(job: Job, subject: Subject, flagged: Kernel) -> _Emitted:
    planned = with_addresses(flagged, subject.addresses)
    text = render(subject.kernel, planned)
    path = job.path.with_stem(f"{job.path.stem} (plan)")
    kernel = parse_module(Source(str(path), text)).kernel(subject.kernel.name)
    report = check_kernel(kernel, subject.setting, job.machine, subject.assumptions)
    return _Emitted(planned, text, kernel, report)


def _replayed(job: Job, subject: Subject, emitted: _Emitted) -> Replay:
    """The replay of the emitted text on the full shape, which must be faultless and take the cycles of its plan."""
    claimed = replay(Tracer(emitted.planned, subject.setting), job.machine, source=subject.kernel.source)
    difference = first_difference(emitted.planned, emitted.kernel, subject.setting)
    if difference is not None:
        raise WrongPlan(f"the emitted kernel differs from its plan: {difference}")
    judgement = judge(emitted.kernel, subject.setting, job.machine)
    if judgement.replay is None or not judgement.valid:
        raise WrongPlan(f"the plan is not clean for the given arguments: {judgement.errors[0].message}")
    if judgement.replay.cycles != claimed.cycles:
        raise WrongPlan("the emitted kernel does not replay in the cycles of its plan")
    return judgement.replay


def _as_cpp(
    job: Job, subject: Subject, also: Sequence[Subject], emitted: _Emitted, cycles: int, request: Request
) -> bytes | None:
    if Output.CPP not in request.outputs:
        return None
    request.stage("checking the C++")
    return proven_cpp(job, subject, also, emitted.kernel, cycles)


def _baseline(job: Job, subject: Subject, stripped: Kernel, plans: Plans | None) -> Baseline:
    if is_synchronised(subject.kernel):
        return written_baseline(subject.kernel, judge(subject.kernel, subject.setting, job.machine))
    planner = Planner(stripped, subject.setting, job.machine)
    fixed = _searched(planner, Request(OrderMode.FIXED, Budget(float("inf")), plans=plans)).solution
    emitted = _emit(job, subject, _flagged(planner, fixed.plan))
    cycles = _replayed(job, subject, emitted).cycles
    return Baseline(cycles, BaselineKind.FIXED_ORDER, True, emitted.kernel, emitted.planned)


def fixed_order(job: Job, subject: Subject, stripped: Kernel) -> tuple[Kernel, Report]:
    """A kernel without flags in its order as written, with the best flags for that, and the check of its text.

    Raises
    ------
    WrongPlan
        As `solve`.
    """
    _, _, emitted = _proven(job, subject, stripped, Request(OrderMode.FIXED, Budget(float("inf"))))
    return emitted.planned, emitted.report
