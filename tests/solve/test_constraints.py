"""One negative test per rule of the model: left out, the makespan gets shorter than the machine allows."""

from collections.abc import Iterator

import pytest
from ortools.sat.python import cp_model

from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import TileOp, walk
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.model.flags.channels import Channel, Placement
from syncopt.model.planner import Plan, Planner
from syncopt.model.problem import Problem
from syncopt.model.rewrite import Side, Site
from syncopt.solve.cpsat.constraints import Constraints
from syncopt.solve.cpsat.variables import variables
from tests.solve.problems import fixed_problem, objective, planner_of, without_hazards

LOADS = "load t0\nload t1\nload t2\nload t3\n"


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def _no_rule(constraints: Constraints) -> None:
    """Stands in for a rule."""
    del constraints


def written(planner: Planner, placement: Placement | None = None) -> Problem:
    """The problem of the order as written, with the placement that it gets or another one."""
    order = planner.mobility.as_written()
    return fixed_problem(planner, Plan(order, next(planner.placements(order)) if placement is None else placement))


def left_out(rule: str, problem: Problem, patch: pytest.MonkeyPatch) -> int:
    """The objective without a rule."""
    with patch.context() as context:
        context.setattr(Constraints, rule, _no_rule)
        return objective(problem)


def cycles(planner: Planner) -> int:
    """What the replay says of the order as written."""
    order = planner.mobility.as_written()
    return planner.in_window(Plan(order, next(planner.placements(order)))).cycles


@pytest.mark.parametrize("rule", ["_dispatch_in_order", "_start_after_ready"])
def test_dispatch_takes_time(rule: str, machine: Machine, monkeypatch: pytest.MonkeyPatch):
    """At 2000 cycles per entry the fourth load is ready at 8000."""
    planner = planner_of(LOADS, machine.with_issue(2000))
    problem = written(planner)
    duration = problem.items[0].occupancy + problem.items[0].latency
    assert objective(problem) == cycles(planner) == 8000 + duration
    assert left_out(rule, problem, monkeypatch) < 8000


