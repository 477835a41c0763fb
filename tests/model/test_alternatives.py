"""Tiles between which conditions choose: flags per tile, also where one is loaded before the loop."""

import re

import pytest

from syncopt.check import Verdict, check_kernel
from syncopt.emit import render
from syncopt.ir.kernel import Kernel, TileOp, walk
from syncopt.ir.pipes import Memory
from syncopt.model.planner import Plan, Planner
from syncopt.model.rotation import chosen_slots, most_slots, rotations
from syncopt.model.slots import Either, Slot
from tests.check.kernels import setting, vector_kernel
from tests.model.flags.naming import labels, named
from tests.model.rotating import MACHINE, flagged, rotating, slots_of

TILE = "!pto.tile_buf<vec, 64x64xf32>"
ODD = """
%one = arith.andi %i, %c1 : index
%odd = arith.cmpi eq, %one, %c1 : index
"""
ONE_OF_TWO = f"""{ODD}
%at = arith.select %odd, %a1, %a0 : i64
%t = pto.alloc_tile addr = %at : {TILE}
"""
IN_TURNS = f"scf.for %i = %c0 to %n step %c1 {{{ONE_OF_TWO}load t\nadd t3 t\n}}"
PRELOADED = f"""
%m1 = arith.andi %m, %c1 : index
%modd = arith.cmpi eq, %m1, %c1 : index
%first = arith.select %modd, %a1, %a0 : i64
%f = pto.alloc_tile addr = %first : {TILE}
load f
scf.for %i = %m to %n step %c1 {{{ONE_OF_TWO}
%next = arith.select %odd, %a0, %a1 : i64
%u = pto.alloc_tile addr = %next : {TILE}
%j = arith.addi %i, %c1 : index
%more = arith.cmpi slt, %j, %n : index
scf.if %more {{
load u
}}
add t3 t
}}
"""


def ops_of(kernel: Kernel) -> list[int]:
    return [op.uid for op in walk(kernel.body) if isinstance(op, TileOp)]


def flags_in(text: bytes) -> list[str]:
    """Flags in text order; the number behind %event left out."""
    lines = [line.strip().removeprefix("pto.") for line in text.decode().splitlines() if "_flag" in line]
    return [re.sub(r"%event_\d+", "%event", line) for line in lines]


def test_two_tiles_are_the_slots_of_one_that_rotates() -> None:
    """Called after the first choice; 64x64 f32 are 16,384 bytes."""
    kernel = vector_kernel(IN_TURNS)
    found = rotations(kernel, setting())
    (tile,) = found.slots
    slots = (Slot(tile, 0, Memory.VEC, 0, 16384), Slot(tile, 1, Memory.VEC, 16384, 32768))
    assert found.slots[tile] == slots
    assert found.shared(ops_of(kernel)) == slots
    assert most_slots(kernel) == 2


def test_the_slot_follows_from_the_condition() -> None:
    kernel = vector_kernel(IN_TURNS)
    load, _ = ops_of(kernel)
    (chosen,) = chosen_slots(kernel)[load].values()
    assert isinstance(chosen, Either)
    assert (chosen.condition.name, chosen.then, chosen.orelse) == ("%odd", 1, 0)


def test_three_tiles_by_two_conditions() -> None:
    choice = f"""
    %three = arith.cmpi sgt, %i, %c2 : index
    %inner = arith.select %odd, %a1, %a0 : i64
    %at = arith.select %three, %a2, %inner : i64
    %t = pto.alloc_tile addr = %at : {TILE}
    """
    kernel = vector_kernel(f"scf.for %i = %c0 to %n step %c1 {{{ODD}{choice}load t\nadd t3 t\n}}")
    load, _ = ops_of(kernel)
    (chosen,) = chosen_slots(kernel)[load].values()
    assert isinstance(chosen, Either)
    assert isinstance(chosen.orelse, Either)
    assert (chosen.condition.name, chosen.then) == ("%three", 2)
    assert (chosen.orelse.condition.name, chosen.orelse.then, chosen.orelse.orelse) == ("%odd", 1, 0)
    assert most_slots(kernel) == 3


def test_a_tile_by_itself_is_the_slot_at_its_address() -> None:
    """t1 is the tile at 16384, t3 is none of the two."""
    kernel = vector_kernel(IN_TURNS.removesuffix("}") + "store t1\n}")
    _, add, store = ops_of(kernel)
    assert [*chosen_slots(kernel)[store].values()] == [1]
    assert len(chosen_slots(kernel)[add]) == 1


def test_one_choice_written_twice_is_one_slot() -> None:
    """The add reads and writes the tile that the condition, computed anew, chooses."""
    again = ONE_OF_TWO.replace("%one", "%one2").replace("%odd", "%odd2").replace("%at", "%at2").replace("%t ", "%u ")
    kernel = vector_kernel(f"scf.for %i = %c0 to %n step %c1 {{{ONE_OF_TWO}{again}load t\nadd u t\n}}")
    assert len(rotations(kernel, setting()).shared(ops_of(kernel))) == 2


