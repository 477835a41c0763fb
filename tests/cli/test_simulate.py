"""`simulate` and `machine`."""

import json
from pathlib import Path

import pytest

from tests.cli.running import GUARDED, HAND, STREAM, document, syncopt

KEYS = {"kernel", "machine", "arguments", "cycles", "busy", "stalls", "sync", "lower_bound", "bound_by"}
GEMM_ARGUMENTS = ("--args", "2176,8192,8192")


def test_document_has_the_keys_of_the_contract() -> None:
    result = syncopt("simulate", GUARDED, "--json")
    assert result.exit_code == 0
    found = document(result)
    assert found.keys() >= KEYS
    assert found["sync"] == {"sets": 2, "waits": 2, "barriers": 1, "ids": {"MTE2->V": 1, "V->MTE3": 1}}
    assert found["verdict"] == "clean"
    assert result.stderr == ""


def test_hand_synchronised_gemm_is_clean() -> None:
    result = syncopt("simulate", HAND, *GEMM_ARGUMENTS)
    assert result.exit_code == 0
    assert "set by pipe MTE2" in result.stdout
    assert "This execution shows no fault" in result.stdout
    assert "warning: 16 sets of an id that only timing keeps" in result.stdout


def test_kernel_without_flags_is_unsynchronised() -> None:
    result = syncopt("simulate", STREAM, "--args", "3")
    assert result.exit_code == 1
    assert "unsynchronised: no flag and no barrier orders the pipes" in result.stdout
    found = document(syncopt("simulate", STREAM, "--args", "3", "--json"))
    assert found["synchronised"] is False
    assert found["verdict"] == "race"


def test_fault_of_this_execution_is_shown() -> None:
    result = syncopt("simulate", GUARDED, "--set", "n=0")
    assert result.exit_code == 1
    assert "deadlock: the kernel hangs" in result.stdout
    assert "hangs: no set answers wait_flag MTE2->V id 0 (line 18)" in result.stdout


def test_execution_without_a_tile_op_has_no_bound(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_text(STREAM.read_text().replace("  return\n", "  pto.barrier <PIPE_ALL>\n  return\n"))
    result = syncopt("simulate", path, "--args", "0")
    assert result.exit_code == 0
    assert "0 cycles: no tile op is executed" in result.stdout
    assert "lower bound" not in result.stdout


def test_all_cores_give_the_slowest() -> None:
    result = syncopt("simulate", HAND, "--args", "256,768,512", "--core", "all", "--cores", "5", "--json")
    assert result.exit_code == 0
    found = document(result)
    per_core = [core["cycles"] for core in found["per_core"]]
    assert len(per_core) == 5
    assert found["cycles"] == max(per_core)
    assert found["core"] == per_core.index(max(per_core))
    one = document(syncopt("simulate", HAND, "--args", "256,768,512", "--core", "4", "--cores", "5", "--json"))
    assert one["cycles"] == per_core[4]


def test_machine_prints_every_figure_with_its_source() -> None:
    result = syncopt("machine", "910b2", "--machine-set", "flag.hop=9")
    assert result.exit_code == 0
    assert "gm_to_mat.bytes_per_cycle" in result.stdout
    found = json.loads(syncopt("machine", "910b2", "--machine-set", "flag.hop=9", "--json").stdout)
    assert found["machine"] == "910b2"
    by_key = {figure["key"]: figure for figure in found["figures"]}
    assert by_key["flag.hop"]["value"] == 9
    assert by_key["chip.cube_cores"]["value"] == 24
    assert all(figure.keys() >= {"key", "value", "unit", "source"} for figure in found["figures"])
    assert all(figure["source"] for figure in found["figures"])


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["solve", "--help"], ["machine", "--help"]])
def test_help_names_the_exit_statuses(arguments: list[str]) -> None:
    result = syncopt(*arguments)
    assert result.exit_code == 0
    assert "Exit status: 0 done and clean" in " ".join(result.stdout.split())


def test_version() -> None:
    result = syncopt("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("syncopt ")
