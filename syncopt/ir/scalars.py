"""Meaning of scalar ops on concrete values, with integers of the width that their type has."""

import math
import struct
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

from syncopt.ir.kernel import Scalar, Value
from syncopt.ir.types import ScalarType


class Unknown(Enum):
    """The one value that stands for "not known": data, or arithmetic that is undefined."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN
Number = int | float
ScalarValue = int | float | Unknown
Rule = Callable[[Sequence[ScalarValue]], ScalarValue]
"""Computes a scalar op from the values of its operands."""
_Compute = Callable[..., ScalarValue]
"""Computes a scalar op from numbers, one argument per operand, of the types that the op has there."""

INDEX_BITS = 64


class _UndefinedError(ArithmeticError):
    """The result is not defined."""


def bits_of(type_name: str) -> int:
    """Width of an integer type by name; `index` is 64 bits wide."""
    return int(type_name[1:]) if type_name.startswith("i") and type_name[1:].isdigit() else INDEX_BITS


def _width(value: Value) -> int:
    return bits_of(value.type.name) if isinstance(value.type, ScalarType) else INDEX_BITS


def wrapped(value: int, type_name: str) -> int:
    """The integer that a value is when it is held in a type."""
    return _signed(value, bits_of(type_name))


def rounded(value: float, type_name: str) -> float:
    """The nearest number that a floating-point type holds, the even one of two; infinite if it has none that large."""
    match type_name:
        case "f16":
            return _packed("<e", value)
        case "bf16":
            return _upper_half(_packed("<f", value))
        case "f32":
            return _packed("<f", value)
        case _:
            return value


def _packed(format_: str, value: float) -> float:
    try:
        return struct.unpack(format_, struct.pack(format_, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _upper_half(value: float) -> float:
    """The nearest number of 32 bits whose lower half is zero."""
    if not math.isfinite(value):
        return value
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def _signed(value: int, bits: int) -> int:
    if bits == 1:
        return value & 1
    half = 1 << (bits - 1)
    return value if -half <= value < half else ((value + half) & ((1 << bits) - 1)) - half


def _unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _quotient(a: int, b: int) -> int:
    """Division that truncates towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_SIGNED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
}

_DIVISIONS: dict[str, Callable[[int, int], int]] = {
    "arith.divsi": _quotient,
    "arith.remsi": lambda a, b: a - b * _quotient(a, b),
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.floordivsi": lambda a, b: a // b,
}

_UNSIGNED: dict[str, Callable[[int, int], int]] = {
    "arith.divui": lambda a, b: a // b,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.remui": lambda a, b: a % b,
    "arith.minui": min,
    "arith.maxui": max,
}

_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}

_FLOAT: dict[str, Callable[[float, float], float]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.divf": lambda a, b: a / b,
    "arith.maximumf": max,
    "arith.minimumf": min,
}

AS_SIGNED = "cpp.as_signed"
"""An unsigned integer as the signed one of its width; it is undefined if that cannot hold it."""

_DECIDED_BY = {"arith.andi": 0, "arith.ori": -1}
"""What one operand decides the result with, whatever the other is; of one bit, which is kept as 0 or 1, -1 is 1."""
CASTS = frozenset({"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", AS_SIGNED})
"""Ops that hand an integer on in another width."""


def evaluate(op: Scalar, values: tuple[ScalarValue, ...]) -> ScalarValue:
    """Value of a scalar op.

    It is unknown if an operand it needs is unknown, if it is undefined, or if it has no rule here.
    """
    return rule_of(op)(values)


def rule_of(op: Scalar) -> Rule:
    """What `evaluate` does for an op, looked up once."""
    if op.name == "arith.constant":
        constant = _constant(op)
        return lambda _: constant
    if op.name == "arith.select":
        return lambda values: UNKNOWN if values[0] is UNKNOWN else values[1] if values[0] else values[2]
    make = _RULES.get(op.name)
    if make is None:
        return lambda _: UNKNOWN
    return _on_numbers(make(op)) if op.name not in _DECIDED_BY else _or_decided(op, _on_numbers(make(op)))


def _or_decided(op: Scalar, rule: Rule) -> Rule:
    """A rule of an op of which one operand can be enough."""
    alone = _DECIDED_BY[op.name]
    enough = alone if alone == 0 or _width(op.results[0]) > 1 else 1
    return lambda values: enough if enough in values else rule(values)


def _constant(op: Scalar) -> ScalarValue:
    match op.attribute:
        case None | str():
            return UNKNOWN
        case float():
            return rounded(op.attribute, _result_type(op))
        case _:
            return op.attribute


def _on_numbers(compute: _Compute) -> Rule:
    def rule(values: Sequence[ScalarValue]) -> ScalarValue:
        if UNKNOWN in values:
            return UNKNOWN
        try:
            return compute(*values)
        except (ArithmeticError, ValueError):
            return UNKNOWN

    return rule


# -- one maker per kind of op --------------------------------------------------------------------------------------


