"""C++ integer arithmetic on the fixed widths of ctypes: what expressions must come out as.

Nothing here is taken from the reader. What C++ leaves undefined is None, apart from signed overflow, which wraps.
"""

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Int = type[
    ctypes.c_int8
    | ctypes.c_uint8
    | ctypes.c_int16
    | ctypes.c_uint16
    | ctypes.c_int32
    | ctypes.c_uint32
    | ctypes.c_int64
    | ctypes.c_uint64
    | ctypes.c_bool
]

TYPES: Mapping[str, Int] = {
    "bool": ctypes.c_bool,
    "int8_t": ctypes.c_int8,
    "uint8_t": ctypes.c_uint8,
    "int16_t": ctypes.c_int16,
    "uint16_t": ctypes.c_uint16,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "size_t": ctypes.c_uint64,
}
_RANKS = tuple(TYPES)
_ORDER = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7} | {
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
OPERATORS = tuple(_ORDER)
_UNARY_RANK = 11


@dataclass(frozen=True)
class Number:
    """A number in a type; None is undefined."""

    type: str
    value: int | None

    def to(self, type_: str) -> "Number":
        """The number in another type."""
        return Number(type_, None if self.value is None else int(TYPES[type_](self.value).value))


@dataclass(frozen=True)
class Expression:
    """An expression's text, how tightly its outermost operator binds, and what it comes out as for given variables."""

    text: str
    rank: int
    compute: Callable[[Mapping[str, Number]], Number]

    def inside(self, rank: int) -> str:
        """The text as an operand of an operator of a rank."""
        return self.text if self.rank >= rank else f"({self.text})"


def variable(name: str) -> Expression:
    return Expression(name, _UNARY_RANK + 1, lambda env: env[name])


def literal(value: int) -> Expression:
    return Expression(str(value), _UNARY_RANK + 1, lambda _: Number("int32_t", value))


def cast(type_: str, inner: Expression) -> Expression:
    return Expression(f"({type_}) {inner.inside(_UNARY_RANK)}", _UNARY_RANK, lambda env: inner.compute(env).to(type_))


def unary(operator: str, inner: Expression) -> Expression:
    def compute(env: Mapping[str, Number]) -> Number:
        number = inner.compute(env)
        if operator == "!":
            return Number("bool", None if number.value is None else int(not number.value))
        wide = number.to(_promoted(number.type))
        return _made(wide.type, wide.value, _UNARY[operator])

    return Expression(f"{operator}{inner.inside(_UNARY_RANK + 1)}", _UNARY_RANK, compute)


def choice(condition: Expression, then: Expression, orelse: Expression) -> Expression:
    def compute(env: Mapping[str, Number]) -> Number:
        chosen, sides = condition.compute(env).value, (then.compute(env), orelse.compute(env))
        type_ = sides[0].type if sides[0].type == sides[1].type else _common(sides[0].type, sides[1].type)
        return Number(type_, None) if chosen is None else sides[not chosen].to(type_)

    return Expression(f"{condition.inside(1)} ? {then.text} : {orelse.inside(0)}", 0, compute)


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    rank = _ORDER[operator]

    def compute(env: Mapping[str, Number]) -> Number:
        return _operate(operator, left.compute(env), right.compute(env))

    return Expression(f"{left.inside(rank)} {operator} {right.inside(rank + 1)}", rank, compute)


def _operate(operator: str, left: Number, right: Number) -> Number:
    if operator in ("&&", "||"):
        return _logic(operator == "||", left.value, right.value)
    if operator in ("<<", ">>"):
        return _shift(operator, left.to(_promoted(left.type)), right.to(_promoted(right.type)))
    type_ = _common(left.type, right.type)
    a, b = left.to(type_).value, right.to(type_).value
    if a is None or b is None:
        return Number("bool" if _ORDER[operator] in (6, 7) else type_, None)
    if operator in _COMPARE:
        return Number("bool", int(_COMPARE[operator](a, b)))
    if operator in ("/", "%"):
        return _divide(operator, type_, a, b)
    return _made(type_, a, lambda x: _PLAIN[operator](x, b))


def _logic(decided_by: bool, left: int | None, right: int | None) -> Number:
    if left is None:
        return Number("bool", None)
    if bool(left) == decided_by:
        return Number("bool", int(decided_by))
    return Number("bool", None if right is None else int(right != 0))


def _divide(operator: str, type_: str, a: int, b: int) -> Number:
    least = -(1 << (8 * ctypes.sizeof(TYPES[type_]) - 1))
    if b == 0 or (b == -1 and a == least):
        return Number(type_, None)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return Number(type_, quotient if operator == "/" else a - quotient * b)


def _shift(operator: str, left: Number, right: Number) -> Number:
    bits = 8 * ctypes.sizeof(TYPES[left.type])
    by = right.value
    if by is None or not 0 <= by < bits:
        return Number(left.type, None)
    return _made(left.type, left.value, lambda a: a << by if operator == "<<" else a >> by)


def _made(type_: str, value: int | None, compute: Callable[[int], int]) -> Number:
    return Number(type_, None if value is None else int(TYPES[type_](compute(value)).value))


def _promoted(type_: str) -> str:
    return "int32_t" if _RANKS.index(type_) < _RANKS.index("int32_t") else type_


def _common(a: str, b: str) -> str:
    """The later of the two in the order of widths, unsigned behind signed."""
    return max(_promoted(a), _promoted(b), key=_RANKS.index)


_UNARY: Mapping[str, Callable[[int], int]] = {"-": lambda a: -a, "~": lambda a: ~a, "+": lambda a: a}
_PLAIN: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
