"""Best plans: objective and replay agree, plans prove and pass the check, budgets and interrupts are kept."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.check import check_kernel
from syncopt.frontend import read_module
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.trace import Setting
from syncopt.model.addresses import place, with_addresses
from syncopt.model.flags.insertion import with_flags
from syncopt.model.planner import Plan, Planner
from syncopt.model.rewrite import strip_flags
from syncopt.solve.bounds import lower_bound
from syncopt.solve.cpsat.search import Search, SearchResult, Step
from syncopt.solve.driver import NoPlan, OrderMode, Solution, best_plan
from syncopt.solve.orders import Budget, OrderSearch, movable_ops, window_bound
from tests.check.kernels import setting, vector_kernel
from tests.solve.bodies import bodies
from tests.solve.problems import AMPLE, fixed_problem, objective, planner_of, without_hazards

GEMM = Path(__file__).parents[2] / "instances" / "gemm"
LOOP = "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\nstore t1\nload t2\nadd t3 t2\nstore t3\n}"
MACHINE = load_machine("910b2")


def quiet(step: Step) -> None:
    del step


def gemm(name: str, m: int, n: int, k: int) -> tuple[Planner, Setting]:
    kernel = read_module(GEMM / f"{name}.pto").kernel()
    at = Setting({"M": m, "N": n, "K": k}, 0, 24, addresses=place(kernel, MACHINE))
    return Planner(strip_flags(kernel), at, MACHINE), at


def emitted(planner: Planner, solution: Solution) -> Kernel:
    ordered = with_flags(planner.ordered(solution.plan.order), solution.plan.placement, solution.plan.ids)
    return with_addresses(ordered, planner.setting.addresses)


@pytest.mark.parametrize("name", sorted(path.stem for path in GEMM.glob("*.pto")))
def test_objective_is_the_replay_of_the_order_as_written(name: str):
    planner, _ = gemm(name, 2176, 8192, 8192)
    plan = best_plan(planner, OrderMode.FIXED, AMPLE, quiet).plan
    assert objective(fixed_problem(planner, plan)) == planner.in_window(plan).cycles


def test_the_double_buffered_gemm_is_solved_to_optimality():
    planner, at = gemm("double_buffered", 2176, 8192, 8192)
    solution = best_plan(planner, OrderMode.FREE, AMPLE, quiet)
    assert (solution.makespan, solution.bound, solution.optimal) == (60271, 60271, True)
    full = planner.in_full(solution.plan)
    assert (full.cycles, full.sets) == (1713143, 7964)
    assert objective(fixed_problem(planner, solution.plan)) == solution.makespan
    assert check_kernel(emitted(planner, solution), at, MACHINE).findings == ()


def test_a_fixed_order_needs_no_search():
    solution = best_plan(planner_of(LOOP, MACHINE), OrderMode.FIXED, AMPLE, quiet)
    assert solution.optimal
    assert solution.scope == "the order as written, for which the makespan of the window is a longest path"


def test_a_budget_too_short_for_any_plan():
    with pytest.raises(NoPlan):
        best_plan(planner_of(LOOP, MACHINE), OrderMode.FREE, Budget(0), quiet)


def test_an_interrupt_after_the_first_plan_keeps_it(monkeypatch: pytest.MonkeyPatch):
    def interrupted(search: OrderSearch) -> NoReturn:
        del search
        raise KeyboardInterrupt

    planner = planner_of(LOOP, MACHINE)
    monkeypatch.setattr(OrderSearch, "run", interrupted)
    solution = best_plan(planner, OrderMode.FREE, AMPLE, quiet)
    assert solution.bound == window_bound(planner).cycles
    assert planner.in_window(solution.plan).cycles == solution.makespan


def test_an_interrupt_before_the_first_plan_is_passed_on(monkeypatch: pytest.MonkeyPatch):
    def interrupted(planner: Planner, order: object) -> NoReturn:
        del planner, order
        raise KeyboardInterrupt

    monkeypatch.setattr(Planner, "placements", interrupted)
    with pytest.raises(KeyboardInterrupt):
        best_plan(planner_of(LOOP, MACHINE), OrderMode.FREE, AMPLE, quiet)


def test_an_interrupted_search_ends_the_budget(monkeypatch: pytest.MonkeyPatch):
    """CP-SAT catches Ctrl-C itself: a search that stops early with time left ends everything."""
    calls: list[int] = []

    def stopped(search: Search, limits: object, report: Callable[[Step], None]) -> SearchResult:
        del search, limits, report
        calls.append(1)
        return SearchResult(None, 0, 0, complete=False)

    planner = planner_of(LOOP, MACHINE)
    monkeypatch.setattr(Search, "shortest", stopped)
    solution = best_plan(planner, OrderMode.FREE, AMPLE, quiet)
    assert calls == [1]
    assert solution.bound == window_bound(planner).cycles


@settings(max_examples=25)
@given(body=bodies(), mode=st.sampled_from(OrderMode))
def test_random_kernels(body: str, mode: OrderMode):
    planner = Planner(vector_kernel(body), setting(n=3, m=2), MACHINE)
    solution = best_plan(planner, mode, replace(AMPLE, work=1.0), quiet)
    assert planner.proves(solution.plan)
    assert objective(without_hazards(fixed_problem(planner, solution.plan))) == solution.makespan
    assert solution.bound <= solution.makespan == planner.in_window(solution.plan).cycles
    trace = planner.window_trace().instances
    assert lower_bound(trace, MACHINE, planner.shared, movable_ops(planner)).cycles <= solution.makespan
    report = check_kernel(emitted(planner, solution), planner.setting, MACHINE)
    assert report.findings == ()


def machine_with_depth(depth: int) -> Machine:
    return MACHINE.with_queue_depth(depth)


@pytest.mark.parametrize("depth", [2, 32])
def test_the_best_order_is_no_worse_than_any_other(depth: int):
    """Every order of two loads, two adds and two stores, tried one by one."""
    body = "load t0\nadd t1 t0\nstore t1\nload t2\nadd t3 t2\nstore t3"
    planner = planner_of(body, machine_with_depth(depth))
    solution = best_plan(planner, OrderMode.FREE, AMPLE, quiet)
    assert solution.optimal
    for order in planner.classes() or ():
        for placement in planner.placements(order):
            assert planner.in_window(Plan(order, placement)).cycles >= solution.makespan
