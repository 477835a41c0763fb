"""Values that loops carry and hand out, and offsets, that decide at trip counts far beyond those that are run.

Each kernel here goes wrong at some count: no proof for all counts may be given, whether the fault is met or not.
"""

import pytest

from syncopt.check import FindingKind, Report, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from tests.check.kernels import setting, vector_kernel

HEAD = "%c3 = arith.constant 3 : index\n%c7 = arith.constant 7 : index\n%c20 = arith.constant 20 : index\n"
FAULT = "%bad = arith.cmpi eq, %{0}, %{1} : index\nscf.if %bad {{\nset MTE2 V 5\n}}\n"
END = "barrier ALL\n"
VIEW = "!pto.partition_tensor_view<64x64xf32>"


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine) -> Report:
    return check_kernel(vector_kernel(f"{HEAD}{body}{END}"), setting(), machine)


def carried(step: str, start: str = "%c0", inside: str = FAULT.format("held", "c7")) -> str:
    """A loop from 0 to n that carries %held, of which %next is made; the fault comes where %held is 7."""
    head = f"%end = scf.for %i = %c0 to %n step %c1 iter_args(%held = {start}) -> (index) {{\n"
    return f"{head}{step}\n{inside}scf.yield %next : index\n}}\n"


COUNTED = """\
%r = scf.for %k = %c0 to %n step %c1 iter_args(%seen = %c0) -> (index) {
%one = arith.addi %seen, %c1 : index
scf.yield %one : index
}
"""
"""%r is n."""


# -- what a loop carries -----------------------------------------------------------------------------------------------


def test_carried_value_that_grows_but_for_the_last_rounds(machine: Machine) -> None:
    """It grows while i + 3 < n: the states of the last three rounds are equal, those before are not.

    At n = 10 it is 7 in the last three.
    """
    step = "%up = arith.addi %held, %c1 : index\n%next = arith.select %more, %up, %held : index"
    more = "%j = arith.addi %i, %c3 : index\n%more = arith.cmpi slt, %j, %n : index\n"
    report = check(carried(more + step), machine)
    assert (report.verdict, str(report.failing), report.proven) == (Verdict.DOUBLE_SET, "i loop x10", ())


def test_carried_value_that_is_made_of_the_loop_variable(machine: Machine) -> None:
    """0, 0, 1, 1, 2, 2, ...: twice the same, but not for ever. 7 comes in round 14."""
    report = check(carried("%next = arith.subi %i, %held : index"), machine)
    assert report.proven == ()
    assert report.unproven == ("more than 5 trips of the i loop: carried value %held does not repeat",)


@pytest.mark.parametrize(
    ("start", "step"),
    [
        ("%c0", "%next = arith.subi %n, %held : index"),
        ("%n", "%next = arith.muli %held, %c1 : index"),
        ("%c0", "%some = arith.cmpi sgt, %n, %c3 : index\n%next = arith.select %some, %c7, %held : index"),
    ],
    ids=["0, n, 0, n", "n", "7 for n above 3"],
)
def test_carried_value_that_follows_from_the_count(start: str, step: str, machine: Machine) -> None:
    """7 comes at n = 7, or for some n only, though in one run the value repeats."""
    report = check(carried(step, start), machine)
    assert report.proven == ()
    assert report.unproven == ("more than 5 trips of the i loop: carried value %held does not repeat",)


def test_carried_value_that_follows_from_another_count(machine: Machine) -> None:
    """It grows while i < m: to 7 where both counts are above 7."""
    step = "%some = arith.cmpi slt, %i, %m : index\n%up = arith.addi %held, %c1 : index\n"
    step += "%next = arith.select %some, %up, %held : index"
    report = check(f"{carried(step)}scf.for %j = %c0 to %m step %c1 {{\nload t0\n}}\n", machine)
    assert report.proven == ()


