"""`check`: is a kernel right for all trip counts?"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from syncopt.api._execute import Executions, execute_orders
from syncopt.api._job import Job, Subject, read
from syncopt.check import Report, Rules, check_kernel

DEFAULT_RULES = Rules()


@dataclass(frozen=True)
class Checked:
    """The outcome of a check: what was asked, what was read, what was found, what was executed."""

    job: Job
    subject: Subject
    report: Report
    executions: Executions | None = None


def check(job: Job, rules: Rules = DEFAULT_RULES) -> Checked:
    """Prove a kernel race-free, deadlock-free and balanced, or show how it fails.

    Parameters
    ----------
    job : Job
        The kernel.
    rules : Rules
        How strictly: severity of what only durations can tell, what tells flags apart, replays with other costs.

    Raises
    ------
    InputError
        Bad input.
    """
    subject = read(job)
    report = check_kernel(subject.kernel, subject.setting, job.machine, subject.assumptions, rules=rules)
    return Checked(job, subject, report)


def with_executions(checked: Checked, random_orders: int, stage: Callable[[str], None] = lambda _: None) -> Checked:
    """A check with what the kernel computes for the given arguments, wrong numbers among its findings.

    Parameters
    ----------
    checked : Checked
        Of the kernel.
    random_orders : int
        How many random orders are executed, besides the replay's and the worst ones.
    stage : callable
        Is told in words what begins.

    Raises
    ------
    InputError
        If the kernel cannot be executed here.
    """
    executions = execute_orders(checked.job, checked.subject, random_orders, stage)
    report = replace(checked.report, findings=(*checked.report.findings, *executions.findings))
    return replace(checked, report=report, executions=executions)
