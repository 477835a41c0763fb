"""`solve` of kernels whose own flags do what no static plan does: event ids that rotate with the buffers."""

from pathlib import Path

import pytest

from tests.check.kernels import vector_kernel
from tests.cli.running import document, syncopt

BODY = """
%pair = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 64x64xf32, count=2>
set V MTE2 0
set V MTE2 1
scf.for %i = %c0 to %n step %c1 {
%s = arith.remsi %i, %c2 : index
%t = pto.multi_tile_get %pair[%s] : !pto.multi_tile_buf<vec, 64x64xf32, count=2> -> !pto.tile_buf<vec, 64x64xf32>
wait V MTE2 %s
load t
set MTE2 V %s
wait MTE2 V %s
barrier V
add t3 t
set V MTE2 %s
}
wait V MTE2 0
wait V MTE2 1
barrier ALL
"""
"""One buffer is loaded while the other one is added: a flag of one id would make every load wait for the last add."""


@pytest.fixture(name="rotating")
def _rotating(tmp_path: Path) -> Path:
    path = tmp_path / "rotating.pto"
    path.write_bytes(vector_kernel(BODY).source.data)
    return path


def test_clean_kernel_that_is_faster_than_its_plan_is_kept(rotating: Path, tmp_path: Path) -> None:
    result = syncopt("solve", rotating, "--args", "8,8,0", "-o", tmp_path / "out.pto", "--json")
    assert result.exit_code == 0
    found = document(result)
    assert found["cycles"] == found["baseline"]["cycles"] < found["slower_plan"]
    assert (found["speedup"], found["moved"], found["slower_on"]) == (1.0, [], [])
    assert found["window"]["lower_bound"] < found["window"]["makespan"]
    assert found["status"] == "feasible"
    assert (tmp_path / "out.pto").read_bytes() == rotating.read_bytes()


def test_summary_says_that_the_kernel_is_kept(rotating: Path) -> None:
    cycles = document(syncopt("solve", rotating, "--args", "8,8,0", "--json"))["slower_plan"]
    summary = syncopt("solve", rotating, "--args", "8,8,0").stdout
    assert f"The kernel is kept as written: it is clean, and the best plan takes {cycles:,}." in summary
    assert "SLOWER" not in summary


def test_kernel_with_a_race_is_not_kept(rotating: Path, tmp_path: Path) -> None:
    """Without the barrier two adds write %t3 with nothing between them: fast, and wrong."""
    text = rotating.read_text()
    assert text.count("pto.barrier <PIPE_V>\n") == 1
    rotating.write_text(text.replace("pto.barrier <PIPE_V>\n", ""))
    found = document(syncopt("solve", rotating, "--args", "8,8,0", "-o", tmp_path / "out.pto", "--json"))
    assert found["slower_plan"] is None
    assert found["cycles"] > found["baseline"]["cycles"]
    assert document(syncopt("check", tmp_path / "out.pto", "--args", "8,8,0", "--json"))["verdict"] == "clean"
