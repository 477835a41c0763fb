"""The C++ of a plan, handed out only if it does what the plan does."""

from collections.abc import Sequence
from pathlib import Path

from syncopt.api._agreement import Renaming, first_difference
from syncopt.api._job import Job, Subject
from syncopt.api._wrong import WrongPlan
from syncopt.check import check_kernel, judge
from syncopt.emit import cpp_text
from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError, Source


def refuse_what_has_no_cpp(subject: Subject) -> None:
    """Find out before a search whether a kernel can be written as C++: a plan only adds flags and moves ops.

    Raises
    ------
    InputError
        If an op, a type or a value has no C++ form.
    """
    cpp_text(subject.kernel, subject.setting)


def proven_cpp(job: Job, subject: Subject, also: Sequence[Subject], kernel: Kernel, cycles: int) -> bytes:
    """The C++ of a planned kernel, read again, checked, and replayed beside it.

    Parameters
    ----------
    job : Job
        What was asked.
    subject : Subject
        The kernel as written, with its setting.
    also : sequence of Subject
        The same for other arguments.
    kernel : Kernel
        With its plan.
    cycles : int
        What the plan takes.

    Raises
    ------
    InputError
        If an op, a type or a value has no C++ form.
    WrongPlan
        If the C++ cannot be read, is not clean, or does not execute the same instructions on the same bytes with the
        same flags in the same cycles; this is a fault of syncopt.
    """
    text = cpp_text(kernel, subject.setting).encode()
    other = _read(job.path, text)
    if len(other.arguments) != len(kernel.arguments):
        raise WrongPlan("the C++ takes other arguments than the kernel")
    for setting in (subject.setting, *(shape.setting for shape in also)):
        difference = first_difference(kernel, other, setting)
        if difference is not None:
            raise WrongPlan(f"the C++ differs from the plan: {difference}")
    _check(job, subject, Renaming(kernel, other), other, cycles)
    return text


def _read(path: Path, text: bytes) -> Kernel:
    try:
        return parse_module(Source(f"{path} (plan).cpp", text)).kernel()
    except InputError as error:
        raise WrongPlan(f"the C++ of the plan cannot be read again: {error}") from error


def _check(job: Job, subject: Subject, renaming: Renaming, other: Kernel, cycles: int) -> None:
    setting = renaming.setting(subject.setting)
    report = check_kernel(other, setting, job.machine, renaming.assumptions(subject.assumptions))
    for finding in report.findings:
        raise WrongPlan(f"the C++ of the plan is not clean: {finding.message}")
    judgement = judge(other, setting, job.machine)
    if judgement.replay is None or not judgement.valid:
        raise WrongPlan(f"the C++ of the plan is not clean for the given arguments: {judgement.errors[0].message}")
    # Where scalar steps cost time, the two texts may count them differently.
    if judgement.replay.cycles != cycles and not job.machine.scalar_op:
        raise WrongPlan(f"the C++ of the plan replays in {judgement.replay.cycles} cycles, not in {cycles}")
