"""Arms of ifs that nothing reaches by itself: they are led into, and what is wrong in them is found."""

import pytest

from syncopt.check import Report, Verdict, check_kernel
from syncopt.check.executions import Executions
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import NO_ASSUMPTIONS, parse_assumptions
from tests.check.kernels import setting, vector_kernel


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine) -> Report:
    return check_kernel(vector_kernel(body), setting(), machine)


def test_arm_that_no_given_argument_reaches_is_run(machine: Machine) -> None:
    """m is 4 as given, so that i = 0 never comes; with another m it does."""
    body = """
scf.for %i = %m to %n step %c1 {
%zero = arith.cmpi eq, %i, %c0 : index
scf.if %zero {
load t0
add t1 t0
}
}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1, %zero true"


def test_arm_is_run_with_counts_that_are_assumed(machine: Machine) -> None:
    """Seven rounds or more: none of the arm is known for fewer."""
    body = """
scf.for %i = %c0 to %n step %c1 {
%sum = arith.addi %i, %m : index
%zero = arith.cmpi eq, %sum, %c0 : index
scf.if %zero {
load t0
add t1 t0
}
}
barrier ALL
"""
    kernel = vector_kernel(body)
    report = check_kernel(kernel, setting(), machine, parse_assumptions(["n >= 7"], kernel))
    assert str(report.failing) == "i loop x7, %zero true"


def test_else_arm_that_no_given_argument_reaches_is_run(machine: Machine) -> None:
    """As above, but what comes at i = 0 stands in the other arm."""
    body = """
scf.for %i = %m to %n step %c1 {
%other = arith.cmpi ne, %i, %c0 : index
scf.if %other {
} else {
load t0
add t1 t0
}
}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1, %other false"


@pytest.mark.parametrize("depth", [2, 3])
def test_arms_in_arms_that_nothing_reaches_are_run(depth: int, machine: Machine) -> None:
    """i = 0, i + m = 0, i + 2 m = 0: with m as given, 4, none of them comes, but all of them can."""
    values = "%v0 = arith.addi %i, %c0 : index\n%v1 = arith.addi %i, %m : index\n%v2 = arith.addi %v1, %m : index\n"
    arms = [f"%arm{at} = arith.cmpi eq, %v{at}, %c0 : index\nscf.if %arm{at} {{\n" for at in range(depth)]
    opened, closed = "load t0\n".join(arms), "}\n" * depth
    report = check(f"scf.for %i = %m to %n step %c1 {{\n{values}{opened}add t1 t0\n{closed}}}\nbarrier ALL", machine)
    assert report.verdict is Verdict.RACE


def test_arm_of_no_trip_in_an_arm_of_something_else_is_led_into() -> None:
    """Whether the inner loop goes round, its bound says: the outer loop does, the arm is chosen, the inner loop rests.

    No op was reached yet. The arm that the block decides is not led into, as no trip counts decide about it.
    """
    body = (
        "%b = pto.get_block_idx\n%own = arith.index_cast %b : i64 to index\nscf.for %i = %c0 to %n step %c1 {\n"
        "%before = arith.cmpi slt, %i, %own : index\nscf.if %before {\nscf.for %j = %c0 to %m step %c1 {\nload t0\n}\n"
        "%none = arith.cmpi sle, %m, %c0 : index\nscf.if %none {\nload t1\n}\n}\n}"
    )
    executions = Executions(TripCounts(vector_kernel(body)), NO_ASSUMPTIONS, 5)
    led = [str(execution) for execution in executions.led_into(frozenset(), frozenset())]
    assert led == [f"i loop x{i}, j loop x{j}, %before true" for j in range(4) for i in (1, 2, 3)]


def test_what_a_loop_misses_without_rounds_is_not_run_behind_its_rounds(machine: Machine) -> None:
    """No n leads into the last arm. Run behind a round, it would wait for a flag that the round has taken."""
    body = """
%some = arith.cmpi sgt, %n, %c0 : index
scf.if %some {
load t0
set MTE2 V 0
scf.for %i = %c0 to %n step %c1 {
%first = arith.cmpi eq, %i, %c0 : index
scf.if %first {
wait MTE2 V 0
add t1 t0
}
}
%none = arith.cmpi sge, %c0, %n : index
scf.if %none {
wait MTE2 V 0
}
}
barrier ALL
"""
    report = check(body, machine)
    assert (report.verdict, report.findings, report.unproven) == (Verdict.CLEAN, (), ())
