"""Flags between pipes (docs/model.md, flags). On the toy machine a flag takes 8 cycles to arrive."""

import pytest

from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance
from syncopt.sim import replay
from tests.sim.programs import (
    barrier,
    extract,
    get_value,
    load,
    matmul,
    run,
    set_flag,
    toy,
    wait_flag,
)

LOADED = (Pipe.MTE2, Pipe.MTE1)


def test_flag_rises_a_hop_after_completion() -> None:
    """Rules 5 and 6: latency 30: load 1 to 11, done at 41, flag up at 49, where the extract starts."""
    times = run(toy(load_latency=30), [load(10), set_flag(*LOADED), wait_flag(*LOADED), extract(4)])
    assert (times.times[1].done, times.start(3)) == (49, 49)
    assert times.replay.stalls["MTE2->MTE1"] == 46


def test_set_does_not_hold_its_pipe_back() -> None:
    """Rule 5: latency 30: the set takes its pipe's cycle 11; the next load runs from 12, long before the flag is up."""
    times = run(toy(load_latency=30), [load(10), set_flag(*LOADED), load(10), wait_flag(*LOADED)])
    assert (times.span(1), times.start(2)) == ((11, 12), 12)


def test_set_waits_for_earlier_ops_only() -> None:
    """Rule 5: the load behind the set ends at 112, the flag is up at 19."""
    times = run(toy(), [load(10), set_flag(*LOADED), load(100), wait_flag(*LOADED)])
    assert times.times[3].end == 19


def test_set_on_an_idle_pipe_counts_from_its_start() -> None:
    """Rule 5: load 1 to 2; four scalar steps; the set is ready at 6: flag up at 14."""
    flagged = set_flag(*LOADED)
    flagged.scalars = 4
    times = run(toy(scalar_op=1), [load(1), flagged, wait_flag(*LOADED)])
    assert times.times[2].end == 14


def test_wait_for_a_flag_that_is_up_costs_nothing() -> None:
    """Rule 6: flag up at 10; the extract before the wait ends at 23, the one behind it starts there."""
    times = run(toy(), [load(1), set_flag(*LOADED), extract(20), wait_flag(*LOADED), extract(4)])
    assert (times.span(3), times.start(4)) == ((23, 23), 23)


def test_waits_take_sets_in_their_order() -> None:
    """Rule 6: flags of loads 1 to 11 and 12 to 22 are up at 19 and 30."""
    program = [load(10), set_flag(*LOADED), load(10), set_flag(*LOADED), wait_flag(*LOADED), extract(1)]
    times = run(toy(), [*program, wait_flag(*LOADED), extract(1)])
    assert (times.start(5), times.start(7)) == (19, 30)
    assert times.replay.double_sets == ()


def test_ids_and_pairs_are_flags_of_their_own() -> None:
    """Rule 6: id 1 is up at 10, id 0 at 31: the wait for id 1 does not take the set of id 0."""
    program = [load(1), set_flag(*LOADED, 1), load(20), set_flag(*LOADED, 0)]
    times = run(toy(), [*program, wait_flag(*LOADED, 1), extract(1), wait_flag(*LOADED, 0), extract(1)])
    assert (times.start(5), times.start(7)) == (10, 31)
    assert times.replay.ids == {PipePair(*LOADED): 2}


def test_wait_takes_a_set_that_stands_later_in_the_program() -> None:
    """Rule 6: the load, ready at 3, runs 3 to 13; flag up at 21; wait and extract were dispatched before it."""
    times = run(toy(), [wait_flag(*LOADED), extract(4), load(10), set_flag(*LOADED)])
    assert (times.span(0), times.span(1)) == ((1, 21), (21, 25))
    assert times.replay.deadlock is None


def test_set_behind_a_pending_wait_wakes_the_next_pipe() -> None:
    """Rule 6: MTE1 waits for MTE2 and M for MTE1, all dispatched before the load that starts it off.

    The load is ready at 7: 7 to 17, flag up at 25; extract 25 to 29, set at 29, flag up at 37; matmul 37 to 40.
    """
    extracted = (Pipe.MTE1, Pipe.M)
    program = [wait_flag(*extracted), matmul(3), wait_flag(*LOADED), extract(4), set_flag(*extracted), matmul(1)]
    times = run(toy(), [*program, load(10), set_flag(*LOADED)])
    assert [times.span(i) for i in (3, 1, 5)] == [(25, 29), (37, 40), (40, 41)]


def test_full_queue_in_front_of_the_set_hangs() -> None:
    """Rule 6: depth 2: wait and extract stay queued, so the second extract and the load behind it never dispatch."""
    program = [wait_flag(*LOADED), extract(4), extract(4), load(10), set_flag(*LOADED)]
    times = run(toy(MTE1=2), program)
    assert times.replay.deadlock is not None
    assert times.replay.deadlock.op is program[2].op
    assert times.replay.deadlock.blocked == (program[0],)
    assert times.times == {}
    assert run(toy(MTE1=3), program).replay.deadlock is None


def test_full_barrier_in_front_of_the_set_hangs() -> None:
    """Rules 6 and 8: the wait never ends, so neither does the barrier."""
    program = [wait_flag(*LOADED), barrier(Pipe.ALL), set_flag(*LOADED)]
    deadlock = run(toy(), program).replay.deadlock
    assert deadlock is not None
    assert (deadlock.op, deadlock.blocked) == (program[1].op, (program[0],))


