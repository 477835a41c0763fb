"""`check`: is a kernel right for all trip counts?"""

from dataclasses import dataclass

from syncopt.api._job import Job, Subject, read
from syncopt.check import Report, Rules, check_kernel

DEFAULT_RULES = Rules()


@dataclass(frozen=True)
class Checked:
    """The outcome of a check: what was asked, what was read, what was found."""

    job: Job
    subject: Subject
    report: Report


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
