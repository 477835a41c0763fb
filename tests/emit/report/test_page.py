"""What the page of a report holds."""

import re
import sys
from dataclasses import fields, replace

import pytest

from syncopt.emit.report import Table, chart_library, render_page
from syncopt.emit.report.charts import details
from syncopt.emit.timeline import SliceKind
from syncopt.ir.source import InputError
from tests.emit.report.pages import Page, content, drawn, page_of, parsed
from tests.emit.timeline.drawing import sliced
from tests.sim.programs import load, toy

HOSTILE = "</script><script>alert(1)</script>&<b>\"'\u2028"


@pytest.fixture(scope="module")
def page() -> Page:
    return page_of(content())


def test_page_says_everything_it_is_given(page: Page) -> None:
    for text in (
        "guarded in guarded.pto",
        "n=4096; core 0 of 48 of 910b2",
        "965 cycles, as fast as the kernel as written (965 cycles; 1.000 to 1.000); proven optimal.",
        "machine plan default 965 depth 16 965",
        "Some figures are not published.",
        "as written: the full run, 965 cycles: all 8 instructions shown",
        "cause cycles V->MTE3 702",
        "No op moved: the issue order is the one as written.",
        "--- a.pto +++ b.pto @@ -1 +1 @@ -old +new kept",
        "key value source flag.hop 8 [S] simulator",
    ):
        assert text in page.text, text


def test_page_loads_nothing(page: Page) -> None:
    """Its policy forbids it, and nothing in it asks for it."""
    policies = [attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes]
    assert policies == [
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
    ]
    assert not [tag for tag, attributes in page.tags if attributes.keys() & {"src", "href", "data"}]
    assert "@import" not in render_page(content(), "")
    assert "url(" not in render_page(content(), "")


def test_page_carries_the_library_with_its_licence(page: Page) -> None:
    assert "plotly.js v" in page.scripts[1][:200]
    assert "Licensed under the MIT license" in page.scripts[1][:200]
    assert page.scripts[1] == chart_library()


def test_every_text_is_escaped() -> None:
    """No text can end its element, begin another one, or be read as code; a reader sees it as it is."""
    strings = [field.name for field in fields(content()) if isinstance(getattr(content(), field.name), str)]
    assert strings == ["title", "subtitle", "verdict", "sensitivity_note"]
    table = Table((HOSTILE, ">" + HOSTILE), ((HOSTILE, HOSTILE),))
    tables = dict.fromkeys(("sensitivity", "stalls", "moves", "figures"), table)
    lists = dict.fromkeys(("diff", "assumptions", "notes"), (HOSTILE,))
    made = content(
        **dict.fromkeys(strings, HOSTILE),
        **tables,
        **lists,
        facts={HOSTILE: HOSTILE},
        drawn=(drawn(HOSTILE), drawn("plan")),
    )
    html = render_page(made, "LIBRARY")
    page = parsed(html)
    assert len(page.scripts) == 3
    assert page.scripts[1] == "LIBRARY"
    assert "alert" not in page.scripts[2]
    assert page.charts["busy"]["data"][0]["name"] == HOSTILE
    assert not [tag for tag, _ in page.tags if tag == "b"]
    # the title twice, three more strings, four tables of four cells, three lists, a fact with its name, a version
    assert "".join(page.shown).count(HOSTILE) == 2 + 3 + 4 * 4 + 3 + 2 + 1
    assert html.count("<script") == html.count("</script>") == 3


def test_library_cannot_end_its_element() -> None:
    html = render_page(content(), 'var s = "</script><p>";')
    assert parsed(html).scripts[1] == 'var s = "<\\/script><p>";'


def test_diff_that_is_empty_says_so() -> None:
    assert "The plan changes nothing in the text." in page_of(content(diff=())).text


def test_moves_are_listed() -> None:
    moves = Table(("op", ">line"), (("pto.tload", "24"),))
    assert "op line pto.tload 24" in page_of(content(moves=moves)).text


def test_details_of_a_slice(page: Page) -> None:
    """Op, line, iteration, stall reason and flag, as worked out in tests/emit/timeline/test_chrome.py."""
    found = {
        (trace["meta"]["version"], details[0]): details
        for trace in page.charts["timelines"]["data"]
        if trace["meta"]["kind"] == "slices"
        for details in trace["customdata"]
    }
    assert found["plan", "wait MTE2 → V id 0"] == [
        "wait MTE2 → V id 0",
        "V, line 18",
        "cycles 6 to 554 (548)",
        "set at line 16",
        "stood still for 6 cycles: dispatch",
        "stood still for 548 cycles: MTE2 → V id 0",
    ]
    assert found["plan", "tload"] == [
        "tload",
        "MTE2, line 15",
        "cycles 2 to 282 (280)",
        "completed at 546",
        "stood still for 2 cycles: dispatch",
    ]
    assert len(found) == 16