def test_count_that_is_handed_on_unchanged(machine: Machine) -> None:
    """n all the time, and behind the loop: the states of one run are equal, but n = 20 does something else."""
    unchanged = carried("%next = arith.addi %held, %c0 : index", "%n", inside="load t0\n")
    report = check(unchanged + FAULT.format("end", "c20"), machine)
    assert report.proven == ()
    assert report.unproven == ("more than 5 trips of the i loop: carried value %held does not repeat",)


def test_counter_that_starts_at_the_count(machine: Machine) -> None:
    """From n down: as long as it is above 3 another value grows, to 7 at n = 10."""
    body = """\
%minus = arith.constant -1 : index
%a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%left = %n, %held = %c0) -> (index, index) {
%less = arith.addi %left, %minus : index
%early = arith.cmpi sgt, %left, %c3 : index
%up = arith.addi %held, %c1 : index
%next = arith.select %early, %up, %held : index
"""
    report = check(f"{body}{FAULT.format('held', 'c7')}scf.yield %less, %next : index, index\n}}\n", machine)
    assert (report.verdict, str(report.failing), report.proven) == (Verdict.DOUBLE_SET, "i loop x10", ())


def test_counter_that_starts_at_an_argument(machine: Machine) -> None:
    """From m up: it is past 7 as given, but not for every m."""
    report = check(carried("%next = arith.addi %held, %c1 : index", "%m"), machine)
    assert "i loop: %bad compares with an argument that keeps its given value" in report.unproven[0]


def test_value_that_an_inner_loop_carries(machine: Machine) -> None:
    """n all the time: it is 7 at n = 7."""
    inner = "%end = scf.for %k = %c0 to %c2 step %c1 iter_args(%held = %n) -> (index) {\n"
    inner += "%next = arith.muli %held, %c1 : index\n" + FAULT.format("held", "c7") + "scf.yield %next : index\n}\n"
    report = check(f"scf.for %i = %c0 to %n step %c1 {{\n{inner}}}\n", machine)
    assert report.unproven == ("more than 5 trips of the i loop: condition %bad does not repeat",)


# -- what a loop hands out ---------------------------------------------------------------------------------------------


def test_what_a_loop_has_counted(machine: Machine) -> None:
    """n = 20 in another way."""
    report = check(COUNTED + FAULT.format("r", "c20"), machine)
    assert report.unproven == ("more than 5 trips of the k loop: %r does not repeat",)


def test_what_a_loop_has_counted_decides_in_the_next_one(machine: Machine) -> None:
    """i + 3 < n in another way: see above."""
    near = "%near = arith.subi %r, %c3 : index\n"
    step = "%early = arith.cmpi slt, %i, %near : index\n%up = arith.addi %held, %c1 : index\n"
    report = check(f"{COUNTED}{near}{carried(step + '%next = arith.select %early, %up, %held : index')}", machine)
    assert report.proven == ()


# -- what a branch hands out -------------------------------------------------------------------------------------------


def test_condition_on_the_count_that_a_branch_hands_out(machine: Machine) -> None:
    """n > 20, in round 0 only."""
    body = """\
%no = arith.constant 0 : i1
scf.for %i = %c0 to %n step %c1 {
%big = arith.cmpi sgt, %n, %c20 : index
%first = arith.cmpi eq, %i, %c0 : index
%bad = scf.if %first -> (i1) {
scf.yield %big : i1
} else {
scf.yield %no : i1
}
scf.if %bad {
set MTE2 V 5
}
}
"""
    assert str(check(body, machine).failing) == "i loop x21"


# -- what is made of the count and the round ---------------------------------------------------------------------------


def test_id_of_the_count_and_the_round(machine: Machine) -> None:
    """n or n + 1: there is no id 8."""
    body = "scf.for %i = %c0 to %n step %c1 {\n%p = arith.remsi %i, %c2 : index\n%id = arith.addi %p, %n : index\n"
    report = check(f"{body}set MTE2 V %id\nwait MTE2 V %id\nbarrier ALL\n}}\n", machine)
    assert report.unproven == ("more than 5 trips of the i loop: event id %id does not repeat",)


