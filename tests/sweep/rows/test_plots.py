"""What pictures show."""

import importlib
import re
from dataclasses import replace

import pytest

from syncopt.api import InputError
from syncopt.sweep.rows.plots import Line, Panel, Point, panels, picture
from syncopt.sweep.rows.row import Figures, OnMachine, Row
from tests.sweep.made import FIGURES, failed, row


def with_figures(of: Row, figures: Figures) -> Row:
    return replace(of, figures=figures)


def plan(name: str, cycles: int, baseline: int, m: int, kind: str = "as-written") -> Row:
    """A kernel whose baseline takes 10 % longer on another machine, its plan the same."""
    there = (OnMachine("default", cycles, baseline, True, 1.0), OnMachine("x", cycles, baseline * 11 // 10, True, 1.1))
    figures = replace(FIGURES, cycles=cycles, baseline=baseline, baseline_kind=kind, sensitivity=there)
    return with_figures(row(name, M=m, N=8), figures)


ROWS = (
    plan("hand_gemm", 1000, 1500, 256),
    plan("hand_gemm", 500, 600, 128),
    plan("plain", 1200, 1200, 256, "fixed-order"),
    plan("auto_ptoas", 1000, 2000, 256),
    failed("plain", M=512, N=8),
)


def lines(panel: Panel) -> dict[str, list[tuple[float, float, float, float]]]:
    return {line.name: [(p.x, p.value, p.low, p.high) for p in line.points] for line in panel.lines}


def test_ratios_to_what_others_wrote() -> None:
    """Of M = 256 the best plan takes 1000 cycles; kernels without flags of their own are no reference."""
    ratios, _, _ = panels(ROWS)
    assert ratios.x_label == "M"
    assert lines(ratios) == {
        "hand-written": [(128, 1.2, 1.2, 1.32), (256, 1.5, 1.5, 1.65)],
        "ptoas": [(256, 2.0, 2.0, 2.2)],
    }


def test_which_kernel_is_which_can_be_told() -> None:
    ratios, _, _ = panels(ROWS, {"mine": "auto*"})
    assert list(lines(ratios)) == ["mine"]


def test_shares_of_the_best_plan() -> None:
    _, shares, _ = panels(ROWS)
    found = {name: [(x, value) for x, value, _, _ in points] for name, points in lines(shares).items()}
    assert found["hand_gemm: plan"] == [(128, 100), (256, 100)]
    assert found["hand_gemm: baseline"] == [(128, pytest.approx(500 / 6)), (256, pytest.approx(200 / 3))]
    assert found["plain: plan"] == [(256, pytest.approx(250 / 3))]


def test_profile_counts_searches_that_were_done() -> None:
    done = [
        with_figures(r, replace(r.figures, search_seconds=s))
        for r, s in zip(ROWS, (3.0, 1.0), strict=False)
        if r.figures
    ]
    remembered = with_figures(ROWS[2], replace(FIGURES, remembered=True, search_seconds=0.1))
    profile = panels([*done, remembered])[-1]
    assert [(point.x, point.value) for point in profile.lines[0].points] == [(0.0, 0), (1.0, 1), (3.0, 2)]


def test_lines_are_told_apart_by_other_arguments() -> None:
    rows = [row("hand", M=m, N=n, K=n) for m in (1, 2, 3) for n in (8, 9)]
    assert list(lines(panels(rows)[0])) == ["hand-written, N=K=8", "hand-written, N=K=9"]


@pytest.mark.parametrize(("kind", "begin"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_picture_is_the_same_from_run_to_run(kind: str, begin: bytes) -> None:
    drawn = picture(panels(ROWS), kind)
    assert drawn.startswith(begin)
    assert picture(panels(ROWS), kind) == drawn
    if kind == "svg":
        assert b"hand-written" in drawn


def drawn(panel: Panel) -> str:
    return picture([panel], "svg").decode()


def test_legend_stands_below_what_is_drawn() -> None:
    """Its entries are further down than the label of the axis, the lowest text of a diagram."""
    ratios, shares, _ = panels(ROWS)
    for panel in (ratios, shares):
        text = drawn(panel)
        assert all(height(text, line.name) > height(text, panel.x_label) for line in panel.lines)


def height(text: str, what: str) -> float:
    """Where a text of a picture stands, from above."""
    found = re.search(rf'<text[^>]* y="([0-9.]+)"[^>]*>{re.escape(what)}</text>', text)
    assert found is not None, what
    return float(found[1])


def test_too_many_lines_are_not_named() -> None:
    some = panels([row(f"k{n}", M=128) for n in range(31)])[-2]
    assert len(some.lines) == 62
    assert "(62 lines, too many to name)" in drawn(some)
    assert "k30: plan" not in drawn(some)


def test_scales_begin_where_lengths_are_compared_from() -> None:
    """At nothing; searches are counted in whole numbers."""
    _, shares, profile = panels(ROWS)
    assert ">0</text>" in drawn(shares)
    assert ">0</text>" in drawn(profile)
    assert ">0.5</text>" not in drawn(replace(profile, x_label="s", lines=(Line("l", [Point("", 9, 1, 1, 1)]),)))


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="there is nothing to draw"):
        picture(panels([failed(M=1)]), "svg")
    with pytest.raises(InputError, match="pictures are not written as 'bmp'"):
        picture(panels(ROWS), "bmp")


def test_pictures_without_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match="matplotlib, which is not installed") as refused:
        picture(panels(ROWS), "svg")
    assert refused.value.help == "pip install 'syncopt[plots]'"
