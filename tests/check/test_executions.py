"""Which executions are run: counts, conditions, branches on data."""

import pytest

from syncopt.check import FindingKind, Report, Severity, Verdict, check_kernel
from syncopt.check.executions import Executions
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import NO_ASSUMPTIONS, parse_assumptions
from syncopt.ir.source import InputError
from tests.check.kernels import HEAD_LINES, setting, vector_kernel


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine, *assumed: str) -> Report:
    kernel = vector_kernel(body)
    return check_kernel(kernel, setting(), machine, parse_assumptions(assumed, kernel))


def test_condition_on_arguments_is_followed_both_ways_and_alike(machine: Machine) -> None:
    """%flag decides over set and wait together: 2 executions, both right. A wait outside hangs where it is false."""
    body = "scf.if %flag {\nset MTE2 V 0\n}\nscf.if %flag {\nwait MTE2 V 0\n}\nbarrier ALL"
    report = check(body, machine)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 2)
    assert "%flag both ways" in report.covers
    report = check("scf.if %flag {\nset MTE2 V 0\n}\nwait MTE2 V 0\nbarrier ALL", machine)
    assert [(finding.kind, str(finding.execution)) for finding in report.findings] == [
        (FindingKind.DEADLOCK, "%flag false")
    ]


def test_conditions_that_exclude_each_other_are_not_combined(machine: Machine) -> None:
    """m > 64 and m < 2 cannot both hold: 3 of 4 combinations are run; set in either, wait in either."""
    body = (
        "%big = arith.cmpi sgt, %m, %c64 : index\n%small = arith.cmpi slt, %m, %c2 : index\n"
        "scf.if %big {\nset MTE2 V 0\n}\nscf.if %small {\nset MTE2 V 0\n}\n"
        "scf.if %big {\nwait MTE2 V 0\n} else {\nscf.if %small {\nwait MTE2 V 0\n}\n}\nbarrier ALL"
    )
    report = check(body, machine)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 3)


def test_condition_and_trip_count_that_exclude_each_other_are_not_combined(machine: Machine) -> None:
    """m > 0 leaves 1 to 5 rounds of m / 1, m <= 0 leaves none: 6 executions of 12, and the guard is enough."""
    body = (
        "%rounds = arith.divsi %m, %c1 : index\n%some = arith.cmpi sgt, %m, %c0 : index\n"
        "scf.if %some {\nset V MTE2 0\n}\nscf.for %i = %c0 to %rounds step %c1 {\nwait V MTE2 0\nload t0\n"
        "set MTE2 V 0\nwait MTE2 V 0\nset V MTE2 0\n}\nscf.if %some {\nwait V MTE2 0\n}\nbarrier ALL"
    )
    report = check(body, machine)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 6)


def test_condition_that_depends_on_the_forced_count_is_followed_exactly(machine: Machine) -> None:
    """`n > 0` is decided by the count: the wait behind the loop is reached exactly if the loop has run."""
    body = (
        "scf.for %i = %c0 to %n step %c1 {\n%last = arith.subi %n, %c1 : index\n"
        "%is_last = arith.cmpi eq, %i, %last : index\nscf.if %is_last {\nset MTE2 V 0\n}\n}\n"
        "%some = arith.cmpi sgt, %n, %c0 : index\nscf.if %some {\nwait MTE2 V 0\n}\nbarrier ALL"
    )
    report = check(body, machine)
    assert (report.verdict, report.executions, report.findings) == (Verdict.CLEAN, 6, ())


def test_more_conditions_than_can_be_combined_are_listed(machine: Machine) -> None:
    """The five low bits of m, which have 32 combinations: as given (m = 4), all true, all false."""
    conditions = "".join(
        f"%e{i} = arith.constant {1 << i} : index\n%r{i} = arith.divsi %m, %e{i} : index\n"
        f"%l{i} = arith.remsi %r{i}, %c2 : index\n%b{i} = arith.cmpi eq, %l{i}, %c1 : index\n"
        f"scf.if %b{i} {{\nset MTE2 V {i}\n}}\n"
        for i in range(5)
    )
    waits = "".join(f"scf.if %b{i} {{\nwait MTE2 V {i}\n}}\n" for i in range(5))
    report = check(f"{conditions}{waits}barrier ALL", machine)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 3)
    assert any("%b0, %b1, %b2, %b3, %b4" in text for text in report.assumptions)