def test_stall_of_one_cycle_is_not_called_cycles() -> None:
    [piece] = sliced(toy(), [load(10)])
    assert details(piece)[-1] == "stood still for 1 cycle: dispatch"


def test_arrows_lead_from_set_to_wait(page: Page) -> None:
    arrows = [trace for trace in page.charts["timelines"]["data"] if trace["meta"]["kind"] == "arrows"]
    assert [(arrow["xaxis"], arrow["x"], arrow["y"]) for arrow in arrows] == [
        (axis, [282, 554, None, 682, 714, None], ["MTE2", "V", None, "V", "MTE3", None]) for axis in ("x", "x2")
    ]


def test_every_op_has_a_look_of_its_own() -> None:
    """20 ops on 8 colours: the first 8 are plain, of the others those of one colour differ by how they are hatched."""
    [add] = [piece for piece in drawn("plan").pieces if piece.name == "tadd"]
    pieces = tuple(replace(add, name=f"op{number:02}") for number in range(20))
    made = content(drawn=(replace(drawn("plan"), pieces=pieces),))
    markers = {trace["name"]: trace["marker"] for trace in page_of(made).charts["timelines"]["data"] if "base" in trace}
    looks = [(marker["color"], marker.get("pattern", {}).get("shape", "")) for marker in markers.values()]
    assert len(set(looks)) == len(looks) == 20
    assert [hatch for _, hatch in looks] == [""] * 8 + ["/"] * 8 + ["x"] * 4
    assert looks[8][0] == looks[0][0]


def test_legend_names_what_only_the_plan_has() -> None:
    """An entry stands with the first version in which there is such a slice."""
    plan = drawn("plan")
    written = replace(plan, pieces=tuple(piece for piece in plan.pieces if piece.kind is not SliceKind.BARRIER))
    page = page_of(content(drawn=(written, plan)))
    named = [trace for trace in page.charts["timelines"]["data"] if trace["showlegend"]]
    assert sorted(trace["name"] for trace in named) == [
        "barrier",
        "set to wait",
        "tadd",
        "tload",
        "tstore",
        "wait for a flag",
    ]
    assert all(trace["x"] for trace in named)


def test_lanes_stand_in_the_order_of_the_pipes(page: Page) -> None:
    """A chart counts its categories from below."""
    for axis in ("yaxis", "yaxis2"):
        assert page.charts["timelines"]["layout"][axis]["categoryarray"] == ["MTE3", "V", "MTE2", "S"]


def test_versions_have_one_time_axis(page: Page) -> None:
    layout = page.charts["timelines"]["layout"]
    assert layout["xaxis"]["range"] == [0, 970]
    assert layout["xaxis2"]["matches"] == "x"
    assert [note["text"] for note in layout["annotations"]] == ["as written", "plan"]


def test_buffers_over_time(page: Page) -> None:
    """The load writes 16384 bytes from 2 on, which the sum reads until 706; it writes as many from 554 to 965."""
    chart = page.charts["buffers"]
    assert [note["text"] for note in chart["layout"]["annotations"]] == ["vec: at most 32,768 of 196,608 bytes"]
    [written, plan] = chart["data"]
    assert (plan["x"], plan["y"]) == ([0, 2, 554, 706, 965, 970], [0, 16384, 32768, 16384, 0, 0])
    assert (written["x"], written["y"]) == (plan["x"], plan["y"])


def test_ids_over_time(page: Page) -> None:
    chart = page.charts["ids"]
    titles = [note["text"] for note in chart["layout"]["annotations"]]
    assert titles == ["MTE2 → V: at most 1 of 8 ids", "V → MTE3: at most 1 of 8 ids"]
    assert (chart["data"][0]["x"], chart["data"][0]["y"]) == ([0, 282, 554, 970], [0, 1, 0, 0])


def test_busy_shares(page: Page) -> None:
    [written, plan] = page.charts["busy"]["data"]
    assert (plan["name"], plan["x"]) == ("plan", ["MTE2", "V"])
    assert plan["y"] == pytest.approx([29.0155, 13.2642], abs=1e-4)
    assert written["name"] == "as written"


def test_charts_can_be_worked_with_keys(page: Page) -> None:
    focusable = {
        attributes.get("id") or attributes.get("class"): tag
        for tag, attributes in page.tags
        if "tabindex" in attributes
    }
    assert focusable == {"timelines": "div", "diff": "pre"}
    labels = {
        attributes["id"]: attributes["aria-label"] for _, attributes in page.tags if attributes.get("role") == "figure"
    }
    assert labels.keys() == {"timelines", "busy", "buffers", "ids"}
    assert all(labels.values())
    assert re.search(r"← →\s+move in time", page.text)


def test_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(InputError) as caught:
        chart_library()
    assert str(caught.value) == (
        "error: a report needs the package plotly, which is not installed\n   help: pip install 'syncopt[report]'"
    )
