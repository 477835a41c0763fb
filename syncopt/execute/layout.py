"""Where the elements of tiles and views stand: offsets in elements from the first one.

A tile without fractals holds its rows, or its columns, one behind the other. In a tile with fractals `blayout` orders
the fractals and `slayout` the elements inside one: row_major/col_major is Zn, col_major/row_major Nz, row_major twice
Zz. A fractal has 16 x 32 bytes (`slayout` row_major) or 32 bytes x 16 (col_major); one of the accumulator has 16 x 16
elements (PTO-ISA headers, `pto_tile.hpp`).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from syncopt.ir.pipes import Memory
from syncopt.ir.types import Layout, TileType

_FRACTAL = 16
_FRACTAL_BYTES = 32


class TileLayout(NamedTuple):
    """Order of the elements of a tile of `rows` x `cols` with fractals of `inner_rows` x `inner_cols`."""

    rows: int
    cols: int
    blayout: Layout
    slayout: Layout
    inner_rows: int
    inner_cols: int

    def at(self, row: NDArray[np.intp], col: NDArray[np.intp]) -> NDArray[np.intp]:
        """Offsets of elements."""
        by_rows = self.blayout is Layout.ROW_MAJOR
        if self.slayout is Layout.NONE_BOX:
            return row * self.cols + col if by_rows else col * self.rows + row
        (box_row, in_row), (box_col, in_col) = np.divmod(row, self.inner_rows), np.divmod(col, self.inner_cols)
        size = self.inner_rows * self.inner_cols
        if by_rows:
            box = box_row * self.inner_rows * self.cols + box_col * size
        else:
            box = box_col * self.inner_cols * self.rows + box_row * size
        inside = in_row * self.inner_cols + in_col
        return box + (inside if self.slayout is Layout.ROW_MAJOR else in_col * self.inner_rows + in_row)


class ViewLayout(NamedTuple):
    """Order of the elements of a view: sizes, strides in elements, and how many last dimensions make the columns."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    columns: int

    @property
    def rows(self) -> int:
        """Rows of the view as a matrix."""
        return int(np.prod(self.sizes[: len(self.sizes) - self.columns], dtype=np.int64))

    @property
    def cols(self) -> int:
        """Columns of the view as a matrix."""
        return int(np.prod(self.sizes[len(self.sizes) - self.columns :], dtype=np.int64))

    def at(self, row: NDArray[np.intp], col: NDArray[np.intp]) -> NDArray[np.intp]:
        """Offsets of elements."""
        split = len(self.sizes) - self.columns
        return self._along(row, range(split)) + self._along(col, range(split, len(self.sizes)))

    def _along(self, index: NDArray[np.intp], dimensions: range) -> NDArray[np.intp]:
        offsets = np.zeros_like(index)
        for dimension in reversed(dimensions):
            index, here = np.divmod(index, max(self.sizes[dimension], 1))
            offsets = offsets + here * self.strides[dimension]
        return offsets


AnyLayout = TileLayout | ViewLayout


class Window(NamedTuple):
    """`rows` x `cols` elements from (`row`, `col`) on."""

    row: int
    col: int
    rows: int
    cols: int


class Offsets(NamedTuple):
    """Where the elements of a window stand.

    Parameters
    ----------
    first : int
        Offset of the first byte range they need.
    extent : int
        How many elements it has.
    places : array or None
        Offset of each element from `first`; None if they follow each other row by row.
    """

    first: int
    extent: int
    places: NDArray[np.intp] | None


def tile_layout(tile: TileType) -> TileLayout:
    """The layout of a tile."""
    across = _FRACTAL if tile.memory is Memory.ACC else _FRACTAL_BYTES // tile.dtype.size
    inner = (across, _FRACTAL) if tile.slayout is Layout.COL_MAJOR else (_FRACTAL, across)
    return TileLayout(tile.rows, tile.cols, tile.blayout, tile.slayout, *inner)


def plain(rows: int, cols: int) -> TileLayout:
    """Rows one behind the other."""
    return TileLayout(rows, cols, Layout.ROW_MAJOR, Layout.NONE_BOX, 1, 1)


@lru_cache(maxsize=256)
def offsets(layout: AnyLayout, window: Window) -> Offsets:
    """Where the elements of a part of a tile or view stand."""
    if not window.rows or not window.cols:
        return Offsets(0, 0, None)
    rows = np.arange(window.row, window.row + window.rows, dtype=np.intp)[:, None]
    cols = np.arange(window.col, window.col + window.cols, dtype=np.intp)[None, :]
    index = layout.at(rows, cols) + np.zeros((window.rows, window.cols), np.intp)
    first, last = int(index.min()), int(index.max())
    index -= first
    follows = np.array_equal(index.ravel(), np.arange(index.size))
    return Offsets(first, last - first + 1, None if follows else index)
