"""Which sets without a flag back from the wait before them are right whatever ops take.

An op without a known cost keeps the kernels here from being replayed, so that the order alone decides: a set that only
times keep apart is then an error, one that comes later whatever ops take is a note.
"""

import pytest

from syncopt.check import Finding, FindingKind, Report, Rules, Severity, check_kernel
from syncopt.check.events import EventScope
from syncopt.hwmodel import Machine, load_machine
from tests.check.kernels import HEAD_LINES, cube_kernel, setting, vector_kernel

GATHER = (
    "pto.tgatherb ins(%t2, %t2 : !pto.tile_buf<vec, 64x64xf32>, !pto.tile_buf<vec, 64x64xf32>)"
    " outs(%t3 : !pto.tile_buf<vec, 64x64xf32>)"
)
LOADED = "set MTE2 V 0\nwait MTE2 V 0"
ADDED = "set V MTE3 0\nwait V MTE3 0"
EXTRACTED = "set MTE1 M 0\nwait MTE1 M 0"
END = "barrier ALL"
PUT = "pto.tsetval ins(%c0, %c1 : index, index) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)"
RULES = Rules()


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def reused(report: Report) -> tuple[Finding, ...]:
    """The findings, which are all of flags that are set again."""
    assert {finding.kind for finding in report.findings} <= {FindingKind.ID_REUSE, FindingKind.DOUBLE_SET}
    return report.findings


def grades(machine: Machine, *lines: str, rules: Rules = RULES) -> list[Severity]:
    """How severe the reuse of a flag is, set by set, in a vector kernel that cannot be replayed.

    The op of unknown cost stands at the end, behind a barrier on all pipes.
    """
    report = check_kernel(vector_kernel("\n".join((*lines, END, GATHER, END))), setting(), machine, rules=rules)
    return [finding.severity for finding in reused(report)]


def timed(machine: Machine, *lines: str) -> list[tuple[Severity, int]]:
    """The same with the line of each set, in a vector kernel that is replayed."""
    report = check_kernel(vector_kernel("\n".join((*lines, END))), setting(), machine)
    return [(finding.severity, finding.line - HEAD_LINES) for finding in reused(report)]


# -- sets that one completion lets rise --------------------------------------------------------------------------------


def test_sets_behind_one_op_rise_together(machine: Machine) -> None:
    assert grades(machine, "load t0", LOADED, LOADED) == [Severity.ERROR]
    assert grades(machine, "add t1 t1", ADDED, ADDED) == [Severity.ERROR]


def test_sets_without_an_op_before_them_do_not(machine: Machine) -> None:
    """A set takes a cycle, so the second starts later; nothing has to complete for either."""
    assert grades(machine, LOADED, LOADED) == [Severity.NOTE]


def test_loads_complete_in_order(machine: Machine) -> None:
    assert grades(machine, "load t0", LOADED, "load t1", LOADED) == [Severity.NOTE]


def test_vector_ops_complete_in_any_order(machine: Machine) -> None:
    """The second add can be complete before the first: then both sets rise with the first."""
    assert grades(machine, "add t1 t1", ADDED, "add t3 t3", ADDED) == [Severity.ERROR]


def test_replay_judges_what_the_order_leaves_open(machine: Machine) -> None:
    """Of adds that take alike the second is complete later: a warning. Without it the sets rise in one cycle."""
    assert timed(machine, "add t1 t1", ADDED, "add t3 t3", ADDED) == [(Severity.WARNING, 5)]
    assert timed(machine, "add t1 t1", ADDED, ADDED) == [(Severity.ERROR, 4)]


def test_short_op_behind_a_long_one_is_complete_first(machine: Machine) -> None:
    """Of a few elements: a division takes 4 cycles and is complete 30 later, an addition takes 2 and 24."""
    small = "!pto.tile_buf<vec, 8x8xf32>"
    tiles = [f"%s{n} = pto.alloc_tile addr = %a{n} : {small}" for n in (2, 3)]
    divide, add = (
        f"pto.{op} ins(%s{n}, %s{n} : {small}, {small}) outs(%s{n} : {small})" for op, n in (("tdiv", 2), ("tadd", 3))
    )
    assert timed(machine, *tiles, divide, ADDED, add, ADDED) == [(Severity.ERROR, 7)]
    assert timed(machine, *tiles, add, ADDED, divide, ADDED) == [(Severity.WARNING, 7)]


# -- what keeps them apart ---------------------------------------------------------------------------------------------


def test_op_behind_a_barrier_keeps_sets_apart(machine: Machine) -> None:
    assert grades(machine, "add t1 t1", ADDED, "barrier V", "add t3 t3", ADDED) == [Severity.NOTE]


