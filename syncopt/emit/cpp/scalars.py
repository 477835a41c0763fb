"""Scalar ops as C++ expressions that mean the same.

Integers of the tree have no sign of their own: they are signed in C++, and where an op reads them as unsigned or wraps
around they are converted there. What is undefined in the tree (a division by zero, a shift by the width) is in C++ too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from syncopt.emit.cpp.names import Names
from syncopt.emit.cpp.spelling import (
    is_float,
    is_integer,
    literal,
    scalar_type,
    unsigned_type,
    wrapping_type,
)
from syncopt.ir.kernel import Scalar
from syncopt.ir.scalars import AS_SIGNED, bits_of
from syncopt.ir.types import ScalarType

_LAUNCH = {
    "pto.get_block_idx": "get_block_idx",
    "pto.get_block_num": "get_block_num",
    "pto.get_subblock_idx": "get_subblockid",
    "pto.get_subblock_num": "get_subblockdim",
}


@dataclass(frozen=True, slots=True)
class _Terms:
    """A scalar op with the identifiers of its operands and their type, which is one for all but a condition."""

    op: Scalar
    names: tuple[str, ...]
    type: ScalarType
    result: ScalarType

    @property
    def bits(self) -> int:
        """Width of the operands."""
        return bits_of(self.type.name)

    def unsigned(self) -> tuple[str, ...]:
        """The operands read as unsigned integers."""
        return self._converted(unsigned_type(self.type))

    def wrapping(self) -> tuple[str, ...]:
        """The operands as unsigned integers that wrap around in sums and products."""
        return self._converted(wrapping_type(self.type))

    def back(self, expression: str) -> str:
        """An unsigned expression as an integer of the result's type."""
        return f"({scalar_type(self.result)}) ({expression})"

    def _converted(self, type_: str) -> tuple[str, ...]:
        return tuple(f"({type_}) {name}" for name in self.names)


_Rule = Callable[[_Terms], str | None]
"""The expression of an op; None on types it has none for."""


def expression(op: Scalar, names: Names) -> str | None:
    """A scalar op in C++, None if there is no C++ form of it on these types.

    Parameters
    ----------
    op : Scalar
        With one result.
    names : Names
        The identifiers of its operands.
    """
    result = op.results[0].type
    operands = [operand.type for operand in op.operands]
    if not isinstance(result, ScalarType) or scalar_type(result) is None:
        return None
    if op.name == "arith.constant":
        return None if op.attribute is None or isinstance(op.attribute, str) else literal(op.attribute, result)
    if op.name in _LAUNCH:
        return f"{_LAUNCH[op.name]}()"
    rule, type_ = _RULES.get(op.name), operands[-1]
    if rule is None or not isinstance(type_, ScalarType) or scalar_type(type_) is None:
        return None
    return rule(_Terms(op, tuple(names[operand] for operand in op.operands), type_, result))


# -- integers ------------------------------------------------------------------------------------------------------


def _on_integers(rule: Callable[[_Terms], str]) -> _Rule:
    return lambda terms: rule(terms) if is_integer(terms.type) and terms.bits > 1 else None


def _infix(sign: str, on_bits: str) -> _Rule:
    """Sums, products and bitwise ops; `on_bits` is what they are on single bits."""

    def rule(terms: _Terms) -> str:
        a, b = terms.wrapping()
        return terms.back(f"{a} {sign} {b}")

    def or_on_bits(terms: _Terms) -> str | None:
        if terms.type.name == "i1":
            return f" {on_bits} ".join(terms.names)
        return _on_integers(rule)(terms)

    return or_on_bits


def _division(shape: str) -> _Rule:
    return _on_integers(lambda terms: shape.format(*terms.names))


def _unsigned_division(shape: str) -> _Rule:
    return _on_integers(lambda terms: terms.back(shape.format(*terms.unsigned())))


def _shift_left(terms: _Terms) -> str:
    a, b = terms.wrapping()
    return terms.back(f"{a} << {b}")


