"""Loads, stores and moves: elements keep their place in the matrix, whatever the layouts of the two sides are."""

from collections.abc import Mapping

import numpy as np

from syncopt.execute.memory import Memories, Region, Write
from syncopt.execute.numbers import Bits, decoded, encoded, is_float
from syncopt.execute.operands import Call, Rule
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError
from syncopt.ir.types import DType

_RELU = {"NO_RELU": False, "NORMAL_RELU": True}
_NARROWED = frozenset({(DType.F32, DType.F16), (DType.F32, DType.BF16)})
"""Conversions of the fixpipe: to the nearest number, ties to even."""
_WIDENED = frozenset({(DType.F16, DType.F32), (DType.BF16, DType.F32)})
"""Conversions on the way to the bias table."""


def _load(call: Call, memories: Memories) -> tuple[Write, ...]:
    """The valid part of the tile, from the start of the view."""
    (view,) = call.tiles(1)
    call.attributes.require()
    return (Write(call.out, _moved(call, memories, view.part(call.out.rows, call.out.cols), call.out)),)


def _store(call: Call, memories: Memories) -> tuple[Write, ...]:
    """The valid part of the tile, to the start of the view."""
    (tile,) = call.tiles(1)
    call.attributes.require("atomicType", "reluPreMode")
    adds = call.attributes.get("atomicType", "atomic_none") == "atomic_add"
    target = call.out.part(tile.rows, tile.cols)
    return (Write(target, _moved(call, memories, tile, target), adds),)


def _move(call: Call, memories: Memories) -> tuple[Write, ...]:
    """The valid part of the destination, from the same place of the source."""
    (source,) = call.tiles(1)
    call.attributes.require("reluPreMode")
    return (Write(call.out, _moved(call, memories, source.part(call.out.rows, call.out.cols), call.out)),)


def _extract(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[i, j] = src[i + row, j + column]."""
    (source,) = call.tiles(1, scalars=2)
    call.attributes.require("reluPreMode")
    row, col = _index(call)
    return (Write(call.out, _moved(call, memories, source.part(call.out.rows, call.out.cols, row, col), call.out)),)


def _insert(call: Call, memories: Memories) -> tuple[Write, ...]:
    """dst[i + row, j + column] = src[i, j]."""
    (source,) = call.tiles(1, scalars=2)
    call.attributes.require("reluPreMode")
    row, col = _index(call)
    target = call.out.part(source.rows, source.cols, row, col)
    return (Write(target, _moved(call, memories, source, target)),)


def _index(call: Call) -> tuple[int, int]:
    row, col = call.scalars
    return int(row), int(col)


def _moved(call: Call, memories: Memories, source: Region, target: Region) -> Bits:
    """Elements of the source as the destination holds them."""
    mode = call.attributes.get("reluPreMode", "no_relu").upper()
    if mode not in _RELU or (_RELU[mode] and source.space is not Memory.ACC):
        raise InputError(f"reluPreMode = {mode.lower()} has no meaning here")
    bits = memories.bits(source)
    if _RELU[mode]:
        bits = encoded(np.maximum(decoded(bits, source.dtype), 0), source.dtype)
    if source.dtype is target.dtype or _is_retyped(source, target):
        return bits
    from_acc, to_bias = source.space is Memory.ACC, target.space is Memory.BIAS
    if (source.dtype, target.dtype) not in (_NARROWED if from_acc else _WIDENED if to_bias else ()):
        raise InputError(f"{call.name} from {source.dtype.spelling} to {target.dtype.spelling} has no meaning here")
    return encoded(decoded(bits, source.dtype), target.dtype)


def _is_retyped(source: Region, target: Region) -> bool:
    """Whether the bits of one are taken for the other: integers that differ in sign, or other types off the fixpipe."""
    if source.dtype.size != target.dtype.size:
        return False
    are_integers = not is_float(source.dtype) and not is_float(target.dtype)
    return are_integers or source.space is not Memory.ACC


RULES: Mapping[str, Rule] = {
    "pto.tload": _load,
    "pto.tstore": _store,
    "pto.tmov": _move,
    "pto.textract": _extract,
    "pto.tinsert": _insert,
}
"""By the name of the op."""
