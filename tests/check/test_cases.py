"""Faults that kernel writers have met, one small kernel each, and structures that look doubtful but are right."""

import pytest

from syncopt.check import Finding, FindingKind, Report, Severity, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import Kernel
from tests.check.kernels import cube_kernel, setting, vector_kernel


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(kernel: Kernel, machine: Machine) -> Report:
    return check_kernel(kernel, setting(), machine)


def executions(report: Report, kind: FindingKind) -> set[str]:
    return {str(finding.execution) for finding in report.errors if finding.kind is kind}


def first(report: Report, kind: FindingKind) -> Finding:
    return next(finding for finding in report.findings if finding.kind is kind)


def assert_proven(report: Report) -> None:
    assert (report.verdict, report.findings, report.unproven) == (Verdict.CLEAN, (), ())


# -- must be caught ----------------------------------------------------------------------------------------------------


def test_wait_inside_a_loop_that_may_not_run(machine: Machine) -> None:
    """The wait of the first round covers all three loads; without a round nothing does."""
    body = """
load t0
load t1
load t2
scf.for %i = %c0 to %n step %c1 {
load t3
set MTE2 V 0
wait MTE2 V 0
}
add t3 t0
barrier ALL
"""
    report = check(vector_kernel(body), machine)
    assert report.verdict is Verdict.RACE
    assert executions(report, FindingKind.RACE) == {"i loop x0"}


def test_next_loads_overwrite_what_is_still_extracted(machine: Machine) -> None:
    """Four L1 tiles, no MTE1 -> MTE2: from the second K step on a load overwrites a tile under extraction."""
    body = """
scf.for %i = %c0 to %n step %c1 {
load a0
load b0
load a1
load b1
set MTE2 MTE1 0
wait MTE2 MTE1 0
left l0 a0
right r0 b0
left l1 a1
right r1 b1
set MTE1 M 0
wait MTE1 M 0
acc l0 r0
acc l1 r1
set M MTE1 0
wait M MTE1 0
}
barrier ALL
"""
    report = check(cube_kernel(body), machine)
    assert report.verdict is Verdict.RACE
    races = [finding for finding in report.errors if finding.kind is FindingKind.RACE]
    assert all("WAR: pto.tload" in finding.message for finding in races)
    assert {str(finding.execution) for finding in races} == {"i loop x2"}
    assert {finding.iteration for finding in races} == {"i 0 -> i 1"}
    assert "set_flag MTE1->MTE2" in races[0].hint


def test_tiles_that_overlap_by_part(machine: Machine) -> None:
    """%tb begins in the middle of t0: what V writes there, MTE3 may still be storing from the round before."""
    body = """
%half = arith.constant 8192 : i64
%tb = pto.alloc_tile addr = %half : !pto.tile_buf<vec, 64x64xf32>
scf.for %i = %c0 to %n step %c1 {
add tb t3
barrier V
add t0 t3
set V MTE3 0
wait V MTE3 0
store t0
}
barrier ALL
"""
    report = check(vector_kernel(body), machine)
    assert report.verdict is Verdict.RACE
    race = first(report, FindingKind.RACE)
    assert race.message.startswith("WAR: pto.tadd")
    assert (str(race.execution), race.iteration) == ("i loop x2", "i 0 -> i 1")


ROTATION = """
%pair = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 64x64xf32, count=2>
%slot0 = pto.multi_tile_get %pair[%c0] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
set V MTE2 0
set V MTE2 1
load slot0
scf.for %i = %c0 to %n step %c1 {
%j = arith.addi %i, %c1 : index
%this = arith.remsi %i, %c2 : index
%next = arith.remsi %j, %c2 : index
%tn = pto.multi_tile_get %pair[%next] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
%tt = pto.multi_tile_get %pair[%this] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
wait V MTE2 %next
load tn
set MTE2 V %next
wait MTE2 V %this
add t3 tt
barrier V
set V MTE2 %this
}
wait V MTE2 0
wait V MTE2 1
barrier ALL
"""


