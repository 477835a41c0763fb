"""`simulate`: the replay of a kernel as written."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from syncopt.api._job import Job, Subject, read
from syncopt.check import Finding, Judgement, Verdict, judge
from syncopt.check.findings import verdict_of
from syncopt.ir.kernel import Barrier, Flag, Kernel, walk
from syncopt.ir.source import InputError
from syncopt.ir.trace import Tracer
from syncopt.model.planner import Planner
from syncopt.model.rewrite import strip_flags
from syncopt.model.window import Window
from syncopt.sim import Replay, replay
from syncopt.solve.bounds import LowerBound, lower_bound
from syncopt.solve.orders import movable_ops


@dataclass(frozen=True)
class CoreRun:
    """What one core takes."""

    core: int
    cycles: int
    verdict: Verdict


@dataclass(frozen=True)
class Simulation:
    """What a kernel does as written.

    Parameters
    ----------
    job : Job
        What was asked.
    subject : Subject
        The kernel and its setting; of the slowest core, if all were replayed.
    replay : Replay
        Cycles and where they went.
    bound : LowerBound
        No order of the same ops takes fewer cycles.
    findings : tuple of Finding
        What is wrong with this execution; of all cores, if all were replayed.
    verdict : Verdict
        The worst of the findings.
    is_synchronised : bool
        Whether the kernel holds any flag or barrier.
    window : Window
        A few iterations of every loop, for timelines.
    cores : tuple of CoreRun
        Every core, if all were replayed.
    """

    job: Job
    subject: Subject
    replay: Replay
    bound: LowerBound
    findings: tuple[Finding, ...]
    verdict: Verdict
    is_synchronised: bool
    window: Window
    cores: tuple[CoreRun, ...] = ()


def is_synchronised(kernel: Kernel) -> bool:
    """Whether a kernel holds any flag or barrier."""
    return any(isinstance(op, Flag | Barrier) for op in walk(kernel.body))


def full_bound(planner: Planner) -> LowerBound:
    """Lower bound of the full shape for any order of its ops."""
    trace = Tracer(planner.kernel, planner.setting)
    return lower_bound(trace, planner.machine, planner.shared, movable_ops(planner))


def simulate(job: Job) -> Simulation:
    """Replay a kernel as written and judge this one execution.

    Raises
    ------
    InputError
        Bad input, or an op without a known cost.
    """
    subject = read(job)
    judgement, run = judged(job, subject)
    return _simulation(job, subject, run, judgement.findings)


def simulate_cores(job: Job, done: Callable[[int, int], None] = lambda _core, _cores: None) -> Simulation:
    """Replay a kernel on every core; the figures are those of the slowest one.

    Parameters
    ----------
    job : Job
        Its core does not matter.
    done : callable
        Is told how many cores of how many are done.

    Raises
    ------
    InputError
        Bad input, or an op without a known cost.
    """
    first = read(replace(job, core=0))
    runs: list[CoreRun] = []
    slowest: tuple[Subject, Replay] | None = None
    findings: list[Finding] = []
    for core in range(first.setting.block_num):
        subject = replace(first, setting=replace(first.setting, block_idx=core))
        judgement, run = judged(job, subject)
        runs.append(CoreRun(core, run.cycles, judgement.verdict))
        findings.extend(judgement.findings)
        if slowest is None or run.cycles > slowest[1].cycles:
            slowest = subject, run
        done(core + 1, first.setting.block_num)
    assert slowest is not None, "a machine has a core"
    return replace(_simulation(job, *slowest, _each_once(findings)), cores=tuple(runs))


def judged(job: Job, subject: Subject) -> tuple[Judgement, Replay]:
    """The one execution of a subject, judged and replayed.

    Raises
    ------
    InputError
        If it cannot be replayed.
    """
    judgement = judge(subject.kernel, subject.setting, job.machine)
    if judgement.replay is None:
        # Names the op that has no known cost, if that is why.
        replay(Tracer(subject.kernel, subject.setting), job.machine, source=subject.kernel.source)
        first = next(iter(judgement.findings), None)
        raise InputError("this execution cannot be replayed" + (f": {first.message}" if first else ""))
    return judgement, judgement.replay


def _simulation(job: Job, subject: Subject, run: Replay, findings: tuple[Finding, ...]) -> Simulation:
    planner = Planner(strip_flags(subject.kernel), subject.setting, job.machine)
    return Simulation(
        job=job,
        subject=subject,
        replay=run,
        bound=full_bound(planner),
        findings=findings,
        verdict=verdict_of(findings),
        is_synchronised=is_synchronised(subject.kernel),
        window=planner.window,
    )


def _each_once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings of several cores, by line."""
    found: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        found.setdefault((finding.kind, finding.severity, finding.ops), finding)
    return tuple(sorted(found.values(), key=lambda finding: (finding.line, finding.ops, str(finding.kind))))
