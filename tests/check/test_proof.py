"""What a check says it has proven, for which counts, and where it stops."""

import pytest

from syncopt.check import FindingKind, Report, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.intervals import parse_assumptions
from tests.check.kernels import setting, vector_kernel

LOOP = """
set V MTE2 0
set V MTE2 1
set V MTE2 2
scf.for %i = %c0 to %n step %c1 {{
{ids}
wait V MTE2 %free
{load}
set MTE2 V 0
wait MTE2 V 0
add t3 t0
barrier V
set V MTE2 %free
{more}
}}
{behind}
wait V MTE2 0
wait V MTE2 1
wait V MTE2 2
barrier ALL
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(machine: Machine, ids: str, load: str = "load t0", more: str = "", behind: str = "") -> Report:
    body = LOOP.format(ids=ids, load=load, more=more, behind=behind)
    return check_kernel(vector_kernel(f"%c3 = arith.constant 3 : index\n{body}"), setting(), machine)


ROTATING = "%free = arith.remsi %i, %c3 : index"
ONE = "%free = arith.constant 0 : index"


@pytest.mark.parametrize(
    ("ids", "load", "period"),
    [
        (ONE, "load t0", 1),
        ("%free = arith.remsi %i, %c2 : index", "load t1", 2),
        (ROTATING, "load t1", 3),
    ],
)
def test_period_of_run_time_ids(ids: str, load: str, period: int, machine: Machine) -> None:
    report = check(machine, ids, load)
    assert (report.verdict, report.unproven) == (Verdict.CLEAN, ())
    assert report.proven == (f"all trip counts >= 0 of the i loop, period {period}",)


def test_slot_that_is_free_one_round_too_early_is_a_race(machine: Machine) -> None:
    """Two ids and one tile: the load of round i waits for the add of round i - 2 only."""
    report = check(machine, "%free = arith.remsi %i, %c2 : index")
    race = next(finding for finding in report.errors if finding.kind is FindingKind.RACE)
    assert (str(race.execution), race.iteration) == ("i loop x2", "i 0 -> i 1")


def test_fault_of_a_late_round_is_found(machine: Machine) -> None:
    """In round 9 a flag is set that nobody waits for: ten rounds are run, though five would do for all others."""
    more = "%c9 = arith.constant 9 : index\n%late = arith.cmpi eq, %i, %c9 : index\nscf.if %late {\nset MTE2 V 5\n}"
    report = check(machine, ONE, more=more)
    assert report.verdict is Verdict.UNBALANCED
    assert str(report.failing) == "i loop x10"


def test_fault_before_the_end_is_found(machine: Machine) -> None:
    """Three rounds before the last: the difference to the bound counts, not the round."""
    more = (
        "%left = arith.subi %n, %i : index\n%c4 = arith.constant 4 : index\n"
        "%near = arith.cmpi eq, %left, %c4 : index\nscf.if %near {\nset MTE2 V 5\n}"
    )
    report = check(machine, ONE, more=more)
    assert str(report.failing) == "i loop x4"


def test_fault_of_one_parity_of_the_count_is_found(machine: Machine) -> None:
    """7 rounds and more, if they are odd: the condition stands behind the loop."""
    behind = (
        "%c6 = arith.constant 6 : index\n%two = arith.remsi %n, %c2 : index\n%odd = arith.cmpi eq, %two, %c1 : index\n"
        "%many = arith.cmpi sgt, %n, %c6 : index\n%both = arith.andi %odd, %many : i1\nscf.if %both {\nset MTE2 V 5\n}"
    )
    report = check(machine, ONE, behind=behind)
    assert str(report.failing) == "i loop x7"


def test_condition_that_is_not_followed_is_named(machine: Machine) -> None:
    more = (
        "%c64_ = arith.constant 1000 : index\n%s = arith.muli %i, %i : index\n"
        "%far = arith.cmpi sgt, %s, %c64_ : index\nscf.if %far {\nset MTE2 V 5\nwait MTE2 V 5\n}"
    )
    report = check(machine, ONE, more=more)
    assert report.verdict is Verdict.CLEAN
    assert report.proven == ()
    assert report.unproven == ("more than 5 trips of the i loop: condition %far does not repeat",)


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_few_trips_prove_nothing(limit: int, machine: Machine) -> None:
    kernel = vector_kernel("scf.for %i = %c0 to %n step %c1 {\nload t0\n}\nbarrier ALL")
    report = check_kernel(kernel, setting(), machine, limit=limit)
    why = "fewer than 3 trips do not show whether the states repeat"
    assert (report.proven, report.unproven) == ((), (f"more than {limit} trips of the i loop: {why}",))
    assert check_kernel(kernel, setting(), machine, limit=3).unproven == ()


def test_loop_that_is_only_reached_otherwise_is_named(machine: Machine) -> None:
    """%m is 4 as given, so that the loop stands in a branch that only other values of %m lead to."""
    body = """
