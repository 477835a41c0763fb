"""Tiles, parts of tiles, and views of global memory."""

import re
from collections.abc import Callable
from dataclasses import replace

from syncopt.frontend._pto.context import OpReader
from syncopt.frontend._pto.lexer import Kind
from syncopt.frontend._pto.names import bare_name
from syncopt.ir.kernel import (
    AddPtr,
    AllocMultiTile,
    AllocTile,
    MultiTileGet,
    Op,
    PartitionView,
    SubView,
    TensorView,
    Value,
)
from syncopt.ir.types import MultiTileType, PointerType, ScalarType, TileType, ViewType

_SIZE = re.compile(r"[1-9][0-9]{0,17}")
_LAYOUTS = ("nd", "dn", "nz")
_ALLOC_KEYS = ("addr", "valid_row", "valid_col")


def _keyed_scalars(op: OpReader) -> dict[str, Value]:
    """`addr = %a`, `valid_row = %r`, `valid_col = %c` in any order, commas between them or not."""
    values: dict[str, Value] = {}
    while op.sees(*_ALLOC_KEYS):
        key = op.next("a key")
        if key.text in values:
            op.fail(f"{op.name}: {key.text} is given twice", key.span)
        op.take("=")
        values[key.text] = op.value(ScalarType)
        op.take_if(",")
    return values


def _alloc_tile(op: OpReader) -> Op:
    values = _keyed_scalars(op)
    op.take(":")
    type_ = op.type_of(TileType)
    op.done()
    return AllocTile(op.uid, op.span, op.result(type_), *(values.get(key) for key in _ALLOC_KEYS))


def _alloc_multi_tile(op: OpReader) -> Op:
    values = _keyed_scalars(op)
    op.take(":")
    type_ = op.type_of(MultiTileType)
    op.done()
    return AllocMultiTile(op.uid, op.span, op.result(type_), *(values.get(key) for key in _ALLOC_KEYS))


def _multi_tile_get(op: OpReader) -> Op:
    source = op.value(MultiTileType)
    op.take("[")
    slot = op.value(ScalarType)
    op.take("]")
    op.take(":")
    op.type_of(MultiTileType)
    op.take("->")
    type_ = op.type_of(TileType)
    op.done()
    return MultiTileGet(op.uid, op.span, op.result(type_), source, slot)


def _subview(op: OpReader) -> Op:
    source = op.value(TileType)
    offsets = op.scalars()
    op.take("sizes")
    sizes = _integers(op)
    valid = op.scalars() if op.take_if("valid") else ()
    if not len(offsets) == len(sizes) == 2 or len(valid) not in (0, 2):
        op.fail(f"{op.name}: expected 2 offsets and 2 sizes, found {len(offsets)} and {len(sizes)}")
    op.take(":")
    whole = op.type_of(TileType)
    type_ = op.type_of(TileType) if op.take_if("->") else _part_type(op, whole, sizes, bool(valid))
    op.done()
    return SubView(op.uid, op.span, op.result(type_), source, offsets, sizes, valid)


def _part_type(op: OpReader, whole: TileType, sizes: tuple[int, ...], has_valid: bool) -> TileType:
    """The type of a part where the text gives none: `sizes`, all valid if all of the whole tile is."""
    parts = ((whole.valid_rows, whole.rows, sizes[0]), (whole.valid_cols, whole.cols, sizes[1]))
    if not has_valid and any(valid not in (None, full) for valid, full, _ in parts):
        op.fail(
            f"{op.name}: part of a partly valid tile without a result type", hint="write -> and the type of the part"
        )
    rows, cols = (None if has_valid or valid is None else size for valid, _, size in parts)
    return replace(whole, rows=sizes[0], cols=sizes[1], valid_rows=rows, valid_cols=cols)


def _integers(op: OpReader) -> tuple[int, ...]:
    op.take("[")
    found: list[int] = []
    while not op.sees("]"):
        token = op.take_kind(Kind.NUMBER, "a constant size")
        if not _SIZE.fullmatch(token.text):
            op.fail(f"{op.name}: {token.text} is no size", token.span)
        found.append(int(token.text))
        if not op.sees("]"):
            op.take(",")
    op.take("]")
    return tuple(found)


def _add_pointer(op: OpReader) -> Op:
    pointer = op.value(PointerType)
    op.take(",")
    offset = op.value(ScalarType)
    op.take(":")
    op.type_of(PointerType)
    op.take("->")
    type_ = op.type_of(PointerType)
    op.done()
    return AddPtr(op.uid, op.span, op.result(type_), pointer, offset)


def _tensor_view(op: OpReader) -> Op:
    pointer = op.value(PointerType)
    shape = _named_list(op, "shape")
    strides = _named_list(op, "strides")
    layout = _layout(op) if op.sees("{") else "nd"
    op.take(":")
    type_ = op.type_of(ViewType)
    op.done()
    if len(shape) != len(strides):
        op.fail(f"{op.name}: {len(shape)} sizes and {len(strides)} strides")
    return TensorView(op.uid, op.span, op.result(type_), pointer, shape, strides, layout)


def _named_list(op: OpReader, name: str) -> tuple[Value, ...]:
    op.take(",")
    op.take(name)
    op.take("=")
    return op.scalars()


def _layout(op: OpReader) -> str:
    op.take("{")
    layout = "nd"
    while not op.sees("}"):
        key = op.next("an attribute")
        op.take("=")
        attribute = op.next("an attribute value")
        if key.text == "layout":
            layout = bare_name(op, attribute)
        elif key.text != "pto.inferred_layout":
            op.fail(f"{op.name}: attribute {key.text} is not modelled", key.span)
        if layout not in _LAYOUTS:
            op.fail(f"{op.name}: layout {layout} is not modelled", attribute.span)
        op.take_if(",")
    op.take("}")
    return layout


def _partition_view(op: OpReader) -> Op:
    source = op.value(ViewType)
    offsets = _named_list(op, "offsets")
    sizes = _named_list(op, "sizes")
    op.take(":")
    whole = op.type_of(ViewType)
    type_ = op.type_of(ViewType) if op.take_if("->") else ViewType((None,) * len(sizes), whole.dtype)
    op.done()
    if len(offsets) != len(sizes):
        op.fail(f"{op.name}: {len(offsets)} offsets and {len(sizes)} sizes")
    return PartitionView(op.uid, op.span, op.result(type_), source, offsets, sizes)


READERS: dict[str, Callable[[OpReader], Op]] = {
    "pto.alloc_tile": _alloc_tile,
    "pto.alloc_multi_tile": _alloc_multi_tile,
    "pto.multi_tile_get": _multi_tile_get,
    "pto.subview": _subview,
    "pto.subset": _subview,
    "pto.addptr": _add_pointer,
    "pto.make_tensor_view": _tensor_view,
    "pto.partition_view": _partition_view,
}
"""Readers by op name."""
