"""`solve` of kernels whose own flags are faster than the flags of every plan that is found."""

from pathlib import Path

import pytest

from tests.check.kernels import vector_kernel
from tests.cli.running import document, syncopt

BODY = """
%c6 = arith.constant 6 : index
%pair = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 64x64xf32, count=2>
%slot0 = pto.multi_tile_get %pair[%c0] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
set V MTE2 1
load slot0
set MTE2 V 0
scf.for %i = %c0 to %c6 step %c1 {
%j = arith.addi %i, %c1 : index
%this = arith.remsi %i, %c2 : index
%next = arith.remsi %j, %c2 : index
%tn = pto.multi_tile_get %pair[%next] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
%tt = pto.multi_tile_get %pair[%this] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
%more = arith.cmpi slt, %j, %c6 : index
scf.if %more {
wait V MTE2 %next
load tn
set MTE2 V %next
}
wait MTE2 V %this
barrier V
add t3 tt
set V MTE2 %this
}
wait V MTE2 0
wait V MTE2 1
barrier ALL
"""
"""Slot 0 is loaded ahead of the loop, so that only slot 1 is free at its start: a plan has one flag for both slots."""


@pytest.fixture(name="rotating")
def _rotating(tmp_path: Path) -> Path:
    path = tmp_path / "rotating.pto"
    path.write_bytes(vector_kernel(BODY).source.data)
    return path


def test_clean_kernel_that_is_faster_than_its_plan_is_kept(rotating: Path, tmp_path: Path) -> None:
    result = syncopt("solve", rotating, "--args", "6,8,0", "-o", tmp_path / "out.pto", "--json")
    assert result.exit_code == 0
    found = document(result)
    assert found["cycles"] == found["baseline"]["cycles"] < found["slower_plan"]
    assert (found["speedup"], found["moved"], found["slower_on"]) == (1.0, [], [])
    assert found["window"]["lower_bound"] < found["window"]["makespan"]
    assert found["status"] == "feasible"
    assert (tmp_path / "out.pto").read_bytes() == rotating.read_bytes()


def test_summary_says_that_the_kernel_is_kept(rotating: Path) -> None:
    cycles = document(syncopt("solve", rotating, "--args", "6,8,0", "--json"))["slower_plan"]
    summary = syncopt("solve", rotating, "--args", "6,8,0").stdout
    assert f"The kernel is kept as written: it is clean, and the best plan takes {cycles:,}." in summary
    assert "SLOWER" not in summary


def test_kernel_with_a_race_is_not_kept(rotating: Path, tmp_path: Path) -> None:
    """Without the barrier two adds write %t3 with nothing between them: fast, and wrong."""
    text = rotating.read_text()
    assert text.count("pto.barrier <PIPE_V>\n") == 1
    rotating.write_text(text.replace("pto.barrier <PIPE_V>\n", ""))
    found = document(syncopt("solve", rotating, "--args", "6,8,0", "-o", tmp_path / "out.pto", "--json"))
    assert found["slower_plan"] is None
    assert found["cycles"] > found["baseline"]["cycles"]
    assert document(syncopt("check", tmp_path / "out.pto", "--args", "6,8,0", "--json"))["verdict"] == "clean"
