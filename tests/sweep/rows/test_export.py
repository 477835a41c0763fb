"""Rows in other formats."""

import csv
import importlib
import io
from typing import Any

import pytest

from syncopt.api import InputError
from syncopt.sweep.rows.columns import columns_of
from syncopt.sweep.rows.export import csv_bytes, parquet_bytes
from tests.sweep.made import failed, row

ROWS = (row(M=1), row(M=2, K=3), failed(M=4))


def test_csv_has_every_column_of_every_row() -> None:
    header, *lines = csv.reader(io.StringIO(csv_bytes(ROWS).decode()))
    assert header == [column.name for column in columns_of(ROWS)]
    first, second, third = (dict(zip(header, line, strict=True)) for line in lines)
    assert (first["M"], first["K"], second["K"], third["cycles"]) == ("1", "", "3", "")
    assert (first["cycles"], first["speedup"], first["proven"]) == ("1000", "1.5", "True")
    assert third["error"] == "a.pto:3:1: error: no\n  help: none"


def test_no_rows_are_a_header() -> None:
    assert csv_bytes(()).decode().splitlines() == [",".join(column.name for column in columns_of(()))]


def test_parquet_keeps_values_and_types() -> None:
    parquet: Any = importlib.import_module("pyarrow.parquet")
    table: Any = parquet.read_table(io.BytesIO(parquet_bytes(ROWS)))
    columns = {column.name: column for column in columns_of(ROWS)}
    assert table.num_rows == 3
    for name in table.column_names:
        assert table[name].to_pylist() == [columns[name].of(one) for one in ROWS], name
    left_out = columns.keys() - set(table.column_names)
    assert all(columns[name].of(one) is None for name in left_out for one in ROWS)
    assert str(table.schema.field("cycles").type) == "int64"
    assert str(table.schema.field("proven").type) == "bool"


def test_parquet_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match="pyarrow, which is not installed") as refused:
        parquet_bytes(ROWS)
    assert refused.value.help == "pip install 'syncopt[parquet]'"
