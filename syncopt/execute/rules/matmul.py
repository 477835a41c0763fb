"""Products of matrices. They are summed in float64 and rounded once, so that the order of the sum does not show."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from syncopt.execute.memory import Memories, Region, Write
from syncopt.execute.numbers import encoded
from syncopt.execute.operands import Call, Rule
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError
from syncopt.ir.types import DType

_TYPES = frozenset(
    {
        (DType.F16, DType.F16, DType.F32),
        (DType.BF16, DType.BF16, DType.F32),
        (DType.F32, DType.F32, DType.F32),
        (DType.I8, DType.I8, DType.I32),
    }
)
"""Element types of left, right and accumulator that there are."""
_PIECE = 1 << 17
"""Multiplications of a piece of a product."""


def _product(call: Call, memories: Memories) -> tuple[Write, ...]:
    """acc = left * right."""
    call.tiles(2)
    return _written(call, _multiplied(call, memories))


def _sum_of_products(call: Call, memories: Memories) -> tuple[Write, ...]:
    """acc = acc + left * right; the accumulator that is read stands in ins, or only in outs."""
    call.tiles(3 if _of(call, Memory.ACC) else 2)
    product = _multiplied(call, memories)
    before = (*_of(call, Memory.ACC), call.out)[0]
    return _written(call, memories.numbers(before.part(*product.shape)).astype(np.float64) + product)


def _product_with_bias(call: Call, memories: Memories) -> tuple[Write, ...]:
    """acc = left * right + bias, the one row of the bias to every row."""
    call.tiles(3)
    product = _multiplied(call, memories)
    (bias,) = _of(call, Memory.BIAS)
    if bias.dtype is not call.out.dtype:
        raise InputError(f"a bias of {bias.dtype.spelling} for {call.out.dtype.spelling} has no meaning here")
    return _written(call, product + memories.numbers(bias.part(1, product.shape[1])).astype(np.float64))


def _of(call: Call, memory: Memory) -> tuple[Region, ...]:
    return tuple(region for region in call.regions if region.space is memory)


def _multiplied(call: Call, memories: Memories) -> NDArray[np.float64]:
    call.attributes.require()
    (left,), (right,) = _of(call, Memory.LEFT), _of(call, Memory.RIGHT)
    types = left.dtype, right.dtype, call.out.dtype
    if types not in _TYPES:
        names = " * ".join(dtype.spelling for dtype in types[:2])
        raise InputError(f"{call.name} of {names} to {types[2].spelling} has no meaning here")
    if left.cols != right.rows:
        raise InputError(f"{call.name} of {left.rows} x {left.cols} by {right.rows} x {right.cols} elements")
    a, b = (memories.numbers(region).astype(np.float64) for region in (left, right))
    return _on_one_thread(a, b)


def _on_one_thread(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product, in pieces that BLAS finds too small for threads: waiting for those takes longer on busy cores."""
    found = np.empty((a.shape[0], b.shape[1]))
    rows = max(1, _PIECE // max(b.size, 1))
    for row in range(0, a.shape[0], rows):
        np.matmul(a[row : row + rows], b, out=found[row : row + rows])
    return found


def _written(call: Call, numbers: NDArray[np.float64]) -> tuple[Write, ...]:
    acc = call.out.part(*numbers.shape)
    # Sums of whole numbers are exact in float64, and wrap in the accumulator.
    stored = numbers if acc.dtype is DType.F32 else numbers.astype(np.int64)
    return (Write(acc, encoded(stored, acc.dtype)),)


RULES: Mapping[str, Rule] = {
    f"pto.{name}{suffix}": rule
    for name in ("tmatmul", "tgemv")
    for suffix, rule in (("", _product), (".acc", _sum_of_products), (".bias", _product_with_bias))
}
"""By the name of the op."""
