"""The critical path of small programs, worked out by hand, and that it adds up to the cycles of any run.

On the toy machine an instruction takes 1 cycle to issue, a flag 8 to arrive, a barrier 20 on M, 0 on V, 5 elsewhere.
"""

import gc
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.frontend import parse_module
from syncopt.hwmodel import Machine, UnmodelledWork, load_machine
from syncopt.ir.kernel import Op
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.sim import Cause, Stretch, critical_path, replay
from tests.sim.kernels import GATHER, gemm
from tests.sim.programs import (
    add,
    barrier,
    extract,
    extract_right,
    get_value,
    load,
    matmul,
    set_flag,
    store,
    toy,
    wait_flag,
)

LOADED = (Pipe.MTE2, Pipe.MTE1)
MOVED = (Pipe.MTE1, Pipe.M)
Row = tuple[int | None, int | None, Cause, tuple[int, ...], int, int, int]
"""Positions of source, target and what is between them in the program; work, wait, times."""


def path(program: Sequence[Instance], machine: Machine | None = None) -> list[Row]:
    """The path of a program, longest stretches first, those of one length from the end backwards."""
    positions: dict[Op, int] = {}
    for place, instance in enumerate(program):
        positions.setdefault(instance.op, place)

    def row(stretch: Stretch) -> Row:
        ends = [None if op is None else positions[op] for op in (stretch.source, stretch.target)]
        via = tuple(positions[op] for op in stretch.via)
        return (ends[0], ends[1], stretch.cause, via, stretch.work, stretch.wait, stretch.times)

    return [row(stretch) for stretch in critical_path(program, machine or toy()).stretches]