def test_conditions_of_few_arguments_are_combined_however_many_they_are(machine: Machine) -> None:
    """m is below 1, 1, 2, 3, 4 or above: six ways through five conditions. With m = 3 nothing waits for the flag."""
    conditions = "".join(
        f"%k{at} = arith.constant {at} : index\n%b{at} = arith.cmpi sge, %m, %k{at} : index\n" for at in range(1, 6)
    )
    waits = "".join(f"scf.if %b{at} {{\nbarrier V\n}}\n" for at in range(1, 6))
    flags = """%three = arith.xori %b3, %b4 : i1
set MTE2 V 0
scf.if %three {
barrier V
} else {
wait MTE2 V 0
}
"""
    report = check(f"{conditions}{waits}{flags}barrier ALL", machine)
    assert report.verdict is Verdict.UNBALANCED
    assert str(report.failing) == "%b1 true, %b2 true, %b3 true, %b4 false, %b5 false"
    assert check(f"{conditions}{waits}barrier ALL", machine).executions == 6


def test_counts_that_assumptions_rule_out_are_skipped_and_listed(machine: Machine) -> None:
    body = "scf.for %i = %c0 to %n step %c2 {\nset MTE2 V 0\nwait MTE2 V 0\nload t0\n}\nbarrier ALL"
    report = check(body, machine, "n >= 3 and n <= 8")
    # two, three and four rounds, the bound even or odd
    assert report.executions == 3 * 2
    assert report.covers == "i loop x2..4, bounds that end within a step too"
    assert "impossible and not run: i loop x0, x1, x5" in report.assumptions
    assert report.assumptions[0] == "n >= 3 and n <= 8"


def test_assumption_decides_a_condition(machine: Machine) -> None:
    """With m >= 65 the set under m > 64 always comes."""
    body = "%big = arith.cmpi sgt, %m, %c64 : index\nscf.if %big {\nset MTE2 V 0\n}\nwait MTE2 V 0\nbarrier ALL"
    assert check(body, machine).verdict is Verdict.DEADLOCK
    # the trace itself must then be one of m >= 65
    kernel = vector_kernel(body)
    assumptions = parse_assumptions(["m >= 65"], kernel)
    report = check_kernel(kernel, setting(m=100), machine, assumptions)
    assert (report.verdict, report.executions) == (Verdict.CLEAN, 1)


def test_loop_with_undefined_bound_is_not_run_and_listed(machine: Machine) -> None:
    """64 / n rounds for a forced n: undefined for 0, traced as it comes for the others."""
    body = (
        "scf.for %i = %c0 to %n step %c1 {\nload t0\n}\n%q = arith.divsi %c64, %n : index\n"
        "%e = arith.addi %q, %n : index\nscf.for %j = %e to %e step %c1 {\nload t1\n}\nbarrier ALL"
    )
    report = check(body, machine)
    assert report.executions == 5
    assert any(text.startswith("not run: i loop x0: scf.for is not known") for text in report.unproven)


def test_loop_that_cannot_be_run_at_all_is_an_input_error(machine: Machine) -> None:
    """64 / (n - n) rounds behind a loop of n: whatever n is forced, nothing is known of the second loop."""
    body = (
        "scf.for %i = %c0 to %n step %c1 {\nload t0\n}\n%z = arith.subi %n, %n : index\n"
        "%q = arith.divsi %c64, %z : index\n%e = arith.addi %q, %n : index\n"
        "scf.for %j = %e to %e step %c1 {\nload t1\nadd t2 t1\n}\nbarrier ALL"
    )
    with pytest.raises(InputError, match=r"scf\.for is not known from the arguments"):
        check(body, machine)


@pytest.mark.parametrize(("loops", "limit", "executions"), [(3, 5, 6**3), (5, 3, 4**5), (6, 2, 3**6)])
def test_many_loops_lower_the_counts(loops: int, limit: int, executions: int) -> None:
    made = executions_of(loops)
    assert (max(made.limits), len(list(made)), made.reduced) == (limit, executions, limit < 5)
    assert "in all combinations" in made.covers


def test_too_many_loops_are_varied_two_at_a_time() -> None:
    """8 loops: counts 0..2 for every pair, the others twice: 1 + 8 * 2 + 28 * 2 * 2 executions."""
    made = executions_of(8)
    assert len(list(made)) == 1 + 8 * 2 + 28 * 4
    assert "two at a time" in made.covers
    assert made.reduced


def test_loops_of_one_name_are_told_apart_by_line() -> None:
    body = "".join(
        f"scf.for %{i} = %c0 to %{bound} step %c1 {{\nload t0\n}}\n" for i, bound in (("i", "n"), ("i_", "m"))
    )
    kernel = vector_kernel(body.replace("%i_", "%i"))
    executions = list(Executions(TripCounts(kernel), NO_ASSUMPTIONS, 1))
    assert str(executions[0]) == f"i loop (line {HEAD_LINES + 1}) x0, i loop (line {HEAD_LINES + 4}) x0"


