"""The functions behind the commands."""

from syncopt.api._check import Checked, check, with_executions
from syncopt.api._compare import Compared, CompareRequest, Difference, compare
from syncopt.api._counterparts import Place
from syncopt.api._execute import Executions, Outcome, difference_text, hang_text
from syncopt.api._job import OPEN_ARGUMENT, Job, Subject, argument_names, changed_figures
from syncopt.api._measure import AlsoRow, Baseline, BaselineKind, Comparison, SensitivityRow
from syncopt.api._moves import Move
from syncopt.api._plans import Plans
from syncopt.api._report import plan_diff, report_page, require_report
from syncopt.api._simulate import CoreRun, Simulation, simulate, simulate_cores
from syncopt.api._solve import Output, Request, Solved, solve
from syncopt.api._standing import Pause, PauseKind, Standing
from syncopt.api._timeline import Timelines, TraceFormat, draw, simulated, solved_timelines, write_trace
from syncopt.api._traffic import Traffic, traffic
from syncopt.api._versions import Measured, Version, VersionKind, WorkDone
from syncopt.api._why import WORK, Explanation, PathStep, Total, explain
from syncopt.api._wrong import WrongPlan
from syncopt.check import EventScope, Finding, FindingKind, Grading, Report, Rules, Severity, Verdict
from syncopt.emit.timeline import Cycles, Shown
from syncopt.emit.timeline.gantt import Gantt, Mark
from syncopt.hwmodel import Figure, Machine, figures, load_machine, machine_names
from syncopt.ir.source import InputError, Language, Source, Span, language_of
from syncopt.sim import Cause, Replay
from syncopt.solve.bounds import BUFFERS, LowerBound
from syncopt.solve.cpsat.search import Step
from syncopt.solve.driver import NoPlan, OrderMode
from syncopt.solve.orders import Budget

__all__ = [
    "BUFFERS",
    "OPEN_ARGUMENT",
    "WORK",
    "AlsoRow",
    "Baseline",
    "BaselineKind",
    "Budget",
    "Cause",
    "Checked",
    "CompareRequest",
    "Compared",
    "Comparison",
    "CoreRun",
    "Cycles",
    "Difference",
    "EventScope",
    "Executions",
    "Explanation",
    "Figure",
    "Finding",
    "FindingKind",
    "Gantt",
    "Grading",
    "InputError",
    "Job",
    "Language",
    "LowerBound",
    "Machine",
    "Mark",
    "Measured",
    "Move",
    "NoPlan",
    "OrderMode",
    "Outcome",
    "Output",
    "PathStep",
    "Pause",
    "PauseKind",
    "Place",
    "Plans",
    "Replay",
    "Report",
    "Request",
    "Rules",
    "SensitivityRow",
    "Severity",
    "Shown",
    "Simulation",
    "Solved",
    "Source",
    "Span",
    "Standing",
    "Step",
    "Subject",
    "Timelines",
    "Total",
    "TraceFormat",
    "Traffic",
    "Verdict",
    "Version",
    "VersionKind",
    "WorkDone",
    "WrongPlan",
    "argument_names",
    "changed_figures",
    "check",
    "compare",
    "difference_text",
    "draw",
    "explain",
    "figures",
    "hang_text",
    "language_of",
    "load_machine",
    "machine_names",
    "plan_diff",
    "report_page",
    "require_report",
    "simulate",
    "simulate_cores",
    "simulated",
    "solve",
    "solved_timelines",
    "traffic",
    "with_executions",
    "write_trace",
]
