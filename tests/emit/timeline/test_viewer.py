"""Traces opened in a real browser, with a viewer page that reads, draws and checks them."""

import io
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from syncopt.emit.timeline import write_chrome
from tests.browser import Browser, browser, needs_chromium
from tests.cli.running import HAND, syncopt
from tests.emit.timeline.drawing import guarded_version

pytestmark = needs_chromium

VIEWER = Path(__file__).parent / "viewer.html"


@pytest.fixture(scope="module")
def window() -> Generator[Browser]:
    with browser(1000, 400) as made:
        yield made


def viewed(window: Browser, trace: Path) -> dict[str, Any]:
    """What the viewer says of a trace."""
    window.open(VIEWER, "document.readyState === 'complete'")
    window.choose_file("#file", trace)
    window.wait("document.getElementById('report').textContent")
    assert window.errors() == []
    return json.loads(window.run("return document.getElementById('report').textContent"))


def test_two_versions_side_by_side(window: Browser, tmp_path: Path) -> None:
    out = io.StringIO()
    write_chrome(out, [guarded_version("as written"), guarded_version("plan")], {})
    trace = tmp_path / "t.json"
    trace.write_text(out.getvalue())
    assert viewed(window, trace) == {
        "processes": ["as written", "plan"],
        "lanes": ["S: 1", "MTE2: 2", "V: 3", "MTE3: 2"] * 2,
        "slices": 16,
        "arrows": 4,
        "time": "1 us on the time axis is 1 cycle",
        "faults": [],
    }
    assert window.run("return document.querySelectorAll('.track i').length") == 16
    assert window.screenshot("body", tmp_path / "viewer.png").startswith(b"\x89PNG")


def test_solved_gemm(window: Browser, tmp_path: Path) -> None:
    """Five lanes per version; every set of the window has its wait."""
    trace = tmp_path / "t.json"
    options = ("--args", "128,768,1024", "--cores", "1", "--order", "fixed", "--trace", trace)
    assert syncopt("solve", HAND, *options).exit_code == 0
    found = viewed(window, trace)
    assert found["faults"] == []
    assert found["processes"] == ["as written", "plan"]
    assert [lane.split(":")[0] for lane in found["lanes"]] == ["S", "MTE2", "MTE1", "M", "FIX"] * 2
    events = json.loads(trace.read_text())["traceEvents"]
    assert found["arrows"] == len([event for event in events if event.get("cat") == "set"])


def test_viewer_finds_faults(window: Browser, tmp_path: Path) -> None:
    """A viewer that cannot say no would prove nothing: slices that overlap, arrows that go nowhere or back in time."""
    out = io.StringIO()
    write_chrome(out, [guarded_version()], {})
    document = json.loads(out.getvalue())
    for event in document["traceEvents"]:
        if event["name"] == "tload":
            event["dur"] += 5
        if event["ph"] == "f" and event["id"] == 1:
            event["ts"] = 0
        if event["ph"] == "f" and event["id"] == 2:
            event["id"] = 3
    trace = tmp_path / "t.json"
    trace.write_text(json.dumps(document))
    assert viewed(window, trace)["faults"] == [
        "slices overlap on 12 at 282",
        "flow 1 points back in time",
        "flow 2 does not end once",
    ]
