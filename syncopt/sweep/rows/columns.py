"""Rows as columns, for tables, filters and other file formats."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from syncopt.api import InputError
from syncopt.sweep.rows.row import Figures, Outcome, Row

Cell = str | int | float | bool | None

_FEW = 10
"""Columns that are named where there are many."""


@dataclass(frozen=True)
class Column:
    """A column: its name, and its cell of a row; None where a row has none."""

    name: str
    of: Callable[[Row], Cell]


def columns_of(rows: Sequence[Row]) -> tuple[Column, ...]:
    """The columns of some rows: those that all have, and one for each argument and pipe that some have."""
    arguments = dict.fromkeys(name for row in rows for name in row.asked.arguments)
    pipes = dict.fromkeys(pipe for row in rows if row.figures is not None for pipe in row.figures.busy)
    return (
        *_ASKED,
        *(_argument(name) for name in arguments),
        *_TOLD,
        *(_busy(pipe) for pipe in pipes),
        *_LAST,
    )


def column_named(name: str, columns: Iterable[Column]) -> Column:
    """A column by its name, in any case.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    known = {column.name.casefold(): column for column in columns}
    if name.casefold() not in known:
        raise InputError(f"no column {name!r}", help=_others(name, known))
    return known[name.casefold()]


def _others(name: str, known: Mapping[str, Column]) -> str:
    """What may have been meant instead."""
    close = get_close_matches(name.casefold(), known)
    if close:
        return f"did you mean {' or '.join(known[key].name for key in close)}?"
    names = [column.name for column in known.values()]
    return f"there are {', '.join(names[:_FEW])} and {len(names) - _FEW} more; the first line of --csv names all"


def shape_of(row: Row) -> str:
    """The arguments of a row in words."""
    return ", ".join(f"{name}={value}" for name, value in row.asked.arguments.items())


def _told(name: str, of: Callable[[Figures], Cell]) -> Column:
    return Column(name, lambda row: None if row.figures is None else of(row.figures))


def _argument(name: str) -> Column:
    return Column(name, lambda row: row.asked.arguments.get(name))


def _busy(pipe: str) -> Column:
    return _told(f"busy_{pipe}", lambda figures: figures.busy.get(pipe, 0.0))


def _per_matmul(figures: Figures) -> float | None:
    return figures.loads / figures.matmuls if figures.matmuls else None


def _intensity(figures: Figures) -> float | None:
    return figures.loaded_bytes / figures.matmuls if figures.matmuls else None


_ASKED = (
    Column("kernel", lambda row: Path(row.asked.kernel).stem),
    Column("tiling", lambda row: row.asked.tiling or None),
    Column("machine", lambda row: row.asked.machine),
)
_TOLD = (
    Column("status", lambda row: row.outcome.value),
    Column("proven", lambda row: row.outcome is Outcome.OPTIMAL),
    _told("cycles", lambda figures: figures.cycles),
    _told("lower_bound", lambda figures: figures.lower_bound),
    _told("gap", lambda figures: figures.gap),
    _told("bound_by", lambda figures: figures.bound_by),
    _told("baseline", lambda figures: figures.baseline),
    _told("baseline_kind", lambda figures: figures.baseline_kind),
    _told("baseline_valid", lambda figures: figures.baseline_valid),
    _told("speedup", lambda figures: figures.speedup),
    _told("speedup_min", lambda figures: figures.speedups[0] if figures.speedups else None),
    _told("speedup_max", lambda figures: figures.speedups[1] if figures.speedups else None),
    _told("us", lambda figures: figures.microseconds),
    _told("tflops", lambda figures: figures.tflops),
    _told("beyond_l2", lambda figures: figures.beyond_l2),
    _told("window_ops", lambda figures: figures.window_ops),
    _told("window_makespan", lambda figures: figures.window_makespan),
    _told("window_bound", lambda figures: figures.window_bound),
    _told("matmuls", lambda figures: figures.matmuls),
    _told("loads", lambda figures: figures.loads),
    _told("loads_per_matmul", _per_matmul),
    _told("bytes_per_matmul", _intensity),
    _told("loaded_bytes", lambda figures: figures.loaded_bytes),
    _told("operand_bytes", lambda figures: figures.operand_bytes),
    _told("sets", lambda figures: figures.sets),
    _told("waits", lambda figures: figures.waits),
    _told("barriers", lambda figures: figures.barriers),
)
_LAST = (
    _told("remembered", lambda figures: figures.remembered),
    _told("search_seconds", lambda figures: figures.search_seconds),
    Column("seconds", lambda row: row.seconds),
    Column("error", lambda row: row.error or None),
    Column("file", lambda row: row.asked.kernel),
    _told("function", lambda figures: figures.name),
    Column("order", lambda row: row.asked.order),
    Column("budget", lambda row: row.asked.budget),
    Column("core", lambda row: row.asked.core),
    Column("cores", lambda row: row.asked.cores or None),
    Column("kernel_hash", lambda row: row.asked.kernel_hash),
    Column("machine_hash", lambda row: row.asked.machine_hash),
    Column("syncopt", lambda row: row.asked.versions.syncopt),
    Column("code", lambda row: row.asked.versions.code),
    Column("ortools", lambda row: row.asked.versions.ortools),
    Column("key", lambda row: row.key),
)
