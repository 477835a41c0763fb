"""The functions behind the commands."""

from syncopt.api._check import Checked, check
from syncopt.api._job import OPEN_ARGUMENT, Job, Subject, argument_names, changed_figures
from syncopt.api._measure import AlsoRow, Baseline, BaselineKind, Comparison, SensitivityRow
from syncopt.api._moves import Move
from syncopt.api._plans import Plans
from syncopt.api._report import plan_diff, report_page, require_report
from syncopt.api._simulate import CoreRun, Simulation, simulate, simulate_cores
from syncopt.api._solve import Request, Solved, WrongPlan, solve
from syncopt.api._timeline import Timelines, TraceFormat, draw, simulated, solved_timelines, write_trace
from syncopt.api._traffic import Traffic, traffic
from syncopt.check import EventScope, Finding, FindingKind, Grading, Report, Rules, Severity, Verdict
from syncopt.emit.timeline import Cycles, Shown
from syncopt.emit.timeline.gantt import Gantt, Mark
from syncopt.hwmodel import Figure, Machine, figures, load_machine, machine_names
from syncopt.ir.source import InputError, Source, Span
from syncopt.sim import Replay
from syncopt.solve.bounds import BUFFERS, LowerBound
from syncopt.solve.cpsat.search import Step
from syncopt.solve.driver import NoPlan, OrderMode
from syncopt.solve.orders import Budget

__all__ = [
    "BUFFERS",
    "OPEN_ARGUMENT",
    "AlsoRow",
    "Baseline",
    "BaselineKind",
    "Budget",
    "Checked",
    "Comparison",
    "CoreRun",
    "Cycles",
    "EventScope",
    "Figure",
    "Finding",
    "FindingKind",
    "Gantt",
    "Grading",
    "InputError",
    "Job",
    "LowerBound",
    "Machine",
    "Mark",
    "Move",
    "NoPlan",
    "OrderMode",
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
    "Step",
    "Subject",
    "Timelines",
    "TraceFormat",
    "Traffic",
    "Verdict",
    "WrongPlan",
    "argument_names",
    "changed_figures",
    "check",
    "draw",
    "figures",
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
    "write_trace",
]
