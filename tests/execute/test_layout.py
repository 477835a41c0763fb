"""Where elements stand, worked out by hand and as a permutation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncopt.execute.layout import TileLayout, ViewLayout, Window, offsets, plain, tile_layout
from syncopt.ir.pipes import Memory
from syncopt.ir.types import DType, Layout, TileType

ROW, COL, NONE = Layout.ROW_MAJOR, Layout.COL_MAJOR, Layout.NONE_BOX


def tile(dtype: DType, rows: int, cols: int, layouts: tuple[Layout, Layout], memory: Memory = Memory.MAT) -> TileLayout:
    return tile_layout(TileType(memory, dtype, rows, cols, rows, cols, *layouts))


def place(layout: TileLayout | ViewLayout, row: int, col: int) -> int:
    return offsets(layout, Window(row, col, 1, 1)).first


@pytest.mark.parametrize(
    ("layouts", "row", "col", "expected"),
    [
        ((ROW, NONE), 3, 5, 3 * 64 + 5),
        ((COL, NONE), 3, 5, 5 * 32 + 3),
        # f16: Nz and Zz have fractals of 16 x 16 with rows inside, Zn with columns inside.
        # (17, 20) is element (1, 4) of the fractal in row 1 and column 1 of 2 x 4 fractals of 256.
        ((COL, ROW), 17, 20, (1 * 2 + 1) * 256 + 1 * 16 + 4),
        ((ROW, ROW), 17, 20, (1 * 4 + 1) * 256 + 1 * 16 + 4),
        ((ROW, COL), 17, 20, (1 * 4 + 1) * 256 + 4 * 16 + 1),
        ((COL, COL), 17, 20, (1 * 2 + 1) * 256 + 4 * 16 + 1),
    ],
)
def test_element_of_a_half_precision_tile(layouts: tuple[Layout, Layout], row: int, col: int, expected: int) -> None:
    assert place(tile(DType.F16, 32, 64, layouts), row, col) == expected


def test_fractals_of_other_sizes() -> None:
    """f32: 16 x 8; i8: 16 x 32; with columns inside 8 x 16 and 32 x 16; the accumulator: 16 x 16 of 4 bytes."""
    assert place(tile(DType.F32, 32, 64, (COL, ROW)), 0, 8) == 2 * 128
    assert place(tile(DType.I8, 32, 64, (COL, ROW)), 0, 32) == 2 * 512
    assert place(tile(DType.F32, 32, 64, (ROW, COL)), 8, 0) == 4 * 128
    assert place(tile(DType.I8, 64, 64, (ROW, COL)), 32, 0) == 4 * 512
    assert place(tile(DType.F32, 32, 64, (COL, ROW), Memory.ACC), 0, 16) == 2 * 256
    assert place(tile(DType.F32, 32, 64, (COL, ROW), Memory.ACC), 1, 0) == 16


@given(
    st.sampled_from([DType.I8, DType.F16, DType.F32]),
    st.sampled_from([(ROW, NONE), (COL, NONE), (COL, ROW), (ROW, ROW), (ROW, COL), (COL, COL)]),
    st.sampled_from([Memory.MAT, Memory.ACC]),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_every_layout_is_a_permutation(
    dtype: DType, layouts: tuple[Layout, Layout], memory: Memory, down: int, across: int
) -> None:
    """Every element has a place of its own inside the tile."""
    rows, cols = 32 * down, 32 * across
    found = offsets(tile(dtype, rows, cols, layouts, memory), Window(0, 0, rows, cols))
    assert (found.first, found.extent) == (0, rows * cols)
    if found.places is not None:
        assert np.array_equal(np.sort(found.places.ravel()), np.arange(rows * cols))


def test_one_row_stands_in_a_row_in_a_tile_of_one_row() -> None:
    """As the vector of a gemv: the fractals of Nz then have one row."""
    assert [place(tile(DType.F16, 1, 64, (COL, ROW)), 0, col) for col in (0, 15, 16, 63)] == [0, 15, 16, 63]


def test_window_that_is_one_run_needs_no_places() -> None:
    assert offsets(plain(8, 16), Window(2, 0, 3, 16)) == (32, 48, None)
    apart = offsets(plain(8, 16), Window(2, 3, 2, 2))
    assert (apart.first, apart.extent) == (35, 18)
    assert apart.places is not None
    assert apart.places.tolist() == [[0, 1], [16, 17]]


def test_window_of_nothing() -> None:
    assert offsets(plain(8, 16), Window(2, 3, 0, 5)) == (0, 0, None)


def test_view_of_five_dimensions() -> None:
    """2 x 3 x 4 x 5 elements: element (row 7, column 2) is (0, 1, 3, 2), of strides 100, 30, 6, 1."""
    view = ViewLayout((2, 3, 4, 5), (100, 30, 6, 1), 1)
    assert (view.rows, view.cols) == (24, 5)
    assert place(view, 7, 2) == 30 + 18 + 2


def test_view_with_several_dimensions_of_columns() -> None:
    """One row dimension of 4, columns 3 x 5: column 7 is (1, 2)."""
    view = ViewLayout((4, 3, 5), (5, 20, 1), 2)
    assert (view.rows, view.cols) == (4, 15)
    assert place(view, 2, 7) == 10 + 20 + 2
