"""Loops that start elsewhere than the given arguments and block say."""

import pytest

from syncopt.check import Report, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
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