def _signed_op(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    compute, bits = _SIGNED[op.name], _width(op.results[0])
    return lambda a, b: _signed(compute(a, b), bits)


def _division(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    """By zero it is undefined, and where the quotient does not fit: the least integer by -1."""
    compute, bits = _DIVISIONS[op.name], _width(op.results[0])

    def divide(a: int, b: int) -> int:
        if b == -1 and bits > 1 and a == -1 << (bits - 1):
            raise _UndefinedError
        return _signed(compute(a, b), bits)

    return divide


def _unsigned_op(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    compute, bits = _UNSIGNED[op.name], _width(op.results[0])
    return lambda a, b: _signed(compute(_unsigned(a, bits), _unsigned(b, bits)), bits)


def _shift(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    """By the width or more it is undefined."""
    bits = _width(op.results[0])

    def shift(a: int, b: int) -> int:
        if not 0 <= b < bits:
            raise _UndefinedError
        if op.name == "arith.shli":
            return _signed(a << b, bits)
        return _signed((a if op.name == "arith.shrsi" else _unsigned(a, bits)) >> b, bits)

    return shift


def _compare_integers(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    predicate, bits = str(op.attribute), _width(op.operands[0])
    compare = _COMPARE.get(predicate if predicate in ("eq", "ne") else predicate.lstrip("su"))
    if compare is None:
        return lambda _a, _b: UNKNOWN
    convert = _extended if predicate.startswith("s") else _unsigned
    return lambda a, b: int(compare(convert(a, bits), convert(b, bits)))


def _compare_floats(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    predicate = str(op.attribute)
    compare = _COMPARE.get(predicate.lstrip("ou"))
    if compare is None:
        return lambda _a, _b: UNKNOWN
    unordered = int(predicate.startswith("u"))
    return lambda a, b: unordered if math.isnan(a) or math.isnan(b) else int(compare(a, b))


def _extended(value: int, bits: int) -> int:
    """The sign of a 1-bit integer, which is kept as 0 or 1, is its only bit."""
    return -(value & 1) if bits == 1 else _signed(value, bits)


def _cast(op: Scalar) -> Callable[[Any], ScalarValue]:
    convert = _unsigned if op.name in ("arith.extui", "arith.index_castui") else _extended
    source, target = _width(op.operands[0]), _width(op.results[0])
    return lambda a: _signed(convert(a, source), target)


def _as_signed(op: Scalar) -> Callable[[Any], ScalarValue]:
    """Integers are held as signed ones, so one that does not fit is negative."""
    bits = _width(op.results[0])

    def convert(a: int) -> int:
        if _signed(a, bits) < 0:
            raise _UndefinedError
        return a

    return convert


def _result_type(op: Scalar) -> str:
    [result] = op.results
    return result.type.name if isinstance(result.type, ScalarType) else ""


def _from_integer(op: Scalar) -> Callable[[Any], ScalarValue]:
    bits, name = _width(op.operands[0]), _result_type(op)
    convert = _unsigned if op.name == "arith.uitofp" else _extended
    return lambda a: rounded(float(convert(a, bits)), name)


def _to_integer(op: Scalar) -> Callable[[Any], ScalarValue]:
    """What does not fit is undefined."""
    bits = _width(op.results[0])
    held = _unsigned if op.name == "arith.fptoui" else _signed

    def convert(a: float) -> int:
        whole = math.trunc(a)
        if whole != held(whole, bits):
            raise _UndefinedError
        return _signed(whole, bits)

    return convert


def _between_floats(op: Scalar) -> Callable[[Any], ScalarValue]:
    name = _result_type(op)
    return lambda a: rounded(float(a), name)


def _float_op(op: Scalar) -> Callable[[Any, Any], ScalarValue]:
    """Rounded once from 64 bits, which for the operators on shorter numbers is the same as rounded from all bits."""
    compute, name = _FLOAT[op.name], _result_type(op)
    return lambda a, b: rounded(compute(float(a), float(b)), name)


def _negated(op: Scalar) -> Callable[[Any], ScalarValue]:
    del op
    return lambda a: -float(a)


_RULES: dict[str, Callable[[Scalar], _Compute]] = {
    **dict.fromkeys(_SIGNED, _signed_op),
    **dict.fromkeys(_DIVISIONS, _division),
    **dict.fromkeys(_UNSIGNED, _unsigned_op),
    **dict.fromkeys(("arith.shli", "arith.shrsi", "arith.shrui"), _shift),
    **dict.fromkeys(CASTS - {AS_SIGNED}, _cast),
    **dict.fromkeys(_FLOAT, _float_op),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    AS_SIGNED: _as_signed,
    "arith.extf": _between_floats,
    "arith.truncf": _between_floats,
    "arith.negf": _negated,
    **dict.fromkeys(("arith.sitofp", "arith.uitofp"), _from_integer),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), _to_integer),
}
"""How to make the rule of an op, by its name."""
