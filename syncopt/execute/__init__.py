"""Runs a kernel on real numbers in given legal orders: a missing flag becomes a wrong number."""

from syncopt.execute.constraints import Constraints, constraints_of
from syncopt.execute.program import Program, read_program
from syncopt.execute.run import Difference, Execution, differences, execute
from syncopt.execute.schedules import Order, Schedule, ScheduleKind, order_of, schedules_of

__all__ = [
    "Constraints",
    "Difference",
    "Execution",
    "Order",
    "Program",
    "Schedule",
    "ScheduleKind",
    "constraints_of",
    "differences",
    "execute",
    "order_of",
    "read_program",
    "schedules_of",
]
