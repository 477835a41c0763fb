"""`check`: is a kernel right for all trip counts?"""

from dataclasses import dataclass, replace

from syncopt.api._job import Job, Subject, read
from syncopt.check import Finding, FindingKind, Report, Severity, check_kernel


@dataclass(frozen=True)
class Checked:
    """The outcome of a check: what was asked, what was read, what was found."""

    job: Job
    subject: Subject
    report: Report


def check(job: Job, strict: bool = False) -> Checked:
    """Prove a kernel race-free, deadlock-free and balanced, or show how it fails.

    Parameters
    ----------
    job : Job
        The kernel.
    strict : bool
        An id that only timing keeps from being set twice counts as a double set.

    Raises
    ------
    InputError
        Bad input.
    """
    subject = read(job)
    report = check_kernel(subject.kernel, subject.setting, job.machine, subject.assumptions)
    if strict:
        report = replace(report, findings=tuple(_strictly(finding) for finding in report.findings))
    return Checked(job, subject, report)


def _strictly(finding: Finding) -> Finding:
    if finding.kind is not FindingKind.ID_REUSE:
        return finding
    return replace(finding, kind=FindingKind.DOUBLE_SET, severity=Severity.ERROR)
