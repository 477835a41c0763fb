"""One version of a kernel in a comparison: what runs, what it takes, what it does, what is wrong with it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from syncopt.api._job import Job, Subject, read
from syncopt.api._measure import faults_of_order, faults_of_run
from syncopt.api._simulate import is_synchronised, judged
from syncopt.api._solve import Request, Solved, fixed_order, refuse_no_work, solve
from syncopt.check import Finding, Report, check_kernel
from syncopt.hwmodel import sensitivity_machines
from syncopt.ir.kernel import Kernel, TileOp
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Tracer
from syncopt.model.rewrite import strip_flags
from syncopt.sim import Replay, replay


class VersionKind(Enum):
    """What of a kernel is replayed: it with its own flags, its order as written with flags added, or its best plan."""

    AS_WRITTEN = "as-written"
    FIXED_ORDER = "fixed-order"
    OPTIMUM = "optimum"


@dataclass(frozen=True)
class WorkDone:
    """What an execution does, whatever its order and flags.

    Parameters
    ----------
    ops : mapping of str to int
        Tile ops executed, by name.
    loaded, stored : int
        Bytes read from and written to global memory.
    """

    ops: Mapping[str, int]
    loaded: int
    stored: int

    def differences(self, other: "WorkDone") -> tuple[str, ...]:
        """In words, what `other` does more or less of."""
        mine = {**{f"{name} executed": count for name, count in self.ops.items()}, **self._bytes}
        theirs = {**{f"{name} executed": count for name, count in other.ops.items()}, **other._bytes}
        return tuple(
            f"{what}: {theirs.get(what, 0):,} instead of {mine.get(what, 0):,}"
            for what in {**mine, **theirs}
            if mine.get(what, 0) != theirs.get(what, 0)
        )

    @property
    def _bytes(self) -> dict[str, int]:
        return {"bytes loaded": self.loaded, "bytes stored": self.stored}


@dataclass(frozen=True)
class Measured:
    """A version on one machine: its cycles, up to where it stops if it hangs, and what is wrong with it there."""

    machine: str
    cycles: int
    faults: tuple[str, ...]
    hangs: bool


@dataclass(frozen=True)
class Version:
    """A version of a kernel.

    Parameters
    ----------
    name : str
        What the comparison calls it.
    kind : VersionKind
        What of it is replayed.
    maker : str
        What made it: "file", "solve", or the command line of ptoas without its files.
    job : Job
        What was asked.
    subject : Subject
        The kernel as read, and its setting.
    kernel : Kernel
        What is replayed, with its flags. Of a fixed order its tile ops have their lines in the file, its flags none.
    replay : Replay
        The execution of the given arguments.
    errors : tuple of Finding
        What is wrong with this execution.
    report : Report
        What is wrong with any.
    work : WorkDone
        What this execution does.
    sensitivity : tuple of Measured
        On the sensitivity machines.
    solved : Solved or None
        The plan with its proof, of an optimum.
    """

    name: str
    kind: VersionKind
    maker: str
    job: Job
    subject: Subject
    kernel: Kernel
    replay: Replay
    errors: tuple[Finding, ...]
    report: Report
    work: WorkDone
    sensitivity: tuple[Measured, ...]
    solved: Solved | None = None

    @property
    def cycles(self) -> int:
        """Cycles of the execution; up to where it stops, if it hangs."""
        return self.replay.cycles

    @property
    def hangs(self) -> bool:
        """Whether the execution never ends: then its cycles compare with nothing."""
        return self.replay.deadlock is not None

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with the execution of the given arguments."""
        return not self.errors


@dataclass(frozen=True)
class _Ran:
    """What was replayed of a kernel, and what came of it."""

    kind: VersionKind
    kernel: Kernel
    replay: Replay
    errors: tuple[Finding, ...]
    report: Report
    solved: Solved | None = None


def version_of(job: Job, name: str, maker: str = "file") -> Version:
    """A file as a version: with its own flags, or with those of a fixed order if it has none.

    Raises
    ------
    InputError
        Bad input, an op without a known cost, or an execution without any tile op.
    WrongPlan
        If the flags of a fixed order are not clean; this is a fault of syncopt.
    """
    subject = read(job)
    stripped = strip_flags(subject.kernel)
    refuse_no_work(subject, stripped)
    if is_synchronised(subject.kernel):
        judgement, run = judged(job, subject)
        report = check_kernel(subject.kernel, subject.setting, job.machine, subject.assumptions)
        ran = _Ran(VersionKind.AS_WRITTEN, subject.kernel, run, judgement.errors, report)
        return _version(job, subject, name, maker, ran)
    kernel, report = fixed_order(job, subject, stripped)
    judgement, run = judged(job, replace(subject, kernel=kernel))
    ran = _Ran(VersionKind.FIXED_ORDER, kernel, run, judgement.errors, report)
    return _version(job, subject, name, maker, ran)


def optimum_of(job: Job, name: str, request: Request) -> Version:
    """The plan of a kernel as a version.

    Raises
    ------
    InputError, NoPlan, WrongPlan
        As `solve`.
    """
    solved = solve(job, request)
    ran = _Ran(VersionKind.OPTIMUM, solved.kernel, solved.replay, (), solved.report, solved)
    return _version(job, solved.subject, name, "solve", ran)


def _version(job: Job, subject: Subject, name: str, maker: str, ran: _Ran) -> Version:
    return Version(
        name=name,
        kind=ran.kind,
        maker=maker,
        job=job,
        subject=subject,
        kernel=ran.kernel,
        replay=ran.replay,
        errors=ran.errors,
        report=ran.report,
        work=_work_of(ran.kernel, subject),
        sensitivity=tuple(_sensitivity(job, subject, ran)),
        solved=ran.solved,
    )


def _work_of(kernel: Kernel, subject: Subject) -> WorkDone:
    ops, loaded, stored = Counter[str](), 0, 0
    for instance in Tracer(kernel, subject.setting):
        if isinstance(instance.op, TileOp) and instance.work is not None:
            ops[instance.op.name] += 1
            loaded += sum(operand.bytes for operand in instance.work.ins if operand.memory is Memory.GM)
            stored += sum(operand.bytes for operand in instance.work.outs if operand.memory is Memory.GM)
    return WorkDone(dict(sorted(ops.items())), loaded, stored)


def _sensitivity(job: Job, subject: Subject, ran: _Ran) -> Iterator[Measured]:
    """The version on the sensitivity machines; what is wrong with it by its order holds on all of them."""
    known = faults_of_order(ran.errors)
    for label, machine in sensitivity_machines(job.machine):
        run = replay(Tracer(ran.kernel, subject.setting), machine, source=subject.kernel.source)
        yield Measured(label, run.cycles, (*faults_of_run(run), *known), run.deadlock is not None)
