"""Text of a block with its pieces removed, added, moved; everything else stays as it was.

A block is cut into chunks, one per unit (an op, or in C++ a statement) of the original: from the end of the chunk
before to the end of the unit's line (or to the unit's own end if another one follows on that line). Comments thus stand
with the unit below them and travel with it. Of a unit that was removed the lines above it stay, in front of what came
next.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from syncopt.ir.kernel import Block, If, Op
from syncopt.ir.source import Span

INDENT = "  "
_LEADING_BLANKS = re.compile(rb"[ \t]*")


@dataclass(frozen=True, slots=True)
class Kept:
    """A unit that stays: its place among the units of the original block, and its text, perhaps changed."""

    place: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Added:
    """Lines that are new, without indentation and line ends."""

    lines: Sequence[str]


Item = Kept | Added


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text in a block.

    `place` is its number in the original block: 0 for what follows the opening brace, -1 for added text.
    `starts_line` tells whether nothing stands before it on its line, `indent` what to put there if it is put on a line
    of its own.
    """

    text: bytes
    place: int
    starts_line: bool
    indent: bytes

    @property
    def ends_line(self) -> bool:
        return self.text.endswith(b"\n")


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Bytes `start` to `end` of the file, which belong to a unit, the number `place` - 1 of its block."""

    unit: Span
    place: int
    start: int
    end: int
    starts_line: bool


@dataclass(frozen=True, slots=True)
class _Cut:
    """A block cut up: `first` is the end of the opening brace's line, `last` the end of the last chunk."""

    first: int
    last: int
    chunks: tuple[_Chunk, ...]


