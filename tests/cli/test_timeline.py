"""Timelines of `simulate` and `solve`: files, what they leave out, and the picture in the terminal."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import GUARDED, HAND, STREAM, document, refusal, syncopt

SMALL = ("--args", "128,1280,3072", "--cores", "1")
"""Five tiles of six K iterations: of each loop some are left out of the window."""


def events(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text())["traceEvents"]


def processes(path: Path) -> list[str]:
    return [event["args"]["name"] for event in events(path) if event["name"] == "process_name"]


def end_of(path: Path, process: int) -> int:
    """The last cycle of a tile op, its completion included."""
    ops = [event for event in events(path) if event.get("cat") == "op" and event["pid"] == process]
    return max(event["args"].get("done", event["ts"] + event["dur"]) for event in ops)


def test_trace_of_simulate(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    result = syncopt("simulate", GUARDED, "--trace", path)
    assert result.exit_code == 0
    assert f"Written to {path}:" in result.stdout
    assert "- as written: the full run, 965 cycles: all 8 instructions shown" in result.stdout
    assert processes(path) == ["as written"]
    assert len([event for event in events(path) if event["ph"] == "X"]) == 8
    about = json.loads(path.read_text())["otherData"]
    assert about["time"] == "1 us on the time axis is 1 cycle"
    assert about["machine"] == "910b2, 1.8 GHz"
    assert about["arguments"] == "n=4096"


def test_document_names_the_trace_and_what_it_shows(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    found = document(syncopt("simulate", GUARDED, "--trace", path, "--json"))
    assert found["outputs"] == {"trace": str(path)}
    statement = "the full run, 965 cycles: all 8 instructions shown"
    assert found["timelines"] == {"trace": {"as written": statement}}


def test_trace_of_solve_has_the_kernel_and_its_plan(tmp_path: Path) -> None:
    """Without flags in the kernel, its order as written is drawn with flags added, which stand on no line of it."""
    path = tmp_path / "t.json"
    found = document(syncopt("solve", STREAM, "--args", "3", "--trace", path, "--timeline", "all", "--json"))
    assert found["outputs"] == {"trace": str(path)}
    assert list(found["timelines"]["trace"]) == ["as written with flags added", "plan"]
    assert processes(path) == ["as written with flags added", "plan"]
    assert end_of(path, 1) == found["baseline"]["cycles"]
    assert end_of(path, 2) == found["cycles"]
    lines = {event["args"].get("line") for event in events(path) if event["ph"] == "X" and event["pid"] == 1}
    assert lines == {None, 19, 20, 22, 24, 25, 27}


def test_window_says_what_it_leaves_out(tmp_path: Path) -> None:
    """Three of five tiles stay, and four of six K iterations, two of each parity."""
    path = tmp_path / "t.json"
    found = document(syncopt("simulate", HAND, *SMALL, "--trace", path, "--json"))
    statement = found["timelines"]["trace"]["as written"]
    left_out = "iterations 1-2 of 0-4 of the loop at line 54 and 2-3 of 0-5 of the loop at line 81 left out"
    assert statement.startswith(f"a window ({left_out}), ")
    assert statement.endswith(" instructions shown")
    labels = [event["args"]["labels"] for event in events(path) if event["name"] == "process_labels"]
    assert labels == [statement]
    assert end_of(path, 1) < found["cycles"]


def test_full_run_ends_with_the_cycles_of_the_replay(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    found = document(syncopt("simulate", HAND, *SMALL, "--trace", path, "--timeline", "all", "--json"))
    assert end_of(path, 1) == found["cycles"]


def test_part_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    result = syncopt("simulate", HAND, *SMALL, "--trace", path, "--timeline", "9000:9500")
    assert "instructions shown (cycles 9,000 to 9,500)" in result.stdout
    slices = [event for event in events(path) if event["ph"] == "X"]
    assert slices
    assert all(event["ts"] <= 9500 and event["ts"] + event["dur"] >= 9000 for event in slices)


def test_trace_for_mindstudio(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    assert syncopt("simulate", GUARDED, "--trace", path, "--trace-format", "mindstudio").exit_code == 0
    text = path.read_text()
    assert '"profilingType":"op"' in text.partition("[")[0]
    assert {event["pid"] for event in json.loads(text)["traceEvents"]} == {"core0.veccore0 as written"}


def test_core_of_a_cube_kernel_for_mindstudio(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    options = ("--args", "256,768,512", "--cores", "3", "--core", "2")
    assert syncopt("simulate", HAND, *options, "--trace", path, "--trace-format", "mindstudio").exit_code == 0
    assert {event["pid"] for event in events(path)} == {"core2.cubecore0 as written"}


def test_hang_is_drawn_up_to_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    result = syncopt("simulate", GUARDED, "--args", "0", "--trace", path)
    assert result.exit_code == 1
    assert "the run hangs" in result.stdout
    assert path.exists()


def test_picture_in_the_terminal() -> None:
    """100 columns for 965 cycles; hand-worked in tests/emit/timeline/test_chrome.py."""
    lines = syncopt("simulate", GUARDED, "-v").stdout.splitlines()
    at = lines.index("Timeline as written: the full run, 965 cycles: all 8 instructions shown")
    assert [line.split()[0] for line in lines[at + 1 : at + 5]] == ["S", "MTE2", "V", "MTE3"]
    row = lines[at + 2][8:]
    # 92 columns of 965 / 92 cycles: 2 to 282 are columns 0 to 26
    assert row.rstrip() == "#" * 27
    assert lines[at + 4][8:].count(".") == round(702 * 92 / 965)
    assert lines[at + 5].split() == ["0", "965", "cycles"]
    assert "Timeline" not in syncopt("simulate", GUARDED).stdout


def test_picture_of_solve_has_both_on_one_scale() -> None:
    text = syncopt("solve", STREAM, "--args", "6", "--machine-set", "queue_depth=2", "-v").stdout
    assert text.index("Timeline as written with flags added: ") < text.index("Timeline plan: ")
    assert text.count("# tile op   . wait for a flag") == 1


@pytest.mark.parametrize("part", ["", "window:all", "5:3", "-1:4", "1", "a:b"])
def test_no_part_of_a_run(part: str) -> None:
    message = refusal(syncopt("simulate", GUARDED, "--timeline", part)).splitlines()
    assert message == [
        f"error: --timeline {part!r} is no part of a run",
        "   help: window, all, or cycles such as 0:20000",
    ]


def test_existing_trace_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text("kept")
    message = refusal(syncopt("simulate", GUARDED, "--trace", path)).splitlines()
    assert message[0] == f"error: {path} exists already"
    assert path.read_text() == "kept"
    assert syncopt("simulate", GUARDED, "--trace", path, "--force").exit_code == 0
    assert processes(path) == ["as written"]


def test_trace_over_the_kernel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_bytes(GUARDED.read_bytes())
    message = refusal(syncopt("simulate", path, "--trace", path, "--force")).splitlines()
    assert message[0] == f"error: {path} is the kernel itself"
    assert path.read_bytes() == GUARDED.read_bytes()


def test_two_outputs_in_one_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "o"
    for pair in (("-o", "--trace"), ("--trace", "--report"), ("-o", "--report")):
        options = [part for option in pair for part in (option, path)]
        message = refusal(syncopt("solve", STREAM, *options)).splitlines()
        assert message[0] == f"error: {path} is the file of two outputs"
    assert not path.exists()


def test_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is full after a part of the trace."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("syncopt.cli._timeline.write_trace", full)
    message = refusal(syncopt("simulate", GUARDED, "--trace", tmp_path / "t.json"))
    assert message == f"error: cannot write {tmp_path / 't.json'}: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_plan_is_kept_where_the_trace_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("syncopt.cli._timeline.write_trace", full)
    for number, options in enumerate([[], ["--json"]]):
        plan = tmp_path / f"{number}.pto"
        result = syncopt("solve", STREAM, "--args", "2", "-o", plan, "--trace", tmp_path / "t.json", *options)
        assert result.exit_code == 2
        assert "No space left on device" in result.stderr
        assert "pto.set_flag" in plan.read_text()
