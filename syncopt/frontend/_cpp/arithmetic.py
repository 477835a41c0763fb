"""Conversions and operators of C++ on numbers and pointers, as scalar ops whose meaning is exactly the same."""

from collections.abc import Callable
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Inside, Operand
from syncopt.frontend._cpp.context import Context, integer_text
from syncopt.frontend._cpp.types import BOOL, LONG, Float, Integer, Number, Pointer, Space, common, promoted
from syncopt.ir.kernel import AddPtr, Value
from syncopt.ir.scalars import AS_SIGNED, wrapped
from syncopt.ir.types import PointerType
from syncopt.ir.values import primary

_PLAIN = {"+": "addi", "-": "subi", "*": "muli", "&": "andi", "|": "ori", "^": "xori"}
_SIGNED = {"/": "divsi", "%": "remsi", ">>": "shrsi"}
_UNSIGNED = {"/": "divui", "%": "remui", ">>": "shrui"}
_FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_COMPARE_FLOAT = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
SHIFTS = ("<<", ">>")
COMPARISONS = ("==", "!=", *_COMPARE)


def literal(ctx: Context, type_: Number, number: float, text: str | None = None) -> Operand:
    """A constant."""
    return Operand(type_, ctx.scalar("arith.constant", (), type_.scalar, text or str(number), number))


def convert(ctx: Context, operand: Operand, to: Number, node: Node, text: str | None = None) -> Operand:
    """A number in another type."""
    source = operand.type
    if isinstance(source, Pointer):
        ctx.fail(f"a pointer is no {to.spelling}", node)
    if source == to:
        return operand
    text = text or integer_text(to, operand.spelling)
    number = ctx.take_literal(operand.value) if isinstance(source, Integer) else None
    if number is not None and isinstance(source, Integer):
        return _literal_as(ctx, number, source, to, text)
    if isinstance(source, Integer) and isinstance(to, Integer):
        return Operand(to, _integer(ctx, operand.value, source, to, text), text)
    if to == BOOL:
        ctx.fail("a condition on floating point numbers is not modelled", node)
    return Operand(to, ctx.scalar(_float_cast(source, to), (operand.value,), to.scalar, text))


def _literal_as(ctx: Context, number: int, source: Integer, to: Number, text: str) -> Operand:
    """A literal that is written in one type and used in another."""
    exact = number if source.signed else number & ((1 << source.bits) - 1)
    if isinstance(to, Float):
        return literal(ctx, to, float(exact), text)
    return literal(ctx, to, int(exact != 0) if to == BOOL else wrapped(exact, to.scalar.name), text)


def _integer(ctx: Context, value: Value, source: Integer, to: Integer, text: str) -> Value:
    if to == BOOL:
        zero = literal(ctx, source, 0)
        return ctx.scalar("arith.cmpi", (value, zero.value), BOOL.scalar, text, "ne")
    if to.bits == source.bits:
        return value
    name = "arith.trunci" if to.bits < source.bits else "arith.extsi" if source.signed else "arith.extui"
    return ctx.scalar(name, (value,), to.scalar, text)


def _float_cast(source: Number, to: Number) -> str:
    if isinstance(source, Integer):
        return "arith.sitofp" if source.signed else "arith.uitofp"
    if isinstance(to, Integer):
        return "arith.fptosi" if to.signed else "arith.fptoui"
    widths = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
    return "arith.extf" if widths[to.name] > widths[source.name] else "arith.truncf"


def as_signed(ctx: Context, operand: Operand) -> Value:
    """A number as a signed one of 64 bits, undefined if it does not fit."""
    assert isinstance(operand.type, Integer)
    value = operand.value
    if operand.type.signed:
        return value
    name = "arith.extui" if operand.type.bits < LONG.bits else AS_SIGNED
    return ctx.scalar(name, (value,), LONG.scalar, operand.spelling)


def condition(ctx: Context, operand: Operand, node: Node) -> Operand:
    """A number as a condition."""
    return convert(ctx, operand, BOOL, node)


def negated(ctx: Context, operand: Operand, node: Node, text: str) -> Operand:
    """`!a`."""
    one = literal(ctx, BOOL, 1, "true")
    value = condition(ctx, operand, node).value
    return Operand(BOOL, ctx.scalar("arith.xori", (value, one.value), BOOL.scalar, text))


def signed_prefix(ctx: Context, operator: str, operand: Operand, node: Node, text: str) -> Operand:
    """`-a`, `+a`, `~a`."""
    type_ = operand.type
    if isinstance(type_, Float):
        if operator == "-":
            return Operand(type_, ctx.scalar("arith.negf", (operand.value,), type_.scalar, text))
        ctx.fail(f"{operator} on floating point numbers is not modelled", node)
    if isinstance(type_, Pointer):
        ctx.fail(f"{operator} on a pointer is not modelled", node)
    wide = convert(ctx, operand, promoted(type_), node)
    assert isinstance(wide.type, Integer)
    if operator == "+":
        return wide
    if operator == "-":
        zero = literal(ctx, wide.type, 0)
        return Operand(wide.type, ctx.scalar("arith.subi", (zero.value, wide.value), wide.type.scalar, text))
    ones = literal(ctx, wide.type, -1)
    return Operand(wide.type, ctx.scalar("arith.xori", (wide.value, ones.value), wide.type.scalar, text))


