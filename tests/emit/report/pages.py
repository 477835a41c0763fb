"""Pages of reports, taken apart."""

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from syncopt.emit.report import Content, Drawn, Table, chart_library, render_page
from syncopt.emit.timeline import Cycles, Slice, show
from syncopt.emit.timeline.occupancy import Occupancy
from syncopt.ir.pipes import Memory, Pipe
from tests.emit.timeline.drawing import guarded_version


@dataclass
class Page(HTMLParser):
    """A page: the text that it shows, its scripts, its tags with their attributes."""

    shown: list[str] = field(default_factory=list[str])
    scripts: list[str] = field(default_factory=list[str])
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list[tuple[str, dict[str, str | None]]])
    _inside: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert tag not in ("script", "style") or tag == self._inside
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.shown.append(data)

    @property
    def text(self) -> str:
        """What a reader sees, in one line."""
        return " ".join(" ".join(self.shown).split())

    @property
    def charts(self) -> dict[str, Any]:
        """The charts."""
        return json.loads(self.scripts[0])


def parsed(html: str) -> Page:
    """A page taken apart."""
    page = Page()
    page.feed(html)
    page.close()
    return page


def drawn(name: str) -> Drawn:
    """guarded.pto as a version."""
    pieces: list[Slice] = []
    occupancy = Occupancy(Cycles())
    shown = show(guarded_version(name), pieces.append, occupancy.add)
    busy = {Pipe.MTE2: 280 / 965, Pipe.V: 128 / 965}
    return Drawn(shown, tuple(pieces), occupancy.live_bytes(), occupancy.live_ids(), busy)


def content(**changes: Any) -> Content:
    """A report on guarded.pto, changed in some places."""
    parts: dict[str, Any] = {
        "title": "guarded in guarded.pto",
        "subtitle": "n=4096; core 0 of 48 of 910b2",
        "verdict": "965 cycles, as fast as the kernel as written (965 cycles; 1.000 to 1.000); proven optimal.",
        "facts": {"Plan": "965 cycles"},
        "sensitivity": Table(("machine", ">plan"), (("default", "965"), ("depth 16", "965"))),
        "sensitivity_note": "Some figures are not published.",
        "drawn": (drawn("as written"), drawn("plan")),
        "capacities": {Memory.VEC: 196608, Memory.MAT: 524288},
        "event_ids": 8,
        "stalls": Table(("cause", ">cycles"), (("V->MTE3", "702"),)),
        "moves": Table(("op", ">line"), ()),
        "diff": ("--- a.pto\n", "+++ b.pto\n", "@@ -1 +1 @@\n", "-old\n", "+new\n", " kept\n"),
        "figures": Table(("key", ">value", "source"), (("flag.hop", "8", "[S] simulator"),)),
    }
    return Content(**(parts | changes))


def page_of(made: Content) -> Page:
    """The page of a report."""
    return parsed(render_page(made, chart_library()))
