"""Loops that count; variables that they assign are what they carry."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import as_signed, convert, literal
from syncopt.frontend._cpp.bindings import Bound, Operand, Variable, parts, unmade, with_parts
from syncopt.frontend._cpp.branches import handing_out
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.objects import integer
from syncopt.frontend._cpp.text import descendants, field, named
from syncopt.frontend._cpp.typenames import read_type
from syncopt.frontend._cpp.types import INT, Integer, common
from syncopt.ir.kernel import Block, For, Value

_HINT = "write the loop as for (T i = a; i < b; i += s)"
_ASSIGNING_CALLS = frozenset({"TASSIGN", "TRESHAPE"})
_ASSIGNING_METHODS = frozenset({"SetValidShape", "SetValidRow", "SetValidCol"})


def assigned_names(ctx: Context, node: Node) -> frozenset[str]:
    """Names that anything below a node gives another value."""
    targets = (target for inner in descendants(node) for target in _targets(ctx, inner))
    return frozenset(ctx.tree.text(target).partition("[")[0].strip() for target in targets)


def _targets(ctx: Context, node: Node) -> Iterator[Node]:
    name = {"assignment_expression": "left", "update_expression": "argument"}.get(node.type)
    target = field(node, name) if name is not None else None
    if target is not None:
        yield target
    function, arguments = field(node, "function"), field(node, "arguments")
    if node.type != "call_expression" or function is None or arguments is None:
        return
    method = field(function, "field")
    if method is not None and ctx.tree.text(method) in _ASSIGNING_METHODS:
        yield from filter(None, [field(function, "argument")])
    elif ctx.tree.text(function).rpartition("::")[2] in _ASSIGNING_CALLS:
        yield from named(arguments)[:1]


@dataclass(frozen=True, slots=True)
class _Header:
    """A loop's variable and the type that it has in the text; bounds and step in the type in which the loop counts."""

    name: str
    type: Integer
    lower: Value
    upper: Value
    step: Value


@dataclass(frozen=True, slots=True)
class _Slot:
    """What one value that a loop carries is before it, inside it and at the end of its body."""

    init: Value
    argument: Value
    last: Value


def read_for(ctx: Context, node: Node) -> None:
    """`for (T i = a; i < b; i += s)`."""
    body = field(node, "body")
    assert body is not None
    changed = assigned_names(ctx, body)
    header = _header(ctx, node, changed)
    before = dict(ctx.bound)
    entering = {variable: _carried(variable, bound) for variable, bound in before.items() if variable.base in changed}
    ctx.bound = before | entering
    induction = Value(header.name, header.lower.type)
    block = _body(ctx, header, induction, body)
    slots = [slot for variable, inside in entering.items() for slot in _slots(ctx, variable, before, inside, node)]
    results = {slot.argument: Value(slot.argument.name, slot.argument.type) for slot in slots}
    ctx.bound = before | {variable: _behind(inside, results) for variable, inside in entering.items()}
    if slots:
        block = handing_out(ctx, block, tuple(slot.last for slot in slots))
    loop = For(
        uid=ctx.uid(),
        span=ctx.span,
        induction=induction,
        lower=header.lower,
        upper=header.upper,
        step=header.step,
        inits=tuple(slot.init for slot in slots),
        carried=tuple(slot.argument for slot in slots),
        results=tuple(results.values()),
        body=block,
    )
    ctx.add(loop)


def _carried(variable: Variable, bound: Bound) -> Bound:
    """A variable inside a loop that assigns it."""
    return with_parts(unmade(bound), [part and Value(variable.name, part.type) for part in parts(bound)])


def _behind(inside: Bound, results: Mapping[Value, Value]) -> Bound:
    """A variable behind the loop."""
    return with_parts(unmade(inside), [part and results[part] for part in parts(inside)])


def _slots(
    ctx: Context, variable: Variable, before: Mapping[Variable, Bound], inside: Bound, node: Node
) -> Iterator[_Slot]:
    """The values of a carried variable; what it has not before the loop, it has not at the start of a round either."""
    last = ctx.bound.get(variable)
    lasts = parts(last) if last is not None else tuple(None for _ in parts(inside))
    for init, argument, end in zip(parts(before[variable]), parts(inside), lasts, strict=True):
        if argument is not None and end is None:
            ctx.fail(f"{variable.name} may have no value behind this loop", node, "give it one before the loop")
        if init is not None and argument is not None and end is not None:
            yield _Slot(init, argument, end)


