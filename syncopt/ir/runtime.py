"""What the values of a kernel are while it runs: pointers, views and tiles with their bytes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from syncopt.ir.footprint import Footprint, strided, whole
from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory
from syncopt.ir.scalars import UNKNOWN, ScalarValue, Unknown
from syncopt.ir.types import DType, Layout, MultiTileType, TileType
from syncopt.ir.work import Operand


@dataclass(frozen=True, slots=True)
class PointerRef:
    """A pointer `offset` bytes behind a pointer argument."""

    root: Value
    offset: ScalarValue


class ViewRef(NamedTuple):
    """A box of global memory: byte offset, shape in elements, strides in bytes."""

    root: Value
    offset: ScalarValue
    shape: tuple[ScalarValue, ...]
    strides: tuple[ScalarValue, ...]
    dtype: DType

    def footprint(self) -> Footprint:
        """Bytes of the box; all of the pointer's memory if anything about it is unknown."""
        box = _box(self.shape, self.strides)
        if box is None or self.offset is UNKNOWN:
            return whole(self.root)
        return strided(self.root, int(self.offset), self.dtype.size, box)


@lru_cache(maxsize=1024)
def _box(shape: tuple[ScalarValue, ...], strides: tuple[ScalarValue, ...]) -> tuple[tuple[int, int], ...] | None:
    """Count and stride per dimension; None if one is unknown or the box runs backwards."""
    dims: list[tuple[int, int]] = []
    for count, stride in zip(shape, strides, strict=True):
        if isinstance(count, Unknown) or isinstance(stride, Unknown) or stride < 0:
            return None
        dims.append((int(count), int(stride)))
    return tuple(dims)


