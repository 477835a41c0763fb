"""Plans that were found before: the same search is not done twice."""

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from syncopt.model.fingerprint import fingerprint
from syncopt.model.planner import Planner
from syncopt.solve.driver import OrderMode, Solution, chosen, search_plans
from syncopt.solve.orders import Budget, Clock
from syncopt.solve.remembered import reread, written


class Plans(Protocol):
    """Keeps what proven searches found, as text, by a key that says what was searched."""

    def alone(self, key: str) -> AbstractContextManager[None]:
        """Nobody else searches what this key says for as long as the context is open."""
        ...

    def get(self, key: str) -> str | None:
        """What was found, None if nothing was."""
        ...

    def put(self, key: str, text: str) -> None:
        """Keep what was found."""
        ...


class Answer(NamedTuple):
    """The best plan, and whether its search was remembered, not done."""

    solution: Solution
    remembered: bool


def remembered_plan(plans: Plans, planner: Planner, mode: OrderMode, budget: Budget) -> Answer:
    """`best_plan` of a planner, whose search is done only if nobody did the same before.

    The plan that is chosen, its makespan and its proof are those of `best_plan`. Searches that a limit cut short are
    not kept, so what is kept does not depend on the seconds of the budget.

    Raises
    ------
    NoPlan
        If the budget ends before the first plan.
    """
    key = f"{mode.value}-{budget.work}-{budget.workers}-{budget.seed}-{fingerprint(planner)}"
    with plans.alone(key):
        clock = Clock(budget)
        text = plans.get(key)
        found = None if text is None else reread(text, planner)
        remembered = found is not None
        if found is None:
            found = search_plans(planner, mode, budget, lambda _: None)
            if found.proven:
                plans.put(key, written(found))
    return Answer(chosen(planner, found, clock), remembered)
