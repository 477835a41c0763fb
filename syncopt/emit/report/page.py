"""A report as one page that needs nothing else: text, tables, charts and the library that draws them."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files

from syncopt.emit.report.charts import charts
from syncopt.emit.report.content import Content, Table

_CHARTS: Mapping[str, str] = {
    "timelines": "Timelines of the kernel as written and of its plan, one row per pipe",
    "busy": "Share of the run for which each pipe is busy",
    "buffers": "Bytes of each memory that hold a value which is still read",
    "ids": "Event ids in use from the start of a set to the end of its wait, per pair of pipes",
}
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
"""The page must not load anything."""
_KEYS = (
    ("← →", "move in time"),
    ("+ −", "zoom"),
    ("Home", "show all"),
    ("↑ ↓", "choose a pipe"),
    ("n p", "next and previous slice"),
    ("a", "arrows on and off"),
    ("Ctrl + wheel", "zoom where the mouse is"),
)


def render_page(content: Content, library: str) -> str:
    """The page.

    Parameters
    ----------
    content : Content
        What it says. All of its text may hold anything and is escaped.
    library : str
        The text of plotly.js.

    Returns
    -------
    str
        HTML in UTF-8, with `library` inside.
    """
    drawn = charts(content)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            *_head(content),
            "<body>",
            *_body(content, drawn),
            f'<script type="application/json" id="charts">{_embedded(json.dumps(drawn))}</script>',
            f"<script>{_script(library)}</script>",
            f"<script>{_script(_asset('page.js'))}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _asset(name: str) -> str:
    return files("syncopt.emit.report").joinpath(name).read_text(encoding="utf-8")


def _embedded(text: str) -> str:
    """JSON inside a script element: no text in it can end the element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _script(text: str) -> str:
    """Code inside a script element."""
    return text.replace("</script", "<\\/script")


def _head(content: Content) -> Iterable[str]:
    return (
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(content.title)} - syncopt</title>",
        f"<style>{_asset('page.css')}</style>",
        "</head>",
    )


def _body(content: Content, drawn: Mapping[str, object]) -> Iterable[str]:
    yield "<main>"
    yield f"<header><h1>{escape(content.title)}</h1><p>{escape(content.subtitle)}</p></header>"
    yield f'<p class="verdict">{escape(content.verdict)}</p>'
    yield from (f'<p class="note">{escape(note)}</p>' for note in content.notes)
    yield _facts(content.facts)
    yield from _section("What the gain depends on", _table(content.sensitivity), _text(content.sensitivity_note))
    yield "<noscript><p>The charts need JavaScript; the tables do not.</p></noscript>"
    yield from _section("Timelines", *_statements(content), *_controls(), _chart("timelines"), _DETAILS)
    yield from _section("Busy pipes", _chart("busy"), _table(content.stalls))
    yield from _section("Buffers", _text(_CHARTS["buffers"] + "."), _chart("buffers"))
    if "ids" in drawn:
        yield from _section("Event ids", _text(_CHARTS["ids"] + "."), _chart("ids"))
    yield from _section("What the plan changes", _moves(content.moves), _diff(content.diff))
    if content.assumptions:
        yield from _section("The proof assumes", _list(content.assumptions))
    yield from _section("The machine", _folded("all figures and their sources", _table(content.figures)))
    yield "</main>"


_DETAILS = '<p id="details" role="status" aria-live="polite">Point at a slice, or choose one with the keys.</p>'


def _section(title: str, *parts: str) -> Iterable[str]:
    yield f"<section><h2>{escape(title)}</h2>"
    yield from parts
    yield "</section>"


def _text(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _facts(facts: Mapping[str, str]) -> str:
    pairs = (f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in facts.items())
    return f"<dl>{''.join(pairs)}</dl>"


def _statements(content: Content) -> Iterable[str]:
    yield _list(f"{one.name}: {one.shown.statement}" for one in content.drawn)


def _controls() -> Iterable[str]:
    keys = " ".join(f"<kbd>{escape(key)}</kbd> {escape(what)}" for key, what in _KEYS)
    buttons = (("in", "zoom in"), ("out", "zoom out"), ("all", "show all"))
    yield '<p class="controls">'
    yield from (f'<button type="button" data-action="{action}">{text}</button>' for action, text in buttons)
    yield '<label><input type="checkbox" id="arrows"> arrows from set to wait</label>'
    yield f'<span class="keys">{keys}</span></p>'


def _chart(key: str) -> str:
    # Only the timelines are worked with keys; the others follow them.
    focus = ' tabindex="0"' if key == "timelines" else ""
    return f'<div class="chart" id="{key}" role="figure" aria-label="{escape(_CHARTS[key])}"{focus}></div>'


def _table(table: Table) -> str:
    kinds = ['class="figure"' if column.startswith(">") else "" for column in table.columns]
    head = "".join(
        f"<th {kind}>{escape(c.removeprefix('>'))}</th>" for c, kind in zip(table.columns, kinds, strict=True)
    )
    rows = (
        "<tr>" + "".join(f"<td {kind}>{escape(cell)}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in table.rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _moves(moves: Table) -> str:
    if not moves.rows:
        return _text("No op moved: the issue order is the one as written.")
    return _table(moves)


def _diff(lines: Iterable[str]) -> str:
    kinds = {"+": "added", "-": "removed", "@": "place"}
    written: list[str] = []
    for line in lines:
        kind = "file" if line.startswith(("+++", "---")) else kinds.get(line[:1], "kept")
        written.append(f'<span class="{kind}">{escape(line.rstrip(chr(10)))}\n</span>')
    if not written:
        return _text("The plan changes nothing in the text.")
    return f'<pre class="diff" tabindex="0">{"".join(written)}</pre>'


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
