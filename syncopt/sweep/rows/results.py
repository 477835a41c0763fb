"""The file of a sweep's rows: it only grows, a row at a time, and survives any end of the process that writes it."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from syncopt.api import InputError, Source, Span
from syncopt.sweep.locks import take
from syncopt.sweep.rows.row import Row
from syncopt.sweep.rows.rowtext import BEGIN, reread, written

_HELP = "a results file holds one JSON document per line, as `syncopt sweep` writes them"


def read_rows(path: Path) -> tuple[Row, ...]:
    """The rows of a results file in order, the latest one of each key.

    A last line that a process left unfinished when it died is not counted.

    Raises
    ------
    InputError
        If the file cannot be read, or a finished line is no row.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    return tuple(_rows(Source(str(path), data)).values())


def _rows(source: Source) -> dict[str, Row]:
    """The rows of the lines that are finished; the last one may be the beginning of a row."""
    found: dict[str, Row] = {}
    start, end = 0, _finished(source.data)
    for line in source.data[:end].splitlines(keepends=True):
        try:
            row = reread(line.decode())
        except ValueError as error:
            raise InputError(str(error), source, Span(start, start + len(line.rstrip())), _HELP) from error
        found[row.key] = row
        start += len(line)
    rest = source.data[end:]
    if not rest.startswith(BEGIN[: len(rest)]):
        raise InputError("the last line is not the beginning of a row", source, Span(end, len(source.data)), _HELP)
    return found


def _finished(data: bytes) -> int:
    """Bytes up to the end of the last line that is finished."""
    return data.rfind(b"\n") + 1


class Results:
    """A results file that is open for more rows; see `opened`."""

    def __init__(self, file: BinaryIO, rows: dict[str, Row], torn: int) -> None:
        self._file = file
        self._rows = rows
        self.torn = torn
        """Bytes of an unfinished last line that were dropped."""

    @property
    def rows(self) -> Mapping[str, Row]:
        """The rows by key, the latest one of each."""
        return MappingProxyType(self._rows)

    def append(self, row: Row) -> None:
        """Write a row; once this returns it survives the end of the process."""
        self._file.write(f"{written(row)}\n".encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._rows[row.key] = row


@contextmanager
def opened(path: Path) -> Generator[Results]:
    """Open a results file for more rows, and make it if it is not there.

    An unfinished last line is dropped. Nobody else can open the file this way in the meantime. A file that was made
    here is taken away again if no row came.

    Raises
    ------
    InputError
        If the file cannot be written, somebody else writes it, or it holds something else.
    """
    made = not path.exists()
    try:
        file = path.open("a+b")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error
    with file:
        if not take(file) or not _stands_at(path, file):
            help = "wait for it, or name another file with -o"
            raise InputError(f"{path} is being written by another sweep", help=help)
        file.seek(0)
        source = Source(str(path), file.read())
        rows, end = _rows(source), _finished(source.data)
        file.truncate(end)
        results = Results(file, rows, len(source.data) - end)
        try:
            yield results
        finally:
            if made and not results.rows:
                path.unlink()


def _stands_at(path: Path, file: BinaryIO) -> bool:
    """Whether an open file still has its name; the sweep that made it may have taken it away since."""
    return path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno()))
