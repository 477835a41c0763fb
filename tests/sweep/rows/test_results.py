"""The file of the rows: what it keeps, and what it refuses to touch."""

from pathlib import Path
from typing import BinaryIO

import pytest

from syncopt.api import InputError
from syncopt.sweep.locks import take
from syncopt.sweep.rows.results import opened, read_rows
from syncopt.sweep.rows.rowtext import written
from tests.sweep.made import failed, row

FIRST, SECOND = row(M=1), row(M=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def test_rows_are_there_as_soon_as_they_are_written(path: Path) -> None:
    with opened(path) as results:
        results.append(FIRST)
        assert read_rows(path) == (FIRST,)
        results.append(SECOND)
        assert read_rows(path) == (FIRST, SECOND)
        assert results.rows == {FIRST.key: FIRST, SECOND.key: SECOND}
    with opened(path) as results:
        assert set(results.rows) == {FIRST.key, SECOND.key}


def test_latest_row_of_a_key_counts(path: Path) -> None:
    with opened(path) as results:
        results.append(failed(M=1))
        results.append(SECOND)
        results.append(FIRST)
    assert FIRST.key == failed(M=1).key
    assert read_rows(path) == (FIRST, SECOND)


@pytest.mark.parametrize("rest", [1, 5, 40])
def test_unfinished_row_is_dropped(path: Path, rest: int) -> None:
    """As a process leaves it that is killed while it writes."""
    path.write_text(f"{written(FIRST)}\n{written(SECOND)[:rest]}")
    assert read_rows(path) == (FIRST,)
    with opened(path) as results:
        assert results.torn == rest
        results.append(SECOND)
    assert path.read_text() == f"{written(FIRST)}\n{written(SECOND)}\n"


def test_row_without_its_end_of_line_is_unfinished(path: Path) -> None:
    path.write_text(written(FIRST))
    with opened(path) as results:
        assert results.rows == {}
    assert path.read_text() == ""


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "module {", "{", f"{written(FIRST)}\n\nx", '{"key": 1}\n'])
def test_file_of_something_else_is_left_alone(path: Path, text: str) -> None:
    """Not even an unfinished line of it is dropped; `{` could begin a row."""
    path.write_text(text)
    if text == "{":
        assert read_rows(path) == ()
        return
    with pytest.raises(InputError, match=r"a row|the beginning"), opened(path):
        pass
    with pytest.raises(InputError):
        read_rows(path)
    assert path.read_text() == text


def test_broken_row_is_refused_at_its_line(path: Path) -> None:
    path.write_text(f"{written(FIRST)}\n{written(SECOND)[:-3]}\n")
    with pytest.raises(InputError) as refused:
        read_rows(path)
    assert str(refused.value).startswith(f"{path}:2:1: error: ")


def test_two_sweeps_do_not_write_one_file(path: Path) -> None:
    with opened(path), pytest.raises(InputError, match="is being written by another sweep"), opened(path):
        pass
    with opened(path):
        pass


def test_file_without_a_row_is_not_left_behind(path: Path) -> None:
    """Whatever kept the first row from coming; a file that was there before stays."""
    with pytest.raises(KeyboardInterrupt), opened(path):
        raise KeyboardInterrupt
    assert not path.exists()
    path.touch()
    with opened(path):
        pass
    assert path.read_bytes() == b""


def test_file_that_is_taken_away_while_it_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that nobody finds are not written."""

    def late(file: BinaryIO) -> bool:
        path.unlink()
        return take(file)

    monkeypatch.setattr("syncopt.sweep.rows.results.take", late)
    with pytest.raises(InputError, match="is being written by another sweep"), opened(path):
        pass


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"), opened(tmp_path / "none" / "rows.jsonl"):
        pass
    with pytest.raises(InputError, match="cannot read"):
        read_rows(tmp_path / "none.jsonl")
