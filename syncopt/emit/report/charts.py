"""The charts of a report, as plotly.js takes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from syncopt.emit.report.content import Content, Drawn
from syncopt.emit.timeline import Arrows, Slice, SliceKind, lanes_of
from syncopt.emit.timeline.occupancy import Steps
from syncopt.ir.pipes import Pipe

Chart = dict[str, object]

_OP_COLOURS = ("#4477aa", "#228833", "#c8901e", "#8a5fb0", "#2a9d9d", "#4fb3e8", "#7a8f2a", "#6c7fd0")
"""None near the red of waits."""
_HATCHES = ("", "/", "x", "-", ".", "\\", "+", "|")
"""Of the ops that one colour stands for, one after the other."""
_COLOURS: Mapping[str, str] = {"set": "#888888", "wait": "#ee6677", "barrier": "#9aa4b1"}
_IDLE = (SliceKind.WAIT.value, SliceKind.BARRIER.value)
_NAMES: Mapping[str, str] = {"set": "set of a flag", "wait": "wait for a flag", "barrier": "barrier"}
_THIN = 0.34
"""Height of waits and barriers, of that of a lane: what is no work is told from ops by more than its colour."""
_FIRST_RANK = 1000
"""Of the first entry of a legend."""
_VERSION_COLOURS = ("#c8901e", "#4477aa")
_DASHES = ("dot", "solid")
_LANE_HEIGHT, _STEPS_HEIGHT, _TITLE = 32, 64, 26
"""Pixels of a pipe's row, of a row of steps, and of the title of a row."""
_MARGINS: dict[str, int] = {"l": 64, "r": 16, "t": 26, "b": 44}
"""Pixels around the plots."""


def charts(content: Content) -> Mapping[str, Chart]:
    """The charts by the id of their place in the page."""
    drawn = content.drawn
    capacities = {str(memory): size for memory, size in content.capacities.items()}
    memories = {one.name: {str(m): s for m, s in one.live_bytes.items()} for one in drawn}
    pairs = {one.name: {arrowed(str(p)): s for p, s in one.live_ids.items()} for one in drawn}
    found = {
        "timelines": _timelines(drawn),
        "busy": _busy(drawn),
        "buffers": _step_charts(drawn, memories, capacities, "bytes"),
    }
    ids = {pair: content.event_ids for steps in pairs.values() for pair in steps}
    return found | ({"ids": _step_charts(drawn, pairs, ids, "ids")} if ids else {})


def arrowed(pair: str) -> str:
    """A pair of pipes with an arrow between them."""
    return pair.replace("->", " → ")


def details(piece: Slice) -> list[str]:
    """What there is to say of a slice, line by line."""
    lines = [f"{piece.name} {arrowed(str(piece.flag))}" if piece.flag is not None else piece.name]
    place = [f"line {piece.line}"] if piece.line is not None else ["added"]
    if piece.iteration:
        place.append(f"iteration {', '.join(map(str, piece.iteration))}")
    lines.append(f"{piece.lane}, {', '.join(place)}")
    lines.append(f"cycles {piece.start:,} to {piece.end:,} ({piece.end - piece.start:,})")
    if piece.done != piece.end:
        lines.append(f"{'flag up at' if piece.kind is SliceKind.SET else 'completed at'} {piece.done:,}")
    if piece.kind is SliceKind.WAIT and piece.flag is not None and piece.flag.set_line is not None:
        lines.append(f"set at line {piece.flag.set_line}")
    return lines + [f"stood still for {stall.cycles:,} {stall.unit}: {arrowed(stall.cause)}" for stall in piece.stalls]


# -- timelines ---------------------------------------------------------------------------------------------------------


def _timelines(drawn: Sequence[Drawn]) -> Chart:
    lanes = lanes_of(piece for one in drawn for piece in one.pieces)
    groups = _groups(piece for one in drawn for piece in one.pieces)
    traces = [
        trace
        for number, one in enumerate(drawn, 1)
        for trace in (*_bars(one, number, groups), _arrows(one.pieces, number))
    ]
    for trace, name in _first_of(traces):
        trace["showlegend"] = name not in ("", "set")
    rows = _Rows(tuple(one.name for one in drawn), len(lanes) * _LANE_HEIGHT)
    layout = rows.layout(_span(drawn), barmode="overlay", bargap=0.2, dragmode="pan")
    names = [str(lane) for lane in reversed(lanes)]
    for number in range(1, len(drawn) + 1):
        layout[_axis("yaxis", number)] = rows.axis(
            number, type="category", categoryorder="array", categoryarray=names, range=[-0.5, len(names) - 0.5]
        )
    return {"data": traces, "layout": layout}