def _shift_right(terms: _Terms) -> str:
    a, b = terms.unsigned()
    return terms.back(f"{a} >> {b}")


def _choice(sign: str) -> _Rule:
    """The operand that stands in a relation to the other one."""
    return _on_integers(lambda terms: "{0} {sign} {1} ? {0} : {1}".format(*terms.names, sign=sign))


def _unsigned_choice(sign: str) -> _Rule:
    def rule(terms: _Terms) -> str:
        (a, b), (left, right) = terms.names, terms.unsigned()
        return f"{left} {sign} {right} ? {a} : {b}"

    return _on_integers(rule)


_RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _compare_integers(terms: _Terms) -> str | None:
    predicate = str(terms.op.attribute)
    sign = _RELATIONS.get(predicate if predicate in ("eq", "ne") else predicate[1:])
    if sign is None or not is_integer(terms.type):
        return None
    if terms.bits == 1 and predicate.startswith("s"):
        sign = _MIRRORED[sign]  # the only bit is the sign: true is -1
    a, b = terms.unsigned() if predicate.startswith("u") and terms.bits > 1 else terms.names
    return f"{a} {sign} {b}"


def _select(terms: _Terms) -> str:
    return "{} ? {} : {}".format(*terms.names)


# -- casts ---------------------------------------------------------------------------------------------------------


def _integer_cast(terms: _Terms) -> str | None:
    """The sign goes on into the wider type; the narrower type takes the lowest bits."""
    if not is_integer(terms.type) or not is_integer(terms.result):
        return None
    [a] = terms.names
    if terms.result.name == "i1":
        return a if terms.bits == 1 else f"({a} & 1) != 0"
    return f"{a} ? -1 : 0" if terms.bits == 1 else f"({scalar_type(terms.result)}) {a}"


def _unsigned_cast(terms: _Terms) -> str | None:
    if not is_integer(terms.type) or not is_integer(terms.result):
        return None
    if terms.bits == 1 or terms.result.name == "i1":
        return f"({scalar_type(terms.result)}) {terms.names[0]}" if terms.bits == 1 else _integer_cast(terms)
    return f"({scalar_type(terms.result)}) {terms.unsigned()[0]}"


def _between_floats(terms: _Terms) -> str | None:
    if not is_float(terms.type) or not is_float(terms.result):
        return None
    return f"({scalar_type(terms.result)}) {terms.names[0]}"


def _integer_to_float(terms: _Terms) -> str | None:
    if not is_integer(terms.type) or not is_float(terms.result):
        return None
    [a] = terms.names
    signed = f"({a} ? -1 : 0)" if terms.bits == 1 else a
    return f"({scalar_type(terms.result)}) {signed}"


def _unsigned_to_float(terms: _Terms) -> str | None:
    if not is_integer(terms.type) or not is_float(terms.result):
        return None
    a = terms.names[0] if terms.bits == 1 else terms.unsigned()[0]
    return f"({scalar_type(terms.result)}) {a}"


def _float_to_integer(terms: _Terms) -> str | None:
    if not is_float(terms.type) or not is_integer(terms.result) or terms.result.name == "i1":
        return None
    return f"({scalar_type(terms.result)}) {terms.names[0]}"


def _float_to_unsigned(terms: _Terms) -> str | None:
    if _float_to_integer(terms) is None:
        return None
    return f"({scalar_type(terms.result)}) ({unsigned_type(terms.result)}) {terms.names[0]}"


# -- floating-point numbers ----------------------------------------------------------------------------------------


def _on_floats(shape: str) -> _Rule:
    return lambda terms: shape.format(*terms.names) if is_float(terms.type) else None


_FLOAT_RELATIONS = {
    "false": "false",
    "true": "true",
    "oeq": "{0} == {1}",
    "ogt": "{0} > {1}",
    "oge": "{0} >= {1}",
    "olt": "{0} < {1}",
    "ole": "{0} <= {1}",
    "one": "{0} < {1} || {0} > {1}",
    "ord": "{0} == {0} && {1} == {1}",
    "ueq": "!({0} < {1} || {0} > {1})",
    "ugt": "!({0} <= {1})",
    "uge": "!({0} < {1})",
    "ult": "!({0} >= {1})",
    "ule": "!({0} > {1})",
    "une": "{0} != {1}",
    "uno": "{0} != {0} || {1} != {1}",
}
"""A comparison with a NaN is false but for `!=`."""


