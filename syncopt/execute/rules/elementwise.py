"""Ops on one element, or on one of each operand, in turn; the valid part of the destination says which.

f16, f32 and integers are computed as numpy does, rounded once; integers wrap. bf16 is computed in float32, roots and
exponentials in float64.
"""

from collections.abc import Callable, Mapping

import numpy as np

from syncopt.execute.memory import Memories, Region, Write
from syncopt.execute.numbers import Numbers, decoded, encoded, is_float
from syncopt.execute.operands import Call, Rule
from syncopt.ir.scalars import Number
from syncopt.ir.source import InputError
from syncopt.ir.types import DType

Compute = Callable[[Numbers, Numbers], Numbers]
"""Computes elements from two arrays that numpy broadcasts to each other."""

_BLOCK_BYTES = 32


def _binary(compute: Compute) -> Rule:
    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        call.tiles(2)
        call.attributes.require()
        a, b = (same_type(call, memories, region) for region in call.regions)
        return written(call, compute(a, b))

    return rule


def _with_scalar(compute: Compute) -> Rule:
    """A tile and a number, in the order in which they stand."""

    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        call.tiles(1, scalars=1)
        call.attributes.require()
        a, b = (
            same_type(call, memories, operand) if isinstance(operand, Region) else scalar(operand, call.out.dtype)
            for operand in call.ins
        )
        return written(call, compute(a, b))

    return rule


def _unary(compute: Callable[[Numbers], Numbers]) -> Rule:
    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        (region,) = call.tiles(1)
        call.attributes.require()
        return written(call, compute(same_type(call, memories, region)))

    return rule


def _by_row(compute: Compute) -> Rule:
    """A tile and a number per row: its only column, or the block of 32 bytes that stands for it, element by element."""

    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        first, second = call.tiles(2)
        call.attributes.require()
        if _is_full(first, call.out):
            return written(call, compute(same_type(call, memories, first), _row_factor(call, memories, second)))
        if not _is_full(second, call.out) or compute not in _EITHER_WAY:
            raise InputError(f"{call.name}: the first operand does not have the shape of the result")
        return written(call, compute(_row_factor(call, memories, first), same_type(call, memories, second)))

    return rule


def _by_column(compute: Compute) -> Rule:
    """A tile and a number per column: the first row."""

    def rule(call: Call, memories: Memories) -> tuple[Write, ...]:
        first, second = call.tiles(2)
        call.attributes.require()
        factor = of_type(call, memories, second.part(1, call.out.cols))
        return written(call, compute(same_type(call, memories, first), factor))

    return rule


def _is_full(region: Region, out: Region) -> bool:
    return (region.rows, region.cols) == (out.rows, out.cols)


def _row_factor(call: Call, memories: Memories, region: Region) -> Numbers:
    if region.cols == 1:
        return of_type(call, memories, region.part(call.out.rows, 1))
    block = _BLOCK_BYTES // region.dtype.size
    if region.cols != block:
        raise InputError(f"{call.name}: {region.cols} columns of factors, expected 1 or {block}")
    factors = of_type(call, memories, region.part(call.out.rows, block))
    return np.take(factors, np.arange(call.out.cols) % block, axis=1)


def of_type(call: Call, memories: Memories, region: Region) -> Numbers:
    """The numbers of a region of the destination's element type."""
    if region.dtype is not call.out.dtype:
        types = f"{region.dtype.spelling} to {call.out.dtype.spelling}"
        raise InputError(f"{call.name} from {types} has no meaning here")
    return memories.numbers(region)


def same_type(call: Call, memories: Memories, region: Region) -> Numbers:
    """As many elements of an operand as the destination has, of its type."""
    return of_type(call, memories, region.part(call.out.rows, call.out.cols))


def scalar(number: Number, dtype: DType) -> Numbers:
    """A number as an element."""
    return decoded(encoded(np.array([[number]]), dtype), dtype)


def written(call: Call, numbers: Numbers) -> tuple[Write, ...]:
    """The write of the valid part of the destination."""
    return (Write(call.out, encoded(np.broadcast_to(numbers, (call.out.rows, call.out.cols)), call.out.dtype)),)


# -- functions of numbers ------------------------------------------------------------------------------------------


def _quotient(a: Numbers, b: Numbers) -> Numbers:
    _require_floats(a)
    return np.divide(a, b)


def _require_floats(numbers: Numbers) -> None:
    if numbers.dtype.kind != "f":
        raise InputError(f"an op on {numbers.dtype} elements has no meaning here, expected floats")


def _require_integers(numbers: Numbers) -> None:
    if numbers.dtype.kind == "f":
        raise InputError(f"an op on bits of {numbers.dtype} elements has no meaning here, expected integers")


def _of_bits(compute: Compute) -> Compute:
    def of_integers(a: Numbers, b: Numbers) -> Numbers:
        _require_integers(a)
        return compute(a, b)

    return of_integers


def _shift_left(a: Numbers, b: Numbers) -> Numbers:
    _require_shift(a, b)
    return np.left_shift(a, b)


