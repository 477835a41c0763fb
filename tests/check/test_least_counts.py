"""Trip counts where assumptions or conditions leave only large ones: they are run from the least one on."""

import pytest

from syncopt.check import Report, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.intervals import parse_assumptions
from syncopt.ir.source import InputError
from tests.check.kernels import setting, vector_kernel


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine, *assumed: str) -> Report:
    kernel = vector_kernel(body)
    return check_kernel(kernel, setting(), machine, parse_assumptions(assumed, kernel))


@pytest.mark.parametrize(
    ("assumed", "covers", "proven"),
    [
        ("n >= 6", "i loop x6..11", "all trip counts >= 6 of the i loop, period 1"),
        ("n >= 500", "i loop x500..505", "all trip counts >= 500 of the i loop, period 1"),
        ("n >= 7 and n <= 9", "i loop x7..9", "all trip counts 7..9 of the i loop"),
    ],
)
def test_counts_are_run_from_the_least_that_is_assumed(
    assumed: str, covers: str, proven: str, machine: Machine
) -> None:
    """More than the five rounds that are run without assumptions: what is wrong in every round is found there too."""
    body = "scf.for %i = %c0 to %n step %c1 {{\nload t0\n{}add t1 t0\nbarrier ALL\n}}\nbarrier ALL"
    wrong = check(body.format(""), machine, assumed)
    assert (wrong.verdict, wrong.covers) == (Verdict.RACE, covers)
    right = check(body.format("set MTE2 V 0\nwait MTE2 V 0\n"), machine, assumed)
    assert (right.findings, right.proven) == ((), (proven,))


def test_too_many_rounds_at_least_are_an_input_error(machine: Machine) -> None:
    """Of 200,000 rounds or more none can be run, so that nothing is known."""
    body = "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\n}\nbarrier ALL"
    with pytest.raises(InputError, match="too many instructions to be followed"):
        check(body, machine, "n >= 200000")


HALVES = """
%most = arith.constant {most} : index
%half = arith.divsi %m, %c2 : index
%big = arith.cmpi sgt, %m, %most : index
scf.for %i = %c0 to %half step %c1 {{
load t0
set MTE2 V 0
wait MTE2 V 0
set V MTE2 0
wait V MTE2 0
}}
scf.if %big {{
{behind}
}}
barrier ALL
"""


def test_counts_are_run_from_the_least_that_a_condition_leaves(machine: Machine) -> None:
    """m > 100 makes 50 rounds and more: what is wrong behind them is found with 50."""
    report = check(HALVES.format(most=100, behind="store t1\nadd t1 t2"), machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x50, %big true"


def test_other_loops_are_run_from_no_round_beside_them(machine: Machine) -> None:
    """The loop of n has any count where m makes at least 50 rounds of the other."""
    loop = "scf.for %j = %c0 to %n step %c1 {\nload t3\n}\n"
    report = check(loop + HALVES.format(most=100, behind="store t1\nadd t1 t2"), machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "j loop x0, i loop x50, %big true"
    both = check(f"{loop}{loop.replace('%n', '%m').replace('%j', '%i')}barrier ALL", machine, "n >= 6")
    assert both.covers == "j loop x6..11, i loop x0..5, in all combinations"


def test_condition_that_leaves_too_many_rounds_is_not_proven(machine: Machine) -> None:
    """m > 400000 makes 200,000 rounds at least; all the others are run."""
    report = check(HALVES.format(most=400000, behind="add t3 t3"), machine)
    assert report.verdict is Verdict.CLEAN
    assert "not run: %big true: too many rounds at least" in report.unproven


@pytest.mark.parametrize("least", [4, 7])
def test_counts_that_stand_for_others_were_run(least: int, machine: Machine) -> None:
    """6, 9, 12, ... rounds, where 3 are not assumed to come: 6 or 9 have to be run, and stand for the rest."""
    body = """
%c3 = arith.constant 3 : index
%rest = arith.remsi %n, %c3 : index
%third = arith.cmpi eq, %rest, %c0 : index
scf.for %i = %c0 to %n step %c1 {
load t0
scf.if %third {
set MTE2 V 0
} else {
barrier MTE2
}
}
barrier ALL
"""
    report = check(body, machine, f"n >= {least}")
    assert str(report.failing) == f"i loop x{-(-least // 3) * 3}"
    assert report.proven == ()