%wide = arith.muli %m, %m : index
%most = arith.cmpi sgt, %wide, %c64 : index
%some = arith.cmpi sgt, %n, %c0 : index
%both = arith.select %some, %most, %some : i1
scf.if %both {
scf.for %i = %c0 to %n step %c1 {
load t0
}
}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert report.unproven == (
        "more than 5 trips of the i loop: a loop of this count is reached only by special arguments",
    )


def test_far_threshold_is_not_proven(machine: Machine) -> None:
    """i = 1000 is followed exactly, but no run gets there; the branch itself is run."""
    more = (
        "%far_ = arith.constant 1000 : index\n%far = arith.cmpi eq, %i, %far_ : index\nscf.if %far {\nset MTE2 V 5\n}"
    )
    report = check(machine, ONE, more=more)
    assert report.unproven == ("more than 27 trips of the i loop: the states did not repeat",)
    assert {finding.kind for finding in report.errors} == {FindingKind.UNBALANCED, FindingKind.DOUBLE_SET}


def test_unreachable_branch_is_a_warning(machine: Machine) -> None:
    """i = n never holds inside the loop, for no count: what is wrong in the branch is only said."""
    more = "%never = arith.cmpi eq, %i, %n : index\nscf.if %never {\nset MTE2 V 5\n}"
    report = check(machine, ONE, more=more)
    assert (report.verdict, report.unproven) == (Verdict.CLEAN, ())
    assert all(finding.message.startswith("in a branch that no arguments lead to") for finding in report.findings)
    assert report.findings


def test_counts_that_assumptions_bound_are_all_run(machine: Machine) -> None:
    body = LOOP.format(ids=ONE, load="load t0", more="", behind="")
    kernel = vector_kernel(f"%c3 = arith.constant 3 : index\n{body}")
    report = check_kernel(kernel, setting(), machine, parse_assumptions(["n <= 3"], kernel))
    assert report.proven == ("all trip counts 0..3 of the i loop",)


def test_global_accesses_that_move_apart_are_not_proven(machine: Machine) -> None:
    """The load goes through rows i, the store through rows 2 i: whether they meet depends on the round."""
    view = "!pto.partition_tensor_view<64x64xf32>"
    ids = f"""{ONE}
%r = arith.muli %i, %c64 : index
%b = pto.partition_view %xv, offsets = [%r, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x?xf32> -> {view}"""
    more = f"""%q = arith.muli %r, %c2 : index
%w = pto.partition_view %xv, offsets = [%q, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x?xf32> -> {view}
set V MTE3 0
wait V MTE3 0
pto.tstore ins(%t3 : !pto.tile_buf<vec, 64x64xf32>) outs(%w : {view})
set MTE3 V 0
wait MTE3 V 0
set MTE3 MTE2 0
wait MTE3 MTE2 0"""
    load = f"pto.tload ins(%b : {view}) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)"
    report = check(machine, ids, load, more)
    assert report.unproven == ("more than 5 trips of the i loop: accesses of %x move apart",)
    assert {finding.kind for finding in report.findings} == {FindingKind.VISIBILITY}


