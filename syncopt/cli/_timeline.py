"""Timelines in files and on the terminal."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rich.text import Text

from syncopt.api import (
    Gantt,
    Mark,
    Shown,
    Solved,
    Timelines,
    TraceFormat,
    draw,
    report_page,
    require_report,
    write_trace,
)
from syncopt.api.words import count, counted
from syncopt.cli._files import Target, separate_target
from syncopt.cli._page import BAD, GOOD, HEADING, QUIET, Page

_STYLES = {Mark.OP: "green", Mark.WAIT: "red", Mark.BARRIER: "yellow", Mark.IDLE: ""}
_LEGEND = "# tile op   . wait for a flag   | barrier   blank: nothing dispatched"
_LEAST_COLUMNS = 20
_LABEL = 6


@dataclass(frozen=True)
class Written:
    """A file with timelines that was written: its key in documents, and what it shows of each version."""

    key: str
    file: Target
    shown: Sequence[Shown]


@dataclass(frozen=True)
class TraceFile:
    """A trace file that a command is to write.

    Parameters
    ----------
    file : Target
        Where to.
    viewer : TraceFormat
        For which viewer.
    """

    file: Target
    viewer: TraceFormat

    def write(self, timelines: Timelines) -> Written:
        """Write it."""
        with self.file.opened() as out:
            text = io.TextIOWrapper(out, encoding="utf-8", newline="\n")
            shown = write_trace(text, timelines, self.viewer)
            text.detach()
        return Written("trace", self.file, shown)


def trace_file(kernel: Path, output: Path | None, force: bool, viewer: TraceFormat) -> TraceFile | None:
    """The trace file, if one is asked for, found writable."""
    file = separate_target(kernel, output, force)
    return None if file is None else TraceFile(file, viewer)


def report_file(kernel: Path, output: Path | None, force: bool) -> Target | None:
    """The file of a report, if one is asked for, found writable."""
    if output is not None:
        require_report()
    return separate_target(kernel, output, force)


def write_timelines(
    trace: TraceFile | None, report: Target | None, solved: Solved, timelines: Timelines
) -> list[Written]:
    """Write what a solve was asked for."""
    written = [] if trace is None else [trace.write(timelines)]
    if report is not None:
        page, shown = report_page(solved, timelines)
        report.write(page.encode())
        written.append(Written("report", report, shown))
    return written


def outputs_of(written: Iterable[Written]) -> dict[str, Path]:
    """Files by their keys."""
    return {one.key: one.file.named for one in written}


def shown_document(written: Iterable[Written]) -> dict[str, object]:
    """What the files show of each version, and what they leave out."""
    return {one.key: {shown.version.name: shown.statement for shown in one.shown} for one in written}


def print_written(page: Page, written: Iterable[Written]) -> None:
    """The files, and what they show."""
    for one in written:
        page.line(f"Written to {one.file.named}:", GOOD)
        page.items([f"{shown.version.name}: {shown.statement}" for shown in one.shown])


def print_gantt(page: Page, timelines: Timelines) -> None:
    """One row per pipe, the versions below each other on one scale."""
    columns = max(_LEAST_COLUMNS, page.columns - _LABEL - 2)
    cycles, drawn = draw(timelines, columns)
    assert cycles.last is not None
    for one in drawn:
        page.line()
        style = BAD if one.shown.replay.deadlock is not None else HEADING
        page.line(f"Timeline {one.shown.version.name}: {one.shown.statement}", style)
        for row in _rows(one):
            page.text(row)
    wide = max((len(row) for one in drawn for row in one.rows.values()), default=0)
    left, right = count(cycles.first), counted(cycles.last, "cycle")
    page.line(f"  {'':{_LABEL}}{left}{right:>{max(wide - len(left), len(right) + 1)}}", QUIET)
    page.line(f"  {'':{_LABEL}}{_LEGEND}", QUIET)


def _rows(drawn: Gantt) -> list[Text]:
    rows: list[Text] = []
    for pipe, marks in drawn.rows.items():
        row = Text()
        row.append(f"  {pipe!s:{_LABEL}}", QUIET)
        for mark, run in groupby(marks):
            row.append(mark.value * len(list(run)), _STYLES[mark])
        rows.append(row)
    return rows
