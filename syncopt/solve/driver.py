"""From a planner to the best plan (planning.md section 7)."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from syncopt.model.planner import Plan, Planner
from syncopt.solve.cpsat.search import Step
from syncopt.solve.orders import Budget, Candidate, Clock, OrderSearch, replayed, shortest


class OrderMode(Enum):
    """Whether the order of the mobile units is open."""

    FREE = "free"
    FIXED = "fixed"


FIXED_SCOPE = "the order as written, for which the makespan of the window is a longest path"
FREE_SCOPE = (
    "the shortest makespan of the window over the movable units, for the kernel's tiles and static plans, "
    "on this machine"
)


@dataclass(frozen=True, slots=True)
class Solution:
    """The best plan found.

    Parameters
    ----------
    plan : Plan
        With ids.
    makespan : int
        Cycles of the window, by replay.
    bound : int
        No plan in scope has a shorter makespan.
    scope : str
        What the bound covers.
    window_ops : int
        Tile ops of the window.
    search_seconds : float
        Wall time of the search.
    """

    plan: Plan
    makespan: int
    bound: int
    scope: str
    window_ops: int
    search_seconds: float

    @property
    def optimal(self) -> bool:
        """Whether bound and makespan meet."""
        return self.bound == self.makespan


class NoPlan(Exception):  # noqa: N818 - the answer of a search that had no time, not a fault
    """The budget ended before there was any plan."""


def best_plan(planner: Planner, mode: OrderMode, budget: Budget, report: Callable[[Step], None]) -> Solution:
    """The plan with the shortest makespan of the window, by replay; of equal ones the shortest on the full shape.

    An interrupt (Ctrl-C) ends the search; the best plan so far is the answer.

    Raises
    ------
    NoPlan
        If the budget ends before the first plan.
    KeyboardInterrupt
        If that comes before the first plan.
    """
    clock = Clock(budget)
    candidates = _candidates(planner, mode, clock)
    ops = sum(1 for _ in planner.window_trace().instances)
    if mode is OrderMode.FIXED or not planner.mobility.blocks:
        best = shortest(planner, candidates)
        return Solution(best.plan, best.makespan, best.makespan, FIXED_SCOPE, ops, clock.spent)
    search = OrderSearch(planner, clock, report, candidates)
    report(Step(search.best.makespan, 0, clock.spent))
    try:
        best, bound = search.run()
    except KeyboardInterrupt:
        best, bound = search.best, search.least
    return Solution(best.plan, best.makespan, bound, FREE_SCOPE, ops, clock.spent)


def _candidates(planner: Planner, mode: OrderMode, clock: Clock) -> list[Candidate]:
    """Plans that the repair policies give for the order as written and for every unit as early as it can be."""
    orders = [planner.mobility.as_written()]
    if mode is OrderMode.FREE and planner.mobility.earliest() not in orders:
        orders.append(planner.mobility.earliest())
    found: list[Candidate] = []
    try:
        for order in orders:
            if clock.is_over:
                break
            found.extend(replayed(planner, Plan(order, placement)) for placement in planner.placements(order))
    except KeyboardInterrupt:
        if not found:
            raise
        clock.stop()
    if not found:
        raise NoPlan
    return found