def test_a_pipe_runs_one_op_at_a_time(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    planner = planner_of(LOADS, machine)
    problem = written(planner)
    load = problem.items[0]
    assert objective(problem) == cycles(planner) == machine.issue + 4 * load.occupancy + load.latency
    # the fourth load is dispatched at 8
    assert left_out("_pipe_in_order", problem, monkeypatch) == 8 + load.occupancy + load.latency


def test_hazards_bind_without_flags(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    """Without flags the add starts a full barrier (5) and an issue (2) behind the load: less than a hop."""
    planner = planner_of("load t0\nadd t1 t0", machine)
    problem = written(planner, Placement())
    load, add = problem.items
    first, second = load.occupancy + load.latency, add.occupancy + add.latency
    assert objective(problem) == 2 + first + 7 + second
    assert left_out("_hazards", problem, monkeypatch) == 2 + first


def test_a_wait_takes_its_set(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    planner = planner_of("load t0\nadd t1 t0", machine)
    problem = without_hazards(written(planner))
    load, *_, add = problem.items
    first, second = load.occupancy + load.latency, add.occupancy + add.latency
    # a hop of 8 from the completion of the load
    assert objective(problem) == cycles(planner) == 2 + first + 8 + second
    assert left_out("_wait_for_its_set", problem, monkeypatch) == 2 + first


def test_a_set_comes_after_the_wait_before_it(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    """One flag for two loads: the second set holds up the loads behind it until the adds before wait 1 are done."""
    adds = "\n".join(["add t3 t3"] * 20)
    planner = planner_of(f"{adds}\nload t0\nload t1\nload t2\nload t2\nadd t3 t0\nadd t3 t1", machine)
    ops = [op for op in walk(planner.kernel.body) if isinstance(op, TileOp)]
    sets = tuple(Site(op.uid, Side.AFTER) for op in ops[20:22])
    waits = tuple(Site(op.uid, Side.BEFORE) for op in ops[24:26])
    placement = Placement((Channel(PipePair(Pipe.MTE2, Pipe.V), sets, waits),))
    problem = without_hazards(written(planner, placement))
    add, load = problem.items[0], problem.items[20]
    # adds are dispatched from 2 on; wait 1 ends behind 20 of them, set 2 starts at most a hop and a latency earlier
    wait_end = 2 + 20 * add.occupancy
    held = wait_end + 1 - machine.hop - load.latency
    assert objective(problem) == held + 1 + 2 * load.occupancy + load.latency
    # then the adds are last: two more behind the first wait
    assert left_out("_set_after_the_wait_before", problem, monkeypatch) == wait_end + 2 * add.occupancy + add.latency


def test_a_full_queue_holds_up_dispatch(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    """Depth 1: the fourth load is dispatched when the third starts, and the adds behind it."""
    planner = planner_of(LOADS + "\n".join(["add t3 t3"] * 20), machine.with_queue_depth(1, Pipe.MTE2))
    problem = without_hazards(written(planner, Placement()))
    load, add = problem.items[0], problem.items[-1]
    begin = machine.issue + 2 * load.occupancy + machine.issue
    assert objective(problem) == begin + 20 * add.occupancy + add.latency
    assert left_out("_queue_depth", problem, monkeypatch) < objective(problem)


def test_a_barrier_exposes_latency(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    planner = planner_of("add t1 t0\nadd t2 t1", machine)
    problem = written(planner)
    add = problem.items[0]
    assert objective(problem) == cycles(planner) == 2 + 2 * (add.occupancy + add.latency)
    assert left_out("_barriers", problem, monkeypatch) == 2 + 2 * add.occupancy + add.latency


def test_the_scalar_pipe_holds_up_dispatch(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    """The scalar pipe works on the loaded tile; whatever is dispatched behind that starts behind the load."""
    tile = "!pto.tile_buf<vec, 64x64xf32>"
    planner = planner_of(f"load t0\npto.treshape ins(%t0 : {tile}) outs(%t1 : {tile})\nadd t3 t2", machine)
    problem = written(planner)
    assert objective(problem) == cycles(planner)
    assert left_out("_scalar_pipe", problem, monkeypatch) < objective(problem)


def test_the_makespan_covers_every_op(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    assert left_out("_makespan", written(planner_of(LOADS, machine)), monkeypatch) == 0


class _Decisions(cp_model.CpSolverSolutionCallback):
    """Collects the values of some literals over all solutions."""

    def __init__(self, literals: list[cp_model.IntVar]) -> None:
        super().__init__()
        self._literals = literals
        self.found: set[tuple[bool, ...]] = set()

    def on_solution_callback(self) -> None:
        self.found.add(tuple(self.boolean_value(literal) for literal in self._literals))


def orders(problem: Problem, rules: Iterator[str], patch: pytest.MonkeyPatch) -> int:
    """How many decisions are possible without some rules."""
    with patch.context() as context:
        for rule in rules:
            context.setattr(Constraints, rule, _no_rule)
        model = cp_model.CpModel()
        found = variables(model, problem, 0)
        Constraints(model, problem, found).add_all()
    collected = _Decisions(list(found.after.values()))
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.solve(model, collected)
    return len(collected.found)


def test_decisions_are_those_of_one_order(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    """Two loads among two adds: 4! / 2! = 12 orders; each of the 5 decisions alone would make 32."""
    planner = planner_of("load t0\nload t1\nadd t2 t2\nadd t3 t3", machine)
    order = planner.mobility.as_written()
    problem = fixed_problem(planner, Plan(order, Placement()))
    problem = Problem(machine, planner.mobility, Placement(), problem.items[:0], problem.tree, ())
    problem.tree.heads.clear()
    assert orders(problem, iter(()), monkeypatch) == 12
    assert orders(problem, iter(("_one_order_per_block",)), monkeypatch) == 32
