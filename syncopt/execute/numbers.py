"""Numbers of the element types of tiles, and their bits: what numpy lacks (bf16) and what it rounds otherwise.

Bits are unsigned integers of the element's size; numbers are arrays that numpy computes with: bf16 as float32, the
other types as themselves. Every NaN is stored as the same bits, so that equal computations give equal bytes.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syncopt.ir.types import DType

Bits = NDArray[np.unsignedinteger[Any]]
"""Elements as they stand in memory."""
Numbers = NDArray[Any]
"""Elements to compute with."""


class Rounding(Enum):
    """How a number goes to the nearest ones that a type holds; the values are the names in the text."""

    TO_EVEN = "RINT"
    AWAY_FROM_ZERO = "ROUND"
    DOWN = "FLOOR"
    UP = "CEIL"
    TO_ZERO = "TRUNC"


def bits_type(size: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The unsigned type of elements of `size` bytes."""
    return np.dtype(f"u{size}")


def number_type(dtype: DType) -> np.dtype[Any]:
    """What numpy computes with for an element type."""
    return _NUMPY[dtype]


def is_float(dtype: DType) -> bool:
    """Whether an element type is one of floating-point numbers."""
    return dtype in _FORMATS


def is_signed(dtype: DType) -> bool:
    """Whether an integer type has negative numbers."""
    return number_type(dtype).kind == "i"


def decoded(bits: Bits, dtype: DType) -> Numbers:
    """The numbers that bits stand for."""
    if dtype is DType.BF16:
        return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return bits.view(number_type(dtype))


def encoded(numbers: Numbers, dtype: DType) -> Bits:
    """The bits of numbers: floats rounded to the nearest, ties to even; integers by their low bits."""
    if dtype is DType.BF16:
        exact = rounded(numbers, dtype, Rounding.TO_EVEN) if numbers.dtype == np.float64 else numbers
        return _bf16(exact.astype(np.float32))
    stored: Numbers = numbers.astype(number_type(dtype))
    if is_float(dtype):
        stored = np.where(np.isnan(stored), stored.dtype.type(np.nan), stored)
    return np.ascontiguousarray(stored).view(bits_type(dtype.size))


def _bf16(numbers: NDArray[np.float32]) -> Bits:
    """The upper half of a float32, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    # An odd upper half carries on a tie, an even one does not.
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(numbers), np.uint32(0x7FC0), rounded).astype(np.uint16)


def rounded(numbers: Numbers, dtype: DType, mode: Rounding) -> NDArray[np.float64]:
    """Numbers that a float type holds exactly, from float64.

    Parameters
    ----------
    numbers : array
        Of any type that float64 holds exactly.
    dtype : DType
        A float type.
    mode : Rounding
        Where a number goes that lies between two.
    """
    precision, lowest, largest = _FORMATS[dtype]
    wide: NDArray[np.float64] = numbers.astype(np.float64)
    _, exponent = np.frexp(wide)
    unit = np.ldexp(1.0, np.maximum(exponent, lowest) - precision)
    result = whole(wide / unit, mode) * unit
    # A finite number beyond the largest one becomes that one or infinite, whichever way its rounding goes.
    beyond = np.isfinite(wide) & (np.abs(result) > largest)
    inwards = {Rounding.TO_ZERO: np.ones(wide.shape, bool), Rounding.DOWN: wide > 0, Rounding.UP: wide < 0}
    limit = np.where(inwards.get(mode, np.zeros(wide.shape, bool)), largest, np.inf)
    return np.where(beyond, np.copysign(limit, wide), result)


def whole(numbers: NDArray[np.float64], mode: Rounding) -> NDArray[np.float64]:
    """Numbers rounded to integers."""
    return _WHOLE[mode](numbers)


def _away_from_zero(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest integer, ties away from zero."""
    floor = np.floor(np.abs(numbers))
    return np.copysign(floor + (np.abs(numbers) - floor >= 0.5), numbers)


_WHOLE: Mapping[Rounding, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    Rounding.TO_EVEN: np.rint,
    Rounding.AWAY_FROM_ZERO: _away_from_zero,
    Rounding.DOWN: np.floor,
    Rounding.UP: np.ceil,
    Rounding.TO_ZERO: np.trunc,
}

_FORMATS: Mapping[DType, tuple[int, int, float]] = {
    DType.F16: (11, -13, 65504.0),
    DType.BF16: (8, -125, float(np.ldexp(255.0, 120))),
    DType.F32: (24, -125, float(np.finfo(np.float32).max)),
}
"""Bits of the significand, least exponent (of `frexp`, below which numbers are subnormal), largest finite number."""

_FLOATS: Mapping[DType, np.dtype[Any]] = {
    DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(np.float32),
    DType.F32: np.dtype(np.float32),
}
_NUMPY: Mapping[DType, np.dtype[Any]] = {
    dtype: _FLOATS.get(dtype) or np.dtype(f"{'u' if dtype.spelling.startswith('u') else 'i'}{dtype.size}")
    for dtype in DType
}
