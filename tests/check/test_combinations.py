"""Conditions that come together or not: joined by and, ruled out by arithmetic, or only seeming so."""

import pytest

from syncopt.check import Report, Severity, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.intervals import parse_assumptions
from tests.check.kernels import setting, vector_kernel

BOTH = """
%c3 = arith.constant 3 : index
%c4 = arith.constant 4 : index
%c63 = arith.constant 63 : index
%c1000 = arith.constant 1000 : index
{conditions}
scf.if %a {{
scf.if %b {{
set MTE2 V 0
}}
}}
barrier ALL
"""
"""The flag is left up where %a and %b hold."""
LEFT = "where conditions come together as no arguments are known to give them: set_flag MTE2->V id 0 "


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine, *assumed: str) -> Report:
    kernel = vector_kernel(body)
    return check_kernel(kernel, setting(), machine, parse_assumptions(assumed, kernel))


def remainder(name: str, of: str, by: int, wanted: int) -> str:
    """A condition on a remainder."""
    return f"%{name}_ = arith.remsi {of}, %c{by} : index\n%{name} = arith.cmpi eq, %{name}_, %c{wanted} : index"


def quotient(name: str, of: str, by: int, above: int) -> str:
    """A condition on a quotient."""
    return f"%{name}_ = arith.divsi {of}, %c{by} : index\n%{name} = arith.cmpi sgt, %{name}_, %c{above} : index"


@pytest.mark.parametrize(
    "conditions",
    [
        (remainder("a", "%m", 4, 1), remainder("b", "%m", 2, 0)),
        (quotient("a", "%m", 64, 2), "%twice = arith.addi %m, %m : index\n%b = arith.cmpi slt, %twice, %c64 : index"),
        ("%square = arith.muli %m, %m : index", remainder("a", "%square", 4, 1), remainder("b", "%m", 2, 0)),
    ],
    ids=["1 by 4 and even", "above 191 and below 32", "odd square of an even number"],
)
def test_conditions_that_exclude_each_other_are_not_proven(conditions: tuple[str, ...], machine: Machine) -> None:
    report = check(BOTH.format(conditions="\n".join(conditions)), machine)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 4)
    assert [(finding.severity, str(finding.execution)) for finding in report.findings] == [
        (Severity.WARNING, "%a true, %b true")
    ]
    assert report.findings[0].message.startswith(LEFT)
    assert report.unproven == ("whether any arguments give %a true, %b true: there it would be wrong",)


@pytest.mark.parametrize(
    "conditions",
    [
        (remainder("a", "%m", 3, 1), remainder("b", "%m", 4, 2)),
        (quotient("a", "%m", 64, 1000), remainder("b", "%m", 64, 63)),
        (remainder("a", "%m", 3, 1), remainder("b", "%n", 3, 2)),
        (remainder("a", "%m", 3, 1), "%b = arith.xori %flag, %a : i1"),
        ("%sum = arith.addi %m, %n : index", remainder("a", "%sum", 3, 1), remainder("b", "%m", 2, 1)),
    ],
    ids=["10", "64127", "other arguments", "a flag", "sums"],
)
def test_conditions_that_some_arguments_give_are_errors(conditions: tuple[str, ...], machine: Machine) -> None:
    report = check(BOTH.format(conditions="\n".join(conditions)), machine)
    assert (report.verdict, report.unproven) == (Verdict.UNBALANCED, ())


def test_what_is_wrong_where_too_much_would_have_to_be_tried_stays_an_error(machine: Machine) -> None:
    """m above n, which is above m: intervals say nothing of two arguments, and two are too many to be tried."""
    conditions = "%a = arith.cmpi sgt, %m, %n : index\n%b = arith.cmpi sgt, %n, %m : index"
    report = check(BOTH.format(conditions=conditions), machine)
    assert (report.verdict, report.unproven) == (Verdict.UNBALANCED, ())


ROUNDS = """
%c3 = arith.constant 3 : index
%c128 = arith.constant 128 : index
%rounds = arith.divsi %m, %c64 : index
%rest = arith.remsi %m, %c128 : index
%a = arith.cmpi sge, %rest, %c64 : index
scf.for %i = %c0 to %rounds step %c1 {{
{body}
}}
scf.if %a {{
set MTE2 V 0
{wait}
}}
barrier ALL
"""
"""%a holds where the number of rounds is odd, which its arithmetic hides."""
EVERY_OTHER = """
%parity = arith.remsi %i, %c2 : index
%even = arith.cmpi eq, %parity, %c0 : index
scf.if %even {
set MTE2 V 0
} else {
wait MTE2 V 0
}
"""


def test_condition_and_trip_count_that_exclude_each_other_are_not_proven(machine: Machine) -> None:
    """Every other round takes the flag down, and behind an odd number of rounds %a does: right. Else it is not."""
    body = ROUNDS.format(body=EVERY_OTHER, wait="").replace("set MTE2 V 0\n\n", "wait MTE2 V 0\n")
    report = check(body, machine, "m >= 0")
    assert (report.verdict, report.errors) == (Verdict.CLEAN, ())
    assert {str(finding.execution) for finding in report.findings if finding.severity is Severity.WARNING} == {
        "i loop x0, %a true",
        "i loop x1, %a false",
    }
    assert report.unproven[-2:] == (
        "whether any arguments give %a true: there it would be wrong",
        "whether any arguments give %a false: there it would be wrong",
    )


def test_fault_of_a_condition_and_a_trip_count_that_come_together_is_an_error(machine: Machine) -> None:
    """A flag is left up where %a holds, as it does for m = 64, one round."""
    report = check(ROUNDS.format(body="load t0", wait=""), machine, "m >= 0")
    assert (report.verdict, str(report.failing)) == (Verdict.UNBALANCED, "i loop x1, %a true")


def test_assumptions_bound_what_is_tried(machine: Machine) -> None:
    """m % 3 = 1 and m % 4 = 2 come together at 10, which is above 9; below 0 no remainder is positive."""
    conditions = "\n".join((remainder("a", "%m", 3, 1), remainder("b", "%m", 4, 2)))
    body = BOTH.format(conditions=conditions)
    assert check(body, machine, "m <= 10").verdict is Verdict.UNBALANCED
    assert check(body, machine, "m <= 9").verdict is Verdict.CLEAN


def test_conditions_joined_by_and_are_taken_apart(machine: Machine) -> None:
    """%both = %flag and %big: set under %both, wait under %flag inside %big; four executions, all right."""
    body = (
        "%big = arith.cmpi sgt, %m, %c64 : index\n%both = arith.andi %flag, %big : i1\n"
        "scf.if %both {\nset MTE2 V 0\n}\nscf.if %flag {\nscf.if %big {\nwait MTE2 V 0\n}\n}\nbarrier ALL"
    )
    report = check(body, machine)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 4)


def test_conditions_that_are_asked_only_together_are_taken_apart(machine: Machine) -> None:
    """%flag and m > 64 in either order is one condition; %flag or m > 64 is more, and waits for what is not set."""
    body = (
        "%big = arith.cmpi sgt, %m, %c64 : index\n%both = arith.andi %flag, %big : i1\n"
        "%again = arith.{0} %big, %flag : i1\n"
        "scf.if %both {{\nset MTE2 V 0\n}}\nscf.if %again {{\nwait MTE2 V 0\n}}\nbarrier ALL"
    )
    report = check(body.format("andi"), machine)
    assert (report.verdict, report.executions, report.findings) == (Verdict.CLEAN, 4, ())
    report = check(body.format("ori"), machine)
    assert (report.verdict, str(report.failing)) == (Verdict.DEADLOCK, "%flag true, %big false")