def test_every_count_is_run_where_a_limit_is_raised(machine: Machine) -> None:
    """n = 9 alone: 8 and 10 rounds show nothing."""
    behind = "%c9 = arith.constant 9 : index\n%bad = arith.cmpi eq, %n, %c9 : index\nscf.if %bad {\nset MTE2 V 5\n}"
    report = check(machine, ONE, behind=behind)
    assert (report.verdict, str(report.failing)) == (Verdict.UNBALANCED, "i loop x9")


def test_states_have_to_repeat_for_every_rest_of_the_count(machine: Machine) -> None:
    """With an odd count V is held until the loop is over, and its queue of 32 fills up; with an even one it is not."""
    body = """
%rest = arith.remsi %n, %c2 : index
%odd = arith.cmpi eq, %rest, %c1 : index
scf.if %odd {
wait MTE2 V 0
}
scf.for %i = %c0 to %n step %c1 {
add t1 t0
barrier V
}
scf.if %odd {
set MTE2 V 0
}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert (report.verdict, str(report.failing)) == (Verdict.DEADLOCK, "i loop x17")


def test_period_of_what_stands_behind_the_loop_counts(machine: Machine) -> None:
    """n = 6, 13, 20, ...: the loop itself repeats every round."""
    behind = (
        "%c7 = arith.constant 7 : index\n%c6 = arith.constant 6 : index\n%rest = arith.remsi %n, %c7 : index\n"
        "%bad = arith.cmpi eq, %rest, %c6 : index\nscf.if %bad {\nset MTE2 V 5\n}"
    )
    assert str(check(machine, ONE, behind=behind).failing) == "i loop x6"


SATURATING = """
scf.for %j = %c0 to %n step %c1 iter_args(%level = %c0) -> (index) {
%up = arith.addi %level, %c1 : index
%next = arith.minsi %up, %c9 : index
%bad = arith.cmpi eq, %level, %c8 : index
scf.if %bad {
set MTE2 V 5
}
scf.yield %next : index
}
"""
EVEN_LOOP = "scf.for %i = %c0 to %n step %c1 {\nload t0\n}\n"


@pytest.mark.parametrize("order", [1, -1])
def test_every_loop_of_a_count_has_to_repeat(order: int, machine: Machine) -> None:
    """One loop is the same in all rounds, the other climbs from 0 to 9: 8 comes in round 8."""
    loops = [EVEN_LOOP, SATURATING.replace("scf.for", "%end = scf.for", 1)][::order]
    constants = "%c8 = arith.constant 8 : index\n%c9 = arith.constant 9 : index\n"
    report = check_kernel(vector_kernel(f"{constants}{''.join(loops)}barrier ALL"), setting(), machine)
    assert str(report.failing) == f"{'i' if order > 0 else 'j'} loop x9"


def test_loops_of_each_count_have_to_repeat(machine: Machine) -> None:
    """The loop of n is the same in all rounds; that of m climbs to 8 in its round 8."""
    constants = "%c8 = arith.constant 8 : index\n%c9 = arith.constant 9 : index\n"
    climbing = SATURATING.replace("scf.for", "%end = scf.for", 1).replace("%n", "%m")
    report = check_kernel(vector_kernel(f"{constants}{EVEN_LOOP}{climbing}barrier ALL"), setting(), machine)
    assert str(report.failing) == "i loop x0, j loop x9"


def test_loop_by_twos_repeats_round_by_round(machine: Machine) -> None:
    there_and_back = "set MTE2 V 0\nwait MTE2 V 0\nset V MTE2 0\nwait V MTE2 0\n"
    body = f"scf.for %i = %c0 to %n step %c2 {{\nload t0\n{there_and_back}}}\nbarrier ALL"
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert report.proven == ("all trip counts >= 0 of the i loop, period 1",)


def test_every_loop_of_a_count_has_to_be_reached(machine: Machine) -> None:
    """The second loop is reached only by an m above 8."""
    body = f"""
{EVEN_LOOP}
%wide = arith.muli %m, %m : index
%most = arith.cmpi sgt, %wide, %c64 : index
%some = arith.cmpi sgt, %n, %c0 : index
%both = arith.select %some, %most, %some : i1
scf.if %both {{
scf.for %j = %c0 to %n step %c1 {{
load t0
}}
}}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert report.unproven == (
        "more than 5 trips of the i loop: a loop of this count is reached only by special arguments",
    )


