"""Types of the SSA values of a kernel."""

from dataclasses import dataclass
from enum import Enum

from syncopt.ir.pipes import Memory


class DType(Enum):
    """Element type of tiles and tensors; the value is (spelling, bits)."""

    F16 = ("f16", 16)
    BF16 = ("bf16", 16)
    F32 = ("f32", 32)
    I8 = ("i8", 8)
    UI8 = ("ui8", 8)
    SI8 = ("si8", 8)
    I16 = ("i16", 16)
    UI16 = ("ui16", 16)
    SI16 = ("si16", 16)
    I32 = ("i32", 32)
    UI32 = ("ui32", 32)
    SI32 = ("si32", 32)
    I64 = ("i64", 64)
    UI64 = ("ui64", 64)
    SI64 = ("si64", 64)

    # As for Pipe: the hash of Enum is Python code.
    __hash__ = object.__hash__

    @property
    def spelling(self) -> str:
        """The name in MLIR text."""
        return self.value[0]

    @property
    def size(self) -> int:
        """Bytes per element."""
        return self.value[1] // 8


DTYPES: dict[str, DType] = {dtype.spelling: dtype for dtype in DType}
"""Element types by their spelling."""


@dataclass(frozen=True, slots=True)
class ScalarType:
    """`index`, `i1`, `i32`, `i64`, `f32` and so on."""

    name: str


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer into global memory."""

    dtype: DType


class Layout(Enum):
    """Order of the outer (`blayout`) or inner (`slayout`) dimension of a tile."""

    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"
    NONE_BOX = "none_box"

    __hash__ = object.__hash__


class Pad(Enum):
    """What fills a tile outside its valid part; the value is the number in the text."""

    NULL = 0
    ZERO = 1
    MAX = 2
    MIN = 3

    __hash__ = object.__hash__


class Compact(Enum):
    """How closely the valid part of a tile is packed; the value is the number in the text."""

    NULL = 0
    NORMAL = 1
    ROW_PLUS_ONE = 2

    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class TileType:
    """A tile in an on-chip memory.

    Parameters
    ----------
    memory : Memory
        The memory that holds it.
    dtype : DType
        Element type.
    rows, cols : int
        Allocated shape in elements.
    valid_rows, valid_cols : int or None
        Valid shape in elements; None when it is known at run time only (`?`).
    blayout, slayout : Layout
        Order of the fractals and order inside a fractal (`NONE_BOX`: no fractals).
    fractal : int
        Bytes of a fractal.
    pad : Pad
        What fills the tile outside its valid part.
    compact : Compact
        How closely its valid part is packed.
    """

    memory: Memory
    dtype: DType
    rows: int
    cols: int
    valid_rows: int | None
    valid_cols: int | None
    blayout: Layout
    slayout: Layout
    fractal: int = 512
    pad: Pad = Pad.NULL
    compact: Compact = Compact.NULL

    @property
    def size(self) -> int:
        """Bytes the tile takes in its memory."""
        return self.rows * self.cols * self.dtype.size


@dataclass(frozen=True, slots=True)
class MultiTileType:
    """`count` tiles of one type that a kernel rotates through."""

    tile: TileType
    count: int


@dataclass(frozen=True, slots=True)
class ViewType:
    """A view of global memory: shape (None where it is known at run time only) and element type."""

    shape: tuple[int | None, ...]
    dtype: DType


ValueType = ScalarType | PointerType | TileType | MultiTileType | ViewType
