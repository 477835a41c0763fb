"""Running CP-SAT without losing Ctrl-C."""

import signal
import threading

from ortools.sat.python import cp_model


def solved(
    solver: cp_model.CpSolver, model: cp_model.CpModel, callback: cp_model.CpSolverSolutionCallback | None = None
) -> cp_model.CpSolverStatus:
    """Solve a model and tell how it ended.

    While it runs Ctrl-C stops the search, which then has its best solution so far. CP-SAT leaves the default handler
    behind, which would end the process at the next Ctrl-C, so the one from before is put back.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        return solver.solve(model, callback)
    finally:
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
