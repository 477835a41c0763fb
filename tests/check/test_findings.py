"""One kernel per kind of finding, with the line and the execution that show it."""

import pytest

from syncopt.check import Finding, FindingKind, Report, Severity, Verdict, check_kernel
from syncopt.check.inspection import Inspector, Rules
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import SetFlag
from syncopt.ir.trace import Instance, Tracer
from tests.check.kernels import HEAD_LINES, setting, vector_kernel

STRAIGHT = """
load t0
set MTE2 V 0
wait MTE2 V 0
add t1 t0
set V MTE3 0
wait V MTE3 0
store t1
barrier ALL
"""
GATHER = (
    "pto.tgatherb ins(%t2, %t2 : !pto.tile_buf<vec, 64x64xf32>, !pto.tile_buf<vec, 64x64xf32>)"
    " outs(%t3 : !pto.tile_buf<vec, 64x64xf32>)\n"
)
PUT = "pto.tsetval ins(%c0, %c1 : index, index) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)"
LOOP = """
set V MTE2 0
set MTE3 V 0
scf.for %i = %c0 to %n step %c1 {
wait V MTE2 0
load t0
set MTE2 V 0
wait MTE2 V 0
wait MTE3 V 0
add t1 t0
set V MTE2 0
set V MTE3 0
wait V MTE3 0
store t1
set MTE3 V 0
}
wait V MTE2 0
wait MTE3 V 0
barrier ALL
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine) -> Report:
    return check_kernel(vector_kernel(body), setting(), machine)


def only(report: Report) -> Finding:
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


def test_straight_kernel_with_all_flags_is_clean(machine: Machine) -> None:
    """Load, flag, add, flag, store, barrier: nothing to say, and nothing to vary."""
    report = check(STRAIGHT, machine)
    assert (report.verdict, report.findings, report.executions, report.failing) == (Verdict.CLEAN, (), 1, None)


def test_loop_with_tokens_is_clean_for_all_counts(machine: Machine) -> None:
    """V -> MTE2 says that t0 is free, MTE3 -> V that t1 is; both are up before the loop and taken down behind it."""
    report = check(LOOP, machine)
    assert (report.verdict, report.findings, report.executions) == (Verdict.CLEAN, (), 6)
    assert report.covers == "i loop x0..5"


def test_missing_flag_between_pipes_is_a_race(machine: Machine) -> None:
    """Without MTE2 -> V the add of line 2 may read t0 too early."""
    report = check(STRAIGHT.replace("set MTE2 V 0\nwait MTE2 V 0\n", ""), machine)
    finding = only(report)
    assert report.verdict is Verdict.RACE
    assert (finding.kind, finding.severity, finding.line) == (FindingKind.RACE, Severity.ERROR, HEAD_LINES + 2)
    assert finding.message == (
        f"RAW: pto.tadd (line {HEAD_LINES + 2}) may read vec bytes before pto.tload (line {HEAD_LINES + 1}) "
        "has written it: no flag MTE2->V between them"
    )


def test_carried_race_shows_at_two_iterations(machine: Machine) -> None:
    """Without MTE3 -> V the add of the second iteration overwrites t1 under the store of the first: WAR."""
    report = check(LOOP.replace("set MTE3 V 0\n", "").replace("wait MTE3 V 0\n", ""), machine)
    finding = only(report)
    assert finding.message.startswith("WAR: pto.tadd")
    assert finding.message.endswith("no flag MTE3->V between them")
    assert str(finding.execution) == "i loop x2"
    assert report.failing is finding.execution
    assert finding.execution is not None
    assert finding.execution.counts == {0: 2}


def test_dependent_vector_ops_need_a_barrier(machine: Machine) -> None:
    """t2 = 2 * t1 right behind t1 = 2 * t0, on one pipe."""
    chain = "add t1 t0\n{}add t2 t1\nset V MTE3 0\nwait V MTE3 0\nstore t2\nbarrier ALL"
    finding = only(check(chain.format(""), machine))
    assert finding.message.startswith("RAW: pto.tadd")
    assert finding.message.endswith("no barrier V between them")
    assert check(chain.format("barrier V\n"), machine).findings == ()


@pytest.mark.parametrize(
    ("first", "second", "kind", "clash"),
    [
        ("load t0", "add t1 t0", "RAW", "read vec bytes before pto.tload (line {}) has written it"),
        ("store t0", "add t0 t1", "WAR", "overwrite vec bytes before pto.tstore (line {}) has read it"),
        ("load t0", "add t0 t1", "WAW", "overwrite vec bytes before pto.tload (line {}) has written it"),
        ("add t0 t1", "add t0 t1", "WAW", "overwrite vec bytes before pto.tadd (line {}) has written it"),
    ],
    ids=["RAW", "WAR", "WAW", "WAW on V"],
)
def test_two_accesses_with_nothing_between_race(
    first: str, second: str, kind: str, clash: str, machine: Machine
) -> None:
    message = only(check(f"{first}\n{second}\nbarrier ALL", machine)).message
    assert message.startswith(f"{kind}: pto.tadd (line {HEAD_LINES + 2}) may {clash.format(HEAD_LINES + 1)}")


PART = "!pto.tile_buf<vec, 64x32xf32>"
LOAD_PART = (
    f"pto.tload ins(%half : !pto.partition_tensor_view<64x32xf32>) outs(%part : {PART})",
    "load t0",
)
ADD_PART = (f"pto.tadd ins(%part, %part : {PART}, {PART}) outs(%part : {PART})", "add t0 t0")


@pytest.mark.parametrize("order", [1, -1], ids=["part first", "whole first"])
def test_part_of_a_tile_meets_the_whole(order: int, machine: Machine) -> None:
    """Columns 32 to 63 of t0: what is loaded there is read with the whole, and the other way round."""
    head = f"""
