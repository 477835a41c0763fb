"""Stricter rules: flags told apart by source and id alone, ids by order alone, ops that take longer or shorter."""

import pytest

from syncopt.check import EventScope, FindingKind, Grading, Report, Rules, Severity, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from tests.check.kernels import HEAD_LINES, setting, vector_kernel

TIMED = """
add t3 t2
load t0
set MTE2 V 0
wait MTE2 V 0
load t1
set MTE2 V 0
wait MTE2 V 0
barrier ALL
"""
"""The second set comes later than the first wait only because a load takes longer than an add."""
TWO_TARGETS = """
load t0
set MTE2 V 0
set MTE2 MTE3 {0}
wait MTE2 V 0
wait MTE2 MTE3 {0}
add t1 t0
barrier ALL
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine, rules: Rules) -> Report:
    return check_kernel(vector_kernel(body), setting(), machine, rules=rules)


def test_ids_kept_apart_by_times_are_errors_when_strict(machine: Machine) -> None:
    usual = check(TIMED, machine, Rules())
    strict = check(TIMED, machine, Rules(Grading(timed=Severity.ERROR)))
    assert (usual.verdict, strict.verdict) == (Verdict.CLEAN, Verdict.DOUBLE_SET)
    assert [finding.line for finding in strict.errors] == [HEAD_LINES + 6]


def test_notes_stay_notes_when_strict(machine: Machine) -> None:
    """Without the add V is at its wait from the start: the order alone puts the second set behind it."""
    report = check(TIMED.replace("add t3 t2\n", ""), machine, Rules(Grading(timed=Severity.ERROR)))
    assert report.verdict is Verdict.CLEAN
    assert {finding.severity for finding in report.findings} == {Severity.NOTE}


def test_one_id_for_two_targets_is_doubtful_by_source_alone(machine: Machine) -> None:
    """MTE2 -> V and MTE2 -> MTE3 on id 0 are two flags of the hardware; told apart by source and id they are one."""
    assert check(TWO_TARGETS.format(0), machine, Rules()).findings == ()
    cautious = Rules(events=EventScope.SOURCE)
    report = check(TWO_TARGETS.format(0), machine, cautious)
    assert {finding.kind for finding in report.findings} == {FindingKind.ID_REUSE}
    assert "the wait on MTE2->V with its id" in report.findings[0].message
    assert check(TWO_TARGETS.format(1), machine, cautious).findings == ()


def test_one_id_of_two_sources_is_two_flags_by_source(machine: Machine) -> None:
    """MTE2 -> V and MTE3 -> V: V has not come to its wait on the one when the other is set."""
    body = "load t0\nset MTE2 V 0\nset MTE3 V 0\nwait MTE2 V 0\nwait MTE3 V 0\nadd t1 t0\nbarrier ALL"
    assert check(body, machine, Rules(events=EventScope.SOURCE)).findings == ()


def test_stress_shows_what_durations_keep_apart(machine: Machine) -> None:
    """Five dependent adds keep V from its wait until 762, the second set rises at 855: twice the adds are too long."""
    adds = "".join(f"add t{2 + n % 2} t{2 + n % 2}\nbarrier V\n" for n in range(5))
    body = f"{adds}load t0\nset MTE2 V 0\nwait MTE2 V 0\nload t1\nset MTE2 V 0\nwait MTE2 V 0\nbarrier ALL"
    assert {finding.kind for finding in check(body, machine, Rules()).findings} == {FindingKind.ID_REUSE}
    stressed = check(body, machine, Rules(stress=20))
    assert stressed.verdict is Verdict.CLEAN
    shown = [finding for finding in stressed.findings if finding.kind is FindingKind.DOUBLE_SET]
    assert [(finding.severity, finding.line) for finding in shown] == [(Severity.WARNING, HEAD_LINES + 15)]
    assert shown[0].message.startswith("with cost factors of 0.5 to 2 (seed ")
    assert check(body, machine, Rules(stress=20)).findings == stressed.findings


def test_stress_of_what_order_proves_shows_nothing(machine: Machine) -> None:
    body = "load t0\nset MTE2 V 0\nwait MTE2 V 0\nadd t1 t0\nbarrier ALL"
    assert check(body, machine, Rules(stress=5)).findings == ()
