"""Is a kernel right? Happens-before, and the proof over all trip counts and branches."""

from syncopt.check.checker import check_kernel, judge
from syncopt.check.executions import Branches, Execution
from syncopt.check.findings import Finding, FindingKind, Judgement, Report, Severity, Verdict
from syncopt.check.happens_before import EarlySet, HappensBefore, HazardKind, Observer, OpenHazard, Record

__all__ = [
    "Branches",
    "EarlySet",
    "Execution",
    "Finding",
    "FindingKind",
    "HappensBefore",
    "HazardKind",
    "Judgement",
    "Observer",
    "OpenHazard",
    "Record",
    "Report",
    "Severity",
    "Verdict",
    "check_kernel",
    "judge",
]
