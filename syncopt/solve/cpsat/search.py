"""Solving one problem with CP-SAT: hint, stages, and orders that are known to take longer than the model says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ortools.sat.python import cp_model

from syncopt.model.order import Order
from syncopt.model.problem import Decision, Problem
from syncopt.solve.cpsat.constraints import Constraints
from syncopt.solve.cpsat.running import solved
from syncopt.solve.cpsat.variables import Variables, enforce, variables


class Step(NamedTuple):
    """Progress of a search: best makespan and bound in cycles, wall time in seconds."""

    makespan: int
    bound: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search may use.

    Parameters
    ----------
    seconds : float
        Wall time.
    work : float or None
        Deterministic time, which is the same from run to run; None for no such limit.
    workers : int
        Threads; more than one is not deterministic.
    seed : int
        Random seed.
    """

    seconds: float
    work: float | None = None
    workers: int = 1
    seed: int = 0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Parameters
    ----------
    decisions : dict of Decision to bool, or None
        Of the best solution, None if there is none.
    makespan : int
        Of the best solution, in cycles; 0 if there is none.
    bound : int
        No order of the model has a shorter makespan; one more than what was looked for if there is none.
    complete : bool
        Whether the search came to its end, not to a limit or an interrupt.
    """

    decisions: dict[Decision, bool] | None
    makespan: int
    bound: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Hint:
    """A feasible solution to start from: times per item and the order's decisions."""

    ready: Sequence[int]
    start: Sequence[int]
    decisions: Mapping[Decision, bool]
    makespan: int

    @property
    def latest(self) -> int:
        """The latest of all times; flags may be waited for behind the last tile op."""
        return max((self.makespan, *self.ready, *self.start))


class _Progress(cp_model.CpSolverSolutionCallback):
    def __init__(self, report: Callable[[Step], None]) -> None:
        super().__init__()
        self._report = report

    def on_solution_callback(self) -> None:
        self._report(Step(round(self.objective_value), round(self.best_objective_bound), self.wall_time))


class Search:
    """The model of a problem, kept while orders are excluded or corrected.

    Parameters
    ----------
    problem : Problem
        What is solved.
    hint : Hint
        A feasible solution; its makespan bounds all times.
    least, most : int
        Bounds of the makespan that is looked for, in cycles.
    """

    def __init__(self, problem: Problem, hint: Hint, least: int, most: int) -> None:
        self._problem = problem
        self._hint = hint
        self._model = cp_model.CpModel()
        self._vars: Variables = variables(self._model, problem, hint.latest)
        Constraints(self._model, problem, self._vars).add_all()
        self._most = most
        self._model.add_linear_constraint(self._vars.makespan, least, most)
        self._add_hint()

    def _add_hint(self) -> None:
        for variable, time in zip(self._vars.ready, self._hint.ready, strict=True):
            self._model.add_hint(variable, time)
        for variable, time in zip(self._vars.start, self._hint.start, strict=True):
            self._model.add_hint(variable, time)
        for decision, literal in self._vars.after.items():
            self._model.add_hint(literal, self._hint.decisions[decision])
        self._model.add_hint(self._vars.makespan, self._hint.makespan)

    def correct(self, decisions: Mapping[Decision, bool], makespan: int) -> None:
        """State that one order takes at least `makespan` cycles, more than the model knows."""
        literals = [self._vars.after[d] if holds else self._vars.after[d].negated() for d, holds in decisions.items()]
        enforce(self._model.add(self._vars.makespan >= makespan), *literals)

    def exclude(self, decisions: Mapping[Decision, bool]) -> None:
        """Leave out all orders with these decisions."""
        self._model.add_bool_or(
            [self._vars.after[d].negated() if holds else self._vars.after[d] for d, holds in decisions.items()]
        )

    def shortest(self, limits: Limits, report: Callable[[Step], None]) -> SearchResult:
        """Minimise the makespan."""
        self._model.minimize(self._vars.makespan)
        return self._solve(limits, report)

    def earliest(self, makespan: int, limits: Limits) -> SearchResult:
        """Among the orders with a makespan, one whose units stand as early among the anchored ops as possible.

        Its bound is that of the makespan looked for, not a proof.
        """
        model = self._model.clone()
        model.add(model.get_int_var_from_proto_index(self._vars.makespan.index) <= makespan)
        units = {(block.key, unit) for block in self._problem.mobility.blocks for unit in block.units}
        model.minimize(
            sum(
                model.get_bool_var_from_proto_index(literal.index)
                for (key, _, other), literal in self._vars.after.items()
                if (key, other) not in units
            )
        )
        solver = _solver(limits)
        return self._result(solver, solved(solver, model), 0)

    def _solve(self, limits: Limits, report: Callable[[Step], None]) -> SearchResult:
        solver = _solver(limits)
        status = solved(solver, self._model, _Progress(report))
        return self._result(solver, status, max(0, round(solver.best_objective_bound)))

    def _result(self, solver: cp_model.CpSolver, status: cp_model.CpSolverStatus, bound: int) -> SearchResult:
        if status == cp_model.INFEASIBLE:
            return SearchResult(None, 0, self._most + 1, complete=True)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return SearchResult(None, 0, bound, complete=False)
        decisions = {d: solver.boolean_value(literal) for d, literal in self._vars.after.items()}
        return SearchResult(decisions, solver.value(self._vars.makespan), bound, status == cp_model.OPTIMAL)


def _solver(limits: Limits) -> cp_model.CpSolver:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = limits.workers
    solver.parameters.random_seed = limits.seed
    solver.parameters.max_time_in_seconds = max(0.01, limits.seconds)
    if limits.work is not None:
        solver.parameters.max_deterministic_time = limits.work
    return solver


def order_and_decisions(problem: Problem, order: Order) -> dict[Decision, bool]:
    """The decisions that an order stands for."""
    place = {key: {head: n for n, head in enumerate(heads)} for key, heads in order.items()}
    return {(key, unit, other): place[key][unit] > place[key][other] for key, unit, other in problem.decisions()}