def executions_of(loops: int) -> Executions:
    lines = [
        f"%b{i} = arith.constant {i} : index\n%u{i} = arith.addi %n, %b{i} : index\n"
        f"scf.for %i{i} = %c0 to %u{i} step %c1 {{\nload t0\n}}"
        for i in range(loops)
    ]
    return Executions(TripCounts(vector_kernel("\n".join(lines))), NO_ASSUMPTIONS, 5)


def test_odd_bounds_of_a_loop_by_twos_are_run(machine: Machine) -> None:
    """With step 2 the guard i + 1 < n fails only in the last round of an odd n: there the tile is read."""
    body = """
scf.for %i = %c0 to %n step %c2 {
load t0
%j = arith.addi %i, %c1 : index
%more = arith.cmpi slt, %j, %n : index
scf.if %more {
} else {
add t1 t0
}
}
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1, last step cut by 1"


def test_lower_bound_that_is_an_argument_behind_the_upper_one(machine: Machine) -> None:
    """n is bound before m, and a forced n is m + rounds: m must be looked up ahead of the trace."""
    body = "scf.for %i = %m to %n step %c1 {\nload t0\nadd t1 t0\n}\nbarrier ALL"
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "i loop x1"


def test_loops_of_one_bound_are_run_from_the_lowest_start(machine: Machine) -> None:
    """The first loop starts at 1, so that n = 0 is below its start: there the second does not go round either."""
    body = """
load t0
scf.for %i = %c1 to %n step %c2 {
store t1
}
scf.for %j = %c0 to %n step %c1 {
set MTE2 V 0
wait MTE2 V 0
}
add t2 t0
barrier ALL
"""
    report = check(body, machine)
    assert report.verdict is Verdict.RACE
    assert str(report.failing) == "j loop x0"


PARITY = """
%rest = arith.remsi %m, %c2 : index
%even = arith.cmpi eq, %rest, %c0 : index
%odd = arith.cmpi eq, %rest, %c1 : index
scf.if %even {
set MTE2 V 0
}
scf.if %odd {
set MTE2 V 0
}
wait MTE2 V 0
barrier ALL
"""


def test_conditions_on_one_value_that_exclude_each_other_are_not_combined(machine: Machine) -> None:
    """m % 2 is 0 or 1, one of both: 2 of 4 combinations are run. Of m = -1 it is -1, and the flag is not set."""
    report = check(PARITY, machine, "m >= 0")
    assert (report.verdict, report.executions, report.findings) == (Verdict.CLEAN, 2, ())
    negative = check(PARITY, machine)
    assert (negative.verdict, negative.executions) == (Verdict.DEADLOCK, 3)
    assert str(negative.failing) == "%even false, %odd false"


@pytest.mark.parametrize(("left", "shown"), [(63, "last step cut by 1"), (1, "last step cut to 1")])
def test_bounds_that_end_within_a_large_step_are_run(left: int, shown: str, machine: Machine) -> None:
    """In steps of 64: what the last one has left is 63, or 1, for some bounds only."""
    body = f"""
%few = arith.constant {left} : index
scf.for %i = %c0 to %n step %c64 {{
%left = arith.subi %n, %i : index
%bad = arith.cmpi eq, %left, %few : index
scf.if %bad {{
load t0
add t1 t0
}}
}}
barrier ALL
"""
    report = check(body, machine)
    assert (report.verdict, str(report.failing)) == (Verdict.RACE, f"i loop x1, {shown}")


def test_what_is_undefined_elsewhere_than_in_a_bound_is_an_input_error(machine: Machine) -> None:
    """An id of 64 / n, which n = 0 leaves undefined: no execution is left out for that."""
    body = (
        "scf.for %i = %c0 to %n step %c1 {\nload t0\n}\n%id = arith.divsi %c64, %n : index\nset MTE2 V %id\nbarrier ALL"
    )
    with pytest.raises(InputError, match="is not known"):
        check(body, machine)


def test_worst_that_is_found_of_an_op_is_kept(machine: Machine) -> None:
    """From two rounds on a flag is set again with nothing between but a load: a note. From four on V is at work."""
    body = """
%c3 = arith.constant 3 : index
scf.for %i = %c0 to %n step %c1 {
%late = arith.cmpi sge, %i, %c2 : index
scf.if %late {
add t3 t3
barrier V
}
load t0
set MTE2 V 0
wait MTE2 V 0
}
barrier ALL
"""
    report = check(body, machine)
    assert [(finding.severity, str(finding.execution)) for finding in report.findings] == [
        (Severity.WARNING, "i loop x4")
    ]
