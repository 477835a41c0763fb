"""Functions of the file that only compute a number, which are read where they are called."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import convert
from syncopt.frontend._cpp.bindings import Operand, Variable
from syncopt.frontend._cpp.context import Context, Scope
from syncopt.frontend._cpp.objects import operand
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.typenames import read_type
from syncopt.frontend._cpp.types import Float, Integer, Number

INLINE = "write the body of the called function in its place"


def call_of_number(ctx: Context, name: str, given: Sequence[Node], node: Node) -> Operand:
    """The value of `name(...)` for a function of the file that is `T name(...) { return EXPRESSION; }`."""
    callee = ctx.functions[name]
    returned = _returned(callee.node)
    fault = callee.fault or ("" if returned is not None else "it does more than return a number")
    if fault or returned is None:
        ctx.fail(f"a call of {name} is not modelled: {fault}", node, INLINE)
    numbers = [operand(ctx, argument) for argument in given]
    with ctx.names_of_the_file() as own, _parameters(ctx, own, callee.node, numbers) as fits, ctx.deeper(node):
        if not fits:
            ctx.fail(f"a call of {name} with {len(given)} arguments is not modelled", node, INLINE)
        found = operand(ctx, returned)
        type_ = _type(ctx, callee.node)
        made = found if type_ is None else convert(ctx, found, type_, node, ctx.tree.phrase(node))
    return replace(made, value=ctx.rename(made.value, ctx.tree.phrase(node)), text=ctx.tree.phrase(node))


def _returned(definition: Node) -> Node | None:
    body = field(definition, "body")
    statements = named(body) if body is not None else []
    if len(statements) != 1 or statements[0].type != "return_statement":
        return None
    return next(iter(named(statements[0])), None)


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