def test_busy_pipe_is_the_path() -> None:
    """Loads 1 to 11, 11 to 31: issued, then one behind the other."""
    assert path([load(10), load(20)]) == [
        (1, None, Cause.END, (), 20, 0, 1),
        (0, 1, Cause.ORDER, (), 10, 0, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_flag_takes_latency_and_way() -> None:
    """Latency 30: load 1 to 11, done at 41, flag up at 49; extract 49 to 53. The set's own cycle is on no path."""
    program = [load(10), set_flag(*LOADED), wait_flag(*LOADED), extract(4)]
    assert path(program, toy(load_latency=30)) == [
        (0, 3, Cause.FLAG, (1, 2), 10, 38, 1),
        (3, None, Cause.END, (), 4, 0, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_set_between_two_ops_holds_its_pipe_for_a_cycle() -> None:
    """Load 1 to 11, set 11 to 12, load 12 to 22."""
    assert (0, 2, Cause.ORDER, (), 10, 1, 1) in path([load(10), set_flag(*LOADED), load(10)])


def test_flag_that_is_up_is_not_on_the_path() -> None:
    """Flag up at 10, the extract before the wait ends at 23: the path goes along the pipe."""
    assert path([load(1), set_flag(*LOADED), extract(20), wait_flag(*LOADED), extract(4)]) == [
        (2, 4, Cause.ORDER, (), 20, 0, 1),
        (4, None, Cause.END, (), 4, 0, 1),
        (None, 2, Cause.DISPATCH, (), 0, 3, 1),
    ]


def test_tie_goes_along_the_pipe() -> None:
    """Load 1 to 5, flag up at 13; extract 3 to 13: both would let the second extract start at 13."""
    rows = path([load(4), set_flag(*LOADED), extract(10), wait_flag(*LOADED), extract(1)])
    assert (2, 4, Cause.ORDER, (), 10, 0, 1) in rows


def test_set_that_is_dispatched_late_is_a_step_of_its_own() -> None:
    """Load 1 to 2; 40 scalar steps; the set is ready at 42, its flag up at 50, where the extract starts."""
    flagged = set_flag(*LOADED)
    flagged.scalars = 40
    rows = path([load(1), flagged, wait_flag(*LOADED), extract(4)], toy(scalar_op=1))
    assert rows == [
        (None, 1, Cause.DISPATCH, (), 0, 42, 1),
        (1, 3, Cause.FLAG, (1, 2), 0, 8, 1),
        (3, None, Cause.END, (), 4, 0, 1),
    ]


def test_flag_passed_on_without_an_op_between() -> None:
    """Flag of the load up at 19; MTE1 sets another one behind its wait: up at 27, where the matmul starts."""
    program = [load(10), set_flag(*LOADED), wait_flag(*LOADED), set_flag(*MOVED), wait_flag(*MOVED), matmul(5)]
    assert path(program) == [
        (0, 3, Cause.FLAG, (1, 2), 10, 8, 1),
        (3, 5, Cause.FLAG, (3, 4), 0, 8, 1),
        (5, None, Cause.END, (), 5, 0, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_full_queue_leads_to_what_left_it() -> None:
    """Depth 2: matmuls 1 to 11, to 21 and so on; the fourth enters when the second leaves at 11; load ready at 12."""
    program = [matmul(10), matmul(10), matmul(10), matmul(10), load(100)]
    assert path(program, toy(M=2)) == [
        (4, None, Cause.END, (), 100, 0, 1),
        (0, 1, Cause.ORDER, (), 10, 0, 1),
        (1, 4, Cause.QUEUE, (3,), 0, 1, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_full_queue_behind_a_wait() -> None:
    """Depth 2: extract and wait stand in the queue of MTE1. The flag is up at 19, where wait and extract leave; the
    set of MTE1 that stood before the queue, the third entry, enters at 19, the matmul is ready at 20.
    """
    program = [load(10), set_flag(*LOADED), wait_flag(*LOADED), extract(50), set_flag(*MOVED), matmul(100)]
    assert path(program, toy(MTE1=2)) == [
        (5, None, Cause.END, (), 100, 0, 1),
        (0, 2, Cause.FLAG, (1, 2), 10, 8, 1),
        (2, 5, Cause.QUEUE, (4,), 0, 1, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_op_of_several_entries_leaves_the_queue_at_once() -> None:
    """Depth 4: extract 1 to 31; one of 3 entries follows. Another finds a place at 5, the next at 31, when the first of
    the two leaves with all its entries, the last at 32; the load is ready at 33.
    """
    rows = path([extract(30), extract_right(3), extract_right(3), load(100)], toy(MTE1=4))
    assert rows == [
        (3, None, Cause.END, (), 100, 0, 1),
        (0, 1, Cause.ORDER, (), 30, 0, 1),
        (1, 3, Cause.QUEUE, (2,), 0, 2, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


@pytest.mark.parametrize(
    ("pipe", "op", "cycles", "latency", "cost"), [(Pipe.V, add, 6, 24, 0), (Pipe.M, matmul, 10, 0, 20)]
)
def test_barrier_shows_latency_and_cost(
    pipe: Pipe, op: Callable[[int], Instance], cycles: int, latency: int, cost: int
) -> None:
    """The op before it occupies the pipe, then the rest of it and the barrier's own cost come to light."""
    first, second = op(cycles), op(cycles)
    rows = path([first, barrier(pipe), second])
    assert (0, 2, Cause.BARRIER, (1,), cycles, latency + cost, 1) in rows


def test_barrier_that_holds_nothing_is_not_on_the_path() -> None:
    """The barrier on V costs nothing and is dispatched when the first sum is long done."""
    late = barrier(Pipe.V)
    late.scalars = 100
    assert path([add(6), late, add(6)], toy(scalar_op=1)) == [
        (None, 2, Cause.DISPATCH, (), 0, 103, 1),
        (2, None, Cause.END, (), 6, 24, 1),
    ]


def test_late_barrier_is_a_step_of_its_own() -> None:
    """The barrier on M is ready at 102, costs 20."""
    late = barrier(Pipe.M)
    late.scalars = 100
    rows = path([matmul(6), late, matmul(6)], toy(scalar_op=1))
    assert rows == [
        (None, 1, Cause.DISPATCH, (), 0, 102, 1),
        (1, 2, Cause.BARRIER, (1,), 0, 20, 1),
        (2, None, Cause.END, (), 6, 0, 1),
    ]


def test_barrier_of_all_pipes_waits_for_the_last() -> None:
    """Latency 30: load done at 41; the barrier ends at 46; the extract is ready at 47."""
    rows = path([load(10), extract(4), barrier(Pipe.ALL), extract(4)], toy(load_latency=30))
    assert rows == [
        (0, 3, Cause.BARRIER, (2,), 10, 36, 1),
        (3, None, Cause.END, (), 4, 0, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_barrier_of_all_pipes_that_finds_them_idle() -> None:
    """100 scalar steps; the barrier is issued at 102 and costs 5; the load is ready at 108."""
    late = barrier(Pipe.ALL)
    late.scalars = 100
    assert path([load(1), late, load(10)], toy(scalar_op=1)) == [
        (None, 1, Cause.DISPATCH, (), 0, 102, 1),
        (2, None, Cause.END, (), 10, 0, 1),
        (1, 2, Cause.BARRIER, (1,), 0, 6, 1),
    ]


def test_scalar_pipe_reads_and_waits() -> None:
    """The flag of the load is up at 19; the read takes 19 to 26; the matmul is ready at 27."""
    flag = (Pipe.MTE2, Pipe.S)
    assert path([load(10), set_flag(*flag), wait_flag(*flag), get_value(), matmul(9)]) == [
        (0, 3, Cause.FLAG, (1, 2), 10, 8, 1),
        (4, None, Cause.END, (), 9, 0, 1),
        (3, 4, Cause.DISPATCH, (), 7, 1, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_run_that_ends_with_the_scalar_pipe() -> None:
    assert path([load(1), get_value()]) == [
        (1, None, Cause.END, (), 7, 0, 1),
        (None, 1, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_set_of_the_scalar_pipe_wakes_a_pending_wait() -> None:
    """Wait and load are in their queue at 2; the read ends at 9; flag up at 17."""
    flag = (Pipe.S, Pipe.MTE2)
    assert path([wait_flag(*flag), load(10), get_value(), set_flag(*flag)]) == [
        (1, None, Cause.END, (), 10, 0, 1),
        (3, 1, Cause.FLAG, (3, 0), 0, 8, 1),
        (2, 3, Cause.DISPATCH, (), 7, 0, 1),
        (None, 2, Cause.DISPATCH, (), 0, 2, 1),
    ]


def test_steps_of_a_loop_are_added_up() -> None:
    """Three loads of one op, 1 to 31."""
    one = load(10)
    assert path([one, one, one]) == [
        (0, 0, Cause.ORDER, (), 20, 0, 2),
        (0, None, Cause.END, (), 10, 0, 1),
        (None, 0, Cause.DISPATCH, (), 0, 1, 1),
    ]


def test_nothing_has_no_path() -> None:
    assert path([]) == []
    assert path([set_flag(*LOADED)]) == []


def test_path_of_a_run_that_hangs_leads_to_what_was_done() -> None:
    """Nothing comes for the wait: the load is the last that completes."""
    program = [load(10), wait_flag(*LOADED), extract(4)]
    assert path(program) == [(0, None, Cause.END, (), 10, 0, 1), (None, 0, Cause.DISPATCH, (), 0, 1, 1)]


def test_path_of_a_run_that_hangs_before_a_full_queue() -> None:
    """Depth 2: the third instruction of MTE1 never gets in."""
    program = [load(10), wait_flag(*LOADED), extract(4), extract(4), set_flag(*LOADED)]
    assert path(program, toy(MTE1=2)) == [(0, None, Cause.END, (), 10, 0, 1), (None, 0, Cause.DISPATCH, (), 0, 1, 1)]


def test_errors_are_those_of_the_replay() -> None:
    kernel = parse_module(Source("gather.pto", GATHER.encode())).kernel()
    with pytest.raises(UnmodelledWork, match=r"gather.pto:4:3: error: pto.tgatherb"):
        critical_path(Tracer(kernel, Setting({}, 0, 1)), load_machine("910b2"), source=kernel.source)
    with pytest.raises(InputError, match="takes 3 queue entries"):
        critical_path([extract_right(3)], toy(MTE1=2))


PIECES = st.one_of(
    st.integers(1, 40).map(lambda n: [load(n, n % 3)]),
    st.integers(1, 40).map(lambda n: [extract(n)]),
    st.integers(1, 4).map(lambda n: [extract_right(n)]),
    st.integers(1, 40).map(lambda n: [matmul(n)]),
    st.integers(1, 40).map(lambda n: [store(n)]),
    st.integers(1, 40).map(lambda n: [add(n)]),
    st.sampled_from([Pipe.M, Pipe.V, Pipe.MTE2, Pipe.ALL]).map(lambda pipe: [barrier(pipe)]),
    st.builds(lambda: [get_value()]),
    st.sampled_from([LOADED, LOADED[::-1], MOVED, MOVED[::-1], (Pipe.S, Pipe.V), (Pipe.MTE2, Pipe.S)]).flatmap(
        lambda pair: st.integers(0, 3).map(
            lambda event: [set_flag(pair[0], pair[1], event), wait_flag(pair[0], pair[1], event)]
        )
    ),
    st.sampled_from([LOADED, MOVED]).map(lambda pair: [wait_flag(*pair, 5), set_flag(*pair, 5)]),
)


@settings(max_examples=150)
@given(st.lists(PIECES, max_size=40), st.integers(4, 6), st.integers(0, 2), st.integers(0, 30))
def test_path_adds_up_to_the_cycles_of_any_run(
    pieces: list[list[Instance]], depth: int, scalar_op: int, latency: int
) -> None:
    """However often it is folded; the steps form a way from the beginning to the end."""
    program = list(chain.from_iterable(pieces))
    machine = toy(MTE1=depth, M=depth, MTE2=depth, scalar_op=scalar_op, load_latency=latency)
    found = critical_path(program, machine)
    assert sum(stretch.cycles for stretch in found.stretches) == found.replay.cycles
    assert found.replay == replay(program, machine)
    assert min((min(stretch.work, stretch.wait) for stretch in found.stretches), default=0) >= 0
    assert set(critical_path(program, machine, fold=1).stretches) == set(found.stretches)


def test_memory_does_not_grow_with_the_trace() -> None:
    """Ten times as many K iterations of the hand-synchronised GEMM; what is held is folded in between."""
    kernel, addresses = gemm()
    machine = load_machine("910b2")

    def peak(k: int) -> int:
        setting = Setting({"M": 128, "N": 1024, "K": k}, 0, 1, addresses=addresses)
        gc.collect()
        tracemalloc.start()
        critical_path(Tracer(kernel, setting), machine, fold=256)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(512)
    assert peak(20480) < 1.5 * peak(2048)