class BlockText:
    """Writes blocks of one file.

    Parameters
    ----------
    data : bytes
        The file.
    rest_of_line : re.Pattern
        What may follow on the line of a unit and belongs to it: blanks, comments and the line end.
    """

    def __init__(self, data: bytes, rest_of_line: re.Pattern[bytes]) -> None:
        self.data = data
        self._rest_of_line = rest_of_line
        newline = data.find(b"\n")
        self.line_end = b"\r\n" if newline > 0 and data[newline - 1] == ord("\r") else b"\n"

    def fill(self, span: Span, units: Sequence[Span], items: Sequence[Item], owner: int) -> bytes:
        """Text between the braces of a block.

        Parameters
        ----------
        span : Span
            What stands between the braces.
        units : sequence of Span
            The units of the original, in text order.
        items : sequence of Item
            What shall stand there, in order.
        owner : int
            Where the op whose block it is begins.
        """
        cut = self._cut(span, units)
        outer = self.indent_at(owner)
        indent = next((self.indent_at(c.unit.start) for c in cut.chunks if c.starts_line), outer + INDENT.encode())
        head = _Piece(self.data[span.start : cut.first], 0, False, indent)
        texts = {item.place: item.text for item in items if isinstance(item, Kept)}
        kept, left_over = self._kept(cut, texts, indent)
        pieces = [kept[item.place] if isinstance(item, Kept) else self._added(item, indent) for item in items]
        is_added_to = any(isinstance(item, Added) for item in items)
        return self._join([head, *pieces, self._tail(span, cut, left_over, outer, is_added_to)])

    def indent_at(self, offset: int) -> bytes:
        """The blanks that the line of a byte begins with."""
        match = _LEADING_BLANKS.match(self.data, self.data.rfind(b"\n", 0, offset) + 1)
        return match.group() if match else b""

    def _cut(self, span: Span, units: Sequence[Span]) -> _Cut:
        first = at = self._line_end_behind(span.start, span.end)
        chunks: list[_Chunk] = []
        for place, unit in enumerate(units, 1):
            end = self._line_end_behind(unit.end, span.end)
            chunks.append(_Chunk(unit, place, at, end, self._is_line_start(at)))
            at = end
        return _Cut(first, at, tuple(chunks))

    def _line_end_behind(self, at: int, end: int) -> int:
        """The end of the line if nothing but a comment follows on it and the block goes on behind it, else `at`."""
        match = self._rest_of_line.match(self.data, at, end)
        return match.end() if match else at

    def _is_line_start(self, at: int) -> bool:
        return self.data[at - 1 : at] == b"\n"

    def _kept(self, cut: _Cut, texts: Mapping[int, bytes], indent: bytes) -> tuple[dict[int, _Piece], bytes]:
        """The pieces of the units that stay, and what removed ones at the end of the block leave behind."""
        pieces: dict[int, _Piece] = {}
        carried = b""
        for number, chunk in enumerate(cut.chunks):
            if number in texts:
                pieces[number] = self._piece(chunk, texts[number], carried, indent)
                carried = b""
            else:
                carried = _stacked(carried, self._lines_above(chunk))
        return pieces, carried

    def _piece(self, chunk: _Chunk, own: bytes, carried: bytes, indent: bytes) -> _Piece:
        text = self.data[chunk.start : chunk.unit.start] + own + self.data[chunk.unit.end : chunk.end]
        if carried:
            text = _stacked(carried, text if chunk.starts_line else indent + text.lstrip(b" \t"))
        return _Piece(text, chunk.place, chunk.starts_line or bool(carried), indent)

    def _lines_above(self, chunk: _Chunk) -> bytes:
        """Comments and blank lines in front of a unit."""
        line = self.data.rfind(b"\n", chunk.start, chunk.unit.start) + 1
        return self.data[chunk.start : line] if line else b""

    def _tail(self, span: Span, cut: _Cut, left_over: bytes, outer: bytes, is_added_to: bool) -> _Piece:
        text, place = self.data[cut.last : span.end], len(cut.chunks) + 1
        starts_line = self._is_line_start(cut.last)
        comments = _without_last_blank_lines(left_over)
        if not starts_line and (is_added_to or comments):
            text, place, starts_line = outer, -1, True
        text = comments + text
        return _Piece(text, place, starts_line, outer)

    def _added(self, item: Added, indent: bytes) -> _Piece:
        return _Piece(b"".join(indent + line.encode() + self.line_end for line in item.lines), -1, True, indent)

    def _join(self, pieces: Sequence[_Piece]) -> bytes:
        return pieces[0].text + b"".join(self._behind(before, piece) for before, piece in pairwise(pieces))

    def _behind(self, before: _Piece, piece: _Piece) -> bytes:
        """The text of a piece, on a line of its own if it or the piece before wants that."""
        if before.place >= 0 and piece.place == before.place + 1:
            return piece.text
        if piece.starts_line:
            return piece.text if before.ends_line else self.line_end + piece.text
        if before.ends_line:
            return piece.indent + piece.text.lstrip(b" \t")
        return piece.text if piece.text[:1] in b" \t" else b" " + piece.text


def _stacked(above: bytes, below: bytes) -> bytes:
    """Whole lines on top of a text, with one blank line where two would meet."""
    first, newline, rest = below.partition(b"\n")
    lines = above.splitlines(keepends=True)
    if lines and newline and not lines[-1].strip() and not first.strip():
        return above + rest
    return above + below


def _without_last_blank_lines(text: bytes) -> bytes:
    lines = text.splitlines(keepends=True)
    while lines and not lines[-1].strip():
        lines.pop()
    return b"".join(lines)


def branch(head: str, op: If, spell: Callable[[Op], list[str]]) -> list[str]:
    """The lines of an added branch.

    Parameters
    ----------
    head : str
        What stands in front of its first brace.
    op : If
        The branch.
    spell : callable
        Gives the lines of an op inside.
    """
    lines = [f"{head} {{", *_indented(op.then, spell)]
    if op.orelse is not None:
        lines += ["} else {", *_indented(op.orelse, spell)]
    return [*lines, "}"]


def _indented(block: Block, spell: Callable[[Op], list[str]]) -> list[str]:
    return [INDENT + line for op in block.ops for line in spell(op)]
