"""Types as they are written: arithmetic types, pointers, tiles, shapes, strides, tensors and aliases of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Variable, Word
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.text import GLOBAL_MEMORY, ON_CHIP, field, named
from syncopt.frontend._cpp.types import (
    ARITHMETIC,
    DIMENSIONS,
    CppType,
    ExtentKind,
    Extents,
    Float,
    Integer,
    Pointer,
    Space,
    Tensor,
    describe,
    element,
)
from syncopt.ir.pipes import Memory
from syncopt.ir.types import Compact, DType, Layout, Pad, TileType

_T = TypeVar("_T")

_RUN_TIME = -1
_MEMORIES = {memory.value.capitalize(): memory for memory in Memory if memory is not Memory.GM}
_BLAYOUTS = {"RowMajor": Layout.ROW_MAJOR, "ColMajor": Layout.COL_MAJOR}
_SLAYOUTS = {**_BLAYOUTS, "NoneBox": Layout.NONE_BOX}
_PADS = {pad.name.capitalize(): pad for pad in Pad}
_COMPACTS = {"Null": Compact.NULL, "Normal": Compact.NORMAL, "RowPlusOne": Compact.ROW_PLUS_ONE}
_FRACTAL, _ACC_FRACTAL = 512, 1024
_BLOCK_ROWS, _BLOCK_BYTES = 16, 32
_TENSOR_LAYOUTS = {"ND": "nd", "DN": "dn", "NZ": "nz"}
_TILE_ARGUMENTS = range(4, 12)
_ROLE_ARGUMENTS = range(3, 6)
HEADER_WORDS = frozenset({"TileType", "BLayout", "SLayout", "Layout", "PadValue", "CompactMode", "RoundMode"})
"""Enumerations of the PTO headers that a constant can be of."""
_NAMESPACES = frozenset({"pto", "std", ""})


def read_type(ctx: Context, node: Node) -> CppType:
    """The type that a node names."""
    match node.type:
        case "type_descriptor":
            return _described(ctx, node)
        case "primitive_type" | "sized_type_specifier" | "type_identifier" | "identifier":
            return _plain(ctx, node)
        case "qualified_identifier":
            return read_type(ctx, unqualified(ctx, node))
        case "template_type" | "template_function":
            return _template(ctx, node)
        case _:
            raise ctx.refusal(f"type {ctx.tree.phrase(node)} is not modelled", node)


def unqualified(ctx: Context, node: Node) -> Node:
    """The name behind `pto::` or `std::`."""
    while node.type == "qualified_identifier":
        scope, name = field(node, "scope"), field(node, "name")
        if name is None or (scope is not None and ctx.tree.text(scope) not in _NAMESPACES):
            ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
        node = name
    return node


def pointer_to(ctx: Context, type_: CppType | None, node: Node) -> Pointer:
    """A pointer to a type; `node` names the type, None stands for `void`."""
    qualifiers = ctx.tree.qualifiers(node)
    if GLOBAL_MEMORY not in qualifiers and not qualifiers & ON_CHIP:
        ctx.fail("a pointer that is not marked as __gm__ is not modelled", node)
    dtype = DType.UI8 if type_ is None else element_type(ctx, type_, node)
    return Pointer(dtype, Space.GLOBAL if GLOBAL_MEMORY in qualifiers else Space.ON_CHIP)


def element_type(ctx: Context, type_: CppType, node: Node) -> DType:
    """A type as that of elements."""
    dtype = element(type_) if isinstance(type_, Integer | Float) else None
    if dtype is None:
        ctx.fail(f"elements of type {ctx.tree.phrase(node)} are not modelled", node)
    return dtype


def is_type_name(ctx: Context, node: Node) -> bool:
    """Whether a name in front of `(...)` or in a cast is that of a type."""
    if node.type in ("primitive_type", "sized_type_specifier", "type_descriptor"):
        return True
    node = unqualified(ctx, node)
    name = ctx.tree.text(field(node, "name") or node)
    if name in ARITHMETIC or name in _TEMPLATES:
        return True
    return isinstance(ctx.scope.get(name), Integer | Float | Pointer | TileType | Extents | Tensor)


def _described(ctx: Context, node: Node) -> CppType:
    base, declarator = field(node, "type"), field(node, "declarator")
    if base is None:
        ctx.fail(f"type {ctx.tree.phrase(node)} is not modelled", node)
    if declarator is None:
        return read_type(ctx, base)
    if declarator.type != "abstract_pointer_declarator" or declarator.named_child_count:
        hint = "what stands in parentheses in front of an operator is taken for a type: write it without them"
        ctx.fail(f"type {ctx.tree.phrase(node)} is not modelled", node, hint)
    return pointer_to(ctx, pointee(ctx, base), base)


def pointee(ctx: Context, node: Node) -> CppType | None:
    """The type in front of `*`, None for `void`."""
    return None if ctx.tree.text(node) == "void" else read_type(ctx, node)


def _plain(ctx: Context, node: Node) -> CppType:
    name = ctx.tree.phrase(node)
    if name in ARITHMETIC:
        return ARITHMETIC[name]
    if node.type in ("primitive_type", "sized_type_specifier") or ctx.scope.get(name) is None:
        ctx.fail(f"type {name} is not modelled", node)
    entry = ctx.entry(name, node)
    if not isinstance(entry, Integer | Float | Pointer | TileType | Extents | Tensor):
        ctx.fail(f"{name} is no type", node, "a name in parentheses is taken for one: write it without them")
    return entry


# -- templates ---------------------------------------------------------------------------------------------------------


class _Arguments:
    """The arguments of a template."""

    def __init__(self, ctx: Context, node: Node) -> None:
        arguments = field(node, "arguments")
        self._ctx = ctx
        self._node = node
        self.nodes: Sequence[Node] = named(arguments) if arguments is not None else ()

    def check_count(self, expected: range) -> None:
        """There must be a number of arguments that the template can take."""
        if len(self.nodes) not in expected:
            counts = f"{expected[0]} to {expected[-1]}" if len(expected) > 1 else str(expected[0])
            name = self._ctx.tree.text(field(self._node, "name") or self._node)
            self._ctx.fail(f"{name}: {len(self.nodes)} template arguments, expected {counts}", self._node)

    def word(self, at: int, kind: str, words: Mapping[str, _T], default: str | None = None) -> _T:
        """An enumerator `kind::NAME`."""
        if at >= len(self.nodes) and default is not None:
            return words[default]
        text = word_text(self._ctx, self.nodes[at])
        prefix, _, name = text.rpartition("::")
        if prefix != kind or name not in words:
            self._ctx.fail(f"{text} is not modelled, expected {kind}::{' or '.join(words)}", self.nodes[at])
        return words[name]

    def size(self, at: int) -> int:
        """A size, at least 1."""
        size = self._ctx.constant(self.nodes[at])
        if size < 1:
            self._ctx.fail(f"{size} is no size", self.nodes[at])
        return size

    def valid(self, at: int, full: int) -> int | None:
        """A valid size, None if it is given at run time."""
        if at >= len(self.nodes):
            return full
        size = self._ctx.constant(self.nodes[at])
        if size < _RUN_TIME:
            self._ctx.fail(f"{size} is no size", self.nodes[at])
        return None if size == _RUN_TIME else size

    def whole(self, sizes: Sequence[int | None]) -> list[int]:
        """Sizes that must all be there."""
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            self._ctx.fail(f"{self._ctx.tree.phrase(self._node)} with run-time sizes is not modelled", self._node)
        return known

    def number(self, at: int) -> int:
        """A constant."""
        return self._ctx.constant(self.nodes[at])

    def type(self, at: int) -> CppType:
        """Any type."""
        return read_type(self._ctx, self.nodes[at])

    def element(self, at: int) -> DType:
        """An element type."""
        return element_type(self._ctx, read_type(self._ctx, self.nodes[at]), self.nodes[at])

    def extents(self, at: int, kind: ExtentKind) -> Extents:
        """A `Shape` or `Stride`."""
        type_ = read_type(self._ctx, self.nodes[at])
        if not isinstance(type_, Extents) or type_.kind is not kind:
            self._ctx.fail(f"{describe(type_)} stands where a {kind.value} is expected", self.nodes[at])
        return type_


def word_text(ctx: Context, node: Node) -> str:
    """An enumerator as `Kind::NAME`, also through a constant of its type."""
    text = ctx.tree.phrase(node).replace(" ", "").removeprefix("pto::")
    found = ctx.scope.get(text)
    if isinstance(found, Word):
        ctx.entry(text, node)
        return found.text
    if isinstance(found, Variable):
        ctx.fail(f"{text} is no constant", node)
    return text


def _template(ctx: Context, node: Node) -> CppType:
    name = field(node, "name")
    build = _TEMPLATES.get(ctx.tree.text(name)) if name is not None else None
    if build is None:
        ctx.fail(f"type {ctx.tree.phrase(node)} is not modelled", node)
    return build(_Arguments(ctx, node))


def _tile(found: _Arguments) -> TileType:
    found.check_count(_TILE_ARGUMENTS)
    rows, cols = found.size(2), found.size(3)
    return TileType(
        memory=found.word(0, "TileType", _MEMORIES),
        dtype=found.element(1),
        rows=rows,
        cols=cols,
        valid_rows=found.valid(5, rows),
        valid_cols=found.valid(6, cols),
        blayout=found.word(4, "BLayout", _BLAYOUTS, "RowMajor"),
        slayout=found.word(7, "SLayout", _SLAYOUTS, "NoneBox"),
        fractal=found.size(8) if len(found.nodes) > len(range(8)) else _FRACTAL,
        pad=found.word(9, "PadValue", _PADS, "Null"),
        compact=found.word(10, "CompactMode", _COMPACTS, "Null"),
    )


def _role(like: TileType) -> Callable[[_Arguments], TileType]:
    """Short names of the headers for the tiles that feed the cube: of another element type and size than `like`."""

    def read(found: _Arguments) -> TileType:
        found.check_count(_ROLE_ARGUMENTS)
        rows, cols = found.size(1), found.size(2)
        return replace(
            like,
            dtype=found.element(0),
            rows=rows,
            cols=cols,
            valid_rows=found.valid(3, rows),
            valid_cols=found.valid(4, cols),
        )

    return read


def _extents(kind: ExtentKind) -> Callable[[_Arguments], Extents]:
    def read(found: _Arguments) -> Extents:
        found.check_count(range(DIMENSIONS, DIMENSIONS + 1))
        return Extents(kind, tuple(found.valid(at, 1) for at in range(DIMENSIONS)))

    return read


def _tensor(found: _Arguments) -> Tensor:
    found.check_count(range(3, 5))
    return Tensor(
        element=found.element(0),
        shape=found.extents(1, ExtentKind.SHAPE),
        stride=found.extents(2, ExtentKind.STRIDE),
        layout=found.word(3, "Layout", _TENSOR_LAYOUTS, "ND"),
    )


def _shape_2d(found: _Arguments) -> Extents:
    """`TileShape2D<T, rows, cols, layout>`: the shape of rows and columns in the layout of a tensor."""
    layout, rows, cols, block = _two_dimensions(found)
    if layout != "nz":
        return Extents(ExtentKind.SHAPE, (1, 1, 1, rows, cols))
    whole = found.whole((rows, cols))
    return Extents(ExtentKind.SHAPE, (1, whole[1] // block, whole[0] // _BLOCK_ROWS, _BLOCK_ROWS, block))


def _strides_2d(found: _Arguments) -> Extents:
    """`BaseShape2D<T, rows, cols, layout>`: the strides of that."""
    layout, rows, cols, block = _two_dimensions(found)
    rows, cols = found.whole((rows, cols))
    match layout:
        case "nz":
            return Extents(ExtentKind.STRIDE, (cols * rows, rows * block, _BLOCK_ROWS * block, block, 1))
        case "dn":
            return Extents(ExtentKind.STRIDE, (*[rows * cols] * 3, 1, rows))
        case _:
            return Extents(ExtentKind.STRIDE, (*[rows * cols] * 3, cols, 1))


def _two_dimensions(found: _Arguments) -> tuple[str, int | None, int | None, int]:
    """The layout, rows, columns, and how many elements a block of the layout is wide."""
    found.check_count(range(3, 5))
    layout = found.word(3, "Layout", _TENSOR_LAYOUTS, "ND")
    return layout, found.valid(1, 1), found.valid(2, 1), _BLOCK_BYTES // found.element(0).size


def _conditional(found: _Arguments) -> CppType:
    """`conditional_t<c, A, B>`."""
    found.check_count(range(3, 4))
    return found.type(1 if found.number(0) else 2)


_LEFT = TileType(Memory.LEFT, DType.F16, 1, 1, 1, 1, Layout.ROW_MAJOR, Layout.ROW_MAJOR)
_RIGHT = TileType(Memory.RIGHT, DType.F16, 1, 1, 1, 1, Layout.ROW_MAJOR, Layout.COL_MAJOR)
_ACC = TileType(Memory.ACC, DType.F32, 1, 1, 1, 1, Layout.COL_MAJOR, Layout.ROW_MAJOR, _ACC_FRACTAL)
"""Tiles that feed the cube as the 910B lays them out."""
_TEMPLATES: dict[str, Callable[[_Arguments], CppType]] = {
    "Tile": _tile,
    **{
        f"{name}{suffix}": _role(replace(like, compact=compact))
        for name, like in (("TileLeft", _LEFT), ("TileRight", _RIGHT), ("TileAcc", _ACC))
        for suffix, compact in (("", Compact.NULL), ("Compact", Compact.NORMAL))
    },
    "Shape": _extents(ExtentKind.SHAPE),
    "Stride": _extents(ExtentKind.STRIDE),
    "GlobalTensor": _tensor,
    "TileShape2D": _shape_2d,
    "BaseShape2D": _strides_2d,
    "conditional_t": _conditional,
}
