"""Expressions: literals, names, operators, casts, calls that make a value."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import (
    COMPARISONS,
    binary,
    choose,
    condition,
    convert,
    literal,
    moved,
    negated,
    short_circuit,
    signed_prefix,
)
from syncopt.frontend._cpp.bindings import Bound, Constant, Operand, TensorBinding, TileBinding, Variable
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.inlining import call_of_number
from syncopt.frontend._cpp.objects import (
    address,
    array_of,
    chosen_tile,
    construct,
    element,
    operand,
    valid_rows_or_columns,
)
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.typenames import is_type_name, read_type, unqualified
from syncopt.frontend._cpp.types import (
    BOOL,
    INT,
    LONG,
    SIZE,
    UNSIGNED,
    Float,
    Integer,
    Number,
    Pointer,
    Space,
    describe,
)
from syncopt.frontend._cpp.types import element as element_of
from syncopt.ir.scalars import wrapped
from syncopt.ir.types import ScalarType, TileType
from syncopt.ir.values import primary

_INTEGER = re.compile(r"([+-]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)")
_FLOATING = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?([fFlL]?)")
_EVENT = re.compile(r"EVENT_ID(\d{1,3})")
_LAUNCH = {
    "get_block_idx": "pto.get_block_idx",
    "get_block_num": "pto.get_block_num",
    "get_subblockid": "pto.get_subblock_idx",
    "get_subblockdim": "pto.get_subblock_num",
}
_HEADER_NUMBERS = {"DYNAMIC": -1, "C0_SIZE_BYTE": 32, "FRACTAL_NZ_ROW": 16, "BLOCK_BYTE_SIZE": 32}
_TILE_NUMBERS: dict[str, Callable[[TileType], int]] = {
    "Rows": lambda tile: tile.rows,
    "Cols": lambda tile: tile.cols,
    "Numel": lambda tile: tile.rows * tile.cols,
}
_LAUNCH_NAMES = {"block_idx": "pto.get_block_idx", "block_num": "pto.get_block_num"}
_CASTS = ("static_cast", "reinterpret_cast")
WORDS = {
    "lambda_expression": "a lambda",
    "assignment_expression": "an assignment inside an expression",
    "update_expression": "++ or -- inside an expression",
    "comma_expression": "the comma operator",
    "string_literal": "a string",
    "char_literal": "a character",
    "initializer_list": "a list in braces",
    "field_expression": "a member",
    "new_expression": "new",
    "pointer_expression": "the address of a name, or what a pointer points at",
}
"""Constructs by the name that messages call them."""


def read_expression(ctx: Context, node: Node) -> Bound:
    """What an expression stands for."""
    reader = _READERS.get(node.type)
    if reader is None:
        ctx.fail(f"{WORDS.get(node.type, node.type.replace('_', ' '))} is not modelled", node)
    with ctx.deeper(node):
        return reader(ctx, node)


def _inside(ctx: Context, node: Node) -> Bound:
    inner = named(node)
    if len(inner) != 1:
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    return read_expression(ctx, inner[0])


# -- literals and names ------------------------------------------------------------------------------------------------


def _number(ctx: Context, node: Node) -> Bound:
    text = ctx.tree.text(node)
    plain = text.replace("'", "")
    match = _INTEGER.fullmatch(plain)
    if match is not None:
        return _whole_number(ctx, node, match)
    match = _FLOATING.fullmatch(plain)
    if match is None or match[1] in ("l", "L"):
        ctx.fail(f"{text} is not modelled", node)
    type_ = Float("f32") if match[1] else Float("f64")
    return literal(ctx, type_, float(plain.rstrip("fF")), text)


def _whole_number(ctx: Context, node: Node, match: re.Match[str]) -> Bound:
    """The first of int, unsigned (not for decimals), long, unsigned long that holds it and that its suffix allows."""
    digits, suffix = match[2], match[3].lower()
    if len(digits) > 1 and digits.isdecimal() and digits[0] == "0":
        ctx.fail(f"an octal number is not modelled: {digits}", node)
    base = 16 if digits[:2].lower() == "0x" else 2 if digits[:2].lower() == "0b" else 10
    number = int(digits, 0 if base != 10 else 10)
    for type_ in (INT, UNSIGNED, LONG, SIZE):
        long_enough = type_.bits == LONG.bits or "l" not in suffix
        sign_fits = ("u" in suffix) <= (not type_.signed) and (type_.signed or "u" in suffix or base != 10)
        if long_enough and sign_fits and number < 1 << (type_.bits - type_.signed):
            signed = -number if match[1] == "-" else number
            return literal(ctx, type_, wrapped(signed, type_.scalar.name), ctx.tree.text(node))
    raise ctx.refusal(f"{match[0]} fits no type", node)


def _truth(ctx: Context, node: Node) -> Bound:
    text = ctx.tree.text(node)
    return literal(ctx, BOOL, int(text == "true"), text)


def _name(ctx: Context, node: Node) -> Bound:
    name = ctx.tree.text(node)
    found = ctx.scope.get(name)
    if found is None and (match := _EVENT.fullmatch(name)) is not None:
        return literal(ctx, INT, int(match[1]), name)
    if found is None and name in _HEADER_NUMBERS:
        return literal(ctx, INT, _HEADER_NUMBERS[name], name)
    if found is None and name in _LAUNCH_NAMES:
        return _launch(ctx, _LAUNCH_NAMES[name], name)
    entry = ctx.entry(name, node)
    if isinstance(entry, Variable):
        bound = ctx.value_of(entry, node)
        return replace(bound, text=name) if isinstance(bound, Operand) else bound
    if isinstance(entry, Constant):
        return literal(ctx, entry.type, entry.number, name)
    raise ctx.refusal(f"{name} is no value", node)


def _qualified(ctx: Context, node: Node) -> Bound:
    """An enumerator of an enumeration of the file."""
    text = ctx.tree.phrase(node).replace(" ", "")
    if isinstance(ctx.scope.get(text), Constant):
        entry = ctx.entry(text, node)
        assert isinstance(entry, Constant)
        return literal(ctx, entry.type, entry.number, text)
    scope, name = field(node, "scope"), field(node, "name")
    tile = None if scope is None else ctx.scope.get(ctx.tree.text(scope))
    if isinstance(tile, TileType) and name is not None and ctx.tree.text(name) in _TILE_NUMBERS:
        return literal(ctx, INT, _TILE_NUMBERS[ctx.tree.text(name)](tile), text)
    return read_expression(ctx, unqualified(ctx, node))


def _element(ctx: Context, node: Node) -> Bound:
    """`tiles[i]`: one of the tiles, chosen by its number; which one another number would be is undefined."""
    variable = element(ctx, node)
    if variable is not None:
        return ctx.value_of(variable, node)
    array, index = array_of(ctx, node)
    number = operand(ctx, index)
    *others, last = (ctx.value_of(variable, node) for variable in array.elements)
    for at in reversed(range(len(others))):
        chosen = binary(ctx, "==", number, literal(ctx, INT, at), node, f"{primary(number.spelling)} == {at}")
        first = others[at]
        assert isinstance(first, TileBinding) and isinstance(last, TileBinding), "arrays hold tiles"
        last = chosen_tile(ctx, chosen, first, last, node)
    return last


def _descriptor(ctx: Context, node: Node) -> Bound:
    """A template argument that could be a type by its form, and is a number."""
    if field(node, "declarator") is not None:
        ctx.fail(f"{ctx.tree.phrase(node)} is no number", node)
    return _inside(ctx, node)


# -- operators ---------------------------------------------------------------------------------------------------------


def _binary(ctx: Context, node: Node) -> Bound:
    left, right, operator = field(node, "left"), field(node, "right"), field(node, "operator")
    assert left is not None and right is not None and operator is not None
    sign = ctx.tree.text(operator)
    if sign in ("&&", "||"):
        return short_circuit(ctx, sign, operand(ctx, left), lambda: operand(ctx, right), node)
    if sign not in (*"+-*/%&|^", "<<", ">>", *COMPARISONS):
        ctx.fail(f"{sign} is not modelled", operator)
    return binary(ctx, sign, operand(ctx, left), operand(ctx, right), node)


def _unary(ctx: Context, node: Node) -> Bound:
    argument, operator = field(node, "argument"), field(node, "operator")
    assert argument is not None and operator is not None
    sign, text = ctx.tree.text(operator), ctx.tree.phrase(node)
    found = operand(ctx, argument)
    if sign in ("!", "not"):
        return negated(ctx, found, node, text)
    return signed_prefix(ctx, sign, found, node, text)


def _conditional(ctx: Context, node: Node) -> Bound:
    asked, then, orelse = (field(node, name) for name in ("condition", "consequence", "alternative"))
    if asked is None or then is None or orelse is None:
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    chosen = condition(ctx, operand(ctx, asked), asked)
    sides = read_expression(ctx, then), read_expression(ctx, orelse)
    match sides:
        case Operand() as a, Operand() as b:
            return choose(ctx, chosen, a, b, node)
        case TileBinding() as a, TileBinding() as b:
            return chosen_tile(ctx, chosen, a, b, node)
        case _:
            raise ctx.refusal(f"a choice of {describe(sides[0].type)} is not modelled", node)


def _sizeof(ctx: Context, node: Node) -> Bound:
    type_node, value = field(node, "type"), field(node, "value")
    if type_node is None and value is not None and len(named(value)) == 1:
        # `sizeof(half)` looks like the size of a variable.
        type_node = named(value)[0]
    if type_node is None or not is_type_name(ctx, type_node):
        ctx.fail("sizeof of an expression is not modelled", node)
    type_ = read_type(ctx, type_node)
    dtype = element_of(type_) if isinstance(type_, Integer | Float) else None
    if dtype is None:
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    return literal(ctx, SIZE, dtype.size, ctx.tree.phrase(node))


# -- casts and calls ---------------------------------------------------------------------------------------------------


def _cast(ctx: Context, node: Node) -> Bound:
    type_node, value = field(node, "type"), field(node, "value")
    assert type_node is not None and value is not None
    return _converted(ctx, type_node, value, node)


def _converted(ctx: Context, type_node: Node, value: Node, node: Node) -> Bound:
    type_, found = read_type(ctx, type_node), operand(ctx, value)
    if isinstance(type_, Pointer):
        return _pointer_cast(ctx, type_, found, node)
    if not isinstance(type_, Integer | Float):
        ctx.fail(f"a cast to {describe(type_)} is not modelled", node)
    return number_cast(ctx, type_, found, node)


def number_cast(ctx: Context, type_: Number, found: Operand, node: Node) -> Operand:
    """A number, or the address of a pointer into a memory of the core, as a number."""
    if isinstance(found.type, Pointer) and found.type.space is Space.ON_CHIP and isinstance(type_, Integer):
        found = Operand(SIZE, found.value, f"({SIZE.spelling}) {primary(found.spelling)}", found.inside)
    return convert(ctx, found, type_, node, ctx.tree.phrase(node))


def _pointer_cast(ctx: Context, type_: Pointer, found: Operand, node: Node) -> Operand:
    source = found.type
    if type_.space is Space.ON_CHIP:
        if isinstance(source, Pointer) and source.space is Space.GLOBAL:
            ctx.fail("a pointer from one memory into another is not modelled", node)
        value = found if isinstance(source, Pointer) else convert(ctx, found, LONG, node)
        inside = found.inside if isinstance(source, Pointer) and source.element is type_.element else None
        return Operand(type_, value.value, inside=inside)
    if not isinstance(source, Pointer) or source.space is Space.ON_CHIP:
        ctx.fail(f"a pointer into global memory made of {describe(source)} is not modelled", node)
    if source.element is type_.element:
        return Operand(type_, found.value)
    zero = literal(ctx, LONG, 0)
    return moved(ctx, found, type_, zero.value, ctx.tree.phrase(node))


def _call(ctx: Context, node: Node) -> Bound:
    function, arguments = field(node, "function"), field(node, "arguments")
    assert function is not None and arguments is not None
    given = named(arguments)
    if function.type == "field_expression":
        return _method(ctx, function, given, node)
    if function.type == "parenthesized_expression" and len(given) == 1 and len(named(function)) == 1:
        # `(name) (x)` is a cast where the name is that of a type.
        return _converted(ctx, named(function)[0], given[0], node)
    if function.type in WORDS:
        return read_expression(ctx, function)
    name = function_name(ctx, function)
    if name in _CASTS and len(given) == 1:
        return _converted(ctx, _only_template_argument(ctx, function), given[0], node)
    if name in _LAUNCH and not given:
        return _launch(ctx, _LAUNCH[name], ctx.tree.phrase(node))
    if is_type_name(ctx, function):
        return construct(ctx, read_type(ctx, function), given, node)
    if name in ctx.functions:
        return call_of_number(ctx, name, function, given, node)
    # Without blanks the grammar takes `n<3 && m>(2)` for the call of a template.
    is_number = function.type == "template_function" and isinstance(ctx.scope.get(name), Variable | Constant)
    hint = f"if {name} is compared here, write a blank before the <" if is_number else ""
    raise ctx.refusal(f"a call of {name} is not modelled", function, hint)


def function_name(ctx: Context, function: Node) -> str:
    """What a call calls, without namespaces and template arguments."""
    if function.type == "qualified_identifier":
        function = unqualified(ctx, function)
    return ctx.tree.text(field(function, "name") or function)


def _only_template_argument(ctx: Context, function: Node) -> Node:
    arguments = field(function, "arguments")
    found = named(arguments) if arguments is not None else []
    if len(found) != 1:
        ctx.fail(f"{ctx.tree.phrase(function)} is not modelled", function)
    return found[0]


def _launch(ctx: Context, name: str, text: str) -> Operand:
    return Operand(LONG, ctx.scalar(name, (), ScalarType("i64"), text))


def _method(ctx: Context, function: Node, given: Sequence[Node], node: Node) -> Bound:
    target, name = field(function, "argument"), field(function, "field")
    assert target is not None and name is not None
    method = ctx.tree.text(name)
    if given or method not in ("data", "GetValidRow", "GetValidCol"):
        ctx.fail(f"a call of {method} is not modelled", name)
    tile = read_expression(ctx, target)
    if isinstance(tile, TensorBinding) and method == "data":
        return Operand(Pointer(tile.type.element, Space.GLOBAL), tile.pointer)
    if not isinstance(tile, TileBinding):
        ctx.fail(f"{method} of {describe(tile.type)} is not modelled", name)
    match method:
        case "data":
            return address(ctx, tile, target)
        case "GetValidRow":
            return valid_rows_or_columns(ctx, tile.type.valid_rows, tile.rows, node)
        case _:
            return valid_rows_or_columns(ctx, tile.type.valid_cols, tile.cols, node)


def _braced(ctx: Context, node: Node) -> Bound:
    """`TYPE{a, b}`."""
    type_node, values = field(node, "type"), field(node, "value")
    if type_node is None or values is None:
        ctx.fail(f"{ctx.tree.phrase(node)} is not modelled", node)
    return construct(ctx, read_type(ctx, type_node), named(values), node)


_READERS: dict[str, Callable[[Context, Node], Bound]] = {
    "number_literal": _number,
    "true": _truth,
    "false": _truth,
    "identifier": _name,
    "type_identifier": _name,
    "qualified_identifier": _qualified,
    "type_descriptor": _descriptor,
    "parenthesized_expression": _inside,
    "condition_clause": _inside,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "conditional_expression": _conditional,
    "sizeof_expression": _sizeof,
    "cast_expression": _cast,
    "call_expression": _call,
    "compound_literal_expression": _braced,
    "subscript_expression": _element,
}
