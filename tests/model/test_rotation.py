"""Rotating tiles: a flag per slot, one in the text, so that pipes run ahead by as many rounds as there are slots."""

import re

import pytest

from syncopt.check import Verdict, check_kernel
from syncopt.emit import render
from syncopt.ir.kernel import AllocMultiTile, TileOp, walk
from syncopt.ir.pipes import Memory
from syncopt.model.flags.channels import rotation_of
from syncopt.model.planner import Plan
from syncopt.model.rotation import rotations
from syncopt.model.slots import Slot
from tests.check.kernels import setting, vector_kernel
from tests.model.flags.naming import named
from tests.model.rotating import MACHINE, flagged, rotating, slots_of

MULTI = "!pto.multi_tile_buf<vec, 64x64xf32, count=2>"
TILE = "!pto.tile_buf<vec, 64x64xf32>"
HEAD = f"""
%pair = pto.alloc_multi_tile addr = %a0 : {MULTI}
scf.for %i = %c0 to %n step %c1 {{
%s = arith.remsi %i, %c2 : index
%t = pto.multi_tile_get %pair[%s] : {MULTI} -> {TILE}
"""
LOADED_AND_ADDED = HEAD + "load t\nadd t3 t\n}"


def test_slots_of_a_rotating_tile() -> None:
    """64x64 f32 are 16,384 bytes."""
    kernel = vector_kernel(LOADED_AND_ADDED)
    (pair,) = (op for op in walk(kernel.body) if isinstance(op, AllocMultiTile))
    found = rotations(kernel, setting())
    slots = (Slot(pair.uid, 0, Memory.VEC, 0, 16384), Slot(pair.uid, 1, Memory.VEC, 16384, 32768))
    assert found.slots == {pair.uid: slots}
    load, add = (op.uid for op in walk(kernel.body) if isinstance(op, TileOp))
    assert found.shared((load, add)) == slots


def test_ops_with_two_slots_of_one_tile_have_no_flag_of_their_own() -> None:
    """The id of a flag follows from one slot."""
    other = f"%o = arith.subi %c1, %s : index\n%u = pto.multi_tile_get %pair[%o] : {MULTI} -> {TILE}\n"
    kernel = vector_kernel(f"{HEAD}{other}load t\npto.tadd ins(%t, %u : {TILE}, {TILE}) outs(%t3 : {TILE})\n}}")
    load, add = (op.uid for op in walk(kernel.body) if isinstance(op, TileOp))
    found = rotations(kernel, setting())
    assert found.shared((load, add)) == ()
    assert found.shared((load,)) != ()


def test_a_channel_for_each_slot() -> None:
    planner, placement = rotating(LOADED_AND_ADDED)
    assert named(planner.kernel, placement) == [
        *[("MTE2->V", False, ["load0"], ["add0"])] * 2,
        *[("V->MTE2", True, ["add0"], ["load0"])] * 2,
    ]
    assert slots_of(placement) == [0, 1, 0, 1]
    assert [rotation_of(placement, number) for number in range(4)] == [(0, 1), (0, 1), (2, 3), (2, 3)]


def test_one_flag_in_the_text_with_the_slot_as_its_id() -> None:
    planner, placement = rotating(LOADED_AND_ADDED)
    text = render(planner.kernel, flagged(planner, placement)).decode().splitlines()
    flags = [line.strip().removeprefix("pto.") for line in text if "flag" in line and "func" not in line]
    assert flags == [
        "set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]",
        "set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]",
        "wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %s]",
        "set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %s]",
        "wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %s]",
        "set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %s]",
        "wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]",
        "wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]",
    ]


def test_second_rotation_of_a_pair_has_ids_behind_those_of_the_first() -> None:
    """The add of the other tile lets its own load go on, so that four flags of V -> MTE2 are up at the start."""
    second = (
        f"%four = arith.constant 65536 : i64\n%next = pto.alloc_multi_tile addr = %four : {MULTI}\n"
        + HEAD
        + f"%u = pto.multi_tile_get %next[%s] : {MULTI} -> {TILE}\nload t\nadd t3 t\nload u\nadd t3 u\n}}"
    )
    planner, placement = rotating(second)
    kernel = flagged(planner, placement)
    text = render(planner.kernel, kernel).decode()
    base, event = r"(%first_2\w*) = arith.constant 2 : index\n", r"(%event\w*) = arith.addi %s, \1 : index\n"
    assert re.search(base + event + r"pto.wait_flag_dyn\[<PIPE_V>, <PIPE_MTE2>, \2\]\n", text)
    assert check_kernel(kernel, setting(n=8), MACHINE).findings == ()


@pytest.mark.parametrize("count", range(6))
def test_plan_is_clean_for_any_number_of_rounds(count: int) -> None:
    planner, placement = rotating(LOADED_AND_ADDED)
    report = check_kernel(flagged(planner, placement), setting(n=count), MACHINE)
    assert (report.verdict, report.findings, report.unproven) == (Verdict.CLEAN, (), ())


def test_loads_run_ahead_by_one_round() -> None:
    """A load takes 280 cycles and is complete 264 later, an add takes 128 and 24; flags rise 8 later.

    The first load starts at 10, when the flag that is set first (at 2) has risen. With one flag the next load waits for
    the add: 280 + 264 + 8 + 128 + 24 + 8 = 712 cycles a round, and the last add is complete 704 after its load started.
    With a flag per slot the load of slot 1 starts right behind that of slot 0 and its set, 281 cycles later, and two
    rounds take the 712.
    """
    planner, placement = rotating(LOADED_AND_ADDED)
    order = planner.mobility.as_written()
    one_flag = next(planner.placements(order))
    assert slots_of(one_flag) == [None, None]
    assert planner.in_full(Plan(order, one_flag)).cycles == 10 + 7 * 712 + 704
    assert planner.in_full(Plan(order, placement)).cycles == 10 + 3 * 712 + 281 + 704


def test_slot_loaded_ahead_of_the_loop_takes_its_turn() -> None:
    first = f"%f = pto.multi_tile_get %pair[%c0] : {MULTI} -> {TILE}\nload f\n"
    following = f"""%j = arith.addi %i, %c1 : index
%k = arith.remsi %j, %c2 : index
%u = pto.multi_tile_get %pair[%k] : {MULTI} -> {TILE}
%more = arith.cmpi slt, %j, %n : index
scf.if %more {{
load u
}}
"""
    planner, placement = rotating(f"{HEAD.replace('scf.for', f'{first}scf.for')}{following}add t3 t\n}}")
    assert slots_of(placement) == [0, 1, 0, 1]
    for count in range(6):
        report = check_kernel(flagged(planner, placement), setting(n=count), MACHINE)
        assert (report.verdict, report.findings, report.unproven) == (Verdict.CLEAN, (), ())
