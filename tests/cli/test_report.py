"""`solve --report`."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import GUARDED, HAND, STREAM, document, refusal, syncopt
from tests.emit.report.pages import Page, parsed

SHALLOW = ("--args", "6", "--machine-set", "queue_depth=2")
"""Queues that stop dispatch, so that an early load pays and an op moves."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("report") / "r.html"
    result = syncopt("solve", STREAM, *SHALLOW, "--report", path)
    assert result.exit_code == 0
    assert f"Written to {path}:" in result.stdout
    return parsed(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return document(syncopt("solve", STREAM, *SHALLOW, "--json"))


def test_verdict_has_its_gain_with_its_range(report: Page, found: dict[str, Any]) -> None:
    """No gain stands without what it is on the other machines."""
    assert (
        "6,243 cycles, 1.418 times as fast as its order as written with flags added (8,853 cycles; 1.000 to 1.418 by "
        "other readings of the machine's figures); 34.58 % above the lower bound of 4,639, set by the hazards between "
        "tiles (buffers); proven optimal for its window."
    ) in report.text
    factors = [row["speedup"] for row in found["sensitivity"]]
    assert [f"{factor:.3f}" for factor in (min(factors), max(factors))] == ["1.000", "1.418"]


def test_range_of_one_figure_is_not_a_range(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    assert syncopt("solve", GUARDED, "--args", "1", "--report", path).exit_code == 0
    text = parsed(path.read_text(encoding="utf-8")).text
    assert "cycles; the same by other readings of the machine's figures); " in text


def test_sensitivity_machine_figures_moves_and_diff(report: Page) -> None:
    for text in (
        "default",
        "75 B/cycle, depth 40",
        "flag.hop 8 cycles",
        "pto.tload 24",
        "@@ -",
        "different pointer arguments do not alias",
        "queue MTE2",
    ):
        assert text in report.text, text


def test_busy_shares_are_those_of_the_full_run(report: Page, found: dict[str, Any]) -> None:
    plan = report.charts["busy"]["data"][1]
    shares: list[float] = [100 * found["busy"][pipe] for pipe in plan["x"]]
    assert plan["y"] == pytest.approx(shares)


def test_two_reports_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert syncopt("solve", STREAM, "--args", "2", "--report", tmp_path / name).exit_code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_document_names_the_report(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    found = document(syncopt("solve", STREAM, "--args", "2", "--report", path, "--json"))
    assert found["outputs"] == {"report": str(path)}
    assert list(found["timelines"]["report"]) == ["as written with flags added", "plan"]


def test_kernel_text_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    """A comment next to a changed line, and the name of the file."""
    kernel = tmp_path / "<b>k.pto"
    text = STREAM.read_text().replace(
        "%a = pto.alloc_tile", "// </pre></script><script>alert(1)</script>\n    %a = pto.alloc_tile", 1
    )
    kernel.write_text(text)
    path = tmp_path / "r.html"
    assert syncopt("solve", kernel, "--args", "2", "--report", path).exit_code == 0
    page = parsed(path.read_text(encoding="utf-8"))
    assert "// </pre></script><script>alert(1)</script>" in page.text
    assert "stream in <b>k.pto" in page.text
    assert len(page.scripts) == 3
    assert "alert(1)" not in "".join(page.scripts)


def test_baseline_that_is_wrong_is_reported(tmp_path: Path) -> None:
    """Only a final barrier: every hazard is open, and the plan is slower than what does not wait."""
    kernel = tmp_path / "k.pto"
    kernel.write_text(STREAM.read_text().replace("    }\n  }", "    }\n    pto.barrier <PIPE_ALL>\n  }", 1))
    path = tmp_path / "r.html"
    assert syncopt("solve", kernel, "--args", "4", "--report", path).exit_code == 0
    text = parsed(path.read_text(encoding="utf-8")).text
    assert "SLOWER: 0.738 times as fast as the kernel as written (2,506 cycles; " in text
    assert "the kernel as written is not valid: WAR: pto.tload (line 19)" in text
    assert "The plan is SLOWER than the kernel as written with default (by 888 cycles, 35.43 %); depth 16 (by" in text
    assert "slower by 888 cycles, 35.43 %, invalid: baseline has a race" in text


def test_baseline_that_hangs_has_no_gain(tmp_path: Path) -> None:
    kernel = tmp_path / "k.pto"
    wait = "      pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]\n"
    kernel.write_text(STREAM.read_text().replace("      pto.tadd", wait + "      pto.tadd", 1))
    path = tmp_path / "r.html"
    assert syncopt("solve", kernel, "--args", "4", "--report", path).exit_code == 0
    text = parsed(path.read_text(encoding="utf-8")).text
    assert "nothing to compare with, since the kernel as written hangs" in text
    assert "the run hangs" in text


def test_many_slices_are_cut_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncopt.api._report.MOST_SLICES", 5)
    path = tmp_path / "r.html"
    assert syncopt("solve", STREAM, "--args", "3", "--report", path).exit_code == 0
    text = parsed(path.read_text(encoding="utf-8")).text
    assert ": 5 of " in text
    assert "instructions shown (the first in program order)" in text


def test_part_of_the_run(tmp_path: Path) -> None:
    """The charts begin and end with the part; what was written before it is still counted.

    At 2000 the third round's loads of a (1438) and c (1719) are still read and its first sum (1990) is being written;
    the second sum of the round before was stored by 1970: three tiles of 16384 bytes.
    """
    path = tmp_path / "r.html"
    options = ("--args", "6", "--timeline", "2000:3000", "--report", path)
    assert syncopt("solve", STREAM, *options).exit_code == 0
    page = parsed(path.read_text(encoding="utf-8"))
    assert "instructions shown (cycles 2,000 to 3,000)" in page.text
    for chart in ("timelines", "buffers", "ids"):
        assert page.charts[chart]["layout"]["xaxis"]["range"] == [2000, 3000]
    plan = page.charts["buffers"]["data"][1]
    assert (plan["x"][0], plan["y"][0]) == (2000, 49152)


def test_missing_library_is_found_before_the_solve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A budget that is too short is not complained about."""
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    result = syncopt("solve", HAND, "--budget", "0s", "--report", tmp_path / "r.html")
    assert refusal(result).splitlines() == [
        "error: a report needs the package plotly, which is not installed",
        "   help: pip install 'syncopt[report]'",
    ]
    assert list(tmp_path.iterdir()) == []
