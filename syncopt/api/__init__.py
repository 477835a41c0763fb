"""The functions behind the commands."""

from syncopt.api._check import Checked, check
from syncopt.api._job import Job, Subject, changed_figures
from syncopt.api._measure import AlsoRow, Baseline, BaselineKind, Comparison, SensitivityRow
from syncopt.api._moves import Move
from syncopt.api._simulate import CoreRun, Simulation, simulate, simulate_cores
from syncopt.api._solve import Output, Request, Solved, solve
from syncopt.api._wrong import WrongPlan
from syncopt.check import Finding, FindingKind, Report, Severity, Verdict
from syncopt.hwmodel import Figure, Machine, figures, load_machine, machine_names
from syncopt.ir.source import InputError
from syncopt.sim import Replay
from syncopt.solve.bounds import BUFFERS, LowerBound
from syncopt.solve.cpsat.search import Step
from syncopt.solve.driver import NoPlan, OrderMode
from syncopt.solve.orders import Budget

__all__ = [
    "BUFFERS",
    "AlsoRow",
    "Baseline",
    "BaselineKind",
    "Budget",
    "Checked",
    "Comparison",
    "CoreRun",
    "Figure",
    "Finding",
    "FindingKind",
    "InputError",
    "Job",
    "LowerBound",
    "Machine",
    "Move",
    "NoPlan",
    "OrderMode",
    "Output",
    "Replay",
    "Report",
    "Request",
    "SensitivityRow",
    "Severity",
    "Simulation",
    "Solved",
    "Step",
    "Subject",
    "Verdict",
    "WrongPlan",
    "changed_figures",
    "check",
    "figures",
    "load_machine",
    "machine_names",
    "simulate",
    "simulate_cores",
    "solve",
]