@dataclass(frozen=True, slots=True, eq=False)
class TileRef:
    """A tile, or a part of one, at its place in its memory.

    `type` is that of the whole tile. `origin` is the row and column in it of the first element, counted from `address`:
    other than (0, 0) for a part whose bytes are not singled out.
    """

    type: TileType
    address: int
    footprint: Footprint
    operand: Operand
    origin: tuple[ScalarValue, ScalarValue] = (0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class MultiTileRef:
    """Tiles of one type, slot after slot, from `address` on."""

    type: MultiTileType
    address: int
    rows: ScalarValue
    cols: ScalarValue


RuntimeValue = ScalarValue | PointerRef | ViewRef | TileRef | MultiTileRef
Environment = dict[Value, RuntimeValue]
"""What every value that has come by is at this point of a run."""
SCALAR = (int, float, Unknown)
"""What a scalar is at run time."""
_FRACTAL_EDGE = 16
_FRACTAL_BYTES, _SQUARE_FRACTAL_BYTES = 512, 1024
"""Fractals of 16 runs of 32 bytes, and of 16 x 16 elements of 4 bytes."""


def number(value: Value, env: Environment) -> ScalarValue:
    """A scalar at this point of a run; unknown if it is none."""
    found = env.get(value, UNKNOWN)
    return found if isinstance(found, SCALAR) else UNKNOWN


def numbers(values: Iterable[Value], env: Environment) -> list[ScalarValue]:
    """Several scalars at this point of a run."""
    return [found if isinstance(found := env.get(value, UNKNOWN), SCALAR) else UNKNOWN for value in values]


def plus(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    """The sum, unknown if a part of it is."""
    return UNKNOWN if a is UNKNOWN or b is UNKNOWN else a + b


def times(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    """The product, unknown if a part of it is."""
    return UNKNOWN if a is UNKNOWN or b is UNKNOWN else a * b


def tile_ref(tile: TileType, address: int, rows: ScalarValue, cols: ScalarValue) -> TileRef:
    """A whole tile at `address` with `rows` x `cols` valid elements."""
    return TileRef(tile, address, Footprint(tile.memory, address, tile.size), _valid_part(tile, rows, cols))


def valid_left(whole: int, offset: ScalarValue) -> ScalarValue:
    """Valid rows or columns of a tile from `offset` on, as far as they go to a part that does not say how many it has.

    Valid sizes repeat: a part that begins where those of the whole tile end is as valid as one at its beginning. This
    is how ptoas gives a part its valid size; more than the part holds are all of it.
    """
    if isinstance(offset, Unknown) or whole == 0:
        return UNKNOWN
    return whole - offset % whole


def sub_tile(
    tile: TileRef, offset: Sequence[ScalarValue], sizes: Sequence[int], valid: Sequence[ScalarValue]
) -> TileRef:
    """Part of a tile: its own bytes, or all of the tile's at an unknown offset and where it divides rows of fractals.

    Offset, sizes and valid sizes are rows, then columns, in elements.
    """
    kind, size = tile.type, tile.type.dtype.size
    (row, col), (rows, cols) = offset, sizes
    part = TileType(kind.memory, kind.dtype, rows, cols, rows, cols, kind.blayout, kind.slayout, kind.fractal)
    rows_valid, cols_valid = (
        full if isinstance(now, Unknown) else min(now, full) for now, full in zip(valid, sizes, strict=True)
    )
    operand = _valid_part(part, rows_valid, cols_valid)
    row, col = origin = plus(tile.origin[0], row), plus(tile.origin[1], col)
    if isinstance(row, Unknown) or isinstance(col, Unknown):
        return TileRef(kind, tile.address, tile.footprint, operand, origin)
    if kind.slayout is not Layout.NONE_BOX:
        return _part_of_fractals(tile, (int(row), int(col)), part, operand)
    row_stride, col_stride = (kind.cols * size, size) if kind.blayout is Layout.ROW_MAJOR else (size, kind.rows * size)
    address = tile.address + int(row) * row_stride + int(col) * col_stride
    dims = ((rows, row_stride), (cols, col_stride))
    return TileRef(kind, address, strided(kind.memory, address, size, dims), operand)


def _part_of_fractals(tile: TileRef, offset: tuple[int, int], part: TileType, operand: Operand) -> TileRef:
    """Part of a tile with fractals, which follow each other row by row or column by column.

    A part that takes whole rows of them in a row-major tile (columns in a column-major one) is a tile by itself; any
    other counts as all of the tile.
    """
    kind, (row, col) = tile.type, offset
    rows, cols = _fractal_shape(kind)
    if kind.blayout is Layout.ROW_MAJOR:
        is_whole = col == 0 and part.cols == kind.cols and row % rows == 0 and part.rows % rows == 0
        skipped = row * kind.cols
    else:
        is_whole = row == 0 and part.rows == kind.rows and col % cols == 0 and part.cols % cols == 0
        skipped = col * kind.rows
    if not is_whole or kind.fractal not in (_FRACTAL_BYTES, _SQUARE_FRACTAL_BYTES):
        return TileRef(kind, tile.address, tile.footprint, operand, offset)
    address = tile.address + skipped * kind.dtype.size
    return TileRef(kind, address, Footprint(kind.memory, address, part.size), operand)


def _fractal_shape(tile: TileType) -> tuple[int, int]:
    """Rows and columns of a fractal."""
    run = _FRACTAL_BYTES // _FRACTAL_EDGE // tile.dtype.size
    run = _FRACTAL_EDGE if tile.memory is Memory.ACC or tile.fractal == _SQUARE_FRACTAL_BYTES else run
    return (_FRACTAL_EDGE, run) if tile.slayout is Layout.ROW_MAJOR else (run, _FRACTAL_EDGE)


def _valid_part(tile: TileType, rows: ScalarValue, cols: ScalarValue) -> Operand:
    """The operand of a tile; a valid size that is unknown counts as the full one, a negative one as none."""
    return Operand(
        memory=tile.memory,
        dtype=tile.dtype,
        rows=_within(rows, tile.rows),
        cols=_within(cols, tile.cols),
        blayout=tile.blayout,
        slayout=tile.slayout,
    )


def _within(size: ScalarValue, full: int) -> int:
    return full if isinstance(size, Unknown) else max(0, int(size))


@lru_cache(maxsize=1024)
def view_operand(dtype: DType, shape: tuple[ScalarValue, ...], static: tuple[int | None, ...]) -> Operand | None:
    """The operand of a view, from its run-time shape or else its type's; None if a size is not known."""
    rows = cols = 1
    # The type may have another rank: its last dimensions are those of the view.
    known = ((None,) * len(shape) + static)[-len(shape) :] if shape else ()
    for size, fallback in zip(shape, known, strict=True):
        now = fallback if isinstance(size, Unknown) else int(size)
        if now is None:
            return None
        rows, cols = rows * cols, now
    return Operand(Memory.GM, dtype, rows, cols) if shape else None