def test_barrier_on_v_takes_no_time(machine: Machine) -> None:
    """It ends with the add: the set right behind it rises in the same cycle, the one behind another set does not."""
    assert grades(machine, "add t1 t1", ADDED, "barrier V", ADDED) == [Severity.ERROR]
    assert timed(machine, "add t1 t1", ADDED, "barrier V", ADDED) == [(Severity.ERROR, 5)]
    other = "set V MTE2 0\nwait V MTE2 0"
    assert grades(machine, "add t1 t1", ADDED, "barrier V", other, ADDED) == [Severity.NOTE]
    assert timed(machine, "add t1 t1", ADDED, "barrier V", other, ADDED) == [(Severity.NOTE, 7)]


def test_wait_behind_a_barrier_on_v_takes_no_time_either(machine: Machine) -> None:
    """The load can be complete before the add."""
    assert grades(machine, "load t0", "add t1 t1", ADDED, "barrier V", LOADED, ADDED) == [Severity.ERROR]


def test_two_sets_behind_a_barrier_on_v_are_a_cycle_apart(machine: Machine) -> None:
    assert grades(machine, "add t1 t1", "barrier V", ADDED, ADDED) == [Severity.NOTE]
    assert timed(machine, "add t1 t1", "barrier V", ADDED, ADDED) == [(Severity.NOTE, 5)]


def test_other_barriers_take_time(machine: Machine) -> None:
    """Five cycles on MTE1, unless the machine says otherwise.

    An extract is complete at its end, and the first set takes the cycle behind it: the replay shows nothing either way.
    """
    kernel = cube_kernel("\n".join(("left l0 a0", EXTRACTED, "barrier MTE1", EXTRACTED, END)))
    instant = machine.with_figure("barrier.MTE1", 0)
    short = machine.with_figure("barrier.MTE1", 1)
    assert [f.severity for f in reused(check_kernel(kernel, setting(), short))] == [Severity.NOTE]
    assert [f.severity for f in reused(check_kernel(kernel, setting(), machine))] == [Severity.NOTE]
    assert [f.severity for f in reused(check_kernel(kernel, setting(), instant))] == [Severity.WARNING]


def test_barrier_on_all_keeps_sets_apart(machine: Machine) -> None:
    """The scalar unit then knows the wait to have ended: nothing is left to say."""
    assert grades(machine, "add t1 t1", ADDED, "barrier ALL", ADDED) == []


def test_flags_that_lead_back_keep_sets_apart(machine: Machine) -> None:
    """V -> MTE2 -> V: at the second set V knows its first add complete, but MTE3 has told nobody of its wait."""
    there_and_back = "set V MTE2 0\nwait V MTE2 0\nset MTE2 V 0\nwait MTE2 V 0"
    assert grades(machine, "add t1 t1", there_and_back, ADDED, ADDED) == [Severity.NOTE]
    assert grades(machine, "add t1 t1", ADDED, there_and_back, ADDED) == [Severity.NOTE]
    assert grades(machine, "add t1 t1", there_and_back, "add t3 t3", ADDED, ADDED) == [Severity.ERROR]


def test_flag_of_another_pipe_takes_nothing_away(machine: Machine) -> None:
    """The second load is behind the first, also where MTE2 then waits for a pipe that knows of neither."""
    other = "set MTE3 MTE2 0\nwait MTE3 MTE2 0"
    assert grades(machine, "load t0", LOADED, "load t1", other, LOADED) == [Severity.NOTE]


def test_scalar_unit_that_waits_for_the_op_keeps_sets_apart(machine: Machine) -> None:
    """The second set is dispatched when the add is complete."""
    told = "set V S 0\nwait V S 0"
    assert grades(machine, "add t1 t1", ADDED, told, ADDED) == [Severity.NOTE]
    assert grades(machine, "add t1 t1", ADDED, "set V MTE2 0\nwait V MTE2 0", ADDED) == [Severity.ERROR]


# -- waits that need other sets as well --------------------------------------------------------------------------------


def test_set_of_a_wait_just_ahead_counts_like_the_own_one(machine: Machine) -> None:
    """V comes to its first wait on id 0 when id 1 rises: together with the second set of id 0, unless a load lies
    between."""
    waits = "wait MTE2 V 1\nwait MTE2 V 0"
    before = ("load t0", "set MTE2 V 0", "load t1", "set MTE2 V 1", waits)
    assert grades(machine, *before, LOADED) == [Severity.ERROR]
    assert grades(machine, *before, "load t2", LOADED) == [Severity.NOTE]
    assert timed(machine, *before, LOADED) == [(Severity.ERROR, 7)]


