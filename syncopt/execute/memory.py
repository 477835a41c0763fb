"""The bytes that a kernel works on: one array per memory of the core and per pointer argument."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from syncopt.execute.layout import AnyLayout, TileLayout, Window, offsets, plain
from syncopt.execute.numbers import Bits, Numbers, bits_type, decoded, encoded
from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError
from syncopt.ir.types import DType, Layout

Space = Memory | Value
"""An on-chip memory, or the pointer argument that global memory is reached through."""

_PADDED = 8
"""Arrays have a multiple of the largest element's bytes, so that they can be seen as elements of any size."""


@dataclass(frozen=True, slots=True)
class Region:
    """A matrix of elements in one space: what an operand of an instruction is.

    Parameters
    ----------
    space : Memory or Value
        Where it is.
    start : int
        Byte that `layout` counts from.
    dtype : DType
        Type of its elements.
    layout : TileLayout or ViewLayout
        Where the elements stand.
    window : Window
        Which elements of the layout.
    """

    space: Space
    start: int
    dtype: DType
    layout: AnyLayout
    window: Window

    @property
    def rows(self) -> int:
        """Rows of the matrix."""
        return self.window.rows

    @property
    def cols(self) -> int:
        """Columns of the matrix."""
        return self.window.cols

    @property
    def is_by_rows(self) -> bool:
        """Whether its rows stand one behind the other, without fractals."""
        layout = self.layout
        if not isinstance(layout, TileLayout):
            return False
        return layout.slayout is Layout.NONE_BOX and layout.blayout is Layout.ROW_MAJOR

    def part(self, rows: int, cols: int, row: int = 0, col: int = 0) -> Self:
        """Other elements of the same tile or view, `row` and `col` counted from the first of this one.

        Raises
        ------
        InputError
            If there are not so many.
        """
        window = Window(self.window.row + row, self.window.col + col, rows, cols)
        within = min(window) >= 0
        if not within or window.row + rows > self.layout.rows or window.col + cols > self.layout.cols:
            has = f"{self.layout.rows - self.window.row} x {self.layout.cols - self.window.col}"
            raise InputError(f"{rows} x {cols} elements at ({row}, {col}) of one that has {has}")
        return replace(self, window=window)

    def line(self, elements: int, first: int = 0) -> Self:
        """Elements one behind the other, from the first byte on, whatever the layout."""
        layout = plain(1, elements)
        return replace(
            self, start=self.start + first * self.dtype.size, layout=layout, window=Window(0, 0, 1, elements)
        )

    def row_bytes(self, rows: int, per_row: int) -> Self:
        """The first bytes of the rows of a tile whose rows stand one behind the other."""
        layout = plain(self.layout.rows, self.layout.cols * self.dtype.size)
        if not self.is_by_rows or self.window.row or self.window.col:
            raise InputError("the rows of this tile do not stand one behind the other")
        return replace(self, dtype=DType.UI8, layout=layout, window=Window(0, 0, 0, 0)).part(rows, per_row)


@dataclass(frozen=True, slots=True)
class Write:
    """What an instruction puts into memory when it completes; `adds` to what is there, or takes its place."""

    region: Region
    bits: Bits
    adds: bool = False


class Memories:
    """Bytes of all spaces.

    Parameters
    ----------
    arrays : mapping of space to uint8 array
        Sizes that are multiples of 8 bytes (see `zeros`).
    """

    def __init__(self, arrays: Mapping[Space, NDArray[np.uint8]]) -> None:
        self.arrays = arrays
        self._views = {
            (space, size): array.view(bits_type(size)) for space, array in arrays.items() for size in (1, 2, 4, 8)
        }

    def copy(self) -> "Memories":
        """The same bytes, to be changed."""
        return Memories({space: array.copy() for space, array in self.arrays.items()})

    def bits(self, region: Region) -> Bits:
        """The bits of a region's elements, rows x columns; a copy."""
        elements, places = self._elements(region)
        if places is None:
            return elements.reshape(region.rows, region.cols).copy()
        return elements.take(places)

    def numbers(self, region: Region) -> Numbers:
        """The numbers of a region's elements, rows x columns."""
        return decoded(self.bits(region), region.dtype)

    def put(self, write: Write) -> None:
        """Carry out a write."""
        region, bits = write.region, write.bits
        if write.adds:
            bits = encoded(self.numbers(region) + decoded(bits, region.dtype), region.dtype)
        elements, places = self._elements(region)
        if places is None:
            elements[:] = bits.ravel()
        else:
            elements[places] = bits

    def _elements(self, region: Region) -> tuple[Bits, NDArray[np.intp] | None]:
        first, extent, places = offsets(region.layout, region.window)
        size = region.dtype.size
        view: NDArray[np.unsignedinteger[Any]] = self._views[region.space, size]
        place, rest = divmod(region.start, size)
        place += first
        if rest:
            raise InputError(
                f"{_named(region.space)} byte {region.start} is no multiple of {size}, the element's bytes"
            )
        if place < 0 or place + extent > len(view):
            have = f"{_named(region.space)} has {len(view) * size:,} bytes"
            raise InputError(f"bytes {place * size:,} to {(place + extent) * size:,} are not there: {have}")
        return view[place : place + extent], places


def zeros(size: int) -> NDArray[np.uint8]:
    """An array for a space of `size` bytes."""
    return np.zeros(-(-size // _PADDED) * _PADDED, np.uint8)


def _named(space: Space) -> str:
    return str(space) if isinstance(space, Memory) else f"the memory of {space.name}"
