"""Regions of memory: what is read, written and refused."""

from dataclasses import replace

import numpy as np
import pytest

from syncopt.execute.layout import Window, plain, tile_layout
from syncopt.execute.memory import Memories, Region, Write, zeros
from syncopt.execute.numbers import encoded
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError
from syncopt.ir.types import DType, Layout, TileType

NZ = tile_layout(TileType(Memory.MAT, DType.F16, 32, 32, 32, 32, Layout.COL_MAJOR, Layout.ROW_MAJOR))


def memories(size: int = 4096) -> Memories:
    return Memories({Memory.MAT: zeros(size), Memory.VEC: zeros(size)})


def region(start: int = 0, dtype: DType = DType.F16, rows: int = 4, cols: int = 8) -> Region:
    return Region(Memory.VEC, start, dtype, plain(rows, cols), Window(0, 0, rows, cols))


def ramp(rows: int, cols: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float16]]:
    return np.arange(rows * cols, dtype=np.float16).reshape(rows, cols)


def test_a_tile_with_fractals_reads_back_as_it_was_written() -> None:
    bytes_ = memories()
    tile = Region(Memory.MAT, 512, DType.F16, NZ, Window(0, 0, 32, 32))
    bytes_.put(Write(tile, encoded(ramp(32, 32), DType.F16)))
    assert np.array_equal(bytes_.numbers(tile), ramp(32, 32))
    # The first fractal holds rows of 16, one behind the other.
    assert bytes_.arrays[Memory.MAT][512:].view(np.float16)[15:17].tolist() == [15.0, 32.0]
    assert np.array_equal(bytes_.numbers(tile.part(3, 5, 17, 20)), ramp(32, 32)[17:20, 20:25])


def test_tiles_that_overlap_see_each_others_bytes() -> None:
    """A tile 16 bytes behind another one shares all but its first row of 8 f16."""
    bytes_ = memories()
    bytes_.put(Write(region(), encoded(ramp(4, 8), DType.F16)))
    assert np.array_equal(bytes_.numbers(region(16, rows=3)), ramp(4, 8)[1:])
    assert bytes_.bits(region(0, DType.UI8, 1, 4)).tolist() == [[0, 0, 0, 0x3C]]


def test_a_write_that_adds() -> None:
    bytes_ = memories()
    bytes_.put(Write(region(), encoded(ramp(4, 8), DType.F16)))
    bytes_.put(Write(region(), encoded(ramp(4, 8), DType.F16), adds=True))
    assert np.array_equal(bytes_.numbers(region()), 2 * ramp(4, 8))


def test_what_is_read_does_not_change_later() -> None:
    bytes_ = memories()
    before = bytes_.bits(region())
    bytes_.put(Write(region(), encoded(ramp(4, 8) + 1, DType.F16)))
    assert not before.any()


def test_a_copy_is_not_changed() -> None:
    bytes_ = memories()
    other = bytes_.copy()
    bytes_.put(Write(region(), encoded(ramp(4, 8) + 1, DType.F16)))
    assert not other.bits(region()).any()


def test_bytes_behind_the_end_are_refused() -> None:
    with pytest.raises(InputError, match=r"bytes 4,064 to 4,128 are not there: vec has 4,096 bytes"):
        memories().bits(region(4064))


def test_elements_that_are_not_aligned_are_refused() -> None:
    with pytest.raises(InputError, match="vec byte 3 is no multiple of 2"):
        memories().bits(region(3))


def test_elements_that_a_tile_does_not_have_are_refused() -> None:
    with pytest.raises(InputError, match=r"4 x 8 elements at \(1, 0\) of one that has 4 x 8"):
        region().part(4, 8, row=1)
    with pytest.raises(InputError, match="elements at"):
        region().part(1, 1, row=-1)


def test_rows_of_a_tile_with_fractals_have_no_bytes_of_their_own() -> None:
    tile = replace(region(), layout=NZ)
    with pytest.raises(InputError, match="rows of this tile"):
        tile.row_bytes(1, 1)
