"""From a planner to the best plan (docs/plan.md section 5)."""

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


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; which of its plans is best on the full shape is still to be decided.

    Parameters
    ----------
    options : tuple of Candidate
        At least one. Of a free order they are equally good in the window, of the order as written they are not.
    bound : int or None
        No plan in scope has a shorter makespan of the window; None: the order as written, whose makespan is its bound.
    complete : bool
        Whether the search came to its end, so that it finds the same again.
    """

    options: tuple[Candidate, ...]
    bound: int | None
    complete: bool

    @property
    def proven(self) -> bool:
        """Whether the search came to its end and whatever plan is chosen is proven optimal."""
        return self.complete and (self.bound is None or all(o.makespan == self.bound for o in self.options))


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
    found = search_plans(planner, mode, budget, report)
    return chosen(planner, found, clock)


def search_plans(planner: Planner, mode: OrderMode, budget: Budget, report: Callable[[Step], None]) -> Found:
    """The plans among which `best_plan` chooses; what it raises is raised here."""
    clock = Clock(budget)
    candidates = _candidates(planner, mode, clock)
    if mode is OrderMode.FIXED or not planner.mobility.blocks:
        return Found(tuple(candidates), None, not clock.is_over)
    search = OrderSearch(planner, clock, report, candidates)
    report(Step(search.best.makespan, 0, clock.spent))
    try:
        options, bound = search.run()
    except KeyboardInterrupt:
        return Found((search.best,), search.least, complete=False)
    return Found(options, bound, not clock.is_over)


def chosen(planner: Planner, found: Found, clock: Clock) -> Solution:
    """The plan that is shortest on the full shape, the first of equal ones."""
    best = shortest(planner, found.options)
    ops = sum(1 for _ in planner.window_trace().instances)
    bound, scope = (best.makespan, FIXED_SCOPE) if found.bound is None else (found.bound, FREE_SCOPE)
    return Solution(best.plan, best.makespan, bound, scope, ops, clock.spent)


def _candidates(planner: Planner, mode: OrderMode, clock: Clock) -> list[Candidate]:
    """Plans that the repair policies give for the order as written and for every unit as early as it can be."""
    orders = [planner.mobility.as_written()]
    if mode is OrderMode.FREE and planner.mobility.earliest() not in orders:
        orders.append(planner.mobility.earliest())
    found: list[Candidate] = []
    try:
        for order in orders:
            placements = planner.placements(order)
            while not clock.is_over and (placement := next(placements, None)) is not None:
                found.extend(replayed(planner, Plan(order, placement)))
    except KeyboardInterrupt:
        if not found:
            raise
        clock.stop()
    if not found:
        raise NoPlan
    return found