def _first_of(traces: Iterable[Chart]) -> Iterable[tuple[Chart, str]]:
    """The first trace of every group that has anything in it, with the name of its group."""
    seen: set[str] = set()
    for trace in traces:
        group = str(trace.get("legendgroup", ""))
        if group not in seen and trace["x"]:
            seen.add(group)
            yield trace, group


def _group(piece: Slice) -> str:
    return piece.name if piece.kind is SliceKind.OP else piece.kind.value


def _groups(pieces: Iterable[Slice]) -> Mapping[str, Chart]:
    """Colours and hatches of the groups that slices belong to: ops by name, flags and barriers by kind."""
    lanes = {_group(piece): piece.lane for piece in pieces}
    names = sorted(lanes, key=lambda name: (list(Pipe).index(lanes[name]), name))
    ops = [name for name in names if name not in _COLOURS]
    looks: dict[str, Chart] = {name: _look(number) for number, name in enumerate(ops)}
    looks.update((name, {"color": colour}) for name, colour in _COLOURS.items() if name in names)
    return looks


def _look(number: int) -> Chart:
    """The look of an op: there are more ops than colours that can be told apart, so that the others are hatched."""
    hatch, colour = divmod(number, len(_OP_COLOURS))
    plain: Chart = {"color": _OP_COLOURS[colour]}
    if not hatch:
        return plain
    lines = {"shape": _HATCHES[hatch % len(_HATCHES)], "fgcolor": "#ffffff", "size": 6, "solidity": 0.35}
    return plain | {"pattern": lines | {"bgcolor": _OP_COLOURS[colour]}}


def _bars(one: Drawn, number: int, groups: Mapping[str, Chart]) -> Iterable[Chart]:
    ranks = {group: _FIRST_RANK + number for number, group in enumerate(groups)}
    # Ops lie on top: where slices are finer than pixels, a lane must not look like waiting all the time.
    for group in sorted(groups, key=lambda group: group not in _IDLE):
        pieces = [piece for piece in one.pieces if _group(piece) == group]
        thin: Chart = {"width": _THIN} if group in _IDLE else {}
        yield {
            "type": "bar",
            "orientation": "h",
            "name": _NAMES.get(group, group),
            "legendgroup": group,
            "showlegend": False,
            "base": [piece.start for piece in pieces],
            "x": [piece.end - piece.start for piece in pieces],
            "y": [str(piece.lane) for piece in pieces],
            "customdata": [details(piece) for piece in pieces],
            "hovertext": ["<br>".join(details(piece)) for piece in pieces],
            "hoverinfo": "text",
            "textposition": "none",
            "legendrank": ranks[group],
            "marker": {**groups[group], "line": {"width": 0}},
            **thin,
            "meta": {"version": one.name, "kind": "slices"},
            "xaxis": _axis("x", number),
            "yaxis": _axis("y", number),
        }


