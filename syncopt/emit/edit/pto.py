"""A changed kernel as `.pto` text: the file it was read from with the ops of its blocks removed, added, moved."""

import re

from syncopt.emit.edit.blocktext import Added, BlockText, Item, Kept
from syncopt.emit.edit.changes import changed_fields, check_same_file
from syncopt.emit.edit.pto_spelling import spell
from syncopt.ir.kernel import AllocMultiTile, AllocTile, Block, For, If, Kernel, Op, Section, regions

_REST_OF_LINE = re.compile(rb"[^\S\n]*(?://[^\n]*)?\n")
_TO_ALLOC_NAME = re.compile(rb"[^=]*=(?:\s|//[^\n]*\n)*pto\.alloc_(?:multi_)?tile(?![\w$.])")


def render_pto(original: Kernel, changed: Kernel) -> bytes:
    """The whole `.pto` file of a kernel with this function's text after its changed tree; see `render`."""
    check_same_file(original, changed)
    data, body = original.source.data, original.body.span
    text = _Writer(data).block(original.body, changed.body, original.span.start)
    return data[: body.start] + text + data[body.end :]


class _Writer:
    """Writes blocks of one file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._text = BlockText(data, _REST_OF_LINE)

    def block(self, old: Block, new: Block, owner: int) -> bytes:
        """Text between the braces of a block whose op begins at byte `owner`."""
        if old is new:
            return self._data[old.span.start : old.span.end]
        places = {op.uid: place for place, op in enumerate(old.ops)}
        kept = [op.uid for op in new.ops if op.uid >= 0]
        if len(set(kept)) < len(kept) or not places.keys() >= set(kept):
            raise ValueError("an op stands twice in a block, or moved to another one")
        items: list[Item] = [
            Kept(places[op.uid], self._op(old.ops[places[op.uid]], op)) if op.uid >= 0 else Added(spell(op))
            for op in new.ops
        ]
        return self._text.fill(old.span, [op.span for op in old.ops], items, owner)

    def _op(self, old: Op, new: Op) -> bytes:
        """Text of an op of the file, itself perhaps changed."""
        text = self._data[old.span.start : old.span.end]
        if old is new:
            return text
        match changed_fields(old, new):
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


def _with_address(text: bytes, op: Op) -> bytes:
    match = _TO_ALLOC_NAME.match(text)
    if match is None or not isinstance(op, AllocTile | AllocMultiTile) or op.address is None:
        raise ValueError(f"no place for an address in {text.decode()}")
    return text[: match.end()] + f" addr = {op.address.name}".encode() + text[match.end() :]
