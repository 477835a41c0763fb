"""Loops that start elsewhere than the given arguments and block say."""

import pytest

from syncopt.check import Report, Verdict, check_kernel
from syncopt.check.starts import Start, words_of
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.intervals import parse_assumptions
from tests.check.kernels import setting, vector_kernel

FIRST_IS_ODD = """
scf.for %i = {start} to %n step %c1 {{
%p = arith.remsi %i, %c2 : index
%odd = arith.cmpi eq, %p, %c1 : index
%first = arith.cmpi eq, %i, {start} : index
%bad = arith.andi %odd, %first : i1
scf.if %bad {{
load t0
add t1 t0
}}
}}
barrier ALL
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine) -> Report:
    return check_kernel(vector_kernel(body), setting(), machine)


def test_start_of_the_other_parity(machine: Machine) -> None:
    """m is 4 as given; a loop from 5 does in its first round what one from 4 never does."""
    report = check(FIRST_IS_ODD.format(start="%m"), machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1, m = 5"


def test_start_at_another_block(machine: Machine) -> None:
    """Block 0 starts even, block 1 odd."""
    block = "%b = pto.get_block_idx\n%bi = arith.index_cast %b : i64 to index\n"
    report = check(block + FIRST_IS_ODD.format(start="%bi"), machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1, block_idx = 1"


def test_other_starts_are_listed_as_ranges() -> None:
    starts = [Start("m", value) for value in (5, 6, 7, 0)]
    assert words_of([*starts, Start("block_idx", 2)]) == "m = 0, 5..7, block_idx = 2"


def test_start_does_not_matter_without_a_period(machine: Machine) -> None:
    body = "set V MTE2 0\nscf.for %i = %m to %n step %c1 {\nwait V MTE2 0\nload t0\nset MTE2 V 0\nwait MTE2 V 0\n"
    report = check(f"{body}add t1 t0\nbarrier V\nset V MTE2 0\n}}\nwait V MTE2 0\nbarrier ALL", machine)
    # 0 to 5 trips, and none with a bound 1 below the start and at 0
    assert (report.verdict, report.executions, report.unproven) == (Verdict.CLEAN, 6 + 2, ())
    assert not any("starts of loops" in text for text in report.assumptions)


def test_loops_of_one_bound_that_start_apart(machine: Machine) -> None:
    """From 0 and from m to n: with m = 4 whoever reads t0 comes behind round 2, which waits; with m = 0 it need not."""
    body = """
load t0
scf.for %i = %c0 to %n step %c1 {
%third = arith.cmpi eq, %i, %c2 : index
scf.if %third {
set MTE2 V 0
wait MTE2 V 0
}
}
scf.for %j = %m to %n step %c1 {
add t1 t0
barrier V
}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1, m = 0"


def test_bound_below_the_start(machine: Machine) -> None:
    """From 1 to m: m = 0 makes no trip either, but goes the other way behind the loop, where no flag was set."""
    body = """
scf.for %i = %c1 to %m step %c1 {
load t3
}
%some = arith.cmpi sgt, %m, %c0 : index
scf.if %some {
load t3
} else {
wait MTE2 V 0
}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.DEADLOCK
    assert str(report.failing) == "i loop x0, bound below the start"


def test_finer_loop_of_one_bound_that_starts_higher(machine: Machine) -> None:
    """The first round of the second loop sets the flag: with n = 0 neither loop goes round, with n = 1 only it."""
    body = """
scf.for %i = %c1 to %n step %c1 {
load t3
}
scf.for %j = %c0 to %n step %c2 {
%first = arith.cmpi eq, %j, %c0 : index
scf.if %first {
set MTE2 V 0
}
}
wait MTE2 V 0
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.DEADLOCK


def test_bound_compared_with_an_argument_is_not_proven(machine: Machine) -> None:
    """Whether m > n follows from m as given, 0: other values of m are not covered, and the report says so."""
    body = """
scf.for %i = %c0 to %n step %c1 {
load t3
}
set MTE2 V 0
%more = arith.cmpi sgt, %m, %n : index
scf.if %more {
} else {
wait MTE2 V 0
}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(m=0), machine)
    assert report.proven == ()
    assert any("an argument that keeps its given value" in text for text in report.unproven)


def test_ids_that_follow_from_an_argument(machine: Machine) -> None:
    """m = 4 as given, and up to 7, gives ids 0 to 3 for both; m = 8 sets id 0 and waits for id -4."""
    body = """
%c4 = arith.constant 4 : index
%c8 = arith.constant 8 : index
%small = arith.remsi %m, %c4 : index
%all = arith.remsi %m, %c8 : index
%off = arith.subi %all, %c4 : index
set MTE2 V %small
wait MTE2 V %off
barrier ALL
"""
    report = check(body, machine)
    assert (report.verdict, str(report.failing)) == (Verdict.DEADLOCK, "m = 8")


def test_ids_that_follow_from_the_block(machine: Machine) -> None:
    """Block 0 of 4 takes id 0 for both, as does block 1; block 2 sets id 2 and waits for id 0."""
    body = """
%block = pto.get_block_idx
%b = arith.index_cast %block : i64 to index
%c3 = arith.constant 3 : index
%third = arith.remsi %b, %c3 : index
%parity = arith.remsi %b, %c2 : index
set MTE2 V %third
wait MTE2 V %parity
barrier ALL
"""
    report = check(body, machine)
    assert (report.verdict, str(report.failing)) == (Verdict.DEADLOCK, "block_idx = 2")


def test_assumed_arguments_start_nothing_else(machine: Machine) -> None:
    """m = 4 alone is assumed: other parities do not come."""
    kernel = vector_kernel(FIRST_IS_ODD.format(start="%m"))
    report = check_kernel(kernel, setting(), machine, parse_assumptions(["m == 4"], kernel))
    assert "m = 5" not in str(report.failing)


def test_slot_that_other_arguments_leave_undefined_is_listed(machine: Machine) -> None:
    """Slots are 0 and 1: m = 0 as given and 1 have one, what comes behind has none."""
    body = """
%slots_at = arith.constant 65536 : i64
%slots = pto.alloc_multi_tile addr = %slots_at : !pto.multi_tile_buf<vec, 64x64xf32, count=2>
%t = pto.multi_tile_get %slots[%m] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(m=0), machine)
    assert report.verdict is Verdict.CLEAN
    assert any(text.startswith("not run: m = 2: %slots has no slot 2") for text in report.unproven)
