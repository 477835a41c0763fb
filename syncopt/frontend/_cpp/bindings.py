"""What C++ names stand for at a point of the text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syncopt.frontend._cpp.types import CppType, Extents, Float, Integer, Pointer, Tensor
from syncopt.ir.kernel import Value
from syncopt.ir.types import TileType

Part = Value | None


@dataclass(frozen=True, eq=False, slots=True)
class Operand:
    """A number or a pointer; a pointer into a memory of the core is its byte address there.

    `text` is an expression of this type with this value where that is not the name of the value.
    """

    type: Integer | Float | Pointer
    value: Value
    text: str = ""

    @property
    def spelling(self) -> str:
        """An expression for it."""
        return self.text or self.value.name


@dataclass(frozen=True, eq=False, slots=True)
class TileBinding:
    """A tile variable: its address, its valid sizes where they are given at run time, and the tile once it is made."""

    type: TileType
    address: Value | None = None
    rows: Value | None = None
    cols: Value | None = None
    tile: Value | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ExtentsBinding:
    """A `Shape` or `Stride` with all of its sizes."""

    type: Extents
    sizes: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class TensorBinding:
    """A `GlobalTensor`: where it begins, its sizes, and the view once it is made."""

    type: Tensor
    pointer: Value
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]
    view: Value | None = None


Bound = Operand | TileBinding | ExtentsBinding | TensorBinding


def parts(bound: Bound) -> tuple[Part, ...]:
    """The values that a variable consists of."""
    match bound:
        case Operand():
            return (bound.value,)
        case TileBinding():
            return (bound.address, bound.rows, bound.cols)
        case ExtentsBinding():
            return bound.sizes
        case TensorBinding():
            return (bound.pointer, *bound.shape, *bound.strides)


def with_parts(bound: Bound, values: Sequence[Part]) -> Bound:
    """The variable with other values; the same one if they are its own."""
    if all(a is b for a, b in zip(parts(bound), values, strict=True)):
        return bound
    present = tuple(value for value in values if value is not None)
    match bound:
        case Operand():
            return replace(bound, value=present[0])
        case TileBinding():
            address, rows, cols = values
            return TileBinding(bound.type, address, rows, cols)
        case ExtentsBinding():
            return replace(bound, sizes=present)
        case TensorBinding():
            dimensions = len(bound.shape)
            return TensorBinding(bound.type, present[0], present[1 : 1 + dimensions], present[1 + dimensions :])


def unmade(bound: Bound) -> Bound:
    """The variable without the tile or the view that was made of it."""
    match bound:
        case TileBinding():
            return replace(bound, tile=None)
        case TensorBinding():
            return replace(bound, view=None)
        case _:
            return bound


@dataclass(eq=False, slots=True)
class Variable:
    """A variable of a kernel, or an element of an array, which is called as it is written: `tiles[0]`."""

    name: str
    type: CppType

    @property
    def base(self) -> str:
        """The name that is declared: of an element, that of its array."""
        return self.name.partition("[")[0]


@dataclass(frozen=True, eq=False, slots=True)
class Array:
    """Several tiles under one name."""

    elements: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that a name of the file stands for."""

    type: Integer | Float
    number: int | float


@dataclass(frozen=True, slots=True)
class Word:
    """An enumerator of the PTO headers, such as `Layout::ND`."""

    text: str
