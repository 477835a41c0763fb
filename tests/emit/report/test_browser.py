"""A report in a browser without network: drawn, in both colour schemes, with mouse and keys."""

from collections.abc import Generator
from pathlib import Path

import pytest

from syncopt.emit.report import Table, chart_library, render_page
from tests.browser import Browser, browser, needs_chromium
from tests.emit.report.pages import content

pytestmark = needs_chromium

READY = "document.body.dataset.slices"
LEFT, UP, RIGHT, DOWN, HOME = "\ue012", "\ue013", "\ue014", "\ue015", "\ue011"
CONTROL = "\ue009"
SCHEMES = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 29)"}
LOAD = (
    "[...document.querySelectorAll('#timelines .barlayer .trace')]"
    ".find((trace) => trace.__data__[0].trace.legendgroup === 'tload').querySelector('path')"
)
"""The bar of the load as written."""
DETAILS = "return document.getElementById('details').textContent"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_page(content(), chart_library()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def window() -> Generator[Browser]:
    with browser(1280, 1400) as made:
        made.offline()
        yield made


@pytest.fixture
def opened(window: Browser, page: Path) -> Browser:
    """The report, freshly opened."""
    window.open(page, READY)
    return window


def span(opened: Browser, chart: str = "timelines") -> list[float]:
    """First and last cycle that a chart shows."""
    return opened.run(f"return document.getElementById('{chart}').layout.xaxis.range")


def prefer(opened: Browser, scheme: str) -> None:
    """Prefer a colour scheme, and wait until the charts, which follow the page, are drawn in it."""
    opened.prefer(scheme)
    opened.wait(f"getComputedStyle(document.body).backgroundColor === '{SCHEMES[scheme]}'")
    opened.wait(
        "[...document.querySelectorAll('.chart text')]"
        ".every((node) => getComputedStyle(node).fill === getComputedStyle(document.body).color)"
    )


def test_charts_are_drawn_without_an_error(opened: Browser) -> None:
    """Eight slices and two arrows per version, the lanes from top to bottom."""
    assert opened.run("return document.body.dataset.charts") == "timelines busy buffers ids"
    assert opened.run("return document.body.dataset.slices") == "16"
    assert opened.run("return document.body.dataset.arrows") == "4"
    assert opened.run("return document.querySelectorAll('#timelines .bars .point path').length") == 16
    lanes = opened.run(
        "return [...document.querySelectorAll('#timelines .yaxislayer-above .ytick text')]"
        ".sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map((node) => node.textContent)"
    )
    assert lanes == ["S", "MTE2", "V", "MTE3"]
    assert opened.run("return document.querySelectorAll('#buffers .scatterlayer .lines path').length") == 2
    assert opened.errors() == []


def test_slice_is_as_long_as_its_cycles(opened: Browser) -> None:
    """The load takes 280 of the 970 cycles that are shown."""
    width = (
        "const box = (node) => node.getBoundingClientRect().width;"
        f"return box({LOAD}) / box(document.querySelector('#timelines .xy .gridlayer, #timelines .bglayer rect'))"
    )
    assert opened.run(width) == pytest.approx(280 / 970, abs=0.01)


def test_waits_and_barriers_are_thinner_than_ops(opened: Browser) -> None:
    """They are told from work in any colour: an op takes 0.8 of its lane, a wait or a barrier 0.34."""
    bars: list[tuple[str, float]] = opened.run(
        "return [...document.querySelectorAll('#timelines .barlayer .trace')].flatMap((trace) =>"
        "[...trace.querySelectorAll('.point path')].map((path) =>"
        "[trace.__data__[0].trace.legendgroup, path.getBoundingClientRect().height]))"
    )
    assert {group for group, _ in bars} == {"tload", "tadd", "tstore", "set", "wait", "barrier"}
    thin = [height for group, height in bars if group in ("wait", "barrier")]
    work = [height for group, height in bars if group not in ("wait", "barrier")]
    assert 0 < max(thin) < min(work) / 2


def test_ops_lie_on_top_and_come_first_in_the_legend(opened: Browser) -> None:
    groups: list[str] = opened.run(
        "return [...document.querySelectorAll('#timelines .subplot.xy .barlayer .trace')]"
        ".map((trace) => trace.__data__[0].trace.legendgroup)"
    )
    assert groups == ["wait", "barrier", "tload", "tadd", "tstore", "set"]
    names: list[str] = opened.run(
        "return [...document.querySelectorAll('#timelines .legendtext')].map((node) => node.textContent)"
    )
    assert names == ["tload", "tadd", "tstore", "wait for a flag", "barrier", "set to wait"]


def test_nothing_is_cut_off_in_a_narrow_window(tmp_path: Path) -> None:
    """The longest rows of the table of machines, at half the width of a small screen."""
    path = tmp_path / "narrow.html"
    columns = ("machine or arguments", ">plan", ">compared with", ">times as fast", "remarks")
    row = ("75 B/cycle, depth 40", "1,934,990", "1,934,988", "1.000", "slower by 2 cycles, 0.00 %, baseline races")
    path.write_text(render_page(content(sensitivity=Table(columns, (row,))), chart_library()), encoding="utf-8")
    with browser(500, 900) as window:
        window.open(path, READY)
        assert window.run("return document.documentElement.scrollWidth <= window.innerWidth")
        assert (
            window.run("const wide = document.querySelector('.wide'); return wide.scrollWidth - wide.clientWidth") == 0
        )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colour_schemes(opened: Browser, tmp_path: Path, scheme: str) -> None:
    """Text and its ground differ enough to be read (WCAG's ratio for small text), in the charts too."""
    prefer(opened, scheme)
    ratio = (
        "const light = (colour) => { const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map((v) => v / 255)"
        ".map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);"
        "return 0.2126 * r + 0.7152 * g + 0.0722 * b; };"
        "const style = (node) => getComputedStyle(node);"
        "const ground = light(style(document.body).backgroundColor);"
        "return [...document.querySelectorAll(arguments[0])].map((node) => {"
        "const text = light(style(node)[arguments[1]]);"
        "return (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05); })"
    )
    for selector, kind in (("main p, main td, main dt", "color"), (".chart text", "fill")):
        ratios: list[float] = opened.run(ratio, selector, kind)
        assert ratios
        assert min(ratios) >= 4.5, selector
    for chart in ("timelines", "busy", "buffers", "ids"):
        opened.screenshot(f"#{chart}", tmp_path / f"{chart}.png")


def test_screenshots_of_the_schemes_differ(opened: Browser, tmp_path: Path) -> None:
    taken: list[bytes] = []
    for scheme in SCHEMES:
        prefer(opened, scheme)
        taken.append(opened.screenshot("#timelines", tmp_path / f"{scheme}.png"))
    assert all(png.startswith(b"\x89PNG") and len(png) > 5000 for png in taken)
    assert taken[0] != taken[1]


def test_outline_of_a_chosen_slice_follows_the_scheme(opened: Browser) -> None:
    prefer(opened, "light")
    opened.type("#timelines", "n")
    shown = span(opened)
    for scheme in ("dark", "light"):
        prefer(opened, scheme)
        outline = "getComputedStyle(document.querySelector('#timelines .shapelayer path')).stroke"
        opened.wait(f"{outline} === getComputedStyle(document.body).color")
    assert span(opened) == shown


def test_keys_zoom_and_move(opened: Browser) -> None:
    """970 cycles; zoomed in by 1.5 twice around the middle: 431.1 wide; moved by a fifth of that."""
    opened.type("#timelines", "++")
    assert span(opened) == pytest.approx([485 - 970 / 4.5, 485 + 970 / 4.5])
    opened.type("#timelines", RIGHT)
    assert span(opened) == pytest.approx([485 - 0.3 * 970 / 2.25, 485 + 0.7 * 970 / 2.25])
    opened.wait("Math.abs(document.getElementById('buffers').layout.xaxis.range[0] - 355.67) < 0.01")
    opened.type("#timelines", LEFT + LEFT)
    assert span(opened)[0] == pytest.approx(485 - 0.7 * 970 / 2.25)
    opened.type("#timelines", HOME)
    assert span(opened) == [0, 970]
    opened.type("#timelines", "-" + LEFT)
    assert span(opened) == [0, 970]


def test_keys_choose_slices_and_tell_of_them(opened: Browser) -> None:
    """From the barrier on S down to MTE2, to its second slice, to V, and to the plan below."""
    opened.type("#timelines", "n")
    assert opened.run(DETAILS).startswith("as written: barrier ALL\nS, line 23\n")
    opened.type("#timelines", DOWN + "n")
    assert opened.run(DETAILS).startswith("as written: set MTE2 → V id 0\nMTE2, line 16\ncycles 282 to 283 (1)\n")
    opened.type("#timelines", "p")
    assert opened.run(DETAILS).startswith("as written: tload\n")
    opened.type("#timelines", DOWN * 4)
    assert opened.run(DETAILS).startswith("plan: tload\n")
    assert opened.run("return document.querySelectorAll('#timelines .shapelayer path').length") == 1
    opened.type("#timelines", UP)
    assert opened.run(DETAILS).startswith("plan: barrier ALL\n")
    assert opened.run("return document.getElementById('details').getAttribute('aria-live')") == "polite"


def test_arrows_are_put_on_and_off_with_a_key(opened: Browser) -> None:
    """Four arrows, each with two ends."""
    shown = "return document.querySelectorAll('#timelines .scatterlayer .point').length"
    assert opened.run(shown) == 8
    opened.type("#timelines", "a")
    assert opened.run(shown) == 0
    opened.type("#timelines", "a")
    assert opened.run(shown) == 8


def test_buttons_zoom(opened: Browser) -> None:
    for action, wide in (("in", 970 / 1.5), ("out", 970), ("in", 970 / 1.5), ("all", 970)):
        opened.run(f"document.querySelector('button[data-action={action}]').click()")
        first, last = span(opened)
        assert last - first == pytest.approx(wide)


def in_sight(opened: Browser, chart: str) -> int:
    """Scroll to a chart; pixels of the page above the window."""
    return opened.run(f"document.getElementById('{chart}').scrollIntoView({{block: 'end'}}); return window.scrollY")


@pytest.mark.parametrize("chart", ["timelines", "buffers"])
def test_wheel_scrolls_the_page(opened: Browser, chart: str) -> None:
    """Where the mouse is makes no difference: who reads from top to bottom is not held up by a chart."""
    above = in_sight(opened, chart)
    opened.wheel(f"return document.querySelector('#{chart} .nsewdrag')", 120)
    opened.wait(f"window.scrollY > {above}")
    assert span(opened, chart) == [0, 970]


@pytest.mark.parametrize("chart", ["timelines", "buffers"])
def test_wheel_zooms_with_control(opened: Browser, chart: str) -> None:
    above = in_sight(opened, chart)
    opened.wheel(f"return document.querySelector('#{chart} .nsewdrag')", -120, CONTROL)
    opened.wait(f"document.getElementById('{chart}').layout.xaxis.range[0] > 0")
    first, last = span(opened, chart)
    assert last - first < 970
    assert opened.run("return [window.scrollY, window.visualViewport.scale]") == [above, 1]


def test_mouse_shows_a_slice(opened: Browser) -> None:
    opened.point(f"return {LOAD}")
    opened.wait("document.querySelector('#timelines .hoverlayer .hovertext')")
    label = opened.run("return document.querySelector('#timelines .hoverlayer .hovertext').textContent")
    assert label.startswith("tloadMTE2, line 15cycles 2 to 282 (280)completed at 546")
    assert opened.run(DETAILS).startswith("as written: tload\nMTE2, line 15\n")


def test_text_of_a_kernel_is_not_run(window: Browser, tmp_path: Path) -> None:
    hostile = "</script></pre><script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
    path = tmp_path / "hostile.html"
    made = content(title=hostile, verdict=hostile, diff=(hostile,), notes=(hostile,))
    path.write_text(render_page(made, chart_library()), encoding="utf-8")
    window.open(path, READY)
    assert window.run("return window.hit") is None
    assert hostile in window.run("return document.querySelector('pre').textContent")
    assert window.errors() == []