def _body(ctx: Context, header: _Header, induction: Value, body: Node) -> Block:
    """The body, with the loop variable in its own type."""
    ctx.open_block()
    with ctx.inner_scope():
        variable = Variable(header.name, header.type)
        ctx.scope.entries[header.name] = variable
        with ctx.textless(body.start_byte + (body.type == "compound_statement")):
            value = induction
            if induction.type != header.type.scalar:
                value = ctx.scalar("arith.trunci", (induction,), header.type.scalar, header.name)
        ctx.bound[variable] = Operand(header.type, value)
        block = ctx.readers.block(ctx, body)
    first = ctx.close_block(block.span)
    return replace(block, ops=(*first.ops, *block.ops))


# -- the header --------------------------------------------------------------------------------------------------------


def _header(ctx: Context, node: Node, changed: frozenset[str]) -> _Header:
    start, asked, update = (field(node, name) for name in ("initializer", "condition", "update"))
    if start is None or asked is None or update is None or start.type != "declaration":
        ctx.fail("this form of for is not modelled", node, _HINT)
    name, type_, first = _start(ctx, start)
    for again in (asked, update):
        for inner in descendants(again):
            word = ctx.tree.text(inner)
            if inner.type == "identifier" and word in changed:
                ctx.fail(f"the loop changes {word}, which its header reads", inner, _HINT)
    bound = _bound(ctx, asked, name)
    step = _step(ctx, update, name)
    assert isinstance(bound.type, Integer)
    counting = common(type_, bound.type)
    assert isinstance(counting, Integer)
    if not type_.signed and type_.bits < counting.bits:
        message = f"a loop that counts in {type_.spelling} up to a bound of {bound.type.spelling} is not modelled"
        ctx.fail(message, asked, f"declare {name} as {counting.spelling}")
    lower, upper, by = (as_signed(ctx, convert(ctx, found, counting, node)) for found in (first, bound, step))
    return _Header(name, type_, lower, upper, by)


def _start(ctx: Context, node: Node) -> tuple[str, Integer, Operand]:
    """`T i = a`: the name, its type, its first value."""
    type_node, declarators = field(node, "type"), node.children_by_field_name("declarator")
    inner = field(declarators[0], "declarator") if len(declarators) == 1 else None
    value = field(declarators[0], "value") if len(declarators) == 1 else None
    if type_node is None or inner is None or value is None or inner.type != "identifier":
        ctx.fail("this form of for is not modelled", node, _HINT)
    first = integer(ctx, value)
    type_ = first.type if type_node.type == "placeholder_type_specifier" else read_type(ctx, type_node)
    if not isinstance(type_, Integer):
        ctx.fail("a loop that does not count in integers is not modelled", type_node)
    return ctx.tree.text(inner), type_, convert(ctx, first, type_, value)


def _bound(ctx: Context, node: Node, name: str) -> Operand:
    """`i < b`: the bound."""
    left, right, operator = field(node, "left"), field(node, "right"), field(node, "operator")
    if node.type != "binary_expression" or left is None or right is None or operator is None:
        ctx.fail(f"a loop while {ctx.tree.phrase(node)} is not modelled", node, _HINT)
    if ctx.tree.text(operator) != "<" or ctx.tree.text(left) != name:
        ctx.fail(f"a loop while {ctx.tree.phrase(node)} is not modelled", node, _HINT)
    return integer(ctx, right)


def _step(ctx: Context, node: Node, name: str) -> Operand:
    """`i += s`, `++i` or `i++`: the step."""
    operator = field(node, "operator")
    sign = "" if operator is None else ctx.tree.text(operator)
    target = field(node, "argument" if node.type == "update_expression" else "left")
    by = field(node, "right")
    if target is not None and ctx.tree.text(target) == name:
        if node.type == "update_expression" and sign == "++":
            return literal(ctx, INT, 1)
        if node.type == "assignment_expression" and sign == "+=" and by is not None:
            return integer(ctx, by)
    raise ctx.refusal(f"the step {ctx.tree.phrase(node)} is not modelled", node, _HINT)
