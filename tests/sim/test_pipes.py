"""What pipes do with tile ops and barriers (docs/model.md, pipes and barriers). The toy machine issues in 1 cycle."""

from collections.abc import Callable

import pytest

from syncopt.hwmodel import load_machine
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance
from syncopt.sim import replay
from tests.sim.programs import add, barrier, extract, load, matmul, run, set_flag, store, toy, wait_flag


def test_pipes_run_in_order_and_side_by_side() -> None:
    """Rule 4: loads ready at 1 and 2 run 1 to 11 and 11 to 16; the matmul ready at 3 runs 3 to 10."""
    times = run(toy(), [load(10), load(5), matmul(7)])
    assert [times.span(i) for i in range(3)] == [(1, 11), (11, 16), (3, 10)]
    assert times.replay.busy == {Pipe.MTE2: 15, Pipe.M: 7}


def test_pipe_waits_for_dispatch() -> None:
    """Rule 4: a load that is over before the next one is ready: 1 to 2, then 3, with 2 scalar steps before it."""
    times = run(toy(scalar_op=1), [load(1), load(1, scalars=2)])
    assert times.start(1) == 4
    assert times.replay.stalls == {"dispatch": 3}


def test_latency_overlaps_the_next_op() -> None:
    """Rule 4: latency 30: occupied 1 to 11 and 11 to 21, done at 41 and 51."""
    times = run(toy(load_latency=30), [load(10), load(10)])
    assert [(t.start, t.end, t.done) for t in (times.times[0], times.times[1])] == [(1, 11, 41), (11, 21, 51)]


def test_barrier_waits_for_completion_and_adds_its_cost() -> None:
    """Rule 8: latency 30: done at 41, barrier of MTE2 to 46, where the next load starts."""
    times = run(toy(load_latency=30), [load(10), barrier(Pipe.MTE2), load(10)])
    assert (times.span(1), times.start(2)) == ((11, 46), 46)
    assert (times.replay.barriers, times.replay.stalls) == (1, {"barrier MTE2": 35, "dispatch": 1})


@pytest.mark.parametrize(("pipe", "op", "cost"), [(Pipe.M, matmul, 20), (Pipe.FIX, store, 5), (Pipe.MTE1, extract, 5)])
def test_barrier_costs_of_pipes(pipe: Pipe, op: Callable[[int], Instance], cost: int) -> None:
    """Rule 8: an op 1 to 11, then the cost."""
    assert run(toy(), [op(10), barrier(pipe), op(10)]).start(2) == 11 + cost


def test_barrier_holds_its_own_pipe_only() -> None:
    """Rule 8: the matmul behind the barrier of MTE2 is ready at 3."""
    assert run(toy(), [load(10), barrier(Pipe.MTE2), matmul(5)]).start(2) == 3


def test_full_barrier_holds_dispatch_until_all_is_done() -> None:
    """Rule 8: latency 30: the load is done at 41, the matmul ends at 32; clock 41 + 5, the next load is ready at 47."""
    times = run(toy(load_latency=30), [load(10), matmul(30), barrier(Pipe.ALL), load(10)])
    assert times.start(3) == 47
    assert times.replay.stalls["barrier ALL"] == 43


def test_full_barrier_takes_no_entry_but_the_time_to_issue() -> None:
    """Rule 8: nothing runs: clock 0 + 1 + 5, the load is ready at 7."""
    assert run(toy(), [barrier(Pipe.ALL), load(10)]).start(1) == 7


def test_full_barrier_waits_for_the_end_of_a_set() -> None:
    """Rule 8: load 1 to 11, set to 12, clock 12 + 5, the next load is ready at 18."""
    program = [load(10), set_flag(Pipe.MTE2, Pipe.MTE1), barrier(Pipe.ALL), load(1), wait_flag(Pipe.MTE2, Pipe.MTE1)]
    assert run(toy(), program).start(3) == 18


def test_scalar_pipe_has_no_barrier() -> None:
    with pytest.raises(InputError, match=r"^error: the scalar pipe has no barrier"):
        replay([barrier(Pipe.S)], toy())


def test_independent_vector_ops_show_no_latency() -> None:
    """Rule 10: 4 repeats each: 1 to 5, 5 to 9; only the end shows head and tail, 9 + 24."""
    times = run(toy(), [add(4), add(4)])
    assert (times.start(1), times.replay.cycles) == (5, 33)


def test_vector_op_behind_a_barrier_sees_the_latency() -> None:
    """Rules 8 and 10: done at 5 + 24; barrier(V) itself is free, so the next starts at 29 and is done at 33 + 24."""
    times = run(toy(), [add(4), barrier(Pipe.V), add(4)])
    assert (times.start(2), times.replay.cycles) == (29, 57)


def test_vector_figures_of_the_910b2() -> None:
    """Rule 10: 16 repeats at 2 cycles, ready at 2: 2 to 34; head 10 and tail 14 to 58, where the second one starts."""
    times = run(load_machine("910b2"), [add(16), barrier(Pipe.V), add(16)])
    assert (times.span(0), times.start(2), times.replay.cycles) == ((2, 34), 58, 58 + 32 + 24)


def test_cycles_end_with_the_last_tile_op() -> None:
    """Rule 11: the load is done at 11; its flag is up at 19, the barriers end at 24 and later."""
    flag = (Pipe.MTE2, Pipe.MTE1)
    program = [load(10), set_flag(*flag), wait_flag(*flag), barrier(Pipe.MTE1), barrier(Pipe.ALL)]
    times = run(toy(), program)
    assert times.times[3].end == 24
    assert times.replay.cycles == 11


def test_cycles_end_with_the_latest_completion_not_the_last_op() -> None:
    """Rule 11: latency 30: the load is done at 41, the matmul behind it at 7."""
    assert run(toy(load_latency=30), [load(10), matmul(5)]).replay.cycles == 41