def binary(ctx: Context, operator: str, left: Operand, right: Operand, node: Node, text: str = "") -> Operand:
    """`a operator b` for every operator that evaluates both sides; `text` says so where `node` does not."""
    text = text or ctx.tree.phrase(node)
    if isinstance(left.type, Pointer) or isinstance(right.type, Pointer):
        return _on_pointer(ctx, operator, left, right, node)
    if operator in SHIFTS:
        return _shift(ctx, operator, left, right, node)
    type_ = common(left.type, right.type)
    a, b = convert(ctx, left, type_, node).value, convert(ctx, right, type_, node).value
    if operator in COMPARISONS:
        name = "arith.cmpi" if isinstance(type_, Integer) else "arith.cmpf"
        return Operand(BOOL, ctx.scalar(name, (a, b), BOOL.scalar, text, _predicate(operator, type_)))
    names = _FLOAT if isinstance(type_, Float) else _PLAIN | (_SIGNED if type_.signed else _UNSIGNED)
    if operator not in names:
        ctx.fail(f"{operator} on {type_.spelling} is not modelled", node)
    return Operand(type_, ctx.scalar(f"arith.{names[operator]}", (a, b), type_.scalar, text))


def _predicate(operator: str, type_: Number) -> str:
    if isinstance(type_, Float):
        return _COMPARE_FLOAT[operator]
    if operator in _COMPARE:
        return ("s" if type_.signed else "u") + _COMPARE[operator]
    return "eq" if operator == "==" else "ne"


def _shift(ctx: Context, operator: str, left: Operand, right: Operand, node: Node) -> Operand:
    """The sides are promoted each by itself, and the result has the type of the left one."""
    if not isinstance(left.type, Integer) or not isinstance(right.type, Integer):
        ctx.fail(f"{operator} on floating point numbers is not modelled", node)
    type_ = promoted(left.type)
    a = convert(ctx, left, type_, node).value
    # A wider count stays as wide as it is: cut to the left side's width it could become one that is allowed.
    b = convert(ctx, right, max(type_, promoted(right.type), key=_bits), node).value
    names = {"<<": "shli"} | (_SIGNED if type_.signed else _UNSIGNED)
    return Operand(type_, ctx.scalar(f"arith.{names[operator]}", (a, b), type_.scalar, ctx.tree.phrase(node)))


def _bits(type_: Integer) -> int:
    return type_.bits


def _on_pointer(ctx: Context, operator: str, left: Operand, right: Operand, node: Node) -> Operand:
    """A pointer moved by a number of elements."""
    pointer, offset = (right, left) if isinstance(right.type, Pointer) and operator == "+" else (left, right)
    if not isinstance(pointer.type, Pointer) or not isinstance(offset.type, Integer) or operator not in ("+", "-"):
        ctx.fail(f"{operator} on a pointer is not modelled", node)
    steps = convert(ctx, offset, LONG if offset.type.bits < LONG.bits else offset.type, node)
    if operator == "-":
        zero = literal(ctx, LONG, 0)
        negative = ctx.scalar("arith.subi", (zero.value, steps.value), LONG.scalar, f"-{primary(steps.spelling)}")
        steps = Operand(LONG, negative)
    text = ctx.tree.phrase(node)
    if pointer.type.space is Space.GLOBAL:
        return moved(ctx, pointer, pointer.type, steps.value, text)
    size = literal(ctx, LONG, pointer.type.element.size)
    step = ctx.scalar(
        "arith.muli", (steps.value, size.value), LONG.scalar, f"{primary(steps.spelling)} * {size.spelling}"
    )
    value = ctx.scalar("arith.addi", (pointer.value, step), LONG.scalar, text)
    return Operand(pointer.type, value, inside=_further(ctx, pointer.inside, steps.value, text))


def _further(ctx: Context, inside: Inside | None, steps: Value, text: str) -> Inside | None:
    """The place in a tile some elements behind another one."""
    if inside is None or inside.offset is None:
        return inside and replace(inside, offset=steps)
    return replace(inside, offset=ctx.scalar("arith.addi", (inside.offset, steps), LONG.scalar, text))


def moved(ctx: Context, pointer: Operand, type_: Pointer, offset: Value, text: str) -> Operand:
    """A pointer into global memory some elements further, as a pointer of a type."""
    result = Value(text, PointerType(type_.element))
    ctx.add(AddPtr(ctx.uid(), ctx.span, result, pointer.value, offset))
    return Operand(type_, result)


def choose(ctx: Context, chosen: Operand, then: Operand, orelse: Operand, node: Node) -> Operand:
    """`c ? a : b` for numbers; what is undefined on the side that is not chosen does not matter."""
    if isinstance(then.type, Pointer) or isinstance(orelse.type, Pointer):
        ctx.fail("a choice between pointers is not modelled", node)
    type_ = then.type if then.type == orelse.type else common(then.type, orelse.type)
    sides = tuple(convert(ctx, side, type_, node).value for side in (then, orelse))
    value = ctx.scalar("arith.select", (chosen.value, *sides), type_.scalar, ctx.tree.phrase(node))
    return Operand(type_, value)


def short_circuit(ctx: Context, operator: str, left: Operand, right: Callable[[], Operand], node: Node) -> Operand:
    """`a && b` or `a || b`: the right side matters only where the left one does not decide."""
    first = condition(ctx, left, node)
    second = condition(ctx, right(), node)
    decided = literal(ctx, BOOL, int(operator == "||"), "true" if operator == "||" else "false")
    operands = (second.value, decided.value) if operator == "&&" else (decided.value, second.value)
    text = ctx.tree.phrase(node)
    return Operand(BOOL, ctx.scalar("arith.select", (first.value, *operands), BOOL.scalar, text))


def index(ctx: Context, operand: Operand, node: Node) -> Value:
    """A number as one of 64 bits, as sizes and strides are."""
    return convert(ctx, operand, LONG, node).value
