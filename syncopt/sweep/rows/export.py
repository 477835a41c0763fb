"""Rows in other file formats."""

import csv
import importlib
import io
from collections.abc import Sequence
from typing import Any

from syncopt.api import InputError
from syncopt.sweep.rows.columns import columns_of
from syncopt.sweep.rows.row import Row


def csv_bytes(rows: Sequence[Row]) -> bytes:
    """The rows as CSV with a header; cells without a value are empty."""
    columns = columns_of(rows)
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    writer.writerows([column.of(row) for column in columns] for row in rows)
    return out.getvalue().encode()


def parquet_bytes(rows: Sequence[Row]) -> bytes:
    """The rows as Parquet; columns without any value are left out, as they have no type.

    Raises
    ------
    InputError
        If pyarrow is not installed.
    """
    arrow = _package("pyarrow")
    cells = {column.name: [column.of(row) for row in rows] for column in columns_of(rows)}
    known = {name: values for name, values in cells.items() if any(value is not None for value in values)}
    out = io.BytesIO()
    _package("pyarrow.parquet").write_table(arrow.table(known), out)
    return out.getvalue()


def _package(name: str) -> Any:
    """A package that has no types."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        message = "Parquet files need the package pyarrow, which is not installed"
        raise InputError(message, help="pip install 'syncopt[parquet]'") from error
