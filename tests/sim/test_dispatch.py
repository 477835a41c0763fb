"""Dispatch and queues (docs/model.md). The toy machine of `programs` issues one entry per cycle."""

import pytest

from syncopt.ir.kernel import NO_SPAN, TileOp
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import InputError, Source, Span
from syncopt.ir.trace import Instance
from syncopt.sim import replay
from tests.sim.programs import (
    barrier,
    extract,
    extract_right,
    load,
    matmul,
    run,
    set_flag,
    store,
    toy,
    wait_flag,
)


def test_scalar_steps_cost_nothing_as_shipped() -> None:
    """Rule 1: four steps at 0 cycles, one entry: ready at 1."""
    assert run(toy(), [load(10, scalars=4)]).start(0) == 1


def test_scalar_steps_move_the_clock() -> None:
    """Rule 1: four steps at 3 cycles, one entry: ready at 13; two more steps: 13 + 6 + 1 = 20."""
    times = run(toy(scalar_op=3), [load(2, scalars=4), load(2, scalars=2)])
    assert (times.start(0), times.start(1)) == (13, 20)


def test_full_queue_stops_dispatch_to_other_pipes() -> None:
    """Rule 2: depth 2, four 10-cycle matmuls, a load: the fourth matmul holds up dispatch, the load behind it too.

    Ready at 1, 2 and 3. The first runs at once and is not counted; the second leaves the queue when it starts at 11,
    which makes room for the fourth; the load is ready at 12.
    """
    times = run(toy(M=2), [matmul(10), matmul(10), matmul(10), matmul(10), load(5)])
    assert [times.times[i].ready for i in range(5)] == [1, 2, 3, 11, 12]
    assert [times.start(i) for i in range(5)] == [1, 11, 21, 31, 12]
    assert times.replay.stalls["queue M"] == 7


def test_queue_with_room_stops_nothing() -> None:
    """Rule 2: the same at depth 3: the fourth matmul is ready at 4, the load at 5."""
    assert run(toy(M=3), [matmul(10), matmul(10), matmul(10), matmul(10), load(5)]).start(4) == 5


def test_every_entry_of_an_op_waits_for_room() -> None:
    """Rules 2 and 3: extracts of 2 entries and 4 cycles, depth 2.

    The first is ready at 2 and runs 2 to 6; the second is ready at 4, its two entries leave at 6; the third waits for
    that, enters at 6 and 7, and runs from 10; the load is ready at 8.
    """
    times = run(toy(MTE1=2), [extract_right(2), extract_right(2), extract_right(2), load(5)])
    assert [times.times[i].ready for i in range(4)] == [2, 4, 7, 8]
    assert [times.span(i) for i in range(3)] == [(2, 6), (6, 10), (10, 14)]


def test_entries_enter_as_single_ones_leave() -> None:
    """Rule 2: depth 2, extracts of 10, 5 and 5 cycles, then one of 2 entries.

    Ready at 1, 2 and 3, started at 1, 11 and 16; the entries of the fourth enter at 11 and 16.
    """
    times = run(toy(MTE1=2), [extract(10), extract(5), extract(5), extract_right(2)])
    assert times.times[3].ready == 16
    assert times.start(3) == 21


def test_more_entries_than_the_queue_holds_are_an_error() -> None:
    """Rule 2: 4 entries, depth 3."""
    op = TileOp(7, Span(4, 16), "pto.textract", (), ())
    instance = Instance(op, Pipe.MTE1, (), 0, extract_right(4).work)
    with pytest.raises(InputError) as error:
        replay([instance], toy(MTE1=3), source=Source("toy.pto", b"{\n  pto.textract\n}"))
    assert str(error.value).splitlines() == [
        "toy.pto:2:3: error: pto.textract takes 4 queue entries, the queue of MTE1 holds 3",
        "    2 |   pto.textract",
        "      |   ^^^^^^^^^^^^",
        "   help: simulate a machine with queue.MTE1 >= 4",
    ]


def test_as_many_entries_as_the_queue_holds_are_none() -> None:
    """Rule 2: 4 entries, depth 4: ready at 4."""
    assert run(toy(MTE1=4), [extract_right(4)]).start(0) == 4


def test_set_leaves_the_queue_at_its_end() -> None:
    """Rule 3: depth 1. Matmul 1 to 11, set 11 to 12; the second matmul enters at 12, not at 11; the load at 13."""
    times = run(toy(M=1), [matmul(10), set_flag(Pipe.M, Pipe.FIX), matmul(10), load(5)])
    assert (times.span(1), times.start(2), times.start(3)) == ((11, 12), 12, 13)


def test_wait_leaves_the_queue_when_it_is_satisfied() -> None:
    """Rule 3: depth 1. Load 1 to 11, flag up at 19; the extract enters the queue of MTE1 at 19, the store follows."""
    flag = (Pipe.MTE2, Pipe.MTE1)
    times = run(toy(MTE1=1), [load(10), set_flag(*flag), wait_flag(*flag), extract(4), store(1)])
    assert (times.span(2), times.start(3), times.start(4)) == ((3, 19), 19, 20)


def test_barrier_leaves_the_queue_when_it_is_satisfied() -> None:
    """Rule 3: depth 1. Matmul 1 to 11, barrier to 31; the second matmul enters at 31, the load at 32."""
    times = run(toy(M=1), [matmul(10), barrier(Pipe.M), matmul(10), load(5)])
    assert (times.start(2), times.start(3)) == (31, 32)


def test_op_of_no_file_has_no_place_in_its_error() -> None:
    """Rule 2, for an op that was added to a kernel."""
    instance = Instance(TileOp(0, NO_SPAN, "pto.textract", (), ()), Pipe.MTE1, (), 0, extract_right(4).work)
    with pytest.raises(InputError, match=r"^error: pto\.textract takes 4 queue entries"):
        replay([instance], toy(MTE1=3), source=Source("toy.pto", b""))
