"""Reductions, conversions, comparisons, selections and gathers of vector tiles."""

from collections.abc import Callable, Mapping
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from syncopt.execute.memory import Memories, Region, Write
from syncopt.execute.numbers import Numbers, Rounding, encoded, is_float, is_signed, rounded, whole
from syncopt.execute.operands import Call, Rule
from syncopt.execute.rules.elementwise import of_type, same_type, scalar, written
from syncopt.ir.source import InputError
from syncopt.ir.types import DType

_Reduce = Callable[[NDArray[np.float64] | Numbers, int], Numbers]


def _by_rows(reduce: _Reduce) -> Rule:
    """dst[i, 0] from all of row i."""

    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        (source,) = call.tiles(1)
        call.attributes.require()
        numbers = of_type(call, memories, source.part(call.out.rows, source.cols))
        return _reduced(call.out.part(call.out.rows, 1), numbers, reduce, 1)

    return rule


def _by_columns(reduce: _Reduce) -> Rule:
    """dst[0, j] from all of column j."""

    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        (source,) = call.tiles(1)
        call.attributes.require()
        numbers = of_type(call, memories, source.part(source.rows, call.out.cols))
        return _reduced(call.out.part(1, call.out.cols), numbers, reduce, 0)

    return rule


def _reduced(out: Region, numbers: Numbers, reduce: _Reduce, axis: int) -> tuple[Write, ...]:
    """In float64 or 64-bit integers, so that only the result is rounded."""
    if not numbers.shape[axis]:
        raise InputError("a reduction of no elements has no meaning here")
    wide = numbers.astype(np.float64) if numbers.dtype.kind == "f" else numbers.astype(np.int64)
    return (Write(out, encoded(reduce(wide, axis).reshape(out.rows, out.cols), out.dtype)),)


def _sum(numbers: Numbers, axis: int) -> Numbers:
    return np.sum(numbers, axis)


def _product(numbers: Numbers, axis: int) -> Numbers:
    return np.prod(numbers, axis)


def _largest(numbers: Numbers, axis: int) -> Numbers:
    return np.max(numbers, axis)


def _smallest(numbers: Numbers, axis: int) -> Numbers:
    return np.min(numbers, axis)


_REDUCTIONS: Mapping[str, _Reduce] = {"sum": _sum, "prod": _product, "max": _largest, "min": _smallest}


# -- conversion ----------------------------------------------------------------------------------------------------


class _Round(Enum):
    """Names of the rounding of a conversion; without one it is that of the hardware instruction."""

    RINT = "RINT"
    ROUND = "ROUND"
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    TRUNC = "TRUNC"
    NONE = "NONE"
    CAST_RINT = "CAST_RINT"
    CAST_ROUND = "CAST_ROUND"
    CAST_FLOOR = "CAST_FLOOR"
    CAST_CEIL = "CAST_CEIL"
    CAST_TRUNC = "CAST_TRUNC"
    CAST_NONE = "CAST_NONE"


class _Saturation(Enum):
    """What becomes of a number beyond the integers of the destination: the last one, or its low bits."""

    ON = "ON"
    OFF = "OFF"


