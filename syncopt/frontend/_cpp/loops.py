"""Loops that count; variables that they assign are what they carry."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import convert, literal
from syncopt.frontend._cpp.bindings import Bound, Operand, Variable, parts, unmade, with_parts
from syncopt.frontend._cpp.branches import handing_out
from syncopt.frontend._cpp.context import Callee, Context
from syncopt.frontend._cpp.counting import (
    FORM,
    Count,
    as_counted,
    check_unchanged,
    counted,
    counter_of,
    stepped,
    variable_in,
)
from syncopt.frontend._cpp.declarations import check_first_value
from syncopt.frontend._cpp.jumps import Jump
from syncopt.frontend._cpp.objects import integer
from syncopt.frontend._cpp.templates import function_parameters, is_reference
from syncopt.frontend._cpp.text import descendants, field, named
from syncopt.frontend._cpp.typenames import read_type
from syncopt.frontend._cpp.types import Integer
from syncopt.ir.kernel import Block, For, Value

_ASSIGNING_CALLS = frozenset({"TASSIGN", "TRESHAPE"})
_ASSIGNING_METHODS = frozenset({"SetValidShape", "SetValidRow", "SetValidCol"})


def assigned_names(ctx: Context, node: Node, inside: frozenset[str] = frozenset()) -> frozenset[str]:
    """Names that anything below a node gives another value, in functions too that it calls.

    Parameters
    ----------
    ctx : Context
        Knows the functions.
    node : Node
        A statement or a body.
    inside : frozenset of str
        Functions whose bodies are being looked at.
    """
    targets = (target for inner in descendants(node) for target in _targets(ctx, inner, inside))
    return frozenset(ctx.tree.text(target).partition("[")[0].strip() for target in targets)


def _targets(ctx: Context, node: Node, inside: frozenset[str]) -> Iterator[Node]:
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
        return
    while function.type in ("qualified_identifier", "template_function"):
        function = field(function, "name") or named(function)[0]
    name = ctx.tree.text(function)
    if name in _ASSIGNING_CALLS:
        yield from named(arguments)[:1]
    elif name in ctx.functions and name not in inside:
        yield from _lent(ctx, ctx.functions[name], named(arguments), inside | {name})


def _lent(ctx: Context, callee: Callee, arguments: Sequence[Node], inside: frozenset[str]) -> Iterator[Node]:
    """Arguments that a function takes by reference and gives another value."""
    body = field(callee.node, "body")
    changed = assigned_names(ctx, body, inside) if body is not None else frozenset[str]()
    for argument, parameter in zip(arguments, function_parameters(callee), strict=False):
        declarator = field(parameter, "declarator")
        if is_reference(parameter) and declarator is not None and changed & set(_words(ctx, declarator)):
            yield argument


def _words(ctx: Context, node: Node) -> Iterator[str]:
    return (ctx.tree.text(inner) for inner in descendants(node) if inner.type == "identifier")


class _Counter(Enum):
    """Whose the variable of a loop is, and what changes it."""

    OWN = "it is declared by the loop and gone behind it"
    STEPPED_BY_HEADER = "it is there before, and the loop changes it behind every round"
    STEPPED_BY_BODY = "it is there before, and a statement of the body changes it"


@dataclass(frozen=True, slots=True)
class _Rounds:
    """How a loop counts, and its variable."""

    count: Count
    variable: Variable
    counter: _Counter


@dataclass(frozen=True, slots=True)
class _Slot:
    """What one value that a loop carries is before it, inside it and at the end of its body."""

    init: Value
    argument: Value
    last: Value


def read_for(ctx: Context, node: Node) -> None:
    """`for (T i = a; i < b; i += s)`, or with a variable that is there before."""
    start, asked, update, body = (field(node, name) for name in ("initializer", "condition", "update", "body"))
    if asked is None or update is None or body is None:
        ctx.fail("this form of for is not modelled", node, FORM)
    changed = assigned_names(ctx, body)
    check_unchanged(ctx, (asked, update), changed)
    if start is not None and start.type == "declaration":
        name, first = _declared_start(ctx, start)
        count = counted(ctx, name, first, asked, update)
        _read_loop(ctx, node, changed, _Rounds(count, Variable(name, count.type), _Counter.OWN))
        return
    if start is not None:
        _assign_start(ctx, start, update)
    variable, name, first = _counter(ctx, update)
    count = counted(ctx, name, first, asked, update)
    _read_loop(ctx, node, changed | {count.name}, _Rounds(count, variable, _Counter.STEPPED_BY_HEADER))
    ctx.assign(variable, ctx.value_of(variable, update))


def read_while(ctx: Context, node: Node) -> None:
    """`while (i < b) { ... i += s; ... }`, which counts if nothing else changes `i`."""
    asked, body = field(node, "condition"), field(node, "body")
    assert asked is not None and body is not None
    step = _step_in(ctx, body, set(_words(ctx, asked)))
    if step is None:
        ctx.fail("a while whose body has no step of its variable is not modelled", node, FORM)
    update = named(step)[0]
    others = frozenset(name for inner in named(body) if inner != step for name in assigned_names(ctx, inner))
    check_unchanged(ctx, (asked, update), others)
    variable, name, first = _counter(ctx, update)
    count = counted(ctx, name, first, asked, update)
    _read_loop(ctx, node, others | {count.name}, _Rounds(count, variable, _Counter.STEPPED_BY_BODY))


def _step_in(ctx: Context, body: Node, names: Set[str]) -> Node | None:
    """The first statement of a body, in none of the blocks inside it, that changes one of some names."""
    for inner in named(body) if body.type == "compound_statement" else ():
        target = counter_of(named(inner)[0]) if inner.type == "expression_statement" and named(inner) else None
        if target is not None and ctx.tree.text(target) in names:
            return inner
    return None


def _counter(ctx: Context, update: Node) -> tuple[Variable, str, Operand]:
    """The variable of the function that a step changes, its name here, and what it stands for."""
    target = counter_of(update)
    entry = None if target is None else ctx.entry(ctx.tree.text(target), target)
    if target is None or not isinstance(entry, Variable):
        ctx.fail(f"the step {ctx.tree.phrase(update)} is not modelled", update, FORM)
    bound = ctx.value_of(entry, target)
    if not isinstance(bound, Operand) or not isinstance(bound.type, Integer):
        ctx.fail("a loop that does not count in integers is not modelled", target)
    number = ctx.number(bound.value)
    # The name will stand for something else when the loop has gone round.
    name = ctx.tree.text(target)
    return entry, name, replace(bound, text=name) if number is None else literal(ctx, bound.type, number)


def _declared_start(ctx: Context, node: Node) -> tuple[str, Operand]:
    """`T i = a`: the name and its first value."""
    type_node, declarators = field(node, "type"), node.children_by_field_name("declarator")
    inner = field(declarators[0], "declarator") if len(declarators) == 1 else None
    value = field(declarators[0], "value") if len(declarators) == 1 else None
    if type_node is None or inner is None or value is None or inner.type != "identifier":
        ctx.fail("this form of for is not modelled", node, FORM)
    check_first_value(ctx, inner, value)
    while value.type == "initializer_list" and len(named(value)) == 1:
        value = named(value)[0]
    first = integer(ctx, value)
    type_ = first.type if type_node.type == "placeholder_type_specifier" else read_type(ctx, type_node)
    if not isinstance(type_, Integer):
        ctx.fail("a loop that does not count in integers is not modelled", type_node)
    return ctx.tree.text(inner), convert(ctx, first, type_, value)


def _assign_start(ctx: Context, node: Node, update: Node) -> None:
    """`i = a` in front of the first `;`."""
    left, right, operator, target = (*(field(node, name) for name in ("left", "right", "operator")), counter_of(update))
    if left is None or right is None or operator is None or target is None or ctx.tree.text(operator) != "=":
        ctx.fail("this form of for is not modelled", node, FORM)
    entry = ctx.entry(ctx.tree.text(left), left) if ctx.tree.text(left) == ctx.tree.text(target) else None
    if not isinstance(entry, Variable) or not isinstance(entry.type, Integer):
        ctx.fail("this form of for is not modelled", node, FORM)
    ctx.assign(entry, convert(ctx, integer(ctx, right), entry.type, right))


def _read_loop(ctx: Context, node: Node, changed: frozenset[str], rounds: _Rounds) -> None:
    before = dict(ctx.bound)
    variables = ctx.variables(changed)
    entering = {variable: _carried(variable, bound) for variable, bound in before.items() if variable in variables}
    ctx.bound = before | entering
    count = rounds.count
    induction = Value(count.name, count.lower.type)
    block = _body(ctx, rounds, induction, node)
    slots = [slot for variable, inside in entering.items() for slot in _slots(ctx, variable, before, inside, node)]
    results = {slot.argument: Value(slot.argument.name, slot.argument.type) for slot in slots}
    ctx.bound = before | {variable: _behind(inside, results) for variable, inside in entering.items()}
    if slots:
        block = handing_out(ctx, block, tuple(slot.last for slot in slots))
    loop = For(
        uid=ctx.uid(),
        span=ctx.span,
        induction=induction,
        lower=count.lower,
        upper=count.upper,
        step=count.step,
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


def _body(ctx: Context, rounds: _Rounds, induction: Value, node: Node) -> Block:
    """The body, with the loop variable in its own type."""
    body = field(node, "body")
    assert body is not None
    count, variable = rounds.count, rounds.variable
    jump = None if rounds.counter is _Counter.STEPPED_BY_BODY else Jump.CONTINUE
    ctx.open_block()
    with ctx.inner_scope(), ctx.ended_by(jump):
        if rounds.counter is _Counter.OWN:
            ctx.scope.entries[count.name] = variable
        with ctx.textless(body.start_byte + (body.type == "compound_statement")):
            now = variable_in(ctx, count, induction)
            ctx.bound[variable] = Operand(count.type, as_counted(ctx, count, now))
        block = ctx.readers.block(ctx, body)
        first = ctx.close_block(block.span)
        ctx.open_block()
        if rounds.counter is _Counter.STEPPED_BY_HEADER:
            with ctx.textless(block.span.end):
                ctx.bound[variable] = Operand(count.type, as_counted(ctx, count, stepped(ctx, count, now)))
    last = ctx.close_block(block.span)
    return replace(block, ops=(*first.ops, *block.ops, *last.ops))
