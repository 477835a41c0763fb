"""The public GEMMs, and the judgement of single executions."""

from pathlib import Path

import pytest

from syncopt.check import FindingKind, Severity, Verdict, check_kernel, judge
from syncopt.frontend import read_module
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.intervals import parse_assumptions
from syncopt.ir.kernel import AllocTile, Kernel, walk
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Setting
from syncopt.ir.types import TileType
from tests.check.kernels import setting, vector_kernel

GEMM = Path(__file__).parents[2] / "instances" / "gemm"


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def gemm(name: str) -> Kernel:
    return read_module(GEMM / f"{name}.pto").kernel()


def placed(kernel: Kernel, k: int) -> Setting:
    """M = 1024, N = 2048 on block 0 of 24, every tile behind the one before it in its memory."""
    at: dict[Memory, int] = {}
    addresses: dict[int, int] = {}
    for op in walk(kernel.body):
        if isinstance(op, AllocTile):
            assert isinstance(op.result.type, TileType)
            addresses[op.uid] = at.get(op.result.type.memory, 0)
            at[op.result.type.memory] = addresses[op.uid] + op.result.type.size
    return Setting({"M": 1024, "N": 2048, "K": k}, 0, 24, addresses=addresses)


def test_hand_synchronised_gemm_hangs_without_k_iterations(machine: Machine) -> None:
    """The token of A(0) is waited for by its load and given back by the last extract, which no K iteration reaches."""
    kernel = gemm("hand_synchronised")
    report = check_kernel(kernel, placed(kernel, 2048), machine)
    # counts 0 to 5 of both loops; all but 0 x 0 with the last step of the tile loop whole, cut by 1, and cut to 1;
    # three rounds of both through the first matmul of the odd branch, which no K step reaches
    assert (report.verdict, report.executions) == (Verdict.DEADLOCK, 1 + 35 * 3 + 3)
    assert {finding.kind for finding in report.errors} == {FindingKind.DEADLOCK}
    assert str(report.failing) == "tile loop x1, k loop x0"
    assert all("k loop x0" in str(finding.execution) for finding in report.errors)


def test_hand_synchronised_gemm_has_warnings_only_with_k_iterations(machine: Machine) -> None:
    """All MTE1 -> M events share id 0, and extracts can complete in any order: only the times keep them apart."""
    kernel = gemm("hand_synchronised")
    report = check_kernel(kernel, placed(kernel, 2048), machine, parse_assumptions(["K>=512"], kernel))
    # the state of the last K step of 5 is not yet that of the last but two: 6 K steps are run as well
    assert (report.verdict, report.executions, report.failing) == (Verdict.CLEAN, 36 * 3 + 3, None)
    assert report.proven == (
        "all trip counts >= 0 of the tile loop, period 1",
        "all trip counts >= 1 of the k loop, period 2",
    )
    assert {(f.kind, f.severity) for f in report.findings} == {(FindingKind.ID_REUSE, Severity.WARNING)}
    assert all("set_flag MTE1->M id 0" in finding.message for finding in report.findings)
    assert "impossible and not run: k loop x0" in report.assumptions


def test_gemm_without_flags_is_full_of_races(machine: Machine) -> None:
    kernel = gemm("double_buffered")
    report = check_kernel(kernel, placed(kernel, 2048), machine)
    assert report.verdict is Verdict.RACE
    races = {str(finding.execution) for finding in report.errors if finding.kind is FindingKind.RACE}
    assert "tile loop x1, k loop x1" in races


@pytest.mark.parametrize(("k", "verdict"), [(2048, Verdict.CLEAN), (512, Verdict.CLEAN), (0, Verdict.DEADLOCK)])
def test_judgement_is_of_the_given_arguments_only(k: int, verdict: Verdict, machine: Machine) -> None:
    """64 tiles on 24 blocks: block 0 has three."""
    kernel = gemm("hand_synchronised")
    judgement = judge(kernel, placed(kernel, k), machine)
    assert judgement.verdict is verdict
    assert judgement.valid is (verdict is Verdict.CLEAN)
    assert judgement.replay is not None
    assert (judgement.replay.deadlock is not None) is (verdict is Verdict.DEADLOCK)


def test_judgement_of_a_kernel_without_flags(machine: Machine) -> None:
    judgement = judge(vector_kernel("load t0\nadd t1 t0\nbarrier ALL"), setting(), machine)
    assert (judgement.verdict, judgement.valid) == (Verdict.RACE, False)
    assert str(judgement.findings[0].execution) == "the given arguments"