def _convert(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst = src in another type, rounded as `rmode` says."""
    (source,) = call.tiles(1)
    call.attributes.require("rmode", "satmode", "sat_mode")
    target = call.out.dtype
    mode = _rounding(call.attributes.choice("rmode", _Round, _Round.RINT), source.dtype, target)
    saturation = call.attributes.choice("sat_mode", _Saturation, _Saturation.OFF)
    saturation = call.attributes.choice("satmode", _Saturation, saturation)
    numbers = memories.numbers(source.part(call.out.rows, call.out.cols))
    if is_float(target):
        same = source.dtype is target
        return written(call, whole(numbers.astype(np.float64), mode) if same else rounded(numbers, target, mode))
    wide = _integers(numbers, mode)
    if saturation is _Saturation.ON:
        bits = 8 * target.size
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed(target) else (0, (1 << bits) - 1)
        wide = np.clip(wide, low, min(high, np.iinfo(np.int64).max))
    return written(call, wide)


def _rounding(mode: _Round, source: DType, target: DType) -> Rounding:
    name = mode.value.removeprefix("CAST_")
    if name != "NONE":
        return Rounding(name)
    # What the headers choose without a named rounding: integers towards zero, i32 from f32 and all floats to even.
    to_zero = is_float(source) and not is_float(target) and (source, target) != (DType.F32, DType.I32)
    return Rounding.TO_ZERO if to_zero else Rounding.TO_EVEN


def _integers(numbers: Numbers, mode: Rounding) -> NDArray[np.int64]:
    """As 64-bit integers: NaN is 0, what is too large the last one."""
    if numbers.dtype.kind != "f":
        return numbers.astype(np.int64)
    # The largest float64 below 2 ** 63 is the largest that converts.
    limit = float(np.nextafter(2.0**63, 0))
    return np.nan_to_num(np.clip(whole(numbers.astype(np.float64), mode), -limit, limit)).astype(np.int64)


# -- comparison and selection --------------------------------------------------------------------------------------


class _Compare(Enum):
    """Comparisons."""

    EQUAL = "eq"
    NOT_EQUAL = "ne"
    LESS = "lt"
    LESS_EQUAL = "le"
    GREATER = "gt"
    GREATER_EQUAL = "ge"


_COMPARISONS: Mapping[_Compare, Callable[[Numbers, Numbers], Numbers]] = {
    _Compare.EQUAL: np.equal,
    _Compare.NOT_EQUAL: np.not_equal,
    _Compare.LESS: np.less,
    _Compare.LESS_EQUAL: np.less_equal,
    _Compare.GREATER: np.greater,
    _Compare.GREATER_EQUAL: np.greater_equal,
}
_OF_INTEGERS = (_Compare.EQUAL, _Compare.NOT_EQUAL)


def _compare(call: Call, memories: Memories) -> tuple[Write, ...]:
    """Bit j of the bytes of row i says whether src0[i, j] compares to src1[i, j], or to the scalar."""
    call.attributes.require("cmpMode")
    first, *others = call.tiles(2 - len(call.scalars), scalars=len(call.scalars))
    mode = call.attributes.choice("cmpMode", _Compare, _Compare.EQUAL)
    if not is_float(first.dtype) and mode not in _OF_INTEGERS:
        raise InputError(f"{call.name} of {first.dtype.spelling} by {mode.value}: the hardware compares floats only")
    other = memories.numbers(others[0].part(first.rows, first.cols)) if others else scalar(call.scalars[0], first.dtype)
    found = _COMPARISONS[mode](memories.numbers(first), other)
    packed = np.packbits(found, axis=1, bitorder="little")
    return (Write(call.out.row_bytes(*packed.shape), packed),)


def _select(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[i, j] = src0[i, j] where bit j of the bytes of row i of the mask is set, else src1[i, j] or the scalar."""
    call.attributes.require()
    mask, first, *others = call.tiles(3 - len(call.scalars), scalars=len(call.scalars))
    rows, cols = call.out.rows, call.out.cols
    packed = memories.bits(mask.row_bytes(rows, -(-cols // 8))).astype(np.uint8)
    chosen = np.unpackbits(packed, axis=1, bitorder="little")[:, :cols].astype(bool)
    other = same_type(call, memories, others[0]) if others else scalar(call.scalars[0], call.out.dtype)
    return written(call, np.where(chosen, same_type(call, memories, first), other))


# -- gathers -------------------------------------------------------------------------------------------------------

_PATTERNS: Mapping[str, tuple[int, int]] = {
    "P0101": (2, 0),
    "P1010": (2, 1),
    "P0001": (4, 0),
    "P0010": (4, 1),
    "P0100": (4, 2),
    "P1000": (4, 3),
    "P1111": (1, 0),
}
"""Every how many columns, from which on, by the name of a pattern: its last digit stands for the first column."""


def _gather(call: Call, memories: Memories) -> tuple[Write, ...]:
    """The columns of a pattern one behind the other, or dst[i, j] = the element of src at index[i, j]."""
    call.attributes.require("maskPattern", words=("row",))
    if len(call.regions) == 1:
        (source,) = call.tiles(1)
        name = call.attributes.get("maskPattern", "none")
        if name not in _PATTERNS or source.dtype.size != call.out.dtype.size:
            raise InputError(f"{call.name} by pattern {name} has no meaning here")
        every, first = _PATTERNS[name]
        taken = memories.bits(source)[:, first::every].reshape(1, -1)
        return (Write(call.out.line(taken.size), taken),)
    source, index = call.tiles(2)
    elements = source.layout.rows * source.layout.cols
    places = memories.numbers(index.part(call.out.rows, call.out.cols)).astype(np.int64)
    within = (places >= 0) & (places < elements)
    numbers = of_type(call, memories, source.line(elements)).ravel()
    return written(call, np.where(within, numbers[np.where(within, places, 0)], numbers.dtype.type(0)))


RULES: Mapping[str, Rule] = {
    **{f"pto.trow{name}": _by_rows(reduce) for name, reduce in _REDUCTIONS.items()},
    **{f"pto.tcol{name}": _by_columns(reduce) for name, reduce in _REDUCTIONS.items()},
    "pto.tcvt": _convert,
    "pto.tcmp": _compare,
    "pto.tcmps": _compare,
    "pto.tsel": _select,
    "pto.tsels": _select,
    "pto.tgather": _gather,
}
"""By the name of the op."""
