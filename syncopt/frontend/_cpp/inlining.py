"""Functions of the file that only compute a number, which are read where they are called."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import choose, condition, convert
from syncopt.frontend._cpp.bindings import Operand, Variable
from syncopt.frontend._cpp.context import Context, Scope
from syncopt.frontend._cpp.objects import operand
from syncopt.frontend._cpp.templates import deduce, explicit
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.typenames import read_type
from syncopt.frontend._cpp.types import Float, Integer, Number

INLINE = "write the body of the called function in its place"


def call_of_number(ctx: Context, name: str, function: Node, given: Sequence[Node], node: Node) -> Operand:
    """The value of `name(...)` for a function of the file that is `T name(...) { return EXPRESSION; }`.

    In front of that there may be branches that return something else.
    """
    callee = ctx.functions[name]
    returns = _returns(callee.node)
    fault = callee.fault or ("" if returns else "it does more than return a number")
    if fault:
        ctx.fail(f"a call of {name} is not modelled: {fault}", node, INLINE)
    numbers = [operand(ctx, argument) for argument in given]
    named_in_call = explicit(ctx, callee, function)
    with ctx.names_of_the_file() as own, ctx.deeper(node):
        own.entries.update(named_in_call)
        deduce(ctx, own, callee, numbers, node)
        with _parameters(ctx, own, callee.node, numbers) as fits:
            if not fits:
                ctx.fail(f"a call of {name} with {len(given)} arguments is not modelled", node, INLINE)
            made = _value(ctx, returns, _type(ctx, callee.node), node)
    return replace(made, value=ctx.rename(made.value, ctx.tree.phrase(node)), text=ctx.tree.phrase(node))


def _returns(definition: Node) -> list[tuple[Node | None, Node]]:
    """What a function returns under which conditions, the last one always; nothing if it does anything else."""
    body = field(definition, "body")
    found: list[tuple[Node | None, Node]] = []
    for statement in named(body) if body is not None else []:
        asked, returned = None, statement
        if statement.type == "if_statement":
            asked, then = field(statement, "condition"), field(statement, "consequence")
            inner = named(then) if then is not None and then.type == "compound_statement" else [then]
            returned = inner[0] if len(inner) == 1 and field(statement, "alternative") is None else None
        if returned is None or returned.type != "return_statement" or len(named(returned)) != 1:
            return []
        found.append((asked, named(returned)[0]))
    return found if [asked is None for asked, _ in found] == [False] * (len(found) - 1) + [True] else []


def _value(ctx: Context, returns: Sequence[tuple[Node | None, Node]], type_: Number | None, node: Node) -> Operand:
    """The number that is returned, in the type that the function has."""
    (asked, returned), *others = returns
    chosen = None if asked is None else condition(ctx, operand(ctx, asked), asked)
    found = operand(ctx, returned)
    made = found if type_ is None else convert(ctx, found, type_, node, ctx.tree.phrase(node))
    if chosen is None:
        return made
    other = _value(ctx, others, type_, node)
    if other.type != made.type:
        ctx.fail("a function that returns numbers of several types is not modelled", returned, INLINE)
    return choose(ctx, chosen, made, other, node)


@contextmanager
def _parameters(ctx: Context, own: Scope, definition: Node, given: Sequence[Operand]) -> Generator[bool]:
    """Gives the parameters their numbers while the body is read; whether there is one for each of them."""
    declarator = field(definition, "declarator")
    parameters = field(declarator, "parameters") if declarator is not None else None
    listed = named(parameters) if parameters is not None else []
    variables: list[Variable] = []
    for parameter, number in zip(listed, given, strict=False):
        name, type_ = field(parameter, "declarator"), _type(ctx, parameter)
        if name is None or name.type != "identifier" or type_ is None:
            ctx.fail(f"the parameter {ctx.tree.phrase(parameter)} is not modelled", parameter, "pass a number")
        variable = Variable(ctx.tree.text(name), type_)
        own.entries[variable.name] = variable
        ctx.bound[variable] = convert(ctx, number, type_, parameter)
        variables.append(variable)
    yield len(listed) == len(given)
    for variable in variables:
        del ctx.bound[variable]


def _type(ctx: Context, node: Node) -> Number | None:
    """The type that a function returns or a parameter has, None for `auto`."""
    type_node = field(node, "type")
    if type_node is None or type_node.type == "placeholder_type_specifier":
        return None
    type_ = read_type(ctx, type_node)
    if not isinstance(type_, Integer | Float):
        ctx.fail(f"{ctx.tree.phrase(type_node)} is no type of a number", type_node)
    return type_
