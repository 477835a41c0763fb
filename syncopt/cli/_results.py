"""`results`: the rows of a sweep, printed, filtered, exported and plotted."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from syncopt import sweep
from syncopt.api import InputError
from syncopt.api.words import counted
from syncopt.cli._documents import Document, dumped
from syncopt.cli._files import Target, new_target, refuse_same_files
from syncopt.cli._options import AnswerOptions, Force
from syncopt.cli._page import GOOD, Page
from syncopt.cli._rows import print_failed, print_rows

_ROWS, _FILES = "Rows", "Files"

RowsFile = Annotated[Path, typer.Argument(metavar="ROWS.jsonl", help="A file of `syncopt sweep`.", show_default=False)]
Where = Annotated[
    list[str],
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only rows for which this holds, such as 'm>=1024' or 'kernel=hand*' (repeatable).",
        rich_help_panel=_ROWS,
        show_default=False,
    ),
]
BestBy = Annotated[
    str | None,
    typer.Option(
        "--best-by",
        metavar="COLUMN,...",
        help="Only the row with the fewest cycles for each value of these columns; shape: all arguments.",
        rich_help_panel=_ROWS,
    ),
]
Sort = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="COLUMN",
        help="Order by a column; -COLUMN: the other way round. Default: as written.",
        rich_help_panel=_ROWS,
    ),
]
Columns = Annotated[
    str, typer.Option("--columns", metavar="COLUMN,...", help="Columns to print.", rich_help_panel=_ROWS)
]
AllVersions = Annotated[
    bool,
    typer.Option(
        "--all-versions",
        help="Also rows that were solved anew by another version, the latest of which counts otherwise.",
        rich_help_panel=_ROWS,
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="OUT.csv", help="Write the rows as CSV, all columns.", rich_help_panel=_FILES),
]
Parquet = Annotated[
    Path | None,
    typer.Option(
        "--parquet",
        metavar="OUT.parquet",
        help="Write them as Parquet; needs the extra `parquet`.",
        rich_help_panel=_FILES,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="OUT.svg|png|pdf",
        help="Draw ratios to kernels as written, shares of the best plan, and the times of the searches; needs the "
        "extra `plots`.",
        rich_help_panel=_FILES,
    ),
]


def _reference(option: str, name: str) -> typer.models.OptionInfo:
    help = f"Which kernels the plot calls {name}, by a pattern for their names."
    return typer.Option(option, metavar="PATTERN", help=help, rich_help_panel=_FILES)


@dataclass(frozen=True, kw_only=True)
class ResultsOptions(AnswerOptions):
    """Options of `results`."""

    rows: RowsFile
    where: Where = field(default_factory=list[str])
    best_by: BestBy = None
    sort: Sort = None
    columns: Columns = ""
    all_versions: AllVersions = False
    csv: Csv = None
    parquet: Parquet = None
    plot: Plot = None
    hand: Annotated[str, _reference("--hand", "hand-written")] = sweep.REFERENCES["hand-written"]
    ptoas: Annotated[str, _reference("--ptoas", "ptoas")] = sweep.REFERENCES["ptoas"]
    force: Force = False

    def target(self, path: Path | None) -> Target | None:
        """A file to write, found writable."""
        if path is not None and path.exists() and path.samefile(self.rows):
            raise InputError(f"{path} holds the rows themselves", help="name another file")
        return None if path is None else new_target(path, self.force)

    def references(self) -> dict[str, str]:
        """What plans are compared with in plots."""
        return {"hand-written": self.hand, "ptoas": self.ptoas}


def run_results(options: ResultsOptions) -> None:
    """`results`."""
    csv, parquet, plot = (options.target(path) for path in (options.csv, options.parquet, options.plot))
    refuse_same_files(csv, parquet, plot)
    if options.plot is not None and options.plot.suffix[1:] not in sweep.FORMATS:
        raise InputError(f"{options.plot} is no picture", help=f"its name ends in {', '.join(sweep.FORMATS)}")
    rows = _chosen(options)
    written: dict[str, str] = {}
    for kind, target, content in (
        ("csv", csv, lambda: sweep.csv_bytes(rows)),
        ("parquet", parquet, lambda: sweep.parquet_bytes(rows)),
        ("plot", plot, lambda: _picture(rows, options)),
    ):
        if target is not None:
            target.write(content())
            written[kind] = str(target.named)
    page = Page()
    if options.json:
        document: Document = {
            "results": str(options.rows),
            "rows": [sweep.document(row) for row in rows],
            "outputs": written,
        }
        page.raw(dumped(document) + "\n")
        return
    print_rows(page, rows, options.verbose, [name.strip() for name in options.columns.split(",") if name.strip()])
    page.line()
    print_failed(page, rows, options.verbose)
    page.line(counted(len(rows), "row"))
    for path in written.values():
        page.line(f"Written to {path}.", GOOD)


def _picture(rows: tuple[sweep.Row, ...], options: ResultsOptions) -> bytes:
    assert options.plot is not None
    if len({row.asked.machine_hash for row in rows}) > 1:
        raise InputError("these rows are of several machines", help="choose one of them with --where 'machine=...'")
    return sweep.picture(sweep.panels(rows, options.references()), options.plot.suffix[1:])


def _chosen(options: ResultsOptions) -> tuple[sweep.Row, ...]:
    rows = sweep.read_rows(options.rows)
    if not options.all_versions:
        every, rows = rows, sweep.newest(rows)
        if len(rows) < len(every):
            typer.echo(f"note: {counted(len(every) - len(rows), 'row')} of older versions left out", err=True)
    rows = sweep.filtered(rows, options.where)
    if options.best_by is not None:
        rows = sweep.best_by(rows, options.best_by)
    return rows if options.sort is None else _sorted(rows, options.sort)


def _sorted(rows: tuple[sweep.Row, ...], by: str) -> tuple[sweep.Row, ...]:
    """Rows in the order of a column; those without a value come last."""
    column = sweep.column_named(by.removeprefix("-"), sweep.columns_of(rows))
    known = [row for row in rows if column.of(row) is not None]
    texts = any(isinstance(column.of(row), str) for row in known)

    def value(row: sweep.Row) -> tuple[str, float]:
        cell = column.of(row)
        return (str(cell), 0.0) if texts or cell is None else ("", float(cell))

    ordered = sorted(known, key=value, reverse=by.startswith("-"))
    return (*ordered, *(row for row in rows if column.of(row) is None))
