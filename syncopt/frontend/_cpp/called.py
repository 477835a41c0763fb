"""Functions of the file, templates among them, whose statements are read where they are called."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Bound, Variable
from syncopt.frontend._cpp.context import Call, Callee, Context, Entry, Scope
from syncopt.frontend._cpp.declarations import as_type
from syncopt.frontend._cpp.inlining import INLINE
from syncopt.frontend._cpp.loops import assigned_names
from syncopt.frontend._cpp.objects import element
from syncopt.frontend._cpp.templates import deduce, explicit, function_parameters, is_reference
from syncopt.frontend._cpp.text import declared, field
from syncopt.frontend._cpp.typenames import pointee, pointer_to, read_type
from syncopt.frontend._cpp.types import CppType


@dataclass(frozen=True, slots=True)
class _Given:
    """An argument of a call: what it stands for, and the variable that it names, if it is no more than that."""

    node: Node
    bound: Bound
    variable: Variable | None


def read_called(ctx: Context, name: str, function: Node, given: Sequence[Node], node: Node) -> None:
    """The statements of a function that returns nothing, as ops of the statement that calls it."""
    callee = ctx.functions[name]
    body = field(callee.node, "body")
    if callee.fault or body is None:
        ctx.fail(f"a call of {name} is not modelled: {callee.fault or 'it has no body'}", node, INLINE)
    arguments = [_given(ctx, argument) for argument in given]
    for variable in ctx.variables(assigned_names(ctx, node)):
        ctx.lend(variable)
    named_in_call = explicit(ctx, callee, function)
    assigned = assigned_names(ctx, body)
    with ctx.called(Call(name, node), assigned) as own:
        own.entries.update(named_in_call)
        deduce(ctx, own, callee, [argument.bound for argument in arguments], node)
        with _parameters(ctx, own, callee, arguments, node):
            block = ctx.readers.block(ctx, body)
    for op in block.ops:
        ctx.add(op)


def _given(ctx: Context, node: Node) -> _Given:
    bound = ctx.readers.expression(ctx, node)
    variable: Entry | None = None
    if node.type == "identifier":
        variable = ctx.scope.get(ctx.tree.text(node))
    elif node.type == "subscript_expression":
        variable = element(ctx, node)
    return _Given(node, bound, variable if isinstance(variable, Variable) else None)


# -- parameters of functions -------------------------------------------------------------------------------------------


@contextmanager
def _parameters(ctx: Context, own: Scope, callee: Callee, arguments: Sequence[_Given], node: Node) -> Generator[None]:
    """Gives the parameters what the call gives them while the body is read."""
    parameters = function_parameters(callee)
    if len(arguments) > len(parameters):
        ctx.fail(f"a call with {len(arguments)} arguments is not modelled, expected {len(parameters)}", node, INLINE)
    copies: list[Variable] = []
    for at, parameter in enumerate(parameters):
        default = field(parameter, "default_value")
        if at < len(arguments):
            argument = arguments[at]
        elif default is not None:
            argument = _given(ctx, default)
        else:
            ctx.fail(
                f"a call with {len(arguments)} arguments is not modelled, expected {len(parameters)}", node, INLINE
            )
        copies += _introduce(ctx, own, parameter, argument)
    yield
    for variable in copies:
        ctx.bound.pop(variable, None)


def _introduce(ctx: Context, own: Scope, parameter: Node, argument: _Given) -> list[Variable]:
    """A parameter as the variable that it refers to, or as one of its own, which is handed back."""
    type_node, declarator = field(parameter, "type"), field(parameter, "declarator")
    assert type_node is not None
    if declarator is None:
        return []
    refers, is_pointer = is_reference(parameter), declarator.type == "pointer_declarator"
    inner = declared(declarator)[-1] if refers or is_pointer else declarator
    if inner.type != "identifier":
        ctx.fail(f"the parameter {ctx.tree.phrase(parameter)} is not modelled", parameter, INLINE)
    type_ = _type(ctx, type_node, is_pointer)
    bound = argument.bound if type_ is None else _as_parameter(ctx, argument, type_, refers)
    name = ctx.tree.text(inner)
    if refers and argument.variable is not None:
        own.entries[name] = argument.variable
        return []
    variable = Variable(name, bound.type)
    own.entries[name] = variable
    ctx.bound[variable] = bound
    return [variable]


def _type(ctx: Context, type_node: Node, is_pointer: bool) -> CppType | None:
    """The type of a parameter, None for `auto`."""
    if type_node.type == "placeholder_type_specifier":
        return None
    return pointer_to(ctx, pointee(ctx, type_node), type_node) if is_pointer else read_type(ctx, type_node)


def _as_parameter(ctx: Context, argument: _Given, type_: CppType, refers: bool) -> Bound:
    if refers and argument.variable is not None and argument.variable.type != type_:
        message = f"{ctx.tree.phrase(argument.node)} as a reference to another type is not modelled"
        ctx.fail(message, argument.node, INLINE)
    return as_type(ctx, argument.bound, type_, argument.node)
