"""What loops count: from where to where, in which steps, and what their variable is in every round.

A loop of the IR counts upwards to a bound that it does not reach. A C++ loop that counts in another way becomes one
that goes round as often, and its variable follows from the number of rounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import as_signed, convert, literal
from syncopt.frontend._cpp.bindings import Operand, Variable
from syncopt.frontend._cpp.context import Context, integer_text
from syncopt.frontend._cpp.objects import integer
from syncopt.frontend._cpp.text import descendants, field, named
from syncopt.frontend._cpp.types import INT, LONG, Integer, common
from syncopt.ir.kernel import Value
from syncopt.ir.types import ScalarType
from syncopt.ir.values import primary

FORM = "write the loop as for (T i = a; i < b; i += s)"
_MIRRORED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_MOST = (1 << (LONG.bits - 1)) - 1


@dataclass(frozen=True, slots=True)
class Count:
    """How a loop counts.

    Parameters
    ----------
    name : str
        Its variable.
    type : Integer
        The type of that in the text.
    lower, upper, step : Value
        Of the loop in the IR, in the type in which that counts.
    first : Value or None
        Where the variable starts if it counts downwards.
    """

    name: str
    type: Integer
    lower: Value
    upper: Value
    step: Value
    first: Value | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """The condition of a loop: how its variable, on the left, is compared with what."""

    sign: str
    bound: Operand
    node: Node


@dataclass(frozen=True, slots=True)
class _Step:
    """What is added to the variable after a round; `number` is None if that is known at run time only."""

    by: Operand
    number: int | None
    is_down: bool


def counter_of(update: Node) -> Node | None:
    """The variable that `i++`, `i -= s`, `i = i + s` and the like change."""
    target = field(update, "argument" if update.type == "update_expression" else "left")
    return target if target is not None and target.type == "identifier" else None


def counted(ctx: Context, name: str, first: Operand, asked: Node, update: Node) -> Count:
    """How a loop counts whose variable has a first value, goes on while a condition holds, and is updated."""
    assert isinstance(first.type, Integer)
    condition, step = _asked(ctx, asked, name), _step(ctx, update, name)
    counting = _counting_type(ctx, name, first.type, condition)
    lower, bound, by = (convert(ctx, side, counting, asked) for side in (first, condition.bound, step.by))
    sign = _ordered(ctx, name, condition, step, (lower, bound))
    if step.is_down:
        _check_end(ctx, name, sign, bound, first.type, step, asked)
    least, most = (bound, lower) if step.is_down else (lower, bound)
    if sign in ("<=", ">="):
        # The last number counts too.
        least, most, by = _wide(ctx, least, asked), _one_more(ctx, most, asked), _wide(ctx, by, asked)
    start, end, steps = _as_spelled(ctx, least), _as_spelled(ctx, most), as_signed(ctx, by)
    if not step.is_down:
        return Count(name, first.type, start, end, steps)
    # As many rounds as upwards; where it starts follows from the bound, whatever trip count is given to the loop.
    top = end if sign == ">" else _one_before(ctx, end, name)
    return Count(name, first.type, start, end, steps, top)


def _one_before(ctx: Context, value: Value, name: str) -> Value:
    one = literal(ctx, LONG, 1)
    return ctx.scalar("arith.subi", (value, one.value), LONG.scalar, name)


def _as_spelled(ctx: Context, operand: Operand) -> Value:
    """A bound under a name that stands for it here: that of its value may stand for something else by now."""
    value = as_signed(ctx, operand)
    variable = ctx.scope.get(value.name)
    bound = ctx.bound.get(variable) if isinstance(variable, Variable) else None
    if value.name == operand.spelling or (isinstance(bound, Operand) and bound.value is value):
        return value
    assert isinstance(value.type, ScalarType)
    return ctx.scalar("arith.index_cast", (value,), value.type, operand.spelling)


def variable_in(ctx: Context, count: Count, induction: Value) -> Value:
    """The variable in the round of an `induction` value, in the type in which the loop counts."""
    if count.first is None:
        return induction
    gone = ctx.scalar("arith.subi", (induction, count.lower), _type(count), count.name)
    return ctx.scalar("arith.subi", (count.first, gone), _type(count), count.name)


def stepped(ctx: Context, count: Count, now: Value) -> Value:
    """What follows on a value of the variable, both in the type in which the loop counts."""
    change = "arith.addi" if count.first is None else "arith.subi"
    return ctx.scalar(change, (now, count.step), _type(count), count.name)


def as_counted(ctx: Context, count: Count, value: Value) -> Value:
    """A value of the variable in the type that the variable has in the text."""
    if value.type == count.type.scalar:
        return value
    return ctx.scalar("arith.trunci", (value,), count.type.scalar, count.name)


def _type(count: Count) -> ScalarType:
    assert isinstance(count.lower.type, ScalarType)
    return count.lower.type


# -- the parts of a header ---------------------------------------------------------------------------------------------


def check_unchanged(ctx: Context, nodes: Sequence[Node], changed: frozenset[str]) -> None:
    """What a header reads must be the same in every round."""
    variables = ctx.variables(changed)
    for node in nodes:
        for inner in descendants(node):
            word = ctx.tree.text(inner)
            if inner.type == "identifier" and (word in changed or ctx.variables([word]) & variables):
                ctx.fail(f"the loop changes {word}, which its header reads", inner, FORM)


def _asked(ctx: Context, node: Node, name: str) -> _Asked:
    """`i < b`, `b > i` and the like."""
    inner = node
    while inner.type in ("condition_clause", "parenthesized_expression") and len(named(inner)) == 1:
        inner = named(inner)[0]
    left, right, operator = field(inner, "left"), field(inner, "right"), field(inner, "operator")
    if inner.type == "binary_expression" and left is not None and right is not None and operator is not None:
        sign = ctx.tree.text(operator)
        if sign in _MIRRORED and ctx.tree.text(left) == name:
            return _Asked(sign, _other(ctx, right, name), inner)
        if sign in _MIRRORED and ctx.tree.text(right) == name:
            return _Asked(_MIRRORED[sign], _other(ctx, left, name), inner)
    raise ctx.refusal(f"a loop while {ctx.tree.phrase(inner)} is not modelled", inner, FORM)


def _step(ctx: Context, node: Node, name: str) -> _Step:
    """`++i`, `i -= s`, `i = i + s` and the like."""
    operator = field(node, "operator")
    sign = "" if operator is None else ctx.tree.text(operator)
    target, by = counter_of(node), field(node, "right")
    if target is not None and ctx.tree.text(target) == name:
        if node.type == "update_expression":
            return _Step(literal(ctx, INT, 1), 1, sign == "--")
        if sign in ("+=", "-=") and by is not None:
            return _stepping(ctx, sign[0], by, name)
        if sign == "=" and by is not None and by.type == "binary_expression":
            return _spelled_out(ctx, by, name, node)
    raise ctx.refusal(f"the step {ctx.tree.phrase(node)} is not modelled", node, FORM)


def _spelled_out(ctx: Context, node: Node, name: str, update: Node) -> _Step:
    """`i + s`, `s + i` or `i - s`."""
    left, right, operator = field(node, "left"), field(node, "right"), field(node, "operator")
    assert left is not None and right is not None and operator is not None
    sign = ctx.tree.text(operator)
    if sign in ("+", "-") and ctx.tree.text(left) == name:
        return _stepping(ctx, sign, right, name)
    if sign == "+" and ctx.tree.text(right) == name:
        return _stepping(ctx, sign, left, name)
    raise ctx.refusal(f"the step {ctx.tree.phrase(update)} is not modelled", update, FORM)


def _other(ctx: Context, node: Node, name: str) -> Operand:
    """A bound or a step, in which the variable itself does not stand."""
    words = [ctx.tree.text(inner) for inner in descendants(node) if inner.type == "identifier"]
    if name in words or ctx.variables(words) & ctx.variables([name]):
        ctx.fail(f"a loop whose bound or step follows from {name} is not modelled", node, FORM)
    return integer(ctx, node)


def _stepping(ctx: Context, sign: str, node: Node, name: str) -> _Step:
    by = _other(ctx, node, name)
    number = ctx.number(by.value)
    return _Step(by, number if isinstance(number, int) else None, sign == "-")


def _counting_type(ctx: Context, name: str, type_: Integer, asked: _Asked) -> Integer:
    """The type in which the variable is compared; the variable must not wrap around before that."""
    assert isinstance(asked.bound.type, Integer)
    counting = common(type_, asked.bound.type)
    assert isinstance(counting, Integer)
    if type_.bits < (INT.bits if type_.signed else counting.bits):
        message = f"a loop that counts in {type_.spelling} up to a bound of {asked.bound.type.spelling} is not modelled"
        ctx.fail(message, asked.node, f"declare {name} as {counting.spelling}")
    return counting


# -- directions --------------------------------------------------------------------------------------------------------


def _ordered(ctx: Context, name: str, asked: _Asked, step: _Step, sides: tuple[Operand, Operand]) -> str:
    """The comparison as one of order; the loop must go towards its bound, and must meet it if it ends there only."""
    towards = (">", ">=") if step.is_down else ("<", "<=")
    if asked.sign in towards:
        return asked.sign
    if asked.sign == "!=" and _meets(ctx, step, sides):
        return towards[0]
    why = f": {name} may never be that" if asked.sign == "!=" else " with this step"
    raise ctx.refusal(f"a loop while {ctx.tree.phrase(asked.node)} is not modelled{why}", asked.node, FORM)


def _meets(ctx: Context, step: _Step, sides: tuple[Operand, Operand]) -> bool:
    """Whether the variable is sure to be equal to the bound after some rounds, without wrapping around."""
    first, bound = sides
    start, end = ctx.number(first.value), ctx.number(bound.value)
    if not isinstance(first.type, Integer) or step.number is None or step.number < 1:
        return False
    if isinstance(start, int) and isinstance(end, int) and (first.type.signed or min(start, end) >= 0):
        way = start - end if step.is_down else end - start
        return way >= 0 and way % step.number == 0
    # An unsigned number is at least 0.
    return step.number == 1 and not first.type.signed and (end if step.is_down else start) == 0


def _check_end(ctx: Context, name: str, sign: str, bound: Operand, type_: Integer, step: _Step, asked: Node) -> None:
    """An unsigned variable must not get below zero in its last step, where it would be the largest number."""
    assert isinstance(bound.type, Integer)
    if step.number is None or step.number < 1:
        ctx.fail(f"a loop that counts {name} down by {step.by.spelling} is not modelled", asked, "use a constant")
    if bound.type.signed:
        return
    end = ctx.number(bound.value)
    least = step.number - (sign == ">")
    if type_ != bound.type or (least and not (isinstance(end, int) and end >= least)):
        message = f"a loop that counts {name} down in {bound.type.spelling} is not modelled: it may get below zero"
        ctx.fail(message, asked, f"count in {LONG.spelling}")


def _wide(ctx: Context, operand: Operand, node: Node) -> Operand:
    """A number as a signed one of 64 bits."""
    assert isinstance(operand.type, Integer)
    if operand.type.bits < LONG.bits:
        return convert(ctx, operand, LONG, node)
    return Operand(LONG, as_signed(ctx, operand), operand.text)


def _one_more(ctx: Context, operand: Operand, node: Node) -> Operand:
    """The number behind one; behind the largest of 64 bits, which no loop ever reaches, that itself."""
    assert isinstance(operand.type, Integer)
    known = ctx.number(operand.value)
    if isinstance(known, int) and (operand.type.signed or known >= 0) and known < _MOST:
        return literal(ctx, LONG, known + 1)
    wide = _wide(ctx, operand, node)
    text, value = integer_text(LONG, operand.spelling), wide.value
    if operand.type.bits == LONG.bits:
        near = literal(ctx, LONG, _MOST - 1)
        text = f"({primary(text)} < {near.spelling} ? {primary(text)} : {near.spelling})"
        value = ctx.scalar("arith.minsi", (value, near.value), LONG.scalar, text)
    one = literal(ctx, LONG, 1)
    return Operand(LONG, ctx.scalar("arith.addi", (value, one.value), LONG.scalar, f"{primary(text)} + 1"))