VIEW = "!pto.partition_tensor_view<64x64xf32>"


def access(op: str, row: str, name: str) -> str:
    """A load into t0 or a store of t1 at 64 rows of %x."""
    tile = "!pto.tile_buf<vec, 64x64xf32>"
    view = (
        f"%{name} = pto.partition_view %xv, offsets = [{row}, %c0], sizes = [%c64, %c64]"
        f" : !pto.tensor_view<?x?xf32> -> {VIEW}\n"
    )
    if op == "load":
        return f"{view}pto.tload ins(%{name} : {VIEW}) outs(%t0 : {tile})\n"
    return f"{view}pto.tstore ins(%t1 : {tile}) outs(%{name} : {VIEW})\n"


def test_accesses_that_stay_open_behind_the_loop_are_not_proven(machine: Machine) -> None:
    """Rows 0, 64, ... are stored, row 1280 is loaded behind the loop: at n = 21 it is the last one stored."""
    loop = (
        "scf.for %i = %c0 to %n step %c1 {\n%row = arith.muli %i, %c64 : index\n" + access("store", "%row", "s") + "}\n"
    )
    far = "%far = arith.constant 1280 : index\n"
    report = check_kernel(vector_kernel(f"{far}{loop}{access('load', '%far', 'l')}barrier ALL"), setting(), machine)
    assert report.unproven == ("more than 5 trips of the i loop: accesses of %x stay open behind the loop",)


def test_open_accesses_count_beside_those_that_stay_where_they_are(machine: Machine) -> None:
    """As above; %y is stored and loaded as well, but always in the same rows."""
    stores = f"%row = arith.muli %i, %c64 : index\n{access('store', '%row', 's')}store t1 y\n"
    loop = f"scf.for %i = %c0 to %n step %c1 {{\n{stores}}}\n"
    behind = f"{access('load', '%far', 'l')}barrier ALL\nload t2 y\nbarrier ALL"
    report = check_kernel(vector_kernel(f"%far = arith.constant 1280 : index\n{loop}{behind}"), setting(), machine)
    assert report.unproven == ("more than 5 trips of the i loop: accesses of %x stay open behind the loop",)


def test_accesses_that_stay_open_until_an_inner_loop_comes_again_are_not_proven(machine: Machine) -> None:
    """Rows 20 - i are loaded, rows 40 - i stored, with a barrier between the rounds but not between the loops: the last
    store, of row 41 - n, is open when row 20 is loaded again."""
    body = f"""
%c20 = arith.constant 1280 : index
%c40 = arith.constant 2560 : index
scf.for %j = %c0 to %c2 step %c1 {{
scf.for %i = %c0 to %n step %c1 {{
%down = arith.muli %i, %c64 : index
%from = arith.subi %c20, %down : index
%to = arith.subi %c40, %down : index
%later = arith.cmpi sgt, %i, %c0 : index
scf.if %later {{
barrier ALL
}}
{access("load", "%from", "l")}{access("store", "%to", "s")}}}
}}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert report.unproven == ("more than 5 trips of the i loop: accesses of %x stay open behind the loop",)


def test_accesses_that_data_lets_move_in_several_ways_are_not_proven(machine: Machine) -> None:
    """By 64 or by 128 rows, as data says."""
    body = f"""
scf.for %j = %c0 to %c1 step %c1 {{
%q = arith.divsi %j, %c0 : index
%data = arith.cmpi eq, %q, %c0 : index
%by = scf.if %data -> (index) {{
scf.yield %c64 : index
}} else {{
%twice = arith.addi %c64, %c64 : index
scf.yield %twice : index
}}
scf.for %i = %c0 to %n step %c1 {{
%row = arith.muli %i, %by : index
{access("load", "%row", "l")}barrier ALL
{access("store", "%row", "s")}barrier ALL
}}
}}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert report.unproven == ("more than 5 trips of the i loop: accesses move in several ways",)
