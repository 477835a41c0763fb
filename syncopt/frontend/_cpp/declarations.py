"""Declarations: variables with their first values, aliases, enumerations, and what only names something."""

from collections.abc import Callable
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import convert
from syncopt.frontend._cpp.bindings import Array, Bound, Constant, Operand, TensorBinding, TileBinding, Variable, Word
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.objects import construct, is_whole, placed
from syncopt.frontend._cpp.text import declared, descendants, field, named
from syncopt.frontend._cpp.typenames import (
    HEADER_WORDS,
    pointee,
    pointer_to,
    read_type,
    unqualified,
    word_text,
)
from syncopt.frontend._cpp.types import INT, CppType, Extents, Float, Integer, describe
from syncopt.ir.types import TileType

FIXED = frozenset({"const", "constexpr"})
"""What makes a variable a constant."""
_SPECIFIERS = frozenset({*FIXED, "static", "inline"})


def read_declaration(ctx: Context, node: Node) -> None:
    """`TYPE name = value, ...;`."""
    type_node = field(node, "type")
    if type_node is None:
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    if type_node.type == "enum_specifier":
        read_enumeration(ctx, type_node)
        return
    _check_specifiers(ctx, node)
    for declarator in node.children_by_field_name("declarator"):
        if _last_name(ctx, type_node) in HEADER_WORDS:
            _declare_word(ctx, declarator)
        else:
            _declare(ctx, type_node, declarator)


def _check_specifiers(ctx: Context, node: Node) -> None:
    kinds = ("storage_class_specifier", "type_qualifier")
    found = {ctx.tree.text(child): child for child in node.children if child.type in kinds}
    for word, child in found.items():
        if word not in _SPECIFIERS or (word == "static" and not found.keys() & FIXED):
            ctx.fail(f"a {word} variable is not modelled", child)


def _last_name(ctx: Context, type_node: Node) -> str:
    if type_node.type == "qualified_identifier":
        type_node = unqualified(ctx, type_node)
    return ctx.tree.text(type_node)


def _declare_word(ctx: Context, declarator: Node) -> None:
    """`constexpr Layout name = Layout::ND`."""
    name, value = field(declarator, "declarator"), field(declarator, "value")
    if name is None or value is None:
        ctx.fail(f"{ctx.tree.phrase(declarator)} is not modelled", declarator)
    ctx.declare(ctx.tree.text(name), Word(word_text(ctx, value)), name)


def _declare(ctx: Context, type_node: Node, declarator: Node) -> None:
    if declarator.type == "function_declarator":
        _declare_made(ctx, type_node, declarator)
        return
    if declarator.type == "array_declarator":
        _declare_array(ctx, type_node, declarator)
        return
    value = field(declarator, "value") if declarator.type == "init_declarator" else None
    inner = field(declarator, "declarator") if declarator.type == "init_declarator" else declarator
    assert inner is not None
    name, is_pointer = _declared_name(ctx, inner)
    check_first_value(ctx, name, value)
    type_ = _declared_type(ctx, type_node, is_pointer)
    bound = None if value is None else _initial(ctx, type_, value)
    if type_ is None:
        if bound is None:
            ctx.fail(f"{ctx.tree.text(name)} has no type", name)
        type_ = bound.type
    _introduce(ctx, name, type_, bound)


def check_first_value(ctx: Context, name: Node, value: Node | None) -> None:
    """A name in its own first value is no longer that of the block around it, and has no value yet."""
    for inner in descendants(value) if value is not None else ():
        if inner.type == "identifier" and ctx.tree.text(inner) == ctx.tree.text(name):
            ctx.fail(f"{ctx.tree.text(name)} stands in its own first value", inner)


def _declared_name(ctx: Context, declarator: Node) -> tuple[Node, bool]:
    """The name, and whether it is that of a pointer."""
    is_pointer = declarator.type == "pointer_declarator"
    inner = declared(declarator)[-1] if is_pointer else declarator
    if inner.type != "identifier":
        what = {"reference_declarator": "a reference"}.get(inner.type, "")
        ctx.fail(f"{what or ctx.tree.phrase(declarator)} is not modelled", declarator)
    return inner, is_pointer


def _declared_type(ctx: Context, type_node: Node, is_pointer: bool) -> CppType | None:
    """The type, None for `auto`."""
    if type_node.type == "placeholder_type_specifier":
        return None
    if is_pointer:
        return pointer_to(ctx, pointee(ctx, type_node), type_node)
    return read_type(ctx, type_node)


def _initial(ctx: Context, type_: CppType | None, value: Node) -> Bound:
    """The first value, of the type if one is given."""
    if value.type in ("argument_list", "initializer_list"):
        if type_ is None:
            ctx.fail("a list in braces has no type", value)
        return construct(ctx, type_, named(value), value)
    bound = ctx.readers.expression(ctx, value)
    return bound if type_ is None else as_type(ctx, bound, type_, value)


