"""`solve`: its summary, its document, its files and its exit status."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import STREAM, document, refusal, syncopt

KEYS = {
    "kernel",
    "function",
    "machine",
    "arguments",
    "status",
    "proof",
    "window",
    "cycles",
    "lower_bound",
    "gap",
    "bound_by",
    "baseline",
    "speedup",
    "sensitivity",
    "also",
    "busy",
    "stalls",
    "sync",
    "moved",
    "check",
    "seconds",
    "outputs",
}
INNER_KEYS = {
    "proof": {"scope", "model_bound"},
    "window": {"ops", "makespan", "lower_bound", "gap"},
    "baseline": {"cycles", "kind", "valid"},
    "sync": {"sets", "waits", "barriers", "ids"},
    "check": {"verdict", "executions", "assumptions"},
    "seconds": {"total", "solve"},
}
ROW_KEYS = {
    "sensitivity": {"machine", "cycles", "baseline", "valid"},
    "also": {"arguments", "cycles", "baseline"},
    "moved": {"op", "line", "from", "to"},
}
SHALLOW = ("--machine-set", "queue_depth=2")
"""Queues that stop dispatch, so that an early load pays."""

MACHINES = ["default", "depth 16", "depth 40", "60 B/cycle", "110 B/cycle", "75 B/cycle, depth 40"]


def edited(tmp_path: Path, old: str, new: str) -> Path:
    text = STREAM.read_text()
    assert old in text
    path = tmp_path / "edited.pto"
    path.write_text(text.replace(old, new, 1))
    return path


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_document_has_the_keys_of_the_contract() -> None:
    result = syncopt("solve", STREAM, "--args", "6", *SHALLOW, "--also-args", "3", "--json")
    assert result.exit_code == 0
    found = document(result)
    assert found.keys() >= KEYS
    for key, inner in INNER_KEYS.items():
        assert found[key].keys() >= inner, key
    for key, inner in ROW_KEYS.items():
        assert found[key], key
        assert all(row.keys() >= inner for row in found[key]), key
    assert found["arguments"] == {"n": 6}
    assert found["status"] == "optimal"
    assert found["gap"] == pytest.approx((found["cycles"] - found["lower_bound"]) / found["lower_bound"])
    assert found["speedup"] == found["baseline"]["cycles"] / found["cycles"]
    assert [row["machine"] for row in found["sensitivity"]] == MACHINES
    assert found["also"][0]["arguments"] == {"n": 3}
    assert found["check"]["verdict"] == "clean"
    assert set(found["busy"]) == {"MTE2", "V", "MTE3"}
    assert all(0 < share <= 1 for share in found["busy"].values())
    assert found["outputs"] == {}


def test_move_names_lines_of_input_and_output(tmp_path: Path) -> None:
    found = document(syncopt("solve", STREAM, "--json", "--args", "6", *SHALLOW, "-o", tmp_path / "o.pto"))
    lines: list[str] = STREAM.read_text().splitlines()
    written: list[str] = (tmp_path / "o.pto").read_text().splitlines()
    [move] = found["moved"]
    assert (move["op"], move["line"], move["from"], move["to"]) == ("pto.tload", 24, 3, 1)
    assert written[int(move["line_in_output"]) - 1].strip() == lines[23].strip()


def without_seconds(result: Any) -> dict[str, Any]:
    found = document(result)
    del found["seconds"]
    return found


def test_two_runs_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    outputs: list[bytes] = []
    documents: list[dict[str, Any]] = []
    for _ in range(2):
        result = syncopt("solve", STREAM, "--args", "6", "--json", "-o", tmp_path / "o.pto", "--force")
        documents.append(without_seconds(result))
        outputs.append((tmp_path / "o.pto").read_bytes())
    assert documents[0] == documents[1]
    assert outputs[0] == outputs[1]


def test_written_kernel_is_clean_and_takes_the_claimed_cycles(tmp_path: Path) -> None:
    output = tmp_path / "o.pto"
    found = document(syncopt("solve", STREAM, "--args", "6", "--json", "-o", output))
    assert found["outputs"] == {"pto": str(output)}
    assert document(syncopt("check", output, "--json"))["verdict"] == "clean"
    replay = syncopt("simulate", output, "--args", "6", "--json")
    assert replay.exit_code == 0
    assert document(replay)["cycles"] == found["cycles"]
    again = document(syncopt("solve", output, "--args", "6", "--json"))
    assert again["cycles"] == found["cycles"]
    assert again["baseline"] == {"cycles": found["cycles"], "kind": "as-written", "valid": True, "errors": []}


def test_summary_says_what_is_gained_and_how_sure_it_is() -> None:
    result = syncopt("solve", STREAM, "--args", "6", "--order", "fixed")
    assert result.exit_code == 0
    assert "as fast as its order as written with flags added" in result.stdout
    assert "above the lower bound of" in result.stdout
    assert "Optimal: the order as written" in result.stdout
    assert "No op moved" in result.stdout
    assert "depends on figures that are not published" in result.stdout
    assert all(machine in result.stdout for machine in MACHINES)
    assert "clean: no race, no deadlock" in result.stdout
    assert "different pointer arguments do not alias" in result.stdout
    assert "Nothing is written" in result.stdout
    assert "\x1b" not in result.output


def test_open_argument_is_printed() -> None:
    path = STREAM
    assert "note: n = 4096 (not given)" in syncopt("check", path).stdout
    assert document(syncopt("check", path, "--json"))["notes"] == ["n = 4096 (not given)"]


def test_progress_goes_to_stderr() -> None:
    result = syncopt("solve", STREAM, "--args", "6", "--json")
    assert "best 2,682, bound 2,682, gap 0.00 %" in result.stderr
    assert result.stdout.startswith("{")
    assert result.stdout.endswith("}\n")


def test_wrong_baseline_is_reported_and_solved_all_the_same(tmp_path: Path) -> None:
    """Only a final barrier: every hazard is open, and the plan is slower than what does not wait."""
    path = edited(tmp_path, "    }\n  }", "    }\n    pto.barrier <PIPE_ALL>\n  }")
    found = document(syncopt("solve", path, "--args", "4", "--also-args", "2", "--json"))
    assert found["baseline"]["kind"] == "as-written"
    assert found["baseline"]["valid"] is False
    assert found["baseline"]["errors"][0]["kind"] == "race"
    assert found["check"]["verdict"] == "clean"
    assert found["slower_on"] == [*MACHINES, "n=2"]
    assert all(row["faults"] == ["baseline has a race"] for row in [*found["sensitivity"], *found["also"]])
    text = syncopt("solve", path, "--args", "4").stdout
    assert "SLOWER: 0.738 times as fast as the kernel as written (2,506)" in text
    assert "The baseline is not valid: WAR: pto.tload (line 19)" in text
    assert "The plan is SLOWER than the baseline with default (by 888 cycles, 35.43 %)" in text


def test_hanging_baseline_compares_with_nothing(tmp_path: Path) -> None:
    path = edited(tmp_path, "      pto.tadd", f"      {WAIT}\n      pto.tadd")
    result = syncopt("solve", path, "--args", "4", "--json", "--require-speedup", "1")
    assert result.exit_code == 1
    assert "the plan is not comparable, --require-speedup asks for 1.0" in result.stderr
    found = document(result)
    assert found["speedup"] is None
    assert found["baseline"]["valid"] is False
    assert all(row["speedup"] is None and not row["valid"] for row in found["sensitivity"])
    assert "nothing to compare with: the kernel as written hangs" in syncopt("solve", path, "--args", "4").stdout


WAIT = "pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"


def test_no_work_is_refused() -> None:
    """A plan of nothing would be optimal: the arguments or the core are not what the user meant."""
    result = syncopt("solve", STREAM, "--args", "0")
    assert result.exit_code == 2
    assert "executes no tile op: there is nothing to optimise" in result.stderr
    assert result.stdout == ""


def gathers_if_many(tmp_path: Path) -> Path:
    """The first stream gathers instead of adding if n > 64; a gather by indices has no cost."""
    tile = "!pto.tile_buf<vec, 64x64xf32>"
    add = f"pto.tadd ins(%a, %a : {tile}, {tile}) outs(%b : {tile})"
    gather = f"pto.tgather ins(%a, %a, %a : {tile}, {tile}, {tile}) outs(%b : {tile})"
    many = "%many = arith.cmpi sgt, %n, %c64 : index"
    return edited(tmp_path, add, f"{many}\n      scf.if %many {{\n{gather}\n      }} else {{\n{add}\n      }}")


def test_op_without_a_cost_that_is_not_executed_does_not_matter(tmp_path: Path) -> None:
    """Six rounds never gather: the plan takes what it takes without the gather, and orders the gather all the same."""
    path, output = gathers_if_many(tmp_path), tmp_path / "o.pto"
    known, found = (
        document(syncopt("solve", kernel, "--args", "6", *SHALLOW, "--json", *options))
        for kernel, options in ((STREAM, ()), (path, ("-o", output)))
    )
    for key in ("status", "cycles", "lower_bound", "baseline", "window"):
        assert found[key] == known[key]
    assert found["check"]["verdict"] == "clean"
    assert document(syncopt("check", output, "--json"))["verdict"] == "clean"
    assert document(syncopt("simulate", output, "--args", "6", *SHALLOW, "--json"))["cycles"] == known["cycles"]


@pytest.mark.parametrize(
    "command",
    [("solve", "--args", "65"), ("solve", "--args", "6", "--also-args", "65"), ("simulate", "--args", "65")],
)
def test_op_without_a_cost_that_is_executed_is_named(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = gathers_if_many(tmp_path)
    text = refusal(syncopt(command[0], path, *command[1:]))
    assert text.splitlines()[0] == f"{path}:22:1: error: pto.tgather (vec, vec, vec -> vec) has no published cost"


@pytest.mark.parametrize(("required", "status"), [("1.0", 0), ("1.5", 1)])
def test_required_speedup(required: str, status: int) -> None:
    result = syncopt("solve", STREAM, "--args", "6", "--require-speedup", required)
    assert result.exit_code == status
    assert ("--require-speedup asks for 1.5" in result.stderr) is bool(status)


def test_cut_result_says_so() -> None:
    """No deterministic time: the plan is the best of those that were there before the search."""
    result = syncopt("solve", STREAM, "--args", "6", "--work", "0")
    assert result.exit_code == 0
    assert "Not proven optimal (budget cut after" in result.stdout
    found = document(syncopt("solve", STREAM, "--args", "6", "--work", "0", "--json"))
    assert found["status"] == "feasible"
    assert found["window"]["gap"] > 0


def test_machine_setting_is_named() -> None:
    options = ("--args", "6", "--machine", "910b4", "--machine-set", "flag.hop=0")
    found = document(syncopt("solve", STREAM, *options, "--json"))
    assert (found["machine"], found["machine_set"]) == ("910b4", {"flag.hop": 0})
    assert "910b4 with flag.hop=0" in syncopt("solve", STREAM, *options).stdout


def test_existing_output_needs_force(tmp_path: Path) -> None:
    output = tmp_path / "o.pto"
    output.write_text("old")
    output.chmod(0o640)
    assert syncopt("solve", STREAM, "--args", "6", "-o", output).exit_code == 2
    assert output.read_text() == "old"
    assert syncopt("solve", STREAM, "--args", "6", "-o", output, "--force").exit_code == 0
    assert "pto.set_flag" in output.read_text()
    assert output.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["o.pto"]


@pytest.mark.parametrize("names_output", [False, True])
def test_in_place(tmp_path: Path, names_output: bool) -> None:
    path = tmp_path / "k.pto"
    path.write_bytes(STREAM.read_bytes())
    output = ["-o", str(path)] if names_output else []
    result = syncopt("solve", path, "--args", "6", "--in-place", *output)
    assert result.exit_code == 0
    assert f"Written to {path}." in result.stdout
    assert document(syncopt("check", path, "--json"))["verdict"] == "clean"
    assert names(tmp_path) == ["k.pto"]


def test_in_place_writes_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "k.pto", tmp_path / "link.pto"
    path.write_bytes(STREAM.read_bytes())
    link.symlink_to(path)
    assert syncopt("solve", link, "--args", "6", "--in-place").exit_code == 0
    assert link.is_symlink()
    assert "pto.set_flag" in path.read_text()


def test_diff_leads_from_input_to_output(tmp_path: Path) -> None:
    output = tmp_path / "o.pto"
    result = syncopt("solve", STREAM, "--args", "6", "-o", output, "--diff")
    at = result.stdout.index(f"--- {STREAM}\n+++ {output}\n")
    body = result.stdout[at:].splitlines()[2:]
    removed = [line[1:] for line in body if line.startswith("-")]
    added = [line[1:] for line in body if line.startswith("+")]
    before, after = STREAM.read_text().splitlines(), output.read_text().splitlines()
    assert len(before) - len(removed) + len(added) == len(after)
    assert set(removed) <= set(before)
    assert set(added) <= set(after)
    in_document = document(syncopt("solve", STREAM, "--args", "6", "--diff", "--json"))["diff"]
    assert in_document.splitlines()[2:] == body


def test_files_are_there_though_nobody_reads_the_summary(tmp_path: Path) -> None:
    """As with `| head -1`: what was found is not lost because the reader has gone."""
    plan, trace = tmp_path / "plan.pto", tmp_path / "plan.json"
    command = [sys.executable, "-m", "syncopt", "solve", str(STREAM), "--args", "3"]
    with subprocess.Popen(
        [*command, "-o", str(plan), "--trace", str(trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        messages = process.stderr.read()
        process.wait(60)
    assert "Traceback" not in messages
    assert plan.stat().st_size
    assert trace.stat().st_size