def test_preloaded_rotation_that_is_primed_as_a_plain_one(machine: Machine) -> None:
    """Nobody says that slot 0 was preloaded, so the first wait is answered by the load of the second round.

    An odd number of rounds leaves the last wait on id 0 without a set. An even number balances, but every add waits for
    the load that overwrites what it should read. Without a round nothing happens.
    """
    report = check(vector_kernel(ROTATION), machine)
    assert report.verdict is Verdict.DEADLOCK
    assert executions(report, FindingKind.DEADLOCK) == {"i loop x1"}
    assert executions(report, FindingKind.RACE) == {"i loop x2"}
    odd = check_kernel(vector_kernel(ROTATION.replace("to %n", "to %c1")), setting(), machine)
    even = check_kernel(vector_kernel(ROTATION.replace("to %n", "to %c2")), setting(), machine)
    assert (odd.verdict, even.verdict) == (Verdict.DEADLOCK, Verdict.RACE)


def test_flags_outside_an_if_whose_slot_moves_inside(machine: Machine) -> None:
    """The slot advances in the branch, between the set and the wait: they name different ids."""
    body = """
%end = scf.for %i = %c0 to %n step %c1 iter_args(%slot = %c0) -> (index) {
%some = arith.cmpi slt, %i, %m : index
set MTE2 V %slot
%moved = scf.if %some -> (index) {
load t0
add t1 t1
%up = arith.addi %slot, %c1 : index
%wrapped = arith.remsi %up, %c2 : index
scf.yield %wrapped : index
} else {
scf.yield %slot : index
}
wait MTE2 V %moved
scf.yield %moved : index
}
barrier ALL
"""
    report = check(vector_kernel(body), machine)
    assert report.verdict is Verdict.DEADLOCK
    assert executions(report, FindingKind.DEADLOCK) == {"i loop x1"}


def test_tail_wait_behind_the_set_that_follows_the_loop(machine: Machine) -> None:
    """The last round's set is still up when the one behind the loop comes.

    Without a round V has nothing to do between the two sets, and the wait of MTE2 fires between them by their times.
    """
    body = """
set V MTE2 0
scf.for %i = %c0 to %n step %c1 {
wait V MTE2 0
load t0
set MTE2 V 0
wait MTE2 V 0
add t1 t0
set V MTE2 0
barrier V
}
set V MTE2 0
wait V MTE2 0
wait V MTE2 0
barrier ALL
"""
    report = check(vector_kernel(body), machine)
    assert report.verdict is Verdict.DOUBLE_SET
    assert executions(report, FindingKind.DOUBLE_SET) == {"i loop x1"}


def test_token_that_was_never_primed(machine: Machine) -> None:
    """MTE1 waits at the head of the loop for a matmul that comes only behind it."""
    body = """
scf.for %i = %c0 to %n step %c1 {
wait M MTE1 0
load a0
load b0
set MTE2 MTE1 0
wait MTE2 MTE1 0
left l0 a0
right r0 b0
set MTE1 M 0
wait MTE1 M 0
acc l0 r0
set M MTE1 0
}
barrier ALL
"""
    report = check(cube_kernel(body), machine)
    assert report.verdict is Verdict.DEADLOCK
    assert executions(report, FindingKind.DEADLOCK) == {"i loop x1"}


def test_barrier_on_one_path_only(machine: Machine) -> None:
    """The barrier stands in the branch: the way around it leaves two dependent vector ops unordered."""
    report = check(vector_kernel("add t1 t0\nscf.if %flag {\nbarrier V\n}\nadd t2 t1\nbarrier ALL"), machine)
    assert report.verdict is Verdict.RACE
    assert executions(report, FindingKind.RACE) == {"%flag false"}


def test_dependent_vector_ops_without_barrier(machine: Machine) -> None:
    report = check(vector_kernel("add t1 t0\nadd t2 t1\nbarrier ALL"), machine)
    assert report.verdict is Verdict.RACE
    race = first(report, FindingKind.RACE)
    assert "no barrier V between them" in race.message
    assert race.hint.startswith("put barrier V before pto.tadd")


def test_store_as_the_last_op(machine: Machine) -> None:
    report = check(vector_kernel("add t0 t1\nset V MTE3 0\nwait V MTE3 0\nstore t0"), machine)
    assert report.verdict is Verdict.UNBALANCED
    assert first(report, FindingKind.UNBALANCED).hint == "end the kernel with pto.barrier <PIPE_ALL>"


# -- must pass ---------------------------------------------------------------------------------------------------------


