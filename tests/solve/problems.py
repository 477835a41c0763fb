"""Problems of small kernels, and the objective that the model gives them."""

from dataclasses import replace

from syncopt.hwmodel import Machine
from syncopt.model.order import Mobility
from syncopt.model.planner import Plan, Planner
from syncopt.model.problem import Problem, problem_of
from syncopt.model.skeleton import reordered
from syncopt.solve.cpsat.search import Hint, Limits, Search
from syncopt.solve.orders import Budget
from tests.check.kernels import setting, vector_kernel

AMPLE = Budget(600)
"""More than any search of the tests takes on a slow machine: none is ended by the clock."""
STILL = Mobility((), {})
"""No unit may move."""


def planner_of(body: str, machine: Machine) -> Planner:
    return Planner(vector_kernel(body), setting(), machine)


def fixed_problem(planner: Planner, plan: Plan) -> Problem:
    """The problem of a plan's own order with nothing open."""
    kernel = planner.ordered(plan.order)
    window = reordered(planner.window_trace(), plan.order)
    return problem_of(kernel, window, plan.placement, STILL, planner.machine, planner.shared)


def objective(problem: Problem) -> int:
    """The least makespan of the model, in cycles."""
    horizon = 100_000_000
    times = [0] * len(problem.items)
    hint = Hint(times, times, dict.fromkeys(problem.decisions(), False), horizon)
    result = Search(problem, hint, 0, horizon).shortest(Limits(AMPLE.seconds), lambda _: None)
    assert result.complete
    return result.makespan


def without_hazards(problem: Problem) -> Problem:
    """The problem with its flags alone."""
    return replace(problem, hazards=())