def _arrows(pieces: Iterable[Slice], number: int) -> Chart:
    """Arrows from every set to the end of the wait that takes it."""
    arrows = Arrows()
    x: list[int | None] = []
    y: list[str | None] = []
    for piece in pieces:
        arrow = arrows.arrow(piece)
        if arrow is not None:
            x += [arrow[0].start, arrow[1].end, None]
            y += [str(arrow[0].lane), str(arrow[1].lane), None]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": "set to wait",
        "legendrank": 2 * _FIRST_RANK,
        "legendgroup": "arrow",
        "showlegend": False,
        "x": x,
        "y": y,
        "line": {"width": 1},
        "opacity": 0.75,
        "marker": {"symbol": "arrow", "angleref": "previous", "size": [0, 10, 0] * (len(x) // 3), "line": {"width": 0}},
        "hoverinfo": "skip",
        "meta": {"kind": "arrows"},
        "xaxis": _axis("x", number),
        "yaxis": _axis("y", number),
    }


# -- busy shares, buffers, flags ---------------------------------------------------------------------------------------


def _busy(drawn: Sequence[Drawn]) -> Chart:
    pipes = [pipe for pipe in Pipe if any(pipe in one.busy for one in drawn)]
    traces: list[Chart] = [
        {
            "type": "bar",
            "name": one.name,
            "x": [str(pipe) for pipe in pipes],
            "y": [100 * one.busy.get(pipe, 0.0) for pipe in pipes],
            "texttemplate": "%{y:.1f} %",
            "textposition": "outside",
            "cliponaxis": False,
            "hovertemplate": "%{x}: %{y:.2f} %<extra>" + one.name + "</extra>",
            "marker": {"color": colour},
        }
        for one, colour in zip(drawn, _VERSION_COLOURS, strict=False)
    ]
    layout = _layout(220, above=0) | {
        "barmode": "group",
        "xaxis": {"fixedrange": True},
        "yaxis": {"title": {"text": "% of the run"}, "range": [0, 112], "tickvals": [0, 25, 50, 75, 100]},
    }
    return {"data": traces, "layout": layout}


def _step_charts(
    drawn: Sequence[Drawn], found: Mapping[str, Mapping[str, Steps]], limits: Mapping[str, int], unit: str
) -> Chart:
    """One row per memory or pair of pipes, a line per version in each."""
    keys = [key for key in limits if any(key in steps for steps in found.values())]
    traces: list[Chart] = []
    _, last = _span(drawn)
    for number, row in enumerate(keys, 1):
        for place, one in enumerate(drawn):
            steps = found[one.name].get(row, Steps((0,), (0,)))
            traces.append(_step_line(one, place, number, steps, last) | {"showlegend": number == 1})
    most = {row: max(steps[row].most for steps in found.values() if row in steps) for row in keys}
    rows = _Rows(tuple(f"{row}: at most {most[row]:,} of {limits[row]:,} {unit}" for row in keys), _STEPS_HEIGHT)
    layout = rows.layout(_span(drawn), dragmode="pan", hovermode="x")
    for number, row in enumerate(keys, 1):
        top = limits[row] if unit == "bytes" else max(most[row], 1)
        ticks = {"tickvals": [0, top], "ticktext": ["0", f"{top:,}"]}
        layout[_axis("yaxis", number)] = rows.axis(number, range=[0, 1.05 * max(top, most[row])], **ticks)
    return {"data": traces, "layout": layout}


def _step_line(one: Drawn, place: int, number: int, steps: Steps, last: int) -> Chart:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": one.name,
        "legendgroup": one.name,
        "x": [*steps.times, max(last, steps.times[-1])],
        "y": [*steps.values, steps.values[-1]],
        "hovertemplate": "%{y:,}<extra>" + one.name + "</extra>",
        "line": {"shape": "hv", "width": 1.5, "dash": _DASHES[place % 2], "color": _VERSION_COLOURS[place % 2]},
        "xaxis": _axis("x", number),
        "yaxis": _axis("y", number),
    }


# -- what all charts share ---------------------------------------------------------------------------------------------


def _span(drawn: Sequence[Drawn]) -> tuple[int, int]:
    """First and last cycle of what is shown."""
    cycles = drawn[0].shown.version.cycles
    last = max((piece.end for one in drawn for piece in one.pieces), default=cycles.first + 1)
    return cycles.first, last if cycles.last is None else max(min(last, cycles.last), cycles.first + 1)


def _axis(name: str, number: int) -> str:
    return name if number == 1 else f"{name}{number}"


@dataclass(frozen=True)
class _Rows:
    """Plots below each other, each with a title above it, in a chart of `height` pixels."""

    titles: tuple[str, ...]
    row_height: int

    @property
    def inside(self) -> int:
        """Pixels between the margins."""
        return len(self.titles) * (self.row_height + _TITLE) - _TITLE

    def domain(self, number: int) -> list[float]:
        """Bottom and top of a row as fractions of what is inside the margins."""
        top = (number - 1) * (self.row_height + _TITLE)
        return [1 - (top + self.row_height) / self.inside, 1 - top / self.inside]

    def title(self, number: int) -> Chart:
        place: Chart = {"xref": "paper", "yref": "paper", "x": 0, "y": self.domain(number)[1]}
        anchored: Chart = {"xanchor": "left", "yanchor": "bottom", "showarrow": False, "font": {"size": 12}}
        return {"text": self.titles[number - 1], **place, **anchored}

    def layout(self, span: tuple[int, int], **more: object) -> Chart:
        """Layout with a time axis for every row, which move together; only the last one has figures."""
        count = len(self.titles)
        titles = [self.title(number) for number in range(1, count + 1)]
        layout = _layout(self.inside, above=_TITLE) | {"annotations": titles, **more}
        for number in range(1, count + 1):
            layout[_axis("xaxis", number)] = {
                "anchor": _axis("y", number),
                "range": list(span),
                "showticklabels": number == count,
                "title": {"text": "cycles"} if number == count else {},
                "tickformat": ",d",
                "zeroline": False,
            } | ({} if number == 1 else {"matches": "x"})
        return layout

    def axis(self, number: int, **more: object) -> Chart:
        """The other axis of a row."""
        return {"domain": self.domain(number), "anchor": _axis("x", number), "fixedrange": True, **more}


def _layout(inside: int, above: int) -> Chart:
    """Layout of a chart of so many pixels between its margins, with the legend above what stands above its plots."""
    return {
        "height": inside + above + sum(_MARGINS[side] for side in "tb"),
        "margin": _MARGINS | {"t": _MARGINS["t"] + above},
        "legend": {"orientation": "h", "y": 1 + above / inside, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hoverlabel": {"align": "left"},
    }
