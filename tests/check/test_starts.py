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
    assert (report.verdict, report.executions, report.unproven) == (Verdict.CLEAN, 6, ())
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