def _compare_floats(terms: _Terms) -> str | None:
    shape = _FLOAT_RELATIONS.get(str(terms.op.attribute))
    return shape.format(*terms.names) if shape is not None and is_float(terms.type) else None


_MAXIMUM = "{0} > {1} ? {0} : {0} < {1} ? {1} : {0} == {1} && {0} != 0 ? {0} : {0} + {1}"
_MINIMUM = "{0} < {1} ? {0} : {0} > {1} ? {1} : {0} == {1} && {0} != 0 ? {0} : -(-{0} - {1})"
"""Of two zeros the sum has the greater sign, the negated sum of the negated ones the lesser; NaNs go through both."""


_RULES: Mapping[str, _Rule] = {
    "arith.addi": _infix("+", "!="),
    "arith.subi": _infix("-", "!="),
    "arith.muli": _infix("*", "&&"),
    "arith.andi": _infix("&", "&&"),
    "arith.ori": _infix("|", "||"),
    "arith.xori": _infix("^", "!="),
    "arith.divsi": _division("{0} / {1}"),
    "arith.remsi": _division("{0} % {1}"),
    "arith.ceildivsi": _division("{0} / {1} + ({0} % {1} != 0 && ({0} < 0) == ({1} < 0) ? 1 : 0)"),
    "arith.floordivsi": _division("{0} / {1} - ({0} % {1} != 0 && ({0} < 0) != ({1} < 0) ? 1 : 0)"),
    "arith.divui": _unsigned_division("{0} / {1}"),
    "arith.remui": _unsigned_division("{0} % {1}"),
    "arith.ceildivui": _unsigned_division("{0} / {1} + ({0} % {1} != 0 ? 1 : 0)"),
    "arith.minsi": _choice("<"),
    "arith.maxsi": _choice(">"),
    "arith.minui": _unsigned_choice("<"),
    "arith.maxui": _unsigned_choice(">"),
    "arith.shli": _on_integers(_shift_left),
    "arith.shrui": _on_integers(_shift_right),
    "arith.shrsi": _division("{0} >> {1}"),
    "arith.cmpi": _compare_integers,
    "arith.select": _select,
    "arith.index_cast": _integer_cast,
    "arith.extsi": _integer_cast,
    "arith.trunci": _integer_cast,
    "arith.index_castui": _unsigned_cast,
    AS_SIGNED: _integer_cast,
    "arith.extui": _unsigned_cast,
    "arith.extf": _between_floats,
    "arith.truncf": _between_floats,
    "arith.sitofp": _integer_to_float,
    "arith.uitofp": _unsigned_to_float,
    "arith.fptosi": _float_to_integer,
    "arith.fptoui": _float_to_unsigned,
    "arith.addf": _on_floats("{0} + {1}"),
    "arith.subf": _on_floats("{0} - {1}"),
    "arith.mulf": _on_floats("{0} * {1}"),
    "arith.divf": _on_floats("{0} / {1}"),
    "arith.negf": _on_floats("-{0}"),
    "arith.cmpf": _compare_floats,
    "arith.maximumf": _on_floats(_MAXIMUM),
    "arith.minimumf": _on_floats(_MINIMUM),
    "arith.maxnumf": _on_floats(f"{{0}} != {{0}} ? {{1}} : {{1}} != {{1}} ? {{0}} : {_MAXIMUM}"),
    "arith.minnumf": _on_floats(f"{{0}} != {{0}} ? {{1}} : {{1}} != {{1}} ? {{0}} : {_MINIMUM}"),
}
"""By name. `arith.remf` and `arith.bitcast` have none: C++ needs a library function that cores do not have."""