def test_wait_behind_work_forgets_what_the_waits_before_it_needed(machine: Machine) -> None:
    """The add has run when V -> MTE2 comes, so that of the wait on id 1 nothing is left: only id 0 counts."""
    before = ("load t0", "set MTE2 V 0", "load t1", "set MTE2 V 1", "wait MTE2 V 1", "add t3 t3")
    assert grades(machine, *before, "set V MTE2 0", "wait MTE2 V 0", "wait V MTE2 0", "load t2", LOADED) == [
        Severity.NOTE
    ]


def test_set_must_know_what_the_wait_stands_behind(machine: Machine) -> None:
    """An add, a barrier or another flag ahead of the first wait: MTE2 knows of none of them."""
    pair = (LOADED, "load t1", LOADED)
    assert grades(machine, "add t3 t3", *pair) == [Severity.ERROR]
    assert grades(machine, "barrier V", *pair) == [Severity.ERROR]
    assert grades(machine, "set MTE3 V 0", "wait MTE3 V 0", *pair) == [Severity.ERROR]
    known = "set V MTE2 0\nwait V MTE2 0"
    assert grades(machine, "add t3 t3", known, *pair) == [Severity.NOTE]


def test_set_before_the_wait_in_program_order_is_left_to_the_times(machine: Machine) -> None:
    lines = "load t0\nset MTE2 V 0\nload t1\nset MTE2 V 0\nwait MTE2 V 0\nwait MTE2 V 0"
    assert grades(machine, lines) == [Severity.ERROR]


# -- the scalar unit ---------------------------------------------------------------------------------------------------


def test_sets_of_the_scalar_unit_in_a_row_rise_together(machine: Machine) -> None:
    """V waits for id 1 first; its set and the second one of id 0 stand next to each other, or an instruction apart."""
    lines = "set S V 0\nwait S V 1\nwait S V 0\nset S V 1\n{}set S V 0\nwait S V 0"
    assert grades(machine, lines.format("")) == [Severity.ERROR]
    assert timed(machine, lines.format("")) == [(Severity.ERROR, 5)]
    assert grades(machine, lines.format("load t0\n")) == [Severity.NOTE]
    assert timed(machine, lines.format("load t0\n")) == [(Severity.NOTE, 6)]


def test_instruction_between_sets_of_the_scalar_unit_keeps_them_apart(machine: Machine) -> None:
    assert grades(machine, "set S V 0\nwait S V 0\nset S V 0\nwait S V 0") == [Severity.NOTE]


@pytest.mark.parametrize("between", ["set MTE2 MTE3 0", PUT], ids=["set of another pipe", "scalar op"])
def test_whatever_stands_between_sets_of_the_scalar_unit_moves_its_clock(between: str, machine: Machine) -> None:
    """Only its own sets leave it where it is; V needs id 1 before it comes to its first wait on id 0."""
    lines = f"set S V 0\nwait S V 1\nwait S V 0\nset S V 1\n{between}\nset S V 0\nwait S V 0"
    answered = "wait MTE2 MTE3 0" if between.startswith("set") else END
    assert grades(machine, lines, answered) == [Severity.NOTE]


# -- over trip counts --------------------------------------------------------------------------------------------------


def test_states_tell_sets_apart_that_rise_together(machine: Machine) -> None:
    """In round 8 the load between the sets is left out: both then rise with the load of round 7."""
    body = """
%c7 = arith.constant 7 : index
scf.for %i = %c0 to %n step %c1 {
%most = arith.cmpi ne, %i, %c7 : index
scf.if %most {
load t0
}
set MTE2 V 0
wait MTE2 V 0
}
barrier ALL
"""
    report = check_kernel(vector_kernel(body), setting(), machine)
    assert [(f.severity, str(f.execution)) for f in report.findings] == [(Severity.ERROR, "i loop x8")]


def test_flags_told_apart_by_source_alone_are_graded_alike(machine: Machine) -> None:
    """MTE2 -> V and MTE2 -> MTE3 on id 0 count as one flag: the second set must come behind the wait of the other."""
    lines = "load t0\nset MTE2 V 0\nwait MTE2 V 0\n{}set MTE2 MTE3 0\nwait MTE2 MTE3 0"
    rules = Rules(events=EventScope.SOURCE)
    assert grades(machine, lines.format(""), rules=rules) == [Severity.ERROR]
    assert grades(machine, lines.format("load t1\n"), rules=rules) == [Severity.NOTE]
