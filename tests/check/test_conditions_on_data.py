"""Conditions on data: both ways are run, alike where they are the same value."""

import pytest

from syncopt.check import FindingKind, Report, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from tests.check.kernels import setting, vector_kernel

UNKNOWN = "%q = arith.divsi %i, %c0 : index\n%data = arith.cmpi eq, %q, %c0 : index\n"
BOTH_ROUNDS = """
scf.for %j = %c0 to %c2 step %c1 {
%q = arith.divsi %j, %c0 : index
%data = arith.cmpi eq, %q, %c0 : index
scf.for %i = %c0 to %c2 step %c1 {
%first = arith.cmpi eq, %i, %c0 : index
scf.if %data {
scf.if %first {
set MTE2 V 0
} else {
wait MTE2 V 0
}
}
}
set V MTE2 0
wait V MTE2 0
}
barrier ALL
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine) -> Report:
    return check_kernel(vector_kernel(body), setting(), machine)


def test_condition_on_data_goes_then_else_and_alternating(machine: Machine) -> None:
    """Set and wait under one condition on data are right each way, round by round.

    No round: 1 execution, one round: 2. Behind a round the load is either the last access of t0 or has never been, so
    that there are two states at each head, and either way is run from either: 2 n executions for n rounds.
    """
    body = "scf.for %i = %c0 to %n step %c1 {\n{0}scf.if %data {{\nset V MTE2 0\n}}\n{1}\n}}\nbarrier ALL"
    body = body.replace("step %c1 {", "step %c1 {{")
    both = body.format(UNKNOWN, "scf.if %data {\nwait V MTE2 0\nload t0\nset MTE2 V 0\nwait MTE2 V 0\n}")
    report = check(both, machine)
    assert (report.verdict, report.executions, report.findings) == (Verdict.CLEAN, 1 + 2 + 4 + 6 + 8 + 10, ())
    assert report.proven == ("all trip counts >= 0 of the i loop, period 1",)
    alone = check(body.format(UNKNOWN, "wait V MTE2 0"), machine)
    hangs = [str(finding.execution) for finding in alone.findings if finding.kind is FindingKind.DEADLOCK]
    assert hangs == ["i loop x1, conditions on data else"]


def test_value_of_data_from_before_a_loop_is_the_same_in_all_rounds(machine: Machine) -> None:
    """Set in round 0, waited for in round 1: both or none, and either way in each round of the loop around."""
    report = check(BOTH_ROUNDS, machine)
    assert (report.verdict, report.unproven) == (Verdict.CLEAN, ())


def test_what_was_decided_on_data_is_kept_apart_while_it_can_be_asked_again(machine: Machine) -> None:
    """The first value decides nothing before the loop, so that both ways lead to one state at its head.

    Within the loop it does, together with another one: it is wrong where both are false.
    """
    body = """
scf.for %j = %c0 to %c1 step %c1 {
%q = arith.divsi %j, %c0 : index
%data = arith.cmpi eq, %q, %c0 : index
scf.if %data {
}
scf.for %i = %c0 to %c2 step %c1 {
%r = arith.divsi %i, %c0 : index
%more = arith.cmpi eq, %r, %c0 : index
scf.if %more {
} else {
scf.if %data {
} else {
load t0
add t1 t0
}
}
}
}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing).startswith("conditions on data else, else")


def test_more_ways_through_data_than_can_be_run_are_not_proven(machine: Machine) -> None:
    """8 values, 256 ways: of those that are left out the one in which all are false is run."""
    values = "".join(
        f"%e{at} = arith.constant {at} : index\n%q{at} = arith.divsi %e{at}, %c0 : index\n"
        f"%d{at} = arith.cmpi eq, %q{at}, %c0 : index\n"
        for at in range(8)
    )
    asked = "".join(f"scf.if %d{at} {{\n}}\n" for at in range(8))
    loop = "scf.for %i = %c0 to %n step %c1 {\nload t0\n}\n"
    report = check(f"{values}{asked}{loop}barrier ALL", machine)
    assert report.unproven == ("more than 5 trips of the i loop: more than 200 ways through conditions on data",)
    kept_apart = "".join(f"scf.if %d{at} {{\nbarrier ALL\n}}\n" for at in range(8))
    report = check(f"{values}{loop}{kept_apart}add t1 t0\nbarrier ALL", machine)
    assert report.verdict is Verdict.RACE


def test_condition_on_data_that_another_one_rules_out_does_not_hold(machine: Machine) -> None:
    """In round 0 data decides, in the others nothing is set: there is no flag to wait for."""
    body = f"""
scf.for %i = %c0 to %n step %c1 {{
{UNKNOWN}%first = arith.cmpi eq, %i, %c0 : index
%both = arith.andi %first, %data : i1
scf.if %both {{
set MTE2 V 0
wait MTE2 V 0
}}
%later = arith.cmpi sgt, %i, %c0 : index
scf.if %later {{
scf.if %both {{
load t0
add t1 t0
}}
}}
}}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.CLEAN
