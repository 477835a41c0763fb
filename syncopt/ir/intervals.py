"""Intervals of integer values under assumptions about the kernel's arguments, and the trip counts that they allow.

Arithmetic is that of whole numbers: nothing wraps around.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from syncopt.ir.kernel import For, Kernel, Scalar, Value
from syncopt.ir.numbering import Definitions
from syncopt.ir.scalars import CASTS
from syncopt.ir.source import InputError
from syncopt.ir.types import ScalarType

_INF = math.inf
_NOTHING: Mapping[int, tuple[Value, "Interval"]] = MappingProxyType({})
_TERM = re.compile(r"%?([A-Za-z_]\w*|\d\w*)\s*(>=|<=|==|>|<|=)\s*(-?\d+)")
_EXPECTED = "expected NAME OP INT with one of >= <= == > <, joined by `and` or `,`"


class Interval(NamedTuple):
    """All integers from `low` to `high`, both included; infinite where a side is not bounded."""

    low: float = -_INF
    high: float = _INF

    def meet(self, other: "Interval") -> "Interval":
        """What lies in both; `low` above `high` if nothing does."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def hull(self, other: "Interval") -> "Interval":
        """The smallest interval that holds both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def is_empty(self) -> bool:
        """Whether it holds no integer."""
        return self.low > self.high


ANY = Interval()
_TRUE, _FALSE, _EITHER = Interval(1, 1), Interval(0, 0), Interval(0, 1)
_LAUNCH = {
    "pto.get_block_idx": Interval(0),
    "pto.get_block_num": Interval(1),
    "pto.get_subblock_idx": Interval(0),
    "pto.get_subblock_num": Interval(1),
}


@dataclass(frozen=True)
class Assumptions:
    """Intervals of integer arguments, by name without `%`; an argument that is left out may be anything.

    `texts` are the assumptions as the user wrote them.
    """

    arguments: Mapping[str, Interval]
    texts: tuple[str, ...] = ()

    def of(self, name: str) -> Interval:
        """What is assumed of an argument."""
        return self.arguments.get(name, ANY)

    def with_argument(self, name: str, interval: Interval) -> "Assumptions":
        """The same and that an argument lies in an interval."""
        return Assumptions({**self.arguments, name: self.of(name).meet(interval)}, self.texts)

    @property
    def is_contradiction(self) -> bool:
        """Whether no arguments fulfil them."""
        return any(interval.is_empty for interval in self.arguments.values())


NO_ASSUMPTIONS = Assumptions({})


def parse_assumptions(texts: Iterable[str], kernel: Kernel) -> Assumptions:
    """The meaning of `--assume` texts such as `K>=512` or `M == 128 and N < 4096`.

    Raises
    ------
    InputError
        If a text has another form, names no integer argument, or contradicts another one.
    """
    names = tuple(value.name.removeprefix("%") for value in kernel.arguments if _is_integer(value))
    found, given = Assumptions({}), tuple(text.strip() for text in texts)
    for text in given:
        for term in re.split(r"\s+and\s+|,|&&", text):
            found = _assume(found, term.strip(), names)
    return Assumptions(found.arguments, given)


def _is_integer(value: Value) -> bool:
    return isinstance(value.type, ScalarType) and "f" not in value.type.name


def _assume(found: Assumptions, term: str, names: tuple[str, ...]) -> Assumptions:
    match = _TERM.fullmatch(term)
    if match is None and re.search(r"\w\s*%\s*\d", term):
        raise InputError(f"--assume {term!r}: remainders are not followed", help=_EXPECTED)
    if match is None:
        raise InputError(f"--assume {term!r} is not understood", help=_EXPECTED)
    name, operator, number = match[1], match[2], int(match[3])
    if name not in names:
        listed = ", ".join(names) or "none"
        raise InputError(f"--assume {term!r}: no integer argument {name}", help=f"integer arguments: {listed}")
    interval = {
        ">=": Interval(number),
        ">": Interval(number + 1),
        "<=": Interval(high=number),
        "<": Interval(high=number - 1),
    }.get(operator, Interval(number, number))
    narrowed = found.with_argument(name, interval)
    if narrowed.is_contradiction:
        raise InputError(f"--assume {term!r} contradicts what is assumed of {name} already")
    return narrowed


def trip_interval(loop: For, intervals: "Intervals") -> tuple[int, int | None]:
    """The least and the largest trip count of a loop (None: any number)."""
    lower, upper = intervals.of(loop.lower), intervals.of(loop.upper)
    step = intervals.of(loop.step).meet(Interval(1))
    least, most = upper.low - lower.high, upper.high - lower.low
    low = 0 if least <= 0 else 1 if step.high == _INF else _quotient_up(int(least), int(step.high))
    high = 0 if most <= 0 else None if most == _INF else _quotient_up(int(most), int(step.low))
    return low, high


def _quotient_up(a: int, b: int) -> int:
    return -(-a // b)


class Intervals:
    """Intervals of the values of a kernel.

    Parameters
    ----------
    definitions : Definitions
        How values are computed.
    assumptions : Assumptions
        What is known of the arguments. The block number is at least 1, the block index at least 0.
    narrowed : mapping of value number to (Value, Interval)
        What else is known: intervals of a value and all that are equal to it.
    """

    def __init__(
        self,
        definitions: Definitions,
        assumptions: Assumptions,
        narrowed: Mapping[int, tuple[Value, Interval]] = _NOTHING,
    ) -> None:
        self._definitions = definitions
        self.assumptions = assumptions
        self._narrowed = narrowed
        self._known: dict[Value, Interval] = {}

    @property
    def is_contradiction(self) -> bool:
        """Whether no arguments give values in all these intervals."""
        return self.assumptions.is_contradiction or any(self.of(value).is_empty for value, _ in self._narrowed.values())

    def of(self, value: Value) -> Interval:
        """The interval of a value; 0 and 1 stand for a condition."""
        found = self._known.get(value)
        if found is None:
            found = self._of(value)
            if self._narrowed:
                found = found.meet(self._narrowed.get(self._definitions.numbers[value], (value, ANY))[1])
            self._known[value] = found
        return found

    def assuming(self, condition: Value, chosen: bool) -> "Intervals":
        """The same and that a condition has a value, as far as it compares something with a bounded value."""
        op = self._definitions.scalar(condition)
        if op is None or op.name != "arith.cmpi":
            return self
        predicate = str(op.attribute) if chosen else _OPPOSITE[str(op.attribute)]
        left, right = op.operands
        found = self._compared(left, predicate, self.of(right))
        return found._compared(right, _MIRRORED.get(predicate, predicate), self.of(left))

    def _compared(self, value: Value, predicate: str, other: Interval) -> "Intervals":
        if predicate not in _BOUND:
            return self
        value = self._definitions.behind_casts(value)
        bound = _BOUND[predicate](self.of(value), other)
        if value in self._definitions.arguments:
            assumptions = self.assumptions.with_argument(value.name.removeprefix("%"), bound)
            return Intervals(self._definitions, assumptions, self._narrowed)
        number = self._definitions.numbers[value]
        _, known = self._narrowed.get(number, (value, ANY))
        return Intervals(self._definitions, self.assumptions, {**self._narrowed, number: (value, known.meet(bound))})

    def _of(self, value: Value) -> Interval:
        if value in self._definitions.arguments:
            return self.assumptions.of(value.name.removeprefix("%"))
        op = self._definitions.scalar(value)
        return ANY if op is None else self._scalar(op)

    def _scalar(self, op: Scalar) -> Interval:
        if op.name == "arith.constant":
            return Interval(op.attribute, op.attribute) if isinstance(op.attribute, int) else ANY
        if op.name in _LAUNCH:
            return _LAUNCH[op.name]
        if op.name == "arith.cmpi":
            return _compare(str(op.attribute), *(self.of(value) for value in op.operands))
        if op.name == "arith.select":
            return self._select(*op.operands)
        operands = tuple(self.of(value) for value in op.operands)
        if op.name in CASTS:
            unsigned = op.name.endswith("ui") and operands[0].low < 0
            return Interval(0) if unsigned else operands[0]
        if op.results[0].type == ScalarType("i1"):
            return _LOGIC[op.name](*operands) if op.name in _LOGIC else _EITHER
        return _ARITHMETIC[op.name](*operands) if op.name in _ARITHMETIC else ANY

    def _select(self, condition: Value, then: Value, orelse: Value) -> Interval:
        chosen = self.of(condition)
        if chosen.low >= 1:
            return self.of(then)
        return self.of(orelse) if chosen.high <= 0 else self.of(then).hull(self.of(orelse))


def _product(a: Interval, b: Interval) -> Interval:
    corners = tuple(0 if 0 in (x, y) else x * y for x in a for y in b)
    return Interval(min(corners), max(corners))


def _divide(round_: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    """Division by a positive constant, which keeps the order of what it divides."""

    def divided(a: Interval, b: Interval) -> Interval:
        if b.low != b.high or b.low <= 0:
            return ANY
        low, high = (x if math.isinf(x) else round_(int(x), int(b.low)) for x in a)
        return Interval(low, high)

    return divided


def _truncate(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def _remainder(a: Interval, b: Interval) -> Interval:
    if b.low != b.high or b.low <= 0:
        return ANY
    most = b.high - 1
    return Interval(max(-most, min(a.low, 0)), min(most, max(a.high, 0)))


_ARITHMETIC: dict[str, Callable[[Interval, Interval], Interval]] = {
    "arith.addi": lambda a, b: Interval(a.low + b.low, a.high + b.high),
    "arith.subi": lambda a, b: Interval(a.low - b.high, a.high - b.low),
    "arith.muli": _product,
    "arith.divsi": _divide(_truncate),
    "arith.ceildivsi": _divide(_quotient_up),
    "arith.floordivsi": _divide(lambda a, b: a // b),
    "arith.remsi": _remainder,
    "arith.minsi": lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    "arith.maxsi": lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
}
_LOGIC: dict[str, Callable[[Interval, Interval], Interval]] = {
    "arith.andi": _ARITHMETIC["arith.minsi"],
    "arith.ori": _ARITHMETIC["arith.maxsi"],
    "arith.xori": lambda a, b: _EITHER if _EITHER in (a, b) else _FALSE if a == b else _TRUE,
}


def _compare(predicate: str, a: Interval, b: Interval) -> Interval:
    if predicate.startswith("u") and min(a.low, b.low) < 0:
        return _EITHER
    match predicate:
        case "eq" | "ne":
            same = _TRUE if a == b and a.low == a.high else _FALSE if a.meet(b).is_empty else _EITHER
            return same if predicate == "eq" or same == _EITHER else _TRUE if same == _FALSE else _FALSE
        case "slt" | "ult":
            return _less(a, b)
        case "sge" | "uge":
            return Interval(*(1 - bound for bound in reversed(_less(a, b))))
        case "sgt" | "ugt":
            return _less(b, a)
        case _:
            return Interval(*(1 - bound for bound in reversed(_less(b, a))))


def _less(a: Interval, b: Interval) -> Interval:
    return _TRUE if a.high < b.low else _FALSE if a.low >= b.high else _EITHER


_OPPOSITE = {"eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt"} | {
    "ult": "uge",
    "uge": "ult",
    "ugt": "ule",
    "ule": "ugt",
}
_MIRRORED = {"slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle"}
_BOUND: dict[str, Callable[[Interval, Interval], Interval]] = {
    "eq": lambda _, other: other,
    "ne": lambda own, other: _without(own, other.low) if other.low == other.high else own,
    "slt": lambda _, other: Interval(high=other.high - 1),
    "sle": lambda _, other: Interval(high=other.high),
    "sgt": lambda _, other: Interval(other.low + 1),
    "sge": lambda _, other: Interval(other.low),
}
"""What a comparison with something in an interval says of its left side, where it says anything."""


def _without(interval: Interval, number: float) -> Interval:
    """Without one of its ends, or as it is."""
    return Interval(interval.low + (interval.low == number), interval.high - (interval.high == number))
