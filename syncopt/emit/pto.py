"""A changed kernel as text: the file it was read from with the ops of its blocks removed, added, moved.

A block is cut into chunks, one per op of the original: from the end of the chunk before to the end of the op's line (or
to the op's own end if another op follows on that line). Comments thus stand with the op below them and travel with it.
Of an op that was removed the lines above it stay, in front of the op that came next.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from syncopt.emit.spelling import INDENT, spell
from syncopt.ir.kernel import AllocMultiTile, AllocTile, Block, For, If, Kernel, Op, Section, regions

_REST_OF_LINE = re.compile(rb"[^\S\n]*(?://[^\n]*)?\n")
_LEADING_BLANKS = re.compile(rb"[ \t]*")
_TO_ALLOC_NAME = re.compile(rb"[^=]*=(?:\s|//[^\n]*\n)*pto\.alloc_(?:multi_)?tile(?![\w$.])")


def render(original: Kernel, changed: Kernel) -> bytes:
    """The whole file of a kernel with this function's text after its changed tree.

    Parameters
    ----------
    original : Kernel
        The kernel as read.
    changed : Kernel
        The same kernel with ops removed, moved within their block or added (uid below 0), and addresses given to
        allocations that had none.

    Raises
    ------
    ValueError
        If the tree was changed in another way.
    """
    if original.source is not changed.source:
        raise ValueError("the changed kernel is of another file")
    data, body = original.source.data, original.body.span
    text = _Page(data).block(original.body, changed.body, original.span.start)
    return data[: body.start] + text + data[body.end :]


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
    """Bytes `start` to `end` of the file, which belong to `op`, the op number `place` - 1 of its block."""

    op: Op
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


class _Page:
    """Writes blocks of one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        newline = data.find(b"\n")
        self._line_end = b"\r\n" if newline > 0 and data[newline - 1] == ord("\r") else b"\n"

    def block(self, old: Block, new: Block, owner: int) -> bytes:
        """Text between the braces of a block whose op begins at byte `owner`."""
        if old is new:
            return self._data[old.span.start : old.span.end]
        cut = self._cut(old)
        outer = self._indent_at(owner)
        indent = next((self._indent_at(c.op.span.start) for c in cut.chunks if c.starts_line), outer + INDENT.encode())
        head = _Piece(self._data[old.span.start : cut.first], 0, False, indent)
        kept, left_over = self._kept(cut, new, indent)
        pieces = [kept[op.uid] if op.uid >= 0 else self._added(op, indent) for op in new.ops]
        is_added_to = any(op.uid < 0 for op in new.ops)
        return self._join([head, *pieces, self._tail(old, cut, left_over, outer, is_added_to)])

    def _cut(self, block: Block) -> _Cut:
        first = at = self._line_end_behind(block.span.start, block.span.end)
        chunks: list[_Chunk] = []
        for place, op in enumerate(block.ops, 1):
            end = self._line_end_behind(op.span.end, block.span.end)
            chunks.append(_Chunk(op, place, at, end, self._is_line_start(at)))
            at = end
        return _Cut(first, at, tuple(chunks))

    def _line_end_behind(self, at: int, end: int) -> int:
        """The end of the line if nothing but a comment follows on it and the block goes on behind it, else `at`."""
        match = _REST_OF_LINE.match(self._data, at, end)
        return match.end() if match else at

    def _is_line_start(self, at: int) -> bool:
        return self._data[at - 1 : at] == b"\n"

    def _kept(self, cut: _Cut, new: Block, indent: bytes) -> tuple[dict[int, _Piece], bytes]:
        """The pieces of the ops that stay, by uid, and what removed ops at the end of the block leave behind."""
        stays = {op.uid: op for op in new.ops if op.uid >= 0}
        known = {chunk.op.uid for chunk in cut.chunks}
        if len(stays) < sum(op.uid >= 0 for op in new.ops) or not stays.keys() <= known:
            raise ValueError("an op stands twice in a block, or moved to another one")
        pieces: dict[int, _Piece] = {}
        carried = b""
        for chunk in cut.chunks:
            op = stays.get(chunk.op.uid)
            if op is None:
                carried = _stacked(carried, self._lines_above(chunk))
            else:
                pieces[op.uid] = self._piece(chunk, op, carried, indent)
                carried = b""
        return pieces, carried

    def _piece(self, chunk: _Chunk, op: Op, carried: bytes, indent: bytes) -> _Piece:
        span = chunk.op.span
        text = self._data[chunk.start : span.start] + self._op(chunk.op, op) + self._data[span.end : chunk.end]
        if carried:
            text = _stacked(carried, text if chunk.starts_line else indent + text.lstrip(b" \t"))
        return _Piece(text, chunk.place, chunk.starts_line or bool(carried), indent)

    def _lines_above(self, chunk: _Chunk) -> bytes:
        """Comments and blank lines in front of an op."""
        line = self._data.rfind(b"\n", chunk.start, chunk.op.span.start) + 1
        return self._data[chunk.start : line] if line else b""

    def _tail(self, block: Block, cut: _Cut, left_over: bytes, outer: bytes, is_added_to: bool) -> _Piece:
        text, place = self._data[cut.last : block.span.end], len(block.ops) + 1
        starts_line = self._is_line_start(cut.last)
        comments = _without_last_blank_lines(left_over)
        if not starts_line and (is_added_to or comments):
            text, place, starts_line = outer, -1, True
        text = comments + text
        return _Piece(text, place, starts_line, outer)

    def _added(self, op: Op, indent: bytes) -> _Piece:
        return _Piece(b"".join(indent + line.encode() + self._line_end for line in spell(op)), -1, True, indent)

    def _join(self, pieces: Sequence[_Piece]) -> bytes:
        return pieces[0].text + b"".join(self._behind(before, piece) for before, piece in pairwise(pieces))

    def _behind(self, before: _Piece, piece: _Piece) -> bytes:
        """The text of a piece, on a line of its own if it or the piece before wants that."""
        if before.place >= 0 and piece.place == before.place + 1:
            return piece.text
        if piece.starts_line:
            return piece.text if before.ends_line else self._line_end + piece.text
        if before.ends_line:
            return piece.indent + piece.text.lstrip(b" \t")
        return piece.text if piece.text[:1] in b" \t" else b" " + piece.text

    def _op(self, old: Op, new: Op) -> bytes:
        """Text of an op of the file, itself perhaps changed."""
        text = self._data[old.span.start : old.span.end]
        if old is new:
            return text
        match _changed_fields(old, new):
            case []:
                return text
            case ["address"] if isinstance(old, AllocTile | AllocMultiTile) and old.address is None:
                return _with_address(text, new)
            case changes if isinstance(old, For | If | Section) and {*changes} <= {"body", "then", "orelse"}:
                return self._structured(old, new)
            case changes:
                raise ValueError(f"no text for {type(old).__name__} {old.uid} with another {', '.join(changes)}")

    def _structured(self, old: Op, new: Op) -> bytes:
        blocks = regions(old)
        if len(blocks) != len(regions(new)):
            raise ValueError(f"no text for op {old.uid} with other regions")
        parts: list[bytes] = []
        at = old.span.start
        for before, after in zip(blocks, regions(new), strict=True):
            parts += [self._data[at : before.span.start], self.block(before, after, old.span.start)]
            at = before.span.end
        return b"".join([*parts, self._data[at : old.span.end]])

    def _indent_at(self, offset: int) -> bytes:
        """The blanks that the line of a byte begins with."""
        match = _LEADING_BLANKS.match(self._data, self._data.rfind(b"\n", 0, offset) + 1)
        return match.group() if match else b""


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


def _changed_fields(old: Op, new: Op) -> list[str]:
    if type(old) is not type(new):
        raise ValueError(f"op {old.uid} became a {type(new).__name__}")
    return [field.name for field in fields(old) if getattr(old, field.name) != getattr(new, field.name)]


def _with_address(text: bytes, op: Op) -> bytes:
    match = _TO_ALLOC_NAME.match(text)
    if match is None or not isinstance(op, AllocTile | AllocMultiTile) or op.address is None:
        raise ValueError(f"no place for an address in {text.decode()}")
    return text[: match.end()] + f" addr = {op.address.name}".encode() + text[match.end() :]
