"""Bits and numbers: bf16, NaN, rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncopt.execute.numbers import Rounding, decoded, encoded, rounded, whole
from syncopt.ir.types import DType


@pytest.mark.parametrize(
    ("number", "bits"),
    [
        (1.0, 0x3F80),
        (-2.5, 0xC020),
        # 1 + 2**-8 lies between 0x3F80 and 0x3F81: a tie goes to the even one, just above it to the upper one.
        (1 + 2**-8, 0x3F80),
        (1 + 2**-8 + 2**-20, 0x3F81),
        (1 + 3 * 2**-8, 0x3F82),
        # The largest bf16 is 255 * 2**120; half a step further it is infinite.
        (255.0 * 2**120, 0x7F7F),
        (255.5 * 2**120, 0x7F80),
        (float("-inf"), 0xFF80),
        (float("nan"), 0x7FC0),
        (2.0**-133, 0x0001),
    ],
)
def test_bf16_is_the_upper_half_of_a_float32_rounded_to_even(number: float, bits: int) -> None:
    assert encoded(np.array([number], np.float32), DType.BF16)[0] == bits
    assert encoded(np.array([number], np.float64), DType.BF16)[0] == bits


@given(st.integers(0, 0xFFFF))
def test_every_bf16_comes_back(bits: int) -> None:
    """Except NaNs, which become one."""
    there = decoded(np.array([bits], np.uint16), DType.BF16)
    back = encoded(there, DType.BF16)[0]
    assert back == (0x7FC0 if np.isnan(there[0]) else bits)


def test_a_double_is_rounded_to_bf16_once() -> None:
    """1 + 2**-8 + 2**-30 is above the tie; by way of float32 it would be the tie and go down."""
    assert encoded(np.array([1 + 2**-8 + 2**-30]), DType.BF16)[0] == 0x3F81


@pytest.mark.parametrize("dtype", [DType.F16, DType.F32])
def test_nans_have_one_pattern(dtype: DType) -> None:
    patterns = {
        DType.F16: np.array([0x7E01, 0xFFFF], np.uint16),
        DType.F32: np.array([0x7F800001, 2**32 - 1], np.uint32),
    }
    found = encoded(decoded(patterns[dtype], dtype), dtype)
    assert set(found.tolist()) == {0x7E00 if dtype is DType.F16 else 0x7FC00000}


def test_integers_keep_their_low_bits() -> None:
    assert encoded(np.array([200, -1, 256], np.int64), DType.I8).tolist() == [200, 255, 0]
    assert decoded(np.array([200], np.uint8), DType.I8).tolist() == [-56]
    assert decoded(np.array([200], np.uint8), DType.UI8).tolist() == [200]


@given(st.floats(width=64, allow_nan=False))
def test_rounding_to_even_is_that_of_numpy(number: float) -> None:
    with np.errstate(over="ignore"):
        for dtype, kind in ((DType.F16, np.float16), (DType.F32, np.float32)):
            assert rounded(np.array([number]), dtype, Rounding.TO_EVEN)[0] == np.float64(kind(number))


@pytest.mark.parametrize(
    ("mode", "up", "down"),
    [
        # Between 2048 and 2050, and between -2050 and -2048, the only f16 are the ends.
        (Rounding.TO_EVEN, 2048.0, -2048.0),
        (Rounding.AWAY_FROM_ZERO, 2050.0, -2050.0),
        (Rounding.DOWN, 2048.0, -2050.0),
        (Rounding.UP, 2050.0, -2048.0),
        (Rounding.TO_ZERO, 2048.0, -2048.0),
    ],
)
def test_a_tie_goes_where_the_mode_says(mode: Rounding, up: float, down: float) -> None:
    assert rounded(np.array([2049.0, -2049.0]), DType.F16, mode).tolist() == [up, down]


@pytest.mark.parametrize(
    ("mode", "up", "down"),
    [
        (Rounding.TO_EVEN, np.inf, -np.inf),
        (Rounding.AWAY_FROM_ZERO, np.inf, -np.inf),
        (Rounding.DOWN, 65504.0, -np.inf),
        (Rounding.UP, np.inf, -65504.0),
        (Rounding.TO_ZERO, 65504.0, -65504.0),
    ],
)
def test_beyond_the_largest_number(mode: Rounding, up: float, down: float) -> None:
    assert rounded(np.array([70000.0, -70000.0]), DType.F16, mode).tolist() == [up, down]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Rounding.TO_EVEN, [-2, -2, -1, 0, 0, 2, 2]),
        (Rounding.AWAY_FROM_ZERO, [-2, -2, -1, -1, 1, 2, 3]),
        (Rounding.DOWN, [-2, -2, -2, -1, 0, 1, 2]),
        (Rounding.UP, [-1, -1, -1, 0, 1, 2, 3]),
        (Rounding.TO_ZERO, [-1, -1, -1, 0, 0, 1, 2]),
    ],
)
def test_whole_numbers(mode: Rounding, expected: list[int]) -> None:
    assert whole(np.array([-1.75, -1.5, -1.25, -0.5, 0.5, 1.5, 2.5]), mode).tolist() == expected
