"""Missing flags as wrong numbers, and right kernels in every order."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.check import FindingKind, judge
from syncopt.execute import Schedule, ScheduleKind, constraints_of, differences, execute, order_of
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Instance
from tests.execute.streams import CHANNELS, MACHINE, program_of, setting, stream, wrong

PROGRAM = Schedule(ScheduleKind.PROGRAM)
SUBSETS = [missing for size in range(1, 5) for missing in combinations(CHANNELS, size)]


def name_of(instance: Instance | None) -> str:
    """The op of a tile op instance."""
    return "" if instance is None or instance.work is None else instance.work.name


def test_stream_computes_what_it_should() -> None:
    program = program_of(stream())
    done = execute(program, order_of(constraints_of(program), PROGRAM))
    x, y = program.sizes
    assert np.array_equal(done.numbers(y), 2 * done.numbers(x))
    assert len(done.numbers(y)) == 4 * 8 * 64


def test_stream_with_all_flags_is_right_in_every_order() -> None:
    assert wrong(program_of(stream())) == {}


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_stream_with_all_flags_is_right_in_random_orders(seed: int) -> None:
    program = program_of(stream())
    constraints = constraints_of(program)
    expected = execute(program, order_of(constraints, PROGRAM))
    order = order_of(constraints, Schedule(ScheduleKind.RANDOM, seed))
    assert differences(program, expected, execute(program, order)) == ()


@pytest.mark.parametrize("missing", SUBSETS, ids=" ".join)
def test_check_and_execution_agree_on_missing_flags(missing: tuple[str, ...]) -> None:
    """Whatever flags are left out, the check finds a race and an order gives a wrong number."""
    kernel = stream(missing)
    assert FindingKind.RACE in {finding.kind for finding in judge(kernel, setting(), MACHINE).errors}
    assert wrong(program_of(kernel))


@pytest.mark.parametrize(
    ("channel", "kind", "pipe", "origin"),
    [
        # The add reads the tile before the load has come; the load overwrites it before the add has read it.
        ("MTE2 V", ScheduleKind.LATE_RESULTS, Pipe.MTE2, "pto.tadd"),
        ("V MTE2", ScheduleKind.LATE_READS, Pipe.V, "pto.tadd"),
        # The store likewise.
        ("V MTE3", ScheduleKind.LATE_RESULTS, Pipe.V, "pto.tstore"),
        ("MTE3 V", ScheduleKind.LATE_READS, Pipe.MTE3, "pto.tstore"),
    ],
)
def test_each_flag_has_the_order_that_misses_it(channel: str, kind: ScheduleKind, pipe: Pipe, origin: str) -> None:
    found = wrong(program_of(stream([channel])))
    (difference,) = found[Schedule(kind, pipe=pipe)]
    assert difference.pointer.name == "%y"
    assert (name_of(difference.store), name_of(difference.origin)) == ("pto.tstore", origin)


def test_difference_names_the_first_wrong_element() -> None:
    """Without MTE2 -> V the first add reads what the tile held at the start, so that y[0] is twice that."""
    program = program_of(stream(["MTE2 V"]))
    found = wrong(program)[Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.MTE2)][0]
    x, _ = program.sizes
    start = program.start.arrays
    noise = next(array for space, array in start.items() if str(space) == "vec")[:4].view(np.float32)[0]
    assert (found.index, found.expected) == (0, 2 * start[x][:4].view(np.float32)[0])
    assert found.got == 2 * noise
    assert found.origin is not None
    assert found.origin.iteration == (0,)


# -- one pipe ------------------------------------------------------------------------------------------------------

CHAIN = "rows %c0\nload t0\nset MTE2 V\nwait MTE2 V\nadd t1 t0\n{}add t2 t1\nset V MTE3\nwait V MTE3\nstore t2\n"


def test_dependent_vector_ops_need_a_barrier() -> None:
    """t2 = 2 * t1 right behind t1 = 2 * t0."""
    found = wrong(program_of(stream(body=CHAIN.format("")), 1))
    assert Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.V) in found
    assert wrong(program_of(stream(body=CHAIN.format("barrier V\n")), 1)) == {}


def test_vector_op_that_overtakes_another() -> None:
    """Both write t1: without a barrier the second may complete first."""
    body = CHAIN.format("").replace("add t2 t1", "add t1 t2").replace("store t2", "store t1")
    assert Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.V) in wrong(program_of(stream(body=body), 1))
    body = body.replace("add t1 t0", "add t1 t0\nbarrier V")
    assert wrong(program_of(stream(body=body), 1)) == {}


def test_vector_op_that_still_reads() -> None:
    """t2 = 2 * t0, then t0 = 2 * t1: without a barrier the second may write before the first has read."""
    body = CHAIN.format("").replace("add t1 t0\nadd t2 t1", "add t2 t0\nadd t0 t1")
    assert Schedule(ScheduleKind.LATE_READS, pipe=Pipe.V) in wrong(program_of(stream(body=body), 1))
    body = body.replace("add t2 t0", "add t2 t0\nbarrier V")
    assert wrong(program_of(stream(body=body), 1)) == {}


def test_loads_into_one_tile_come_in_order() -> None:
    """MTE2 writes complete in order: the tile holds %y, not %x."""
    body = "rows %c0\nload t0\nload t0 y\nset MTE2 V\nwait MTE2 V\nadd t1 t0\nset V MTE3\nwait V MTE3\nstore t1\n"
    assert wrong(program_of(stream(body=body), 1)) == {}


ROUND_TRIP = """\
rows %c0
load t0
set MTE2 V
wait MTE2 V
add t1 t0
set V MTE3
wait V MTE3
store t1
{}load t2 y
set MTE2 V
wait MTE2 V
barrier V
add t0 t2
set V MTE3
wait V MTE3
rows %c1 B
store t0 B
"""


def test_race_in_global_memory() -> None:
    """Block 0 of %y is stored and loaded again; without a flag the load may come first."""
    found = wrong(program_of(stream(body=ROUND_TRIP.format(""))), 1)[
        Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.MTE3)
    ]
    assert 8 * 64 <= found[0].index < 2 * 8 * 64
    assert wrong(program_of(stream(body=ROUND_TRIP.format("set MTE3 MTE2\nwait MTE3 MTE2\n"))), 1) == {}


# -- deadlock ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in ScheduleKind if kind is not ScheduleKind.PROGRAM])
def test_wait_without_a_set_blocks_every_order(kind: ScheduleKind) -> None:
    """V waits for MTE2, which never sets; the load and the store before it come, the add does not."""
    body = "rows %c0\nload t0\nstore t2\nwait MTE2 V\nadd t1 t0\nbarrier ALL\n"
    order = order_of(constraints_of(program_of(stream(body=body))), Schedule(kind))
    assert [str(instance.pipe) for instance in order.blocked] == ["V"]
    assert len(order.events) == 4


def test_waits_for_each_other_block() -> None:
    """V waits for MTE3 and MTE3 for V, each before it sets; every wait has its set."""
    body = "rows %c0\nwait MTE3 V\nset V MTE3\nwait V MTE3\nset MTE3 V\nstore t0\n"
    order = order_of(constraints_of(program_of(stream(body=body))), Schedule(ScheduleKind.RANDOM))
    assert {str(instance.pipe) for instance in order.blocked} == {"V", "MTE3"}
    assert order.events == ()


@pytest.mark.parametrize("kind", [ScheduleKind.REPLAY, ScheduleKind.LATE_RESULTS])
def test_scalar_wait_blocks_dispatch(kind: ScheduleKind) -> None:
    """What stands behind a wait of the scalar unit does not start, whatever its pipe."""
    body = "rows %c0\nload t0\nwait MTE2 S\nstore t1\n"
    order = order_of(constraints_of(program_of(stream(body=body))), Schedule(kind))
    assert [str(instance.pipe) for instance in order.blocked] == ["S"]
    assert len(order.events) == 2


def test_full_queue_hangs_in_the_replay_only() -> None:
    """64 loads behind a wait of MTE2 fill its queue, and the set stands behind them. The others have no queues."""
    body = "rows %c0\nwait V MTE2\n" + "load t0\n" * 64 + "set V MTE2\nstore t1\n"
    constraints = constraints_of(program_of(stream(body=body)))
    assert [str(i.pipe) for i in order_of(constraints, Schedule(ScheduleKind.REPLAY)).blocked] == ["MTE2"]
    assert order_of(constraints, Schedule(ScheduleKind.RANDOM)).blocked == ()


def test_program_order_takes_no_flag_into_account() -> None:
    order = order_of(constraints_of(program_of(stream(body="wait MTE2 V\nrows %c0\nstore t0\n"))), PROGRAM)
    assert (order.blocked, len(order.events)) == ((), 2)
