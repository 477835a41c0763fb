"""What docs/stalls.md says of traces."""

import json
from pathlib import Path

from tests.cli.running import syncopt
from tests.docs.reading import ROOT

KERNELS = ROOT / "docs" / "kernels"


def stalls(trace: Path) -> set[tuple[str, str]]:
    """Kind of the slice and cause of the stall, of all slices that have one."""
    slices = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
    return {
        (event["cat"], stall.partition(": ")[2])
        for event in slices
        for stall in event["args"].get("stall", "").split("; ")
        if stall
    }


def test_trace_names_the_full_queue_on_the_wait_before_the_load(tmp_path: Path) -> None:
    plan, trace = tmp_path / "plan.pto", tmp_path / "run.json"
    syncopt("solve", KERNELS / "polynomial.pto", "--args", "16", "--order", "fixed", "-o", plan)
    assert syncopt("simulate", plan, "--args", "16", "--trace", trace).exit_code == 0
    found = stalls(trace)
    assert ("wait", "dispatch (queue of V full)") in found
    assert ("op", "dispatch (queue of V full)") not in found


def test_trace_names_barriers_and_late_dispatch(tmp_path: Path) -> None:
    trace = tmp_path / "run.json"
    arguments = ("--func", "row_by_row", "--args", "8", "--trace", trace)
    assert syncopt("simulate", KERNELS / "rows.pto", *arguments).exit_code == 0
    assert {("op", "dispatch"), ("barrier", "barrier V")} <= stalls(trace)