def _declare_made(ctx: Context, type_node: Node, declarator: Node) -> None:
    """`TYPE name(a, b)`, which looks like the declaration of a function."""
    name, call = field(declarator, "declarator"), ctx.tree.as_call(declarator)
    arguments = field(call, "arguments") if call is not None else None
    if name is None or arguments is None or not named(arguments):
        ctx.fail(f"{ctx.tree.phrase(declarator)} is not modelled", declarator, "write TYPE name = TYPE(...)")
    check_first_value(ctx, name, arguments)
    type_ = read_type(ctx, type_node)
    _introduce(ctx, name, type_, construct(ctx, type_, named(arguments), declarator))


def _declare_array(ctx: Context, type_node: Node, declarator: Node) -> None:
    """`TILE name[2]`: a tile for every number."""
    name, size = field(declarator, "declarator"), field(declarator, "size")
    type_ = _declared_type(ctx, type_node, False)
    if name is None or size is None or name.type != "identifier" or not isinstance(type_, TileType):
        ctx.fail(f"the array {ctx.tree.phrase(declarator)} is not modelled", declarator)
    text, elements = ctx.tree.text(name), list[Variable]()
    for number in range(ctx.constant(size)):
        variable = Variable(f"{text}[{number}]", type_)
        ctx.bound[variable] = _without_address(ctx, construct(ctx, type_, (), name), variable.name, name)
        elements.append(variable)
    ctx.declare(text, Array(tuple(elements)), name)


def _without_address(ctx: Context, bound: Bound, name: str, node: Node) -> Bound:
    """A tile that is never given an address is one of those that are placed later."""
    is_placed_later = name.partition("[")[0] not in ctx.assigned
    if isinstance(bound, TileBinding) and bound.address is None and is_placed_later and is_whole(bound):
        return placed(ctx, bound, name, node)
    return bound


def as_type(ctx: Context, bound: Bound, type_: CppType, node: Node) -> Bound:
    """A value in the type of the variable that gets it."""
    if isinstance(type_, Integer | Float) and isinstance(bound, Operand):
        return convert(ctx, bound, type_, node)
    if bound.type != type_:
        ctx.fail(f"{describe(bound.type)} as a value of {describe(type_)} is not modelled", node)
    return bound


def renamed(ctx: Context, bound: Bound, name: str) -> Bound:
    """A value under the name of its variable."""
    match bound:
        case Operand():
            return replace(bound, value=ctx.rename(bound.value, name))
        case TensorBinding(view=view) if view is not None:
            return replace(bound, view=ctx.rename(view, name))
        case _:
            return bound


def _introduce(ctx: Context, node: Node, type_: CppType, bound: Bound | None) -> None:
    name = ctx.tree.text(node)
    variable = Variable(name, type_)
    if bound is None and isinstance(type_, TileType | Extents):
        bound = construct(ctx, type_, (), node)
    if bound is not None:
        bound = _without_address(ctx, bound, name, node)
    ctx.declare(name, variable, node)
    if bound is not None:
        ctx.bound[variable] = renamed(ctx, bound, name)


# -- names only --------------------------------------------------------------------------------------------------------


def read_alias(ctx: Context, node: Node) -> None:
    """`using name = TYPE;`."""
    name, type_node = field(node, "name"), field(node, "type")
    assert name is not None and type_node is not None
    ctx.declare(ctx.tree.text(name), read_type(ctx, type_node), name)


def read_typedef(ctx: Context, node: Node) -> None:
    """`typedef TYPE name;`."""
    type_node, name = field(node, "type"), field(node, "declarator")
    if type_node is None or name is None or name.type != "type_identifier":
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    ctx.declare(ctx.tree.text(name), read_type(ctx, type_node), name)


def read_enumeration(ctx: Context, node: Node) -> None:
    """`enum NAME { A, B = 3 };`: every enumerator is a constant, `NAME::A` as well as, without `class`, `A`."""
    body, name, base = field(node, "body"), field(node, "name"), field(node, "base")
    if body is None:
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    type_ = read_type(ctx, base) if base is not None else INT
    if not isinstance(type_, Integer):
        ctx.fail(f"an enumeration of {describe(type_)} is not modelled", node)
    prefix = f"{ctx.tree.text(name)}::" if name is not None else ""
    is_open = not any(child.type in ("class", "struct") for child in node.children)
    if name is not None:
        ctx.declare(ctx.tree.text(name), type_, name)
    number = -1
    for enumerator in named(body):
        number = _enumerator(ctx, enumerator, number)
        own = field(enumerator, "name")
        assert own is not None
        for text in [f"{prefix}{ctx.tree.text(own)}"] + [ctx.tree.text(own)] * (is_open and bool(prefix)):
            ctx.declare(text, Constant(type_, number), own)


def _enumerator(ctx: Context, node: Node, before: int) -> int:
    """The number of an enumerator; those before it have values as well."""
    value = field(node, "value")
    return before + 1 if value is None else ctx.constant(value)


def read_nothing(ctx: Context, node: Node) -> None:
    """What the compiler checks or looks up, and nothing executes."""
    del ctx, node


DECLARATIONS: dict[str, Callable[[Context, Node], None]] = {
    "declaration": read_declaration,
    "alias_declaration": read_alias,
    "type_definition": read_typedef,
    "enum_specifier": read_enumeration,
    "static_assert_declaration": read_nothing,
    "using_declaration": read_nothing,
}
"""Readers by node type."""