def _shift_right(a: Numbers, b: Numbers) -> Numbers:
    """Of signed elements the sign comes in from the left."""
    _require_shift(a, b)
    return np.right_shift(a, b)


def _require_shift(a: Numbers, b: Numbers) -> None:
    _require_integers(a)
    if np.any(b.astype(np.int64) < 0) or np.any(b.astype(np.int64) >= 8 * a.dtype.itemsize):
        raise InputError("a shift by less than 0 or by all bits has no meaning here")


def _inverted(a: Numbers) -> Numbers:
    _require_integers(a)
    return np.invert(a)


def _precisely(compute: Callable[[Numbers], Numbers]) -> Callable[[Numbers], Numbers]:
    """In float64: numpy's float32 functions differ in the last bit from one processor to the other."""

    def of_floats(a: Numbers) -> Numbers:
        _require_floats(a)
        return compute(a.astype(np.float64))

    return of_floats


def _leaky(a: Numbers, slope: Numbers) -> Numbers:
    _require_floats(a)
    return np.where(a > 0, a, slope * a)


def _axpy(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst = dst + src * scalar, rounded once."""
    (source,) = call.tiles(1, scalars=1)
    call.attributes.require()
    if not is_float(source.dtype) or not is_float(call.out.dtype):
        raise InputError(f"{call.name} of {source.dtype.spelling} has no meaning here")
    factor = scalar(call.scalars[0], source.dtype).astype(np.float64)
    product = memories.numbers(source.part(call.out.rows, call.out.cols)).astype(np.float64) * factor
    return written(call, memories.numbers(call.out).astype(np.float64) + product)


def _row_expanded(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[i, j] = src[i, 0]; of one row that is as long as the destination has rows: src[0, i]."""
    (source,) = call.tiles(1)
    call.attributes.require()
    rows = call.out.rows
    if source.rows == 1 and source.cols == rows and rows > 1:
        return written(call, of_type(call, memories, source.part(1, rows)).reshape(rows, 1))
    return written(call, of_type(call, memories, source.part(rows, 1)))


def _column_expanded(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[i, j] = src[0, j]."""
    (source,) = call.tiles(1)
    call.attributes.require()
    return written(call, of_type(call, memories, source.part(1, call.out.cols)))


def _filled(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[i, j] = scalar."""
    del memories
    call.tiles(0, scalars=1)
    call.attributes.require()
    return written(call, scalar(call.scalars[0], call.out.dtype))


def _set_value(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[offset] = scalar, the offset counted in elements from the first byte of the tile."""
    del memories
    call.tiles(0, scalars=2)
    call.attributes.require()
    offset, number = call.scalars
    dtype = call.out.dtype
    return (Write(call.out.line(1, int(offset)), encoded(scalar(number, dtype), dtype)),)


def _ramp(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[0, j] = scalar + j, or scalar - j."""
    del memories
    call.tiles(0, scalars=1)
    call.attributes.require("descending")
    if call.out.rows != 1 or is_float(call.out.dtype):
        raise InputError(f"{call.name} to {call.out.rows} rows of {call.out.dtype.spelling} has no meaning here")
    steps = np.arange(call.out.cols, dtype=np.int64)[None, :]
    first = int(call.scalars[0])
    return written(call, first - steps if call.attributes.get("descending", "false") == "true" else first + steps)


_BINARY: Mapping[str, Compute] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "div": _quotient,
}
_EITHER_WAY = (np.add, np.multiply, np.maximum, np.minimum)
_BITS: Mapping[str, Compute] = {"and": _of_bits(np.bitwise_and), "or": _of_bits(np.bitwise_or)}
_SHIFTS: Mapping[str, Compute] = {"shl": _shift_left, "shr": _shift_right}
_UNARY: Mapping[str, Callable[[Numbers], Numbers]] = {
    "abs": np.abs,
    "neg": np.negative,
    "not": _inverted,
    "relu": lambda a: np.maximum(a, a.dtype.type(0)),
    "exp": _precisely(np.exp),
    "log": _precisely(np.log),
    "sqrt": _precisely(np.sqrt),
    "rsqrt": _precisely(lambda a: 1 / np.sqrt(a)),
    "recip": _precisely(lambda a: 1 / a),
}

RULES: Mapping[str, Rule] = {
    **{f"pto.t{name}": _binary(compute) for name, compute in (_BINARY | _BITS).items()},
    **{f"pto.t{name}s": _with_scalar(compute) for name, compute in (_BINARY | _BITS | _SHIFTS).items()},
    **{f"pto.trowexpand{name}": _by_row(compute) for name, compute in _BINARY.items()},
    **{f"pto.tcolexpand{name}": _by_column(compute) for name, compute in _BINARY.items()},
    **{f"pto.t{name}": _unary(compute) for name, compute in _UNARY.items()},
    "pto.tlrelu": _with_scalar(_leaky),
    "pto.taxpy": _axpy,
    "pto.trowexpand": _row_expanded,
    "pto.tcolexpand": _column_expanded,
    "pto.texpands": _filled,
    "pto.tsetval": _set_value,
    "pto.tci": _ramp,
}
"""By the name of the op."""
