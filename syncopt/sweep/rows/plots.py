"""Pictures of a sweep: plans against kernels as they are written, and how long the searches took."""

import importlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from syncopt.api import InputError
from syncopt.sweep.rows.choosing import SHAPE, best_by
from syncopt.sweep.rows.columns import shape_of
from syncopt.sweep.rows.row import Figures, Row

FORMATS = ("svg", "png", "pdf")
"""What pictures can be written as."""

REFERENCES: Mapping[str, str] = {"hand-written": "*hand*", "ptoas": "*ptoas*"}
"""Kernels that plans are compared with: what they are called, and a pattern for the names of their files."""

_STYLE = {"svg.hashsalt": "syncopt", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
_WIDTH, _HEIGHT, _ENTRY = 7.5, 3.6, 0.16
"""Inches: of a picture, of a diagram, of a row of its legend."""
_MANY = 60
"""Lines that a legend names."""
_SHIFT = 0.004
"""Of the width of a diagram: how far bars of several lines at one place stand apart."""
_MARKERS, _DASHES, _COLOURS = "os^Dv", ("-", "--", "-.", ":"), 10
"""They change at different paces: lines on top of each other, and those past the last colour, are told apart."""


@dataclass(frozen=True)
class Point:
    """One shape of a line: its place on the axis, the value, and the range of it (the value twice if it has none)."""

    shape: str
    x: float
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """Points with a name."""

    name: str
    points: list[Point] = field(default_factory=list[Point])


class Scale(Enum):
    """What the upright axis of a diagram shows."""

    RATIO = "ratio"
    PERCENT = "%"
    COUNT = "searches"


@dataclass(frozen=True)
class Panel:
    """One diagram.

    Parameters
    ----------
    title, x_label : str
        What stands at it.
    scale : Scale
        Of the values.
    lines : tuple of Line
        What it shows.
    """

    title: str
    x_label: str
    scale: Scale
    lines: tuple[Line, ...]

    @property
    def legend_rows(self) -> int:
        """Rows of its legend, in two columns; none where its title says all, or it would be too long."""
        return (len(self.lines) + 1) // 2 if self.scale is not Scale.COUNT and len(self.lines) <= _MANY else 0


def panels(rows: Sequence[Row], references: Mapping[str, str] = REFERENCES) -> tuple[Panel, ...]:
    """The diagrams that some rows have: ratios to references, percent of the optimum, solve-time profile.

    Parameters
    ----------
    rows : sequence of Row
        Of one machine.
    references : mapping of name to pattern
        Kernels as written that plans are compared with, by patterns for the names of their files.
    """
    solved = [row for row in rows if row.figures is not None]
    axis = _Axis(solved)
    best = {shape_of(row): row.figures for row in best_by(solved, SHAPE) if row.figures is not None}
    found = [_ratios(solved, best, axis, references), _shares(solved, best, axis), _profile(solved)]
    return tuple(panel for panel in found if panel.lines)


def picture(panels: Sequence[Panel], kind: str) -> bytes:
    """Diagrams below each other, as `svg`, `png` or `pdf`; the same bytes from run to run.

    Raises
    ------
    InputError
        If there is nothing to draw, the format is unknown, or matplotlib is not installed.
    """
    if kind not in FORMATS:
        raise InputError(f"pictures are not written as {kind!r}", help=f"name a file that ends in {', '.join(FORMATS)}")
    if not panels:
        raise InputError("no row has a plan: there is nothing to draw")
    matplotlib = _package("matplotlib")
    with matplotlib.rc_context(_STYLE):
        figure = _package("matplotlib.figure").Figure(figsize=(_WIDTH, _height(panels)), layout="constrained")
        places = figure.subplots(len(panels), squeeze=False, height_ratios=[_height([panel]) for panel in panels])
        for axes, panel in zip(places.flat, panels, strict=True):
            _draw(axes, panel)
        out = io.BytesIO()
        figure.savefig(out, format=kind, dpi=120, metadata=_METADATA.get(kind))
    return out.getvalue()


_METADATA: Mapping[str, Mapping[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""What is left out of files, since it changes from run to run."""


class _Axis:
    """Shapes on one axis: the argument with the most values, or one place after the other if several vary with it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        names = dict.fromkeys(name for row in rows for name in row.asked.arguments)
        counts = {name: len({row.asked.arguments.get(name) for row in rows}) for name in names}
        self.name = max(counts, key=lambda name: counts[name], default="")
        others = [name for name in names if name != self.name and counts[name] > 1]
        self._others = others

    def place(self, row: Row) -> float:
        """Where a row stands."""
        return row.asked.arguments.get(self.name, 0)

    def rest(self, row: Row) -> str:
        """What tells the lines apart besides what they show: the other arguments that vary."""
        values = {name: row.asked.arguments[name] for name in self._others if name in row.asked.arguments}
        groups: dict[int, list[str]] = {}
        for name, value in values.items():
            groups.setdefault(value, []).append(name)
        return ", ".join("=".join([*names, str(value)]) for value, names in groups.items())


def _ratios(rows: Sequence[Row], best: Mapping[str, Figures], axis: _Axis, references: Mapping[str, str]) -> Panel:
    """Cycles of references as written by those of the best plan of the shape, with the range over the machines."""
    lines = _Lines()
    for row, figures in _with_figures(rows):
        plan = best[shape_of(row)]
        if figures.baseline_kind != "as-written" or figures.baseline_hangs or not plan.cycles:
            continue
        other = {there.machine: there.cycles for there in plan.sensitivity}
        ratios = [there.baseline / other[there.machine] for there in figures.sensitivity if other.get(there.machine)]
        for name, pattern in references.items():
            if fnmatchcase(Path(row.asked.kernel).stem, pattern):
                value = figures.baseline / plan.cycles
                lines.add(row, axis, name, value, min(value, *ratios), max(value, *ratios))
    title = "Cycles of kernels as written, by those of the best plan (bars: sensitivity machines)"
    return Panel(title, axis.name, Scale.RATIO, lines.sorted())


def _shares(rows: Sequence[Row], best: Mapping[str, Figures], axis: _Axis) -> Panel:
    """How much of the best plan's speed for a shape each kernel reaches, as its baseline and with its plan."""
    lines = _Lines()
    for row, figures in _with_figures(rows):
        least, name = best[shape_of(row)].cycles, row.asked.tiling or Path(row.asked.kernel).stem
        for what, cycles in ((f"{name}: plan", figures.cycles), (f"{name}: baseline", figures.baseline)):
            if cycles and not (figures.baseline_hangs and what.endswith("baseline")):
                lines.add(row, axis, what, 100 * least / cycles)
    return Panel("Share of the speed of the best plan of the shape", axis.name, Scale.PERCENT, lines.sorted())


def _profile(rows: Sequence[Row]) -> Panel:
    """How many searches were done within a time; those that were remembered are not counted."""
    seconds = sorted(figures.search_seconds for _, figures in _with_figures(rows) if not figures.remembered)
    points = [Point("", second, number, number, number) for number, second in enumerate([0.0, *seconds])]
    lines = (Line("searches done", points),) if seconds else ()
    return Panel("Searches that were done within a time (without remembered ones)", "seconds", Scale.COUNT, lines)


def _with_figures(rows: Sequence[Row]) -> Iterator[tuple[Row, Figures]]:
    yield from ((row, row.figures) for row in rows if row.figures is not None)


class _Lines:
    """Lines by name, made as points come."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    def add(
        self, row: Row, axis: _Axis, name: str, value: float, low: float | None = None, high: float | None = None
    ) -> None:
        """Add the point of a row to its line."""
        full = ", ".join(part for part in (name, axis.rest(row)) if part)
        point = Point(
            shape_of(row), axis.place(row), value, value if low is None else low, value if high is None else high
        )
        self._lines.setdefault(full, Line(full)).points.append(point)

    def sorted(self) -> tuple[Line, ...]:
        """The lines, each from left to right."""
        return tuple(Line(line.name, sorted(line.points, key=lambda point: point.x)) for line in self._lines.values())


def _height(panels: Sequence[Panel]) -> float:
    """Inches of some diagrams."""
    return sum(_HEIGHT + _ENTRY * panel.legend_rows for panel in panels)


def _draw(axes: Any, panel: Panel) -> None:
    places = [point.x for line in panel.lines for point in line.points]
    width = max(places) - min(places)
    for number, line in enumerate(panel.lines):
        shift = (number - (len(panel.lines) - 1) / 2) * _SHIFT * width if panel.scale is Scale.RATIO else 0.0
        x, y = [point.x + shift for point in line.points], [point.value for point in line.points]
        style: dict[str, object] = {
            "label": line.name,
            "color": f"C{number % _COLOURS}",
            "ls": _DASHES[number % len(_DASHES)],
            "marker": _MARKERS[number % len(_MARKERS)],
            "markerfacecolor": "none",
            "markersize": 4,
            "lw": 1,
        }
        if panel.scale is Scale.RATIO:
            bars = [[p.value - p.low for p in line.points], [p.high - p.value for p in line.points]]
            axes.errorbar(x, y, yerr=bars, capsize=2, **style)
        else:
            axes.plot(x, y, drawstyle="steps-post" if panel.scale is Scale.COUNT else "default", **style)
    too_many = "" if len(panel.lines) <= _MANY else f" ({len(panel.lines)} lines, too many to name)"
    axes.set_title(panel.title + too_many, loc="left", fontsize=9)
    axes.set(xlabel=panel.x_label, ylabel=panel.scale.value)
    _scale(axes, panel.scale)
    if panel.legend_rows:
        axes.legend(fontsize=7, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.16))


def _scale(axes: Any, scale: Scale) -> None:
    """Begin at nothing, where lengths from there are compared; mark where a ratio says that nothing is gained."""
    match scale:
        case Scale.RATIO:
            axes.axhline(1.0, color="0.4", lw=0.8, zorder=0)
        case Scale.PERCENT:
            axes.set_ylim(0, 105)
        case Scale.COUNT:
            axes.set(xlim=(0, None), ylim=(0, None))
            axes.yaxis.get_major_locator().set_params(integer=True)


def _package(name: str) -> Any:
    """A package whose types say little."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = "pictures need the package matplotlib, which is not installed"
        raise InputError(message, help="pip install 'syncopt[plots]'") from error