def test_inner_bound_of_the_count_and_the_round(machine: Machine) -> None:
    body = "scf.for %i = %c0 to %n step %c1 {\n%p = arith.remsi %i, %c2 : index\n%up = arith.addi %p, %n : index\n"
    report = check(f"{body}scf.for %k = %c0 to %up step %c1 {{\n{FAULT.format('k', 'c20')}}}\n}}\n", machine)
    assert report.unproven == ("more than 5 trips of the i loop: upper bound %up does not repeat",)


# -- global memory -----------------------------------------------------------------------------------------------------


def accesses(load: str, store: str) -> str:
    """Load 64 rows of %x from one row on, store 64 from another, with nothing between."""
    rows = f"sizes = [%c64, %c64] : !pto.tensor_view<?x?xf32> -> {VIEW}\n"
    return (
        f"%l = pto.partition_view %xv, offsets = [{load}, %c0], {rows}"
        f"%s = pto.partition_view %xv, offsets = [{store}, %c0], {rows}"
        f"pto.tload ins(%l : {VIEW}) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)\n"
        f"pto.tstore ins(%t1 : !pto.tile_buf<vec, 64x64xf32>) outs(%s : {VIEW})\n"
    )


ROWS = "%far = arith.constant 1280 : index\n%row = arith.muli %n, %c64 : index\n"


@pytest.mark.parametrize(
    "body",
    [
        "scf.for %i = %c0 to %n step %c1 {\n}\n" + accesses("%row", "%far"),
        "scf.for %i = %c0 to %n step %c1 {\n" + accesses("%row", "%far") + "barrier ALL\n}\n",
        "scf.for %i = %c0 to %n step %c1 {\n%r = arith.muli %i, %c64 : index\n%a = arith.addi %row, %r : index\n"
        "%b = arith.addi %far, %r : index\n" + accesses("%a", "%b") + "barrier ALL\n}\n",
    ],
    ids=["behind the loop", "in the loop", "both moving"],
)
def test_rows_that_the_count_moves_against_others(body: str, machine: Machine) -> None:
    """Row 64 n against row 1280: they meet at n = 20 alone."""
    report = check(ROWS + body, machine)
    assert {finding.kind for finding in report.findings} <= {FindingKind.VISIBILITY}
    assert report.unproven == ("more than 5 trips of the i loop: accesses of %x move apart",)


def test_rows_that_the_count_moves_together_are_proven(machine: Machine) -> None:
    """All of %x lies where n says: the same rows meet for every n."""
    body = "scf.for %i = %c0 to %n step %c1 {\n" + accesses("%row", "%behind") + "barrier ALL\n}\n"
    report = check(f"{ROWS}%behind = arith.addi %row, %c64 : index\n{body}", machine)
    assert (report.verdict, report.unproven) == (Verdict.CLEAN, ())
    assert report.proven == ("all trip counts >= 0 of the i loop, period 1",)


# -- what is followed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "period"),
    [
        ("%up = arith.addi %held, %c1 : index\n%next = arith.remsi %up, %c3 : index", 3),
        ("%next = arith.subi %c1, %held : index", 2),
        ("%p = arith.remsi %i, %c2 : index\n%next = arith.addi %p, %c1 : index", 2),
        ("%most = arith.minsi %i, %c3 : index\n%next = arith.addi %c0, %c1 : index", 1),
    ],
    ids=["0, 1, 2, 0", "0, 1, 0", "by parity", "always 1"],
)
def test_slots_that_a_loop_carries_are_proven(step: str, period: int, machine: Machine) -> None:
    report = check(carried(step, inside="set MTE2 V %held\nwait MTE2 V %held\nbarrier ALL\n"), machine)
    assert (report.verdict, report.unproven) == (Verdict.CLEAN, ())
    assert report.proven == (f"all trip counts >= 0 of the i loop, period {period}",)