%c32 = arith.constant 32 : index
%part = pto.subview %t0[%c0, %c32] sizes [64, 32] : !pto.tile_buf<vec, 64x64xf32> -> {PART}
%half = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c64, %c32] : !pto.tensor_view<?x?xf32>\
 -> !pto.partition_tensor_view<64x32xf32>
"""
    load, add = LOAD_PART[::order][0], ADD_PART[::-order][0]
    assert check(f"{head}{load}\n{add}\nbarrier ALL", machine).verdict is Verdict.RACE
    ordered = f"{head}{load}\nset MTE2 V 0\nwait MTE2 V 0\n{add}\n"
    assert check(f"{ordered}barrier ALL", machine).findings == ()
    # the load again, with nothing that says that the add is over
    assert only(check(f"{ordered}{load}\nbarrier ALL", machine)).message.startswith("WAW: pto.tload")


def test_race_in_global_memory(machine: Machine) -> None:
    """%y is stored and loaded again: RAW over memory, ordered by MTE3 -> MTE2."""
    body = "store t0\n{}load t1 y\nbarrier ALL"
    finding = only(check(body.format(""), machine))
    assert "global memory of %y" in finding.message
    assert check(body.format("barrier ALL\n"), machine).findings == ()
    assert check("store t0\nload t1 x\nbarrier ALL", machine).findings == ()


def test_flags_do_not_make_a_store_visible(machine: Machine) -> None:
    """MTE3 -> MTE2 orders the load behind the store of the same bytes; a warning says that this may not be enough."""
    report = check("store t0\nset MTE3 MTE2 0\nwait MTE3 MTE2 0\nload t1 y\nbarrier ALL", machine)
    finding = only(report)
    assert report.verdict is Verdict.CLEAN
    assert (finding.kind, finding.severity, finding.line) == (
        FindingKind.VISIBILITY,
        Severity.WARNING,
        HEAD_LINES + 4,
    )
    assert finding.hint == f"put a barrier of all pipes before pto.tload (line {HEAD_LINES + 4})"


def test_scalar_unit_that_waits_for_the_store_makes_it_visible(machine: Machine) -> None:
    """It passes the load when the store is complete.

    Where the load is passed before, and only starts behind, the flag S -> MTE2 orders it as any other flag would.
    """
    assert check("store t0\nset MTE3 S 0\nwait MTE3 S 0\nload t1 y\nbarrier ALL", machine).findings == ()
    late = "store t0\nset MTE3 S 0\nwait S MTE2 0\nload t1 y\nwait MTE3 S 0\nset S MTE2 0\nbarrier ALL"
    finding = only(check(late, machine))
    assert (finding.kind, finding.line) == (FindingKind.VISIBILITY, HEAD_LINES + 4)


def test_load_that_waits_for_a_later_store_is_a_race_alone(machine: Machine) -> None:
    """The load stands before the store, so that it should not see what is stored: WAR."""
    finding = only(check("wait MTE3 MTE2 0\nload t1 y\nstore t0\nset MTE3 MTE2 0\nbarrier ALL", machine))
    assert (finding.kind, finding.line) == (FindingKind.RACE, HEAD_LINES + 3)
    assert finding.message.startswith("WAR: pto.tstore")


def test_read_that_starts_late_may_be_overtaken_by_a_read(machine: Machine) -> None:
    """The add stands before the store, but waits; both only read t0."""
    assert check("wait MTE3 V 0\nadd t1 t0\nstore t0\nset MTE3 V 0\nbarrier ALL", machine).findings == ()


@pytest.mark.parametrize(
    ("late", "next_", "race"),
    [
        ("add t1 t0", "load t0", "WAR: pto.tload"),
        ("add t0 t1", "store t0", "RAW: pto.tstore"),
        ("add t0 t1", "load t0", "WAW: pto.tload"),
    ],
)
def test_op_that_starts_late_races_once(late: str, next_: str, race: str, machine: Machine) -> None:
    """The add stands before the other op, but waits: it is the other that comes too early, not the add."""
    finding = only(check(f"wait MTE3 V 0\n{late}\n{next_}\nset MTE3 V 0\nbarrier ALL", machine))
    assert finding.message.startswith(race)


def test_ops_that_start_late_but_in_order_do_not_race(machine: Machine) -> None:
    """V and MTE3 both stand when the last set lets V go on: the add starts first, and its flag leads to the store."""
    body = "wait MTE2 V 0\nadd t1 t0\nset V MTE3 0\nwait V MTE3 0\nstore t1\nset MTE2 V 0\nbarrier ALL"
    assert check(body, machine).findings == ()


def test_scalar_op_is_complete_when_the_next_op_is_dispatched(machine: Machine) -> None:
    """What it writes can be read at once; what a pipe reads or writes it must wait for."""
    assert check(f"{PUT}\nadd t1 t0\nbarrier ALL", machine).findings == ()
    assert only(check(f"add t1 t0\n{PUT}\nbarrier ALL", machine)).message.startswith("WAR: pto.tsetval")
    told = "load t0\nset MTE2 S 0\nwait MTE2 S 0\n"
    assert check(f"{told}{PUT}\nadd t1 t0\nbarrier ALL", machine).findings == ()


def test_what_the_scalar_unit_learns_is_not_all_that_a_pipe_knows(machine: Machine) -> None:
    """V knows of the load by its flag, and still does when the scalar unit has waited for the store alone."""
    to_v, to_scalar = "set MTE2 V 0\nwait MTE2 V 0", "set MTE3 S 0\nwait MTE3 S 0"
    assert check(f"load t0\n{to_v}\nstore t2\n{to_scalar}\nadd t1 t0\nbarrier ALL", machine).findings == ()


def test_wait_without_set_is_a_deadlock(machine: Machine) -> None:
    report = check("wait MTE2 V 3\nadd t1 t0\nbarrier ALL", machine)
    finding = only(report)
    assert report.verdict is Verdict.DEADLOCK
    assert (finding.kind, finding.line) == (FindingKind.DEADLOCK, HEAD_LINES + 1)
    assert finding.message == f"hangs: no set answers wait_flag MTE2->V id 3 (line {HEAD_LINES + 1})"


def test_flag_set_in_a_loop_and_waited_behind_it_hangs_at_zero_trips(machine: Machine) -> None:
    """%i loop sets once per round, one wait behind: 0 rounds hang, 1 is right, 2 and more leave a flag up."""
    report = check("scf.for %i = %c0 to %n step %c1 {\nset MTE2 V 0\n}\nwait MTE2 V 0\nbarrier ALL", machine)
    assert report.verdict is Verdict.DEADLOCK
    hang = next(finding for finding in report.findings if finding.kind is FindingKind.DEADLOCK)
    left = next(finding for finding in report.findings if finding.kind is FindingKind.UNBALANCED)
    assert (str(hang.execution), hang.line) == ("i loop x0", HEAD_LINES + 4)
    assert (str(left.execution), left.line) == ("i loop x2", HEAD_LINES + 2)
    assert report.failing is hang.execution


def test_waits_on_two_pipes_for_each_other_are_a_deadlock(machine: Machine) -> None:
    """V waits for MTE3, which waits for V, each before it sets: every wait has its set, but none is reached."""
    body = "wait MTE3 V 0\nset V MTE3 0\nwait V MTE3 0\nset MTE3 V 0\nbarrier ALL"
    finding = only(check(body, machine))
    assert finding.kind is FindingKind.DEADLOCK
    assert len(finding.ops) == 2


def test_barrier_on_all_before_the_set_is_a_deadlock(machine: Machine) -> None:
    """The barrier waits for the wait, and the set stands behind it. What comes behind is not told: it never runs."""
    report = check("wait MTE2 V 0\nbarrier ALL\nset MTE2 V 0\nload t0\nadd t1 t0\nbarrier ALL", machine)
    assert (only(report).kind, only(report).line) == (FindingKind.DEADLOCK, HEAD_LINES + 1)


def test_scalar_wait_before_the_set_is_a_deadlock(machine: Machine) -> None:
    report = check("wait MTE2 S 0\nset MTE2 S 0\nload t0\nadd t1 t0\nbarrier ALL", machine)
    assert (only(report).kind, only(report).line) == (FindingKind.DEADLOCK, HEAD_LINES + 1)


def test_full_queue_keeps_the_set_from_being_dispatched(machine: Machine) -> None:
    """64 loads behind a wait fill the queue of MTE2, and the set that they wait for stands behind them."""
    body = "wait V MTE2 0\nscf.for %i = %c0 to %c64 step %c1 {\nload t0\n}\nset V MTE2 0\nbarrier ALL"
    finding = only(check(body, machine))
    assert finding.kind is FindingKind.DEADLOCK
    assert "before a full queue" in finding.message
    assert check(body.replace("%c64 step", "%c2 step"), machine).verdict is Verdict.CLEAN


def test_second_set_before_the_wait_is_a_double_set(machine: Machine) -> None:
    """Both sets rise when the load is complete, before any wait has ended."""
    report = check("load t0\nset MTE2 V 0\nset MTE2 V 0\nwait MTE2 V 0\nwait MTE2 V 0\nadd t1 t0\nbarrier ALL", machine)
    finding = only(report)
    assert report.verdict is Verdict.DOUBLE_SET
    assert (finding.severity, finding.line) == (Severity.ERROR, HEAD_LINES + 3)


def test_reuse_of_an_id_by_timing_alone_is_a_warning(machine: Machine) -> None:
    """V may still be at its first add when the second set comes; only the longer load says that it is not."""
    body = "add t3 t2\nload t0\nset MTE2 V 0\nwait MTE2 V 0\nload t1\nset MTE2 V 0\nwait MTE2 V 0\nbarrier ALL"
    report = check(body, machine)
    finding = only(report)
    assert report.verdict is Verdict.CLEAN
    assert (finding.kind, finding.severity, finding.line) == (
        FindingKind.ID_REUSE,
        Severity.WARNING,
        HEAD_LINES + 6,
    )
    assert finding.hint == "use another id, or order it behind the wait by a flag V->MTE2"


def test_reuse_of_an_id_behind_all_that_the_wait_waits_for_is_a_note(machine: Machine) -> None:
    """V has nothing before its first wait, so the wait takes the flag down as soon as it rises: before the next set."""
    report = check("load t0\nset MTE2 V 0\nwait MTE2 V 0\nload t1\nset MTE2 V 0\nwait MTE2 V 0\nbarrier ALL", machine)
    finding = only(report)
    assert report.verdict is Verdict.CLEAN
    assert (finding.kind, finding.severity, finding.line) == (FindingKind.ID_REUSE, Severity.NOTE, HEAD_LINES + 5)


def test_two_sets_behind_one_completion_are_a_double_set_however_eager_the_wait(machine: Machine) -> None:
    """Both sets rise in the cycle in which the load is complete: the replay shows what the order leaves open."""
    body = "load t0\nset MTE2 V 0\nwait MTE2 V 0\nset MTE2 V 0\nwait MTE2 V 0\nbarrier ALL"
    finding = only(check(body, machine))
    assert (finding.kind, finding.severity, finding.line) == (FindingKind.DOUBLE_SET, Severity.ERROR, HEAD_LINES + 4)


def test_early_set_next_to_an_op_of_unknown_cost_counts_as_double(machine: Machine) -> None:
    """Without the cost of tgatherb the times cannot vouch for the second set."""
    body = f"{GATHER}add t1 t1\nload t0\nset MTE2 V 0\nwait MTE2 V 0\nload t0\nset MTE2 V 0\nwait MTE2 V 0\nbarrier ALL"
    assert check(body, machine).verdict is Verdict.DOUBLE_SET


def test_full_queue_next_to_an_op_of_unknown_cost_is_listed(machine: Machine) -> None:
    """Only a replay tells whether a queue fills up behind a wait, and tgatherb keeps the kernel from being replayed."""
    report = check("wait V MTE2 0\nload t0\nset V MTE2 0\n" + GATHER + "barrier ALL", machine)
    assert report.verdict is Verdict.CLEAN
    assert any(text.startswith("no queue is full") for text in report.assumptions)


@pytest.mark.parametrize("line", [n for n, line in enumerate(LOOP.splitlines()) if line.startswith(("set", "wait"))])
def test_every_flag_of_the_loop_is_needed(line: int, machine: Machine) -> None:
    """Whatever flag is deleted, the check notices."""
    lines = LOOP.splitlines()
    assert check("\n".join(lines[:line] + lines[line + 1 :]), machine).verdict is not Verdict.CLEAN


def test_flag_left_up_is_unbalanced(machine: Machine) -> None:
    report = check("load t0\nset MTE2 V 5\nbarrier ALL", machine)
    finding = only(report)
    assert report.verdict is Verdict.UNBALANCED
    assert finding.message == f"set_flag MTE2->V id 5 (line {HEAD_LINES + 2}) is still up at the end: a wait is missing"


@pytest.mark.parametrize("end", ["", "barrier MTE3", "barrier V"])
def test_store_without_final_barrier_is_unbalanced(end: str, machine: Machine) -> None:
    """A barrier of one pipe holds that pipe only, not the end of the kernel."""
    report = check(STRAIGHT.replace("barrier ALL", end), machine)
    finding = only(report)
    assert report.verdict is Verdict.UNBALANCED
    assert (finding.severity, finding.line) == (Severity.ERROR, HEAD_LINES + 7)
    assert finding.message.endswith("no final barrier")


def test_scalar_wait_behind_the_store_ends_it_as_well(machine: Machine) -> None:
    """MTE3 -> S: the scalar unit goes on only when the store is complete."""
    assert check(STRAIGHT.replace("barrier ALL", "set MTE3 S 0\nwait MTE3 S 0"), machine).findings == ()


def test_pair_without_flags_is_illegal(machine: Machine) -> None:
    report = check("set MTE1 FIX 0\nwait MTE1 FIX 0\nbarrier ALL", machine)
    assert report.verdict is Verdict.ILLEGAL
    assert [(finding.line, finding.execution) for finding in report.findings] == [
        (HEAD_LINES + 1, None),
        (HEAD_LINES + 2, None),
    ]
    assert "no flags from MTE1 to FIX" in report.findings[0].message


def test_barrier_on_the_scalar_pipe_is_illegal(machine: Machine) -> None:
    finding = only(check(STRAIGHT.replace("barrier ALL", "barrier S\nbarrier ALL"), machine))
    assert finding.kind is FindingKind.ILLEGAL
    assert "the scalar pipe has no barrier" in finding.message


def test_event_id_that_does_not_exist_is_illegal(machine: Machine) -> None:
    """Instances with id 8, as a run-time id can make them."""
    kernel = vector_kernel("set MTE2 V 0\nwait MTE2 V 0\nbarrier ALL")

    def trace() -> list[Instance]:
        instances = list(Tracer(kernel, setting()))
        for instance in instances[:2]:
            instance.event = 8
        return instances

    faults = Inspector(kernel, machine, Rules()).inspect(trace).faults
    assert [fault.kind for fault in faults] == [FindingKind.ILLEGAL] * 2
    assert isinstance(faults[0].ops[0], SetFlag)
    assert "id 8" in faults[0].message


def test_verdict_is_the_first_kind_in_order_and_findings_come_by_line(machine: Machine) -> None:
    """A race (line 2), a flag left up (line 3) and an illegal pair (line 4): race."""
    report = check("load t0\nadd t1 t0\nset MTE2 V 0\nset MTE1 FIX 0\nwait MTE1 FIX 0\nbarrier ALL", machine)
    assert report.verdict is Verdict.RACE
    assert [finding.line - HEAD_LINES for finding in report.findings] == [2, 3, 4, 5]


def test_same_pair_of_ops_is_reported_once(machine: Machine) -> None:
    """RAW from one round on, WAR from two, once each. With those two in order the adds are in order too: no WAW."""
    report = check("scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\n}\nbarrier ALL", machine)
    texts = [(f.message[:3], str(f.execution)) for f in report.findings if f.kind is FindingKind.RACE]
    assert texts == [("WAR", "i loop x2"), ("RAW", "i loop x1")]
