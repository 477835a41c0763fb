"""Some of the rows: those for which conditions hold, and the best of each group."""

import operator
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from syncopt.api import InputError
from syncopt.sweep.rows.columns import Cell, Column, column_named, columns_of
from syncopt.sweep.rows.row import Row

SHAPE = "shape"
"""Stands for all arguments together."""

_CONDITION = re.compile(r"\s*([A-Za-z_]\w*)\s*(>=|<=|!=|==|=|<|>)\s*(.*?)\s*")
_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
_WORDS = {"true": 1, "yes": 1, "false": 0, "no": 0}


def filtered(rows: Sequence[Row], conditions: Sequence[str]) -> tuple[Row, ...]:
    """The rows for which all conditions hold.

    Parameters
    ----------
    rows : sequence of Row
        All rows.
    conditions : sequence of str
        Such as `m>=1024`, `kernel=hand*`, `proven=false`: a column, a relation, a value. Texts are compared by `=` and
        `!=`, with `*` and `?` standing for anything. No condition holds for a row that has nothing in its column.

    Raises
    ------
    InputError
        If a condition is none, its column does not exist, or it compares texts by another relation.
    """
    columns = columns_of(rows)
    found = [_condition(text, columns) for text in conditions]
    return tuple(row for row in rows if all(holds(row) for holds in found))


def newest(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Of rows that differ in the versions that answered alone, the latest one."""
    return tuple({row.asked.question: row for row in rows}.values())


def best_by(rows: Sequence[Row], names: str) -> tuple[Row, ...]:
    """Of the rows with a plan the one with the fewest cycles in each group, in the order of the groups.

    Parameters
    ----------
    rows : sequence of Row
        All rows; those on different machines are never in one group.
    names : str
        Columns with commas between them; rows that agree in all of them are a group. `shape` stands for all arguments.

    Raises
    ------
    InputError
        If a column does not exist.
    """
    columns = columns_of(rows)
    wanted = [name.strip() for name in names.split(",")]
    grouping = [_grouping(name, columns) for name in wanted]
    best: dict[tuple[object, ...], Row] = {}
    for row in rows:
        if row.figures is None:
            continue
        group = (row.asked.machine_hash, *(of(row) for of in grouping))
        known = best.get(group)
        if known is None or known.figures is None or row.figures.cycles < known.figures.cycles:
            best[group] = row
    return tuple(best.values())


def _grouping(name: str, columns: Sequence[Column]) -> Callable[[Row], object]:
    if name.casefold() == SHAPE:
        return lambda row: tuple(sorted(row.asked.arguments.items()))
    return column_named(name, columns).of


def _condition(text: str, columns: Sequence[Column]) -> Callable[[Row], bool]:
    match = _CONDITION.fullmatch(text)
    if match is None or not match[3]:
        help = "for example --where 'm>=1024' or --where 'kernel=hand*'"
        raise InputError(f"--where {text!r} is not a column, a relation and a value", help=help)
    column, relation, value = column_named(match[1], columns), match[2], match[3]
    number = _number(value)

    def holds(row: Row) -> bool:
        cell = column.of(row)
        if cell is None:
            return False
        if isinstance(cell, str) or number is None:
            return _texts(str(cell), relation, value, text)
        return _RELATIONS[relation](cell, number)

    return holds


def _texts(cell: Cell, relation: str, value: str, text: str) -> bool:
    if relation not in ("=", "==", "!="):
        raise InputError(f"--where {text!r} compares texts by {relation}", help="texts are compared by = and !=")
    return fnmatchcase(str(cell), value) is not (relation == "!=")


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return _WORDS.get(value.casefold())
