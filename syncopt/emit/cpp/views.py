"""Views of global memory: pointers that moved, and tensors with shape and strides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from syncopt.emit.cpp.arithmetic import Number, moved, product, total
from syncopt.emit.cpp.spelling import element_type, pointer_type
from syncopt.emit.cpp.writer import Writer
from syncopt.ir.kernel import AddPtr, Op, PartitionView, TensorView, TileOp, Value, walk
from syncopt.ir.pipes import Memory
from syncopt.ir.types import DType, Layout, PointerType, TileType, ViewType

_RANK = 5
"""Shapes and strides of a GlobalTensor have five entries."""


@dataclass(frozen=True, slots=True)
class _View:
    """A box of global memory: `offset` elements behind a pointer, all numbers in elements."""

    pointer: str
    offset: Number
    shape: tuple[Number, ...]
    strides: tuple[Number, ...]
    layout: str
    dtype: DType


class Views:
    """Writes the ops that make pointers and views. Only the views that tile ops use become C++ objects.

    Parameters
    ----------
    writer : Writer
        Takes the lines.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._views: dict[Value, _View] = {}
        self._types: dict[Value, str] = {}
        self._layouts = self._tile_layouts()

    def type_of(self, value: Value) -> str:
        """The C++ type of a view that was written, nothing for any other."""
        return self._types.get(value, "")

    def add_pointer(self, op: AddPtr) -> None:
        """A pointer some elements further."""
        assert isinstance(op.result.type, PointerType)
        pointer, offset = self._writer.names[op.pointer], self._writer.number(op.offset)
        name = self._writer.names.declare(op.result)
        self._writer.line(f"{pointer_type(op.result.type.dtype)} {name} = {moved(pointer, offset)};")

    def tensor_view(self, op: TensorView) -> None:
        """Shape and strides over a pointer."""
        assert isinstance(op.result.type, ViewType) and isinstance(op.pointer.type, PointerType)
        if op.pointer.type.dtype is not op.result.type.dtype:
            self._writer.fail(op, f"{op.result}: a view with other elements than its pointer's")
        shape = tuple(self._writer.number(size) for size in op.shape)
        strides = tuple(self._writer.number(stride) for stride in op.strides)
        view = _View(self._writer.names[op.pointer], 0, shape, strides, op.layout, op.result.type.dtype)
        self._add(op, op.result, view)

    def partition_view(self, op: PartitionView) -> None:
        """A box of another view."""
        whole = self._views[self._writer.origin(op.source)]
        steps = [
            product(self._writer.number(offset), stride)
            for offset, stride in zip(op.offsets, whole.strides, strict=True)
        ]
        shape = tuple(self._writer.number(size) for size in op.sizes)
        self._add(op, op.result, replace(whole, offset=total([whole.offset, *steps]), shape=shape))

    def _add(self, op: Op, value: Value, view: _View) -> None:
        self._views[value] = view
        if value in self._layouts:
            self._write(op, value, view)

    def _write(self, op: Op, value: Value, view: _View) -> None:
        if not 0 < len(view.shape) <= _RANK:
            self._writer.fail(op, f"{value}: a view of {len(view.shape)} dimensions", "use 1 to 5 dimensions")
        layout = self._layout(op, value, view)
        shape, strides = _five(view.shape, view.strides)
        name = self._writer.names.declare(value)
        shape_type, shape_name = self._object("Shape", f"{name}_shape", shape)
        stride_type, stride_name = self._object("Stride", f"{name}_stride", strides)
        type_ = f"GlobalTensor<{element_type(view.dtype)}, {shape_type}, {stride_type}, pto::Layout::{layout}>"
        self._types[value] = type_
        pointer = moved(view.pointer, view.offset)
        self._writer.line(f"{type_} {name} = {type_}({pointer}, {shape_name}, {stride_name});")

    def _object(self, kind: str, base: str, entries: Sequence[Number]) -> tuple[str, str]:
        """A `Shape` or `Stride`: its type, with -1 for the entries that go to the constructor, and its name."""
        static = ", ".join(str(entry) if isinstance(entry, int) else "-1" for entry in entries)
        type_ = f"pto::{kind}<{static}>"
        name = self._writer.names.fresh(base)
        arguments = ", ".join(entry for entry in entries if isinstance(entry, str))
        self._writer.line(f"{type_} {name} = {type_}({arguments});")
        return type_, name

    def _layout(self, op: Op, value: Value, view: _View) -> str:
        """The layout of a view; where none was chosen, from the dimension whose elements follow each other.

        A column or a row is both, and takes the layout of the vector tiles that it is loaded to and stored from.
        """
        if view.layout != "nd":
            return view.layout.upper()
        shape, strides = _five(view.shape, view.strides)
        by_rows, by_columns = (1 in (shape[at], strides[at]) for at in (-1, -2))
        if not by_rows and not by_columns:
            self._writer.fail(op, f"{value}: no stride of its last two is the constant 1")
        wants_columns = self._layouts[value] == {Layout.COL_MAJOR}
        return "DN" if by_columns and (wants_columns or not by_rows) else "ND"

    def _tile_layouts(self) -> Mapping[Value, set[Layout]]:
        """The views that tile ops use, each with the layouts of the vector tiles that it meets there."""
        found: dict[Value, set[Layout]] = {}
        for op in walk(self._writer.kernel.body):
            if not isinstance(op, TileOp):
                continue
            operands = (*op.ins, *op.outs)
            tiles = [value.type for value in operands if isinstance(value.type, TileType)]
            layouts = {tile.blayout for tile in tiles if tile.memory is Memory.VEC}
            for value in operands:
                if isinstance(value.type, ViewType):
                    found.setdefault(self._writer.origin(value), set()).update(layouts)
        return found


def _five(shape: Sequence[Number], strides: Sequence[Number]) -> tuple[list[Number], list[Number]]:
    """Shape and strides with dimensions of one element put in front, as if they were packed closely."""
    sizes, steps = [*shape], [*strides]
    while len(sizes) < _RANK:
        steps.insert(0, product(sizes[0], steps[0]))
        sizes.insert(0, 1)
    return sizes, steps
