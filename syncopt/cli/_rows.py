"""Rows of a sweep for people."""

from collections.abc import Callable, Sequence
from itertools import accumulate

from syncopt.api.words import count, counted, percent, times
from syncopt.cli._page import BAD, DOUBTFUL, GAP, HEADING, QUIET, Page, table
from syncopt.sweep import SHAPE, Cell, Column, Outcome, Row, best_by, column_named, columns_of, shape_of

MANY = 40
"""Rows of a table that is cut without -v."""

_WHY = ("gap", "bound_by", "busy_M", "busy_MTE1", "busy_MTE2", "busy_FIX", "loads_per_matmul", "bytes_per_matmul")
_NUMBERS: dict[str, Callable[[float], str]] = {
    "gap": lambda value: percent(value, 2),
    "speedup": times,
    "speedup_min": times,
    "speedup_max": times,
    "us": lambda value: f"{value:,.1f}",
    "tflops": lambda value: f"{value:.1f}",
    "loads_per_matmul": times,
    "bytes_per_matmul": lambda value: count(round(value)),
    "seconds": lambda value: f"{value:.1f}",
    "search_seconds": lambda value: f"{value:.1f}",
}


def print_rows(page: Page, rows: Sequence[Row], verbose: bool, names: Sequence[str] = ()) -> None:
    """A table of rows, the first of them unless all are asked for.

    Parameters
    ----------
    page : Page
        What is printed on.
    rows : sequence of Row
        All rows.
    verbose : bool
        Whether to print every one.
    names : sequence of str
        Columns; those that matter most if none are named.
    """
    if not rows:
        page.line("no rows", QUIET)
        return
    columns = [column_named(name, columns_of(rows)) for name in names] or _shown(rows)
    shown = rows if verbose else rows[:MANY]
    _print(page, shown, columns)
    if any(row.figures is not None and row.figures.beyond_l2 for row in shown):
        page.line("  beyond_l2: the operands exceed the L2 cache, so the load rate is a guess", DOUBTFUL)
    if len(shown) < len(rows):
        page.line(f"  and {counted(len(rows) - len(shown), 'row')} more; -v prints all", QUIET)


def print_best(page: Page, rows: Sequence[Row]) -> None:
    """The best row of each shape, and what limits it."""
    best = best_by(rows, SHAPE)
    if not best:
        return
    page.line("fastest per shape", HEADING)
    tried = {row.key: sum(shape_of(other) == shape_of(row) for other in rows) for row in best}
    columns = columns_of(best)
    names = [column.name for column in columns if column.name in _WHY]
    wanted = [*_identity(best), *(column_named(name, columns) for name in ("cycles", "tflops", *names))]
    _print(page, best, [*wanted, Column("of", lambda row: tried[row.key])])


def print_failed(page: Page, rows: Sequence[Row], verbose: bool) -> None:
    """What went wrong with the rows that have no plan."""
    failed = [row for row in rows if not row.outcome.solved]
    if not failed:
        return
    page.line(f"{counted(len(failed), 'row')} without a plan", BAD)
    shown = failed if verbose else failed[:6]
    for row in shown:
        page.line(f"  {row.asked.kernel}, {shape_of(row)}: {row.outcome.value}", DOUBTFUL)
        page.raw("".join(f"      {line}\n" for line in row.error.splitlines()))
    if len(shown) < len(failed):
        page.line(f"  and {len(failed) - len(shown)} more; -v prints all", QUIET)
    page.line()


def _print(page: Page, rows: Sequence[Row], columns: Sequence[Column]) -> None:
    cells = [[column.of(row) for row in rows] for column in columns]
    texts = [[_text(column.name, cell) for cell in line] for column, line in zip(columns, cells, strict=True)]
    widths = [GAP + max(len(column.name), *map(len, line), 0) for column, line in zip(columns, texts, strict=True)]
    shown = _fitting(widths, page.room)
    numeric = [any(isinstance(cell, int | float) for cell in line) for line in cells[:shown]]
    made = table(*(f">{c.name}" if is_number else c.name for c, is_number in zip(columns, numeric, strict=False)))
    # Names are broken where there is too little room even so, and never the figures.
    made.columns[0].no_wrap = False
    for row, line in zip(rows, zip(*texts[:shown], strict=True), strict=True):
        style = "" if row.outcome is Outcome.OPTIMAL else DOUBTFUL if row.outcome.solved else BAD
        made.add_row(*line, style=style)
    page.table(made)
    if shown < len(columns):
        left = ", ".join(column.name for column in columns[shown:])
        page.line(f"  not shown, the terminal is too narrow: {left} (`syncopt results --columns` chooses)", QUIET)


def _fitting(widths: Sequence[int], room: int) -> int:
    """How many columns from the left have room; the first two in any case."""
    fitting = [number for number, end in enumerate(accumulate(widths), 1) if end <= room]
    return max(min(2, len(widths)), *fitting, 0)


def _shown(rows: Sequence[Row]) -> list[Column]:
    """The columns that matter most, without those that say nothing about these rows."""
    columns = columns_of(rows)
    names = ["cycles", "speedup", _RANGE.name, "gap", "bound_by"]
    if any(row.outcome is not Outcome.OPTIMAL for row in rows):
        names.insert(0, "status")
    figures = [row.figures for row in rows if row.figures is not None]
    names.append("us" if all(found.tflops is None for found in figures) else "tflops")
    if any(found.beyond_l2 for found in figures):
        names.append("beyond_l2")
    return [*_identity(rows), *(column_named(name, (*columns, _RANGE)) for name in names)]


def _range(row: Row) -> str | None:
    """Least and greatest speedup over the sensitivity machines."""
    found = None if row.figures is None else row.figures.speedups
    return None if found is None else f"{times(found[0])}-{times(found[1])}"


_RANGE = Column("on all machines", _range)


def _identity(rows: Sequence[Row]) -> list[Column]:
    """What tells rows apart: kernel or tiling, machine where there are several, arguments."""
    columns = columns_of(rows)
    names = ["tiling"] if all(row.asked.tiling for row in rows) else ["kernel"]
    names += ["machine"] if len({row.asked.machine_hash for row in rows}) > 1 else []
    names += list(dict.fromkeys(name for row in rows for name in row.asked.arguments))
    return [column_named(name, columns) for name in names]


def _text(name: str, cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case bool():
            return "yes" if cell else "no"
        case str():
            return cell.splitlines()[0] if cell else ""
        case int() if name not in _NUMBERS:
            return count(cell)
        case _:
            written = _NUMBERS.get(name)
            if written is None:
                return percent(cell) if name.startswith("busy_") else f"{cell:.3f}"
            return written(cell)
