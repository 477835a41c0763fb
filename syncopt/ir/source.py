"""Where a piece of a kernel stands in its file, and the error that points there."""

from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import PurePath
from typing import Self

_LONG_LINE = 140
"""Characters of a line that an error shows, where the place is among them."""


class Language(Enum):
    """What a kernel is written in."""

    PTO = "pto"
    CPP = "cpp"


_CPP_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".hpp", ".h"})


def language_of(path: PurePath) -> Language:
    """What a file of this name is written in: C++ or else `.pto`."""
    return Language.CPP if path.suffix.lower() in _CPP_SUFFIXES else Language.PTO


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `start` (inclusive) to `end` (exclusive) of a source file."""

    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Source:
    """A kernel file as read: its name for messages and its bytes, which are never changed."""

    path: str
    data: bytes

    @property
    def language(self) -> Language:
        """What it is written in, by the suffix of its name: C++ or else `.pto`."""
        return language_of(PurePath(self.path))

    @cached_property
    def _line_starts(self) -> tuple[int, ...]:
        starts = [0]
        at = self.data.find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.data.find(b"\n", at + 1)
        return tuple(starts)

    def line(self, offset: int) -> int:
        """Number of the line that holds byte `offset`, counted from 1."""
        return bisect_right(self._line_starts, offset)

    def column(self, offset: int) -> int:
        """Column of byte `offset` in characters, counted from 1."""
        start = self._line_starts[self.line(offset) - 1]
        return len(self.data[start:offset].decode("utf-8", "replace")) + 1

    def line_text(self, line: int) -> str:
        """Text of a line without its line end."""
        start = self._line_starts[line - 1]
        end = self.data.find(b"\n", start)
        return self.data[start : end if end >= 0 else len(self.data)].decode("utf-8", "replace").rstrip("\r")


class InputError(Exception):
    """Bad input or usage: one message that says where, what was found, what was expected and what to do.

    Parameters
    ----------
    message : str
        What was found and what was expected.
    source : Source, optional
        The file the message is about.
    span : Span, optional
        The bytes of `source` the message is about.
    help : str, optional
        What to do about it.
    """

    def __init__(self, message: str, source: Source | None = None, span: Span | None = None, help: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.span = span
        self.help = help

    def at(self, source: Source | None, span: Span) -> Self:
        """The same error, about `span` of `source` if it does not say where yet."""
        if self.span is None and source is not None and span.start >= 0:
            self.source, self.span = source, span
        return self

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._excerpt(), *([f"   help: {self.help}"] if self.help else [])])

    def _headline(self) -> str:
        if self.source is None:
            return f"error: {self.message}"
        if self.span is None:
            return f"{self.source.path}:1:1: error: {self.message}"
        line, column = self.source.line(self.span.start), self.source.column(self.span.start)
        return f"{self.source.path}:{line}:{column}: error: {self.message}"

    def _excerpt(self) -> list[str]:
        if self.source is None or self.span is None:
            return []
        line, column = self.source.line(self.span.start), self.source.column(self.span.start)
        text = self.source.line_text(line)
        if len(text) > _LONG_LINE and column < _LONG_LINE:
            text = text[:_LONG_LINE] + "..."
        width = max(1, min(self.span.end - self.span.start, len(text) - column + 1))
        return [f"{line:5} | {text}", f"      | {' ' * (column - 1)}{'^' * width}"]