def test_wait_without_a_set_hangs_at_the_end() -> None:
    """Rule 6: the load runs, nothing comes for the wait; a flag of another id does not help."""
    program = [set_flag(*LOADED, 1), wait_flag(*LOADED, 0), load(10)]
    result = run(toy(), program).replay
    assert result.deadlock is not None
    assert (result.deadlock.op, result.cycles, result.flags_left) == (program[1].op, 13, ())


@pytest.mark.parametrize(("cycles", "double"), [(6, 0), (7, 1), (50, 1)])
def test_set_that_rises_before_the_wait_ends_is_double(cycles: int, double: int) -> None:
    """Rule 7: flags of loads 1 to 2 and 3 to 4 are up at 10 and 12; the first wait ends with the extract that is ready
    at 5, at 11, 12 or 55. The replay goes on: both waits are timed, and the last extract starts when they have ended.
    """
    program = [load(1), set_flag(*LOADED), load(1), set_flag(*LOADED), extract(cycles)]
    times = run(toy(), [*program, wait_flag(*LOADED), wait_flag(*LOADED), extract(4)])
    assert [(d.op, d.count) for d in times.replay.double_sets] == [(program[3].op, 1)] * double
    assert (times.replay.waits, times.replay.flags_left) == (2, ())
    assert times.start(7) == max(12, 5 + cycles)


def test_set_dispatched_after_the_wait_can_be_double() -> None:
    """Rule 7: the wait ends with the extract at 103; the second set, dispatched behind it, rises at 13."""
    program = [load(1), set_flag(*LOADED), extract(100), wait_flag(*LOADED), set_flag(*LOADED), wait_flag(*LOADED)]
    times = run(toy(), program)
    assert times.times[4].done == 13
    assert [d.op for d in times.replay.double_sets] == [program[4].op]


def test_double_sets_are_counted_by_op() -> None:
    """Rule 7: one set op executed four times without a wait: the last three are double, and all four flags are left."""
    flagged = set_flag(*LOADED)
    times = replay([flagged] * 4, toy())
    assert [(d.op, d.count) for d in times.double_sets] == [(flagged.op, 3)]
    assert [f.op for f in times.flags_left] == [flagged.op] * 4


def test_flags_left_are_told() -> None:
    """A set without a wait: its pair, id and op; the kernel itself ends."""
    program = [load(1), set_flag(*LOADED, 3)]
    result = run(toy(), program).replay
    assert [(f.pair, f.event, f.op) for f in result.flags_left] == [(PipePair(*LOADED), 3, program[1].op)]
    assert (result.deadlock, result.double_sets, result.sets, result.waits) == (None, (), 1, 0)


def test_set_of_the_scalar_pipe_rises_a_hop_after_the_clock() -> None:
    """Rule 9: the scalar read ends at 7: flag up at 15; the load behind the wait is ready at 9 and starts at 15."""
    flag = (Pipe.S, Pipe.MTE2)
    times = run(toy(), [get_value(), set_flag(*flag), wait_flag(*flag), load(10)])
    assert (times.times[1].done, times.times[2].ready, times.start(3)) == (15, 8, 15)


def test_set_of_the_scalar_pipe_wakes_a_pending_wait() -> None:
    """Rule 9: wait ready at 1, load at 2; the scalar read ends at 9, flag up at 17."""
    flag = (Pipe.S, Pipe.MTE2)
    assert run(toy(), [wait_flag(*flag), load(10), get_value(), set_flag(*flag)]).start(1) == 17


def test_wait_of_the_scalar_pipe_holds_dispatch() -> None:
    """Rule 9: load 1 to 11, flag up at 19: clock 19, the next instruction, of another pipe, is ready at 20."""
    flag = (Pipe.MTE2, Pipe.S)
    times = run(toy(), [load(10), set_flag(*flag), wait_flag(*flag), matmul(1)])
    assert (times.times[2].end, times.start(3)) == (19, 20)
    assert times.replay.stalls["MTE2->S"] == 16


def test_wait_of_the_scalar_pipe_takes_the_time_to_issue() -> None:
    """Rule 9: flag up at 10; two scalar reads bring the clock to 16; the wait to 17, the load is ready at 18."""
    flag = (Pipe.MTE2, Pipe.S)
    assert run(toy(), [load(1), set_flag(*flag), get_value(), get_value(), wait_flag(*flag), load(1)]).start(5) == 18


def test_wait_of_the_scalar_pipe_for_a_later_set_hangs() -> None:
    """Rules 6 and 9: nothing behind the wait is dispatched."""
    program = [wait_flag(Pipe.MTE2, Pipe.S), load(10), set_flag(Pipe.MTE2, Pipe.S)]
    deadlock = run(toy(), program).replay.deadlock
    assert deadlock is not None
    assert deadlock.op is program[0].op


def test_scalar_op_on_a_tile_adds_its_cost_to_the_clock() -> None:
    """Rule 9: 7 cycles, then the load is ready at 8; it counts as a tile op of its own pipe."""
    times = run(toy(), [get_value(), load(1)])
    assert times.start(1) == 8
    assert (times.replay.busy, times.replay.tile_ops) == ({Pipe.S: 7, Pipe.MTE2: 1}, 2)


@pytest.mark.parametrize("flag", [set_flag(Pipe.ALL, Pipe.M), wait_flag(Pipe.M, Pipe.ALL), set_flag(Pipe.M, Pipe.ALL)])
def test_all_pipes_together_have_no_flags(flag: Instance) -> None:
    with pytest.raises(InputError, match=r"^error: PIPE_ALL has no flags"):
        replay([flag], toy())
