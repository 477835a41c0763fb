"""What the operands of a tile op are at a point of a run: regions of memory and numbers."""

from collections.abc import Callable
from dataclasses import dataclass

from syncopt.execute.attributes import NO_ATTRIBUTES, Attributes
from syncopt.execute.layout import ViewLayout, Window, tile_layout
from syncopt.execute.memory import Memories, Region, Write
from syncopt.ir.kernel import Kernel, PartitionView, TensorView, TileOp, Value, walk
from syncopt.ir.runtime import Environment, TileRef, ViewRef
from syncopt.ir.scalars import Number, ScalarValue, Unknown
from syncopt.ir.source import InputError
from syncopt.ir.types import ViewType

_LAYOUTS = {"nd", "dn"}


@dataclass(frozen=True, slots=True)
class Call:
    """One instance of a tile op with the operands that it has.

    Parameters
    ----------
    name : str
        Of the op.
    ins : tuple of Region or number
        In the order of the text, scratch left out.
    outs : tuple of Region
        In the order of the text.
    scratch : tuple of Region
        Operands whose bytes are undefined afterwards.
    attributes : Attributes
        What the op says besides.
    """

    name: str
    ins: tuple[Region | Number, ...]
    outs: tuple[Region, ...]
    scratch: tuple[Region, ...] = ()
    attributes: Attributes = NO_ATTRIBUTES

    @property
    def regions(self) -> tuple[Region, ...]:
        """The tiles and views among the ins."""
        return tuple(operand for operand in self.ins if isinstance(operand, Region))

    @property
    def scalars(self) -> tuple[Number, ...]:
        """The numbers among the ins."""
        return tuple(operand for operand in self.ins if not isinstance(operand, Region))

    @property
    def out(self) -> Region:
        """The only result."""
        if len(self.outs) != 1:
            raise InputError(f"{self.name} with {len(self.outs)} results has no meaning here")
        return self.outs[0]

    def tiles(self, count: int, scalars: int = 0) -> tuple[Region, ...]:
        """The tiles and views among the ins, of which there must be `count`, and so many scalars.

        Raises
        ------
        InputError
            If there are others.
        """
        if (len(self.regions), len(self.scalars)) != (count, scalars):
            given = f"{len(self.regions)} tiles and {len(self.scalars)} scalars"
            raise InputError(f"{self.name} of {given} has no meaning here, only of {count} and {scalars}")
        return self.regions


Rule = Callable[[Call, Memories], tuple[Write, ...]]
"""What an op computes: reads its ins, says what is written."""


class Operands:
    """Finds the regions of the operands of a kernel.

    Parameters
    ----------
    kernel : Kernel
        Whose operands.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._source_of = {op.result: op.source for op in walk(kernel.body) if isinstance(op, PartitionView)}
        self._layouts = {op.result: op.layout for op in walk(kernel.body) if isinstance(op, TensorView)}

    def call(self, op: TileOp, env: Environment, scratch: tuple[int, ...], attributes: Attributes) -> Call:
        """An op on the operands that it has now.

        Raises
        ------
        InputError
            If an operand is not known, or has a form that is not modelled.
        """
        ins = [(place, self._operand(value, env)) for place, value in enumerate(op.ins)]
        outs = [operand for value in op.outs if isinstance(operand := self._operand(value, env), Region)]
        return Call(
            name=op.name,
            ins=tuple(operand for place, operand in ins if place not in scratch or not isinstance(operand, Region)),
            outs=tuple(outs),
            scratch=tuple(operand for place, operand in ins if place in scratch and isinstance(operand, Region)),
            attributes=attributes,
        )

    def _operand(self, value: Value, env: Environment) -> Region | Number:
        found = env[value]
        if isinstance(found, TileRef):
            return _tile(value, found)
        if isinstance(found, ViewRef):
            return self._view(value, found)
        if isinstance(found, int | float):
            return found
        raise InputError(f"the value of {value} is not known from the arguments")

    def _view(self, value: Value, view: ViewRef) -> Region:
        static = value.type.shape if isinstance(value.type, ViewType) else ()
        known = ((None,) * len(view.shape) + static)[-len(view.shape) :]
        sizes = tuple(
            _known(fallback if isinstance(size, Unknown) and fallback is not None else size, f"the size of {value}")
            for size, fallback in zip(view.shape, known, strict=True)
        )
        strides = tuple(_known(stride, f"a stride of {value}") for stride in view.strides)
        start = _known(view.offset, f"the offset of {value}")
        if any(stride % view.dtype.size for stride in strides):
            raise InputError(f"{value} has strides that are no multiples of its element")
        steps = tuple(stride // view.dtype.size for stride in strides)
        layout = _view_layout(sizes, steps, self._layout_of(value))
        return Region(view.root, start, view.dtype, layout, Window(0, 0, layout.rows, layout.cols))

    def _layout_of(self, value: Value) -> str:
        """`nd` or `dn`; of a view that comes out of a branch or loop, the layout that all views of the kernel have."""
        base = value
        while base in self._source_of:
            base = self._source_of[base]
        found = {self._layouts[base]} if base in self._layouts else set(self._layouts.values())
        if len(found) != 1 or not found <= _LAYOUTS:
            raise InputError(f"{value} has the layout {' or '.join(sorted(found))}, which has no meaning here")
        return found.pop()


def _view_layout(sizes: tuple[int, ...], strides: tuple[int, ...], layout: str) -> ViewLayout:
    """All dimensions but the last make the rows of an nd view, all but the last but one the columns of a dn view."""
    if layout == "dn" and len(sizes) > 1:
        order = (len(sizes) - 2, *range(len(sizes) - 2), len(sizes) - 1)
        sizes, strides = tuple(sizes[i] for i in order), tuple(strides[i] for i in order)
        return ViewLayout(sizes, strides, len(sizes) - 1)
    return ViewLayout(sizes, strides, 1)


def _tile(value: Value, tile: TileRef) -> Region:
    row, col = (_known(place, f"the offset of {value}") for place in tile.origin)
    layout = tile_layout(tile.type)
    operand = tile.operand
    return Region(tile.type.memory, tile.address, tile.type.dtype, layout, Window(row, col, operand.rows, operand.cols))


def _known(value: ScalarValue, what: str) -> int:
    if isinstance(value, Unknown):
        raise InputError(f"{what} is not known from the arguments")
    return int(value)
