"""What slices say. The toy machine issues in 1 cycle, a flag takes 8 to arrive, a barrier of MTE2 costs 5."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.emit.timeline import Slice, SliceKind, slices
from syncopt.hwmodel import load_machine
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Tracer
from tests.cli.running import HAND
from tests.emit.timeline.drawing import NOWHERE, guarded_version, placed, sliced, stalls
from tests.sim.programs import (
    barrier,
    extract,
    get_value,
    load,
    matmul,
    set_flag,
    toy,
    wait_flag,
)


def test_slices_come_in_program_order_with_their_times() -> None:
    """Loads ready at 1 and 2 run 1 to 11 and 11 to 16, the matmul ready at 3 runs 3 to 10."""
    found = sliced(toy(), [load(10), load(5), matmul(7)])
    assert [(piece.name, piece.lane, piece.start, piece.end) for piece in found] == [
        ("tload", Pipe.MTE2, 1, 11),
        ("tload", Pipe.MTE2, 11, 16),
        ("tmatmul", Pipe.M, 3, 10),
    ]


def test_wait_stands_still_for_its_flag() -> None:
    """The load is done at 11, its flag up at 11 + 8; the wait is ready at 3, so it holds MTE1 for 16 cycles."""
    found = sliced(toy(), [load(10), set_flag(Pipe.MTE2, Pipe.MTE1, 5), wait_flag(Pipe.MTE2, Pipe.MTE1, 5), extract(4)])
    assert [piece.kind for piece in found] == [SliceKind.OP, SliceKind.SET, SliceKind.WAIT, SliceKind.OP]
    assert (found[2].start, found[2].end) == (3, 19)
    assert stalls(found[2]) == [("dispatch", 3), ("MTE2->MTE1 id 5", 16)]
    assert stalls(found[3]) == []


def test_wait_ahead_of_its_set_in_program_order() -> None:
    """The wait is timed last but stands first; the set, at 2, rises at 10."""
    found = sliced(toy(), [wait_flag(Pipe.MTE2, Pipe.M), set_flag(Pipe.MTE2, Pipe.M), matmul(3)])
    assert [(piece.kind, piece.start, piece.end) for piece in found] == [
        (SliceKind.WAIT, 1, 10),
        (SliceKind.SET, 2, 3),
        (SliceKind.OP, 10, 13),
    ]
    assert found[0].flag == found[1].flag


def test_kth_wait_has_the_number_of_the_kth_set() -> None:
    flag = (Pipe.MTE2, Pipe.M)
    program = [set_flag(*flag), set_flag(*flag), set_flag(*flag, 1), wait_flag(*flag), wait_flag(*flag)]
    numbers = [piece.flag.number for piece in sliced(toy(), program) if piece.flag is not None]
    assert numbers == [0, 1, 2, 0, 1]


def test_barrier_stands_still_until_all_is_done() -> None:
    """Latency 30: the load runs 1 to 11 and is done at 41, the barrier ends at 46."""
    found = sliced(toy(load_latency=30), [load(10), barrier(Pipe.MTE2), load(1)])
    assert stalls(found[1]) == [("barrier MTE2", 35)]
    assert stalls(found[2]) == []


def test_full_queue_is_why_the_next_op_is_late() -> None:
    """Depth 1: matmuls at 1 to 11, ready 2, then dispatch stands until 11; the load behind it is ready at 12."""
    found = sliced(toy(M=1), [matmul(10), matmul(10), matmul(10), load(5)])
    assert (found[2].start, found[3].start) == (21, 12)
    assert stalls(found[3]) == [("dispatch (queue of M full)", 12)]


def test_full_barrier_stands_on_the_scalar_lane_and_delays_dispatch() -> None:
    """The load is done at 11; the barrier starts at clock 1 and ends at 11 + 5, the next load is ready at 17."""
    found = sliced(toy(), [load(10), barrier(Pipe.ALL), load(1)])
    assert (found[1].lane, found[1].start, found[1].end) == (Pipe.S, 1, 16)
    assert stalls(found[1]) == [("barrier ALL", 14)]
    assert stalls(found[2]) == [("dispatch (barrier ALL)", 6)]


def test_work_of_the_scalar_pipe_delays_dispatch() -> None:
    """The scalar read takes the clock from 0 to 7, the load is ready at 8."""
    found = sliced(toy(), [get_value(), load(1)])
    assert (found[0].lane, found[0].start, found[0].end) == (Pipe.S, 0, 7)
    assert stalls(found[1]) == [("dispatch (work on S)", 8)]


def test_wait_of_the_scalar_pipe_delays_dispatch() -> None:
    """The load is done at 11, its flag up at 19; the wait took the clock from 2, 1 of it to issue."""
    found = sliced(toy(), [load(10), set_flag(Pipe.MTE2, Pipe.S), wait_flag(Pipe.MTE2, Pipe.S), matmul(1)])
    assert (found[2].start, found[2].end) == (2, 19)
    assert stalls(found[2]) == [("MTE2->S id 0", 16)]
    assert stalls(found[3]) == [("dispatch (wait for MTE2->S)", 20)]


def test_what_a_hang_never_times_is_counted() -> None:
    """The wait has no set; the matmul behind it never starts either, the load does."""
    found: list[str] = []
    program = [wait_flag(Pipe.MTE2, Pipe.M), matmul(1), load(1)]
    result, blocked = slices(program, toy(), NOWHERE, lambda piece: found.append(piece.name))
    assert result.deadlock is not None
    assert (found, blocked) == (["tload"], 2)


def test_lines_and_iterations() -> None:
    version = guarded_version()
    found: list[tuple[str, int | None, int | None]] = []
    slices(
        version.trace,
        version.machine,
        version.source,
        lambda piece: found.append((piece.name, piece.line, None if piece.flag is None else piece.flag.set_line)),
    )
    assert found == [
        ("tload", 15, None),
        ("set", 16, 16),
        ("wait", 18, 16),
        ("tadd", 19, None),
        ("set", 20, 20),
        ("wait", 21, 20),
        ("tstore", 22, None),
        ("barrier ALL", 23, None),
    ]


@settings(max_examples=10)
@given(
    shape=st.tuples(st.sampled_from([128, 256, 384]), st.sampled_from([256, 768]), st.sampled_from([512, 1024, 1536])),
    depth=st.integers(4, 40),
    scalar=st.integers(0, 3),
)
def test_stalls_add_up_to_those_of_the_replay(shape: tuple[int, int, int], depth: int, scalar: int) -> None:
    """Waits by pair, barriers, and what tile ops waited for dispatch: the same cycles, told slice by slice."""
    machine = load_machine("910b2", [f"queue_depth={depth}", f"dispatch.scalar_op={scalar}"])
    kernel, setting = placed(HAND, machine, dict(zip("MNK", shape, strict=True)))
    told: Counter[str] = Counter()

    def add(piece: Slice) -> None:
        for stall in piece.stalls:
            late = stall.cause.startswith("dispatch")
            if not late or piece.kind is SliceKind.OP:
                told["dispatch" if late else stall.cause.split(" id ")[0]] += stall.cycles

    result, blocked = slices(Tracer(kernel, setting), machine, kernel.source, add)
    assert blocked == 0
    assert told == {cause: cycles for cause, cycles in result.stalls.items() if not cause.startswith("queue")}


@pytest.mark.parametrize("order", [0, 1])
def test_cause_is_what_held_longest(order: int) -> None:
    """Between the loads dispatch stands for a scalar read (7) and for the full queue of M, longer or shorter."""
    long = [matmul(30), matmul(30), matmul(1)]
    short = [matmul(3), matmul(3), matmul(1)]
    program = [load(1), get_value(), *(short, long)[order], load(1)]
    cause = ("dispatch (work on S)", "dispatch (queue of M full)")[order]
    assert sliced(toy(M=1), program)[-1].stalls[0].cause == cause
