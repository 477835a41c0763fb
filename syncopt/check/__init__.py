"""Is a kernel right? Happens-before, and the proof over all trip counts and branches."""

from syncopt.check.checker import check_kernel, judge
from syncopt.check.events import EarlySet, EventScope
from syncopt.check.execution import Branches, Execution
from syncopt.check.faults import Grading
from syncopt.check.findings import Finding, FindingKind, Judgement, Report, Severity, Verdict
from syncopt.check.happens_before import HappensBefore
from syncopt.check.inspection import Rules
from syncopt.check.memories import HazardKind, Record
from syncopt.check.observer import Observer, OpenHazard

__all__ = [
    "Branches",
    "EarlySet",
    "EventScope",
    "Execution",
    "Finding",
    "FindingKind",
    "Grading",
    "HappensBefore",
    "HazardKind",
    "Judgement",
    "Observer",
    "OpenHazard",
    "Record",
    "Report",
    "Rules",
    "Severity",
    "Verdict",
    "check_kernel",
    "judge",
]