def test_disjoint_slices_of_one_tile(machine: Machine) -> None:
    """Four loads of 16 columns each into one tile: nothing between them."""
    tile, part = "!pto.tile_buf<vec, 64x64xf32>", "!pto.tile_buf<vec, 64x16xf32>"
    view = "!pto.partition_tensor_view<64x16xf32>"
    lines = [
        f"%o{at} = arith.constant {16 * at} : index\n"
        f"%s{at} = pto.subview %t0[%c0, %o{at}] sizes [64, 16] : {tile} -> {part}\n"
        f"%v{at} = pto.partition_view %xv, offsets = [%c0, %o{at}], sizes = [%c64, %sixteen]"
        f" : !pto.tensor_view<?x?xf32> -> {view}\n"
        f"pto.tload ins(%v{at} : {view}) outs(%s{at} : {part})"
        for at in range(4)
    ]
    body = "%sixteen = arith.constant 16 : index\n" + "\n".join(lines) + "\nset MTE2 V 0\nwait MTE2 V 0\nadd t1 t0"
    assert_proven(check(vector_kernel(f"{body}\nbarrier ALL"), machine))


def test_blocks_of_one_tensor_loaded_and_stored_in_place(machine: Machine) -> None:
    """Round i touches bytes i * 16384 of %x alone: no hazard from round to round in global memory."""
    view = "!pto.partition_tensor_view<64x64xf32>"
    body = f"""
set V MTE2 0
set MTE3 V 0
scf.for %i = %c0 to %n step %c1 {{
%row = arith.muli %i, %c64 : index
%b = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x?xf32> -> {view}
wait V MTE2 0
pto.tload ins(%b : {view}) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)
set MTE2 V 0
wait MTE2 V 0
wait MTE3 V 0
add t1 t0
set V MTE2 0
set V MTE3 0
wait V MTE3 0
pto.tstore ins(%t1 : !pto.tile_buf<vec, 64x64xf32>) outs(%b : {view})
set MTE3 V 0
}}
wait V MTE2 0
wait MTE3 V 0
barrier ALL
"""
    report = check(vector_kernel(body), machine)
    assert_proven(report)
    assert report.proven == ("all trip counts >= 0 of the i loop, period 1",)


def test_one_id_in_both_directions_of_a_pair(machine: Machine) -> None:
    """MTE2 -> V and V -> MTE2 are different flags though their id is the same."""
    body = "load t0\nset MTE2 V 0\nwait MTE2 V 0\nadd t1 t0\nset V MTE2 0\nwait V MTE2 0\nload t0\nbarrier ALL"
    assert_proven(check(vector_kernel(body), machine))


SHARED_IDS = """
set MTE1 MTE2 0
set MTE1 MTE2 1
set M MTE1 0
scf.for %i = %c0 to %n step %c1 {{
%parity = arith.remsi %i, %c2 : index
%even = arith.cmpi eq, %parity, %c0 : index
scf.if %even {{
{even}
}} else {{
{odd}
}}
}}
wait MTE1 MTE2 0
wait MTE1 MTE2 1
wait M MTE1 0
barrier ALL
"""
HALF = """
wait MTE1 MTE2 {half}
load a{half}
set MTE2 MTE1 0
load b{half}
set MTE2 MTE1 1
wait M MTE1 0
wait MTE2 MTE1 0
left l0 a{half}
wait MTE2 MTE1 1
right r0 b{half}
set MTE1 MTE2 {half}
set MTE1 M 0
wait MTE1 M 0
acc l0 r0
set M MTE1 0
"""


def test_ids_shared_by_both_halves_of_a_double_buffer(machine: Machine) -> None:
    """Both halves of L1 use MTE2 -> MTE1 ids 0 and 1.

    Before it takes the flag of a step MTE1 waits for the matmul of the step before, of which MTE2 knows nothing: that
    the load of the next step sets the id later than that is a matter of durations.
    """
    kernel = cube_kernel(SHARED_IDS.format(even=HALF.format(half=0), odd=HALF.format(half=1)))
    report = check(kernel, machine)
    assert (report.verdict, report.unproven) == (Verdict.CLEAN, ())
    shared = [finding for finding in report.findings if "MTE2->MTE1" in finding.message]
    assert {(finding.kind, finding.severity) for finding in shared} == {(FindingKind.ID_REUSE, Severity.WARNING)}
