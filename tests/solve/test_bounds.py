"""Lower bounds, worked out by hand."""

from syncopt.hwmodel import load_machine
from syncopt.ir.pipes import Pipe
from syncopt.model.flags.channels import Placement
from syncopt.model.planner import Plan
from syncopt.solve.bounds import BUFFERS, LowerBound
from syncopt.solve.orders import movable_ops, window_bound
from tests.solve.problems import fixed_problem, planner_of

MACHINE = load_machine("910b2")


def costs(body: str) -> list[tuple[int, int]]:
    """Occupancy and latency of each op."""
    planner = planner_of(body, MACHINE)
    problem = fixed_problem(planner, Plan(planner.mobility.as_written(), Placement()))
    return [(item.occupancy, item.latency) for item in problem.items]


def test_a_pipe_that_is_never_idle_binds():
    """Four loads back to back, then the latency of the last."""
    body = "load t0\nload t1\nload t2\nload t3"
    (occupancy, latency), *_ = costs(body)
    assert window_bound(planner_of(body, MACHINE)) == LowerBound(4 * occupancy + latency, "MTE2")


def test_a_pipe_starts_behind_its_least_head_and_ends_before_its_least_tail():
    """Ten adds between a load and a store: neither overlaps them. A hop is at least 7, a full barrier and an issue."""
    adds = "\n".join(["add t1 t0"] * 10)
    body = f"load t0\n{adds}\nstore t1"
    load, add, *_, store = costs(body)
    assert add[0] * 10 > load[0]
    bound = window_bound(planner_of(body, MACHINE))
    # the adds write one tile: each waits for the one before it, which the longest path knows and the pipe does not
    path = sum(load) + 7 + 10 * sum(add) + 7 + sum(store)
    assert bound.cycles == path


def test_one_buffer_binds():
    """Load, add, load again into the same tile: nothing overlaps."""
    body = "load t0\nadd t1 t0\nload t0\nadd t2 t0"
    load, add, *_ = costs(body)
    assert window_bound(planner_of(body, MACHINE)) == LowerBound(2 * (sum(load) + sum(add)) + 3 * 7, BUFFERS)


def test_movable_ops_are_those_of_units():
    planner = planner_of("load t0\nscf.if %flag {\nload t1\n}\nadd t2 t0", MACHINE)
    movable = movable_ops(planner)
    reached = [i for i in planner.window_trace().instances if i.op.uid in movable]
    assert [i.pipe for i in reached] == [Pipe.MTE2]
    assert len(movable) == 2