def test_both_tiles_in_one_op_have_no_flag_of_their_own() -> None:
    kernel = vector_kernel(IN_TURNS.replace("add t3 t\n", "add t0 t\n"))
    load, add = ops_of(kernel)
    found = rotations(kernel, setting())
    assert found.shared((load,)) != ()
    assert found.shared((load, add)) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%at = arith.select %odd, %a1, %a0 : i64", "%at = arith.muli %x1, %x1 : i64"),
        ("%at = arith.select %odd, %a1, %a0 : i64", "%at = arith.select %odd, %a1, %x1 : i64"),
    ],
)
def test_addresses_that_are_no_choice_between_constants(old: str, new: str) -> None:
    unknown = "%x1 = arith.index_cast %n : index to i64\n"
    assert rotations(vector_kernel(unknown + IN_TURNS.replace(old, new)), setting()).slots == {}


def test_one_flag_in_the_text_with_an_id_by_the_condition() -> None:
    planner, placement = rotating(IN_TURNS)
    text = render(planner.kernel, flagged(planner, placement))
    assert flags_in(text) == [
        "set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]",
        "set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]",
        "wait_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %event]",
        "set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %event]",
        "wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %event]",
        "set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %event]",
        "wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]",
        "wait_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID1>]",
    ]
    assert len(re.findall(r"%event\w* = arith.select %odd, %c1, %c0 : index\n", text.decode())) == 4


def test_loads_run_ahead_by_one_round() -> None:
    """As with the slots of one tile (test_rotation): the same flags, ids and cycles."""
    planner, placement = rotating(IN_TURNS)
    order = planner.mobility.as_written()
    assert planner.in_full(Plan(order, placement)).cycles == 10 + 3 * 712 + 281 + 704


def test_loading_ahead_takes_its_turn_before_the_loop() -> None:
    """The first load meets no hazard, but waits for its tile like every other one."""
    planner, placement = rotating(PRELOADED)
    assert named(planner.kernel, placement) == [
        *[("MTE2->V", False, ["load0", "load1"], ["add0"])] * 2,
        *[("V->MTE2", True, ["add0"], ["load0", "load1"])] * 2,
    ]
    assert slots_of(placement) == [0, 1, 0, 1]
    names = labels(planner.kernel)
    parts = [(part.waits, part.sets, names[part.slot_at.uid]) for part in placement.compensations if part.slot_at]
    assert parts == [((0, 1), (), "load0"), ((), (2, 3), "load0")]


def test_without_a_round_what_was_loaded_ahead_is_undone() -> None:
    planner, placement = rotating(PRELOADED)
    text = render(planner.kernel, flagged(planner, placement)).decode()
    behind = text[text.index("%no_trip = arith.cmpi sge, %m, %n") :]
    flags = flags_in(behind.encode())
    assert flags[0] == "wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %event]"
    assert flags[1] == "set_flag_dyn[<PIPE_V>, <PIPE_MTE2>, %event]"
    assert len(re.findall(r"%event\w* = arith.select %modd, %c1, %c0 : index\n", behind)) == 2


def test_ids_that_no_constant_of_the_text_has() -> None:
    """Two more tiles in turns take the ids 2 and 3, for which there is no constant but 2."""
    more = ONE_OF_TWO.replace("%a1, %a0", "%b1, %b0").replace("%at", "%bt").replace("%t ", "%u ")
    more = more.replace("%one", "%one2").replace("%odd", "%odd2")
    heads = "".join(f"%b{n} = arith.constant {65536 + 16384 * n} : i64\n" for n in range(2))
    body = f"{heads}scf.for %i = %c0 to %n step %c1 {{{ONE_OF_TWO}{more}load t\nadd t3 t\nload u\nadd t3 u\n}}"
    planner, placement = rotating(body)
    text = render(planner.kernel, flagged(planner, placement)).decode()
    assert re.search(r"(%id_3\w*) = arith.constant 3 : index\n *%event\w* = arith.select %odd2?, \1, %c2 : index", text)


@pytest.mark.parametrize("start", range(3))
def test_plan_is_proven_for_any_number_of_rounds(start: int) -> None:
    planner = Planner(vector_kernel(PRELOADED), setting(n=8, m=start), MACHINE)
    placements = [*planner.placements(planner.mobility.as_written())]
    placement = next(placement for placement in placements if None not in slots_of(placement))
    report = check_kernel(flagged(planner, placement), setting(n=8, m=start), MACHINE)
    assert (report.verdict, report.findings, report.unproven) == (Verdict.CLEAN, (), ())
    assert [text.partition(" of the")[0] for text in report.proven] == ["all trip counts >= 0"]
