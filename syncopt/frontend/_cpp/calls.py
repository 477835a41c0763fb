"""Calls that stand as statements: tile ops, addresses of tiles, flags, barriers, and functions of the file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Bound, Operand, TensorBinding, TileBinding, Variable
from syncopt.frontend._cpp.called import read_called
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.expressions import function_name, read_expression
from syncopt.frontend._cpp.flags import FLAG_CALLS, read_flag_call, read_pair, read_sync_function, synchronises
from syncopt.frontend._cpp.objects import (
    address,
    element,
    is_whole,
    operand,
    part_of_tile,
    placed,
    tensor_pointer,
    tile_address,
    tile_value,
    valid_size,
    view_value,
    viewed,
)
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.typenames import is_type_name, word_text
from syncopt.frontend._cpp.types import describe
from syncopt.ir.kernel import TileOp, Value

_SPELLINGS = {
    "TMATMUL_ACC": "pto.tmatmul.acc",
    "TMATMUL_BIAS": "pto.tmatmul.bias",
    "TGEMV_ACC": "pto.tgemv.acc",
    "TGEMV_BIAS": "pto.tgemv.bias",
    "TMOV_FP": "pto.tmov.fp",
}
"""Ops whose names are not just those of the IR in capitals."""
_ONE_CORE = "syncopt models one core; give it each core's part by itself"
_HINTS = {
    "TPUSH": _ONE_CORE,
    "TPOP": _ONE_CORE,
    "TFREE": _ONE_CORE,
    "TALLOC": _ONE_CORE,
    "SYNCALL": _ONE_CORE,
    "TSYNC": "write set_flag and wait_flag",
    "TPRINT": "remove it",
    "TPREFETCH_ASYNC": "write TPREFETCH",
    "SETFMATRIX": "",
    "SET_IMG2COL_RPT": "",
    "SET_IMG2COL_PADDING": "",
    "SET_QUANT_SCALAR": "",
    "SET_QUANT_VECTOR": "",
}
"""Calls that look like tile ops and are none."""
_LONGEST_GATHER = 4


def read_call(ctx: Context, node: Node) -> None:
    """A call as a statement."""
    function, arguments = field(node, "function"), field(node, "arguments")
    assert function is not None and arguments is not None
    given = named(arguments)
    if function.type == "field_expression":
        _method(ctx, function, given)
        return
    name = function_name(ctx, function)
    if name in FLAG_CALLS:
        read_flag_call(ctx, name, given, node)
    elif name == "PtoSetWaitFlag" and name not in ctx.functions:
        read_pair(ctx, function, given, node)
    elif name in _SPECIAL:
        _SPECIAL[name](ctx, given, node)
    elif name in ctx.functions:
        read_function(ctx, name, function, given, node)
    elif name in _HINTS or not _is_tile_op(name):
        ctx.fail(f"a call of {name} is not modelled", function, _HINTS.get(name, ""))
    else:
        _tile_op(ctx, name, function, given)


def read_function(ctx: Context, name: str, function: Node, given: Sequence[Node], node: Node) -> None:
    """A function of the file; the statements of one that only synchronises are those that its arguments choose."""
    if synchronises(ctx, name) and all(ctx.constant_or_none(argument) is not None for argument in given):
        read_sync_function(ctx, name, given, node)
    else:
        read_called(ctx, name, function, given, node)


def _is_tile_op(name: str) -> bool:
    return len(name) > 1 and name.isupper() and name[0] in "TM"


# -- tile ops ----------------------------------------------------------------------------------------------------------


def _tile_op(ctx: Context, name: str, function: Node, given: Sequence[Node]) -> None:
    """`NAME(destination, sources...)`; enumerators among the arguments become attributes."""
    if not given or (name == "TGATHER" and len(given) > _LONGEST_GATHER):
        ctx.fail(f"{name} with {len(given)} operands is not modelled", function)
    first = read_expression(ctx, given[0])
    if isinstance(first, Operand):
        ctx.fail(f"{name}: the destination is {describe(first.type)}, expected a tile or a GlobalTensor", given[0])
    words, values = _template_words(ctx, function), list[Value]()
    destination = _op_operand(ctx, name, first, given[0])
    for argument in given[1:]:
        if _is_word(ctx, argument):
            words.append(word_text(ctx, argument))
        else:
            values.append(_op_operand(ctx, name, read_expression(ctx, argument), argument))
    attributes = f"{{{', '.join(words)}}}" if words else ""
    spelling = _SPELLINGS.get(name, f"pto.{name.lower()}")
    ctx.add(TileOp(ctx.uid(), ctx.span, spelling, tuple(values), (destination,), attributes))


def _op_operand(ctx: Context, name: str, bound: Bound, node: Node) -> Value:
    match bound:
        case Operand():
            return bound.value
        case TileBinding():
            return tile_value(ctx, bound, node)
        case TensorBinding():
            return view_value(ctx, bound, node)
        case _:
            raise ctx.refusal(f"{name} on {describe(bound.type)} is not modelled", node)


def _is_word(ctx: Context, node: Node) -> bool:
    """Whether an argument is an enumerator of the headers, or a choice between two ways to work."""
    if node.type in ("true", "false"):
        return True
    return node.type == "qualified_identifier" and ctx.scope.get(ctx.tree.phrase(node).replace(" ", "")) is None


def _template_words(ctx: Context, function: Node) -> list[str]:
    """Template arguments of an op that are no types."""
    while function.type == "qualified_identifier":
        inner = field(function, "name")
        assert inner is not None
        function = inner
    arguments = field(function, "arguments") if function.type == "template_function" else None
    words: list[str] = []
    for argument in named(arguments) if arguments is not None else ():
        inside = named(argument)[0] if argument.type == "type_descriptor" else argument
        is_template = inside.type == "template_type" or (
            inside.type == "qualified_identifier" and "<" in ctx.tree.text(inside)
        )
        if not is_template and (inside.type == "qualified_identifier" or not is_type_name(ctx, inside)):
            words.append(word_text(ctx, inside))
    return words


# -- tiles and tensors -------------------------------------------------------------------------------------------------


def _variable(ctx: Context, node: Node) -> Variable:
    if node.type == "subscript_expression":
        variable = element(ctx, node)
        if variable is None:
            ctx.fail(f"which of them {ctx.tree.phrase(node)} is, is known at run time only", node)
        return variable
    entry = ctx.entry(ctx.tree.text(node), node) if node.type == "identifier" else None
    if not isinstance(entry, Variable):
        ctx.fail(f"{ctx.tree.phrase(node)} is no variable", node)
    return entry


def _assign_address(ctx: Context, given: Sequence[Node], node: Node) -> None:
    """`TASSIGN(tile, address)`, `TASSIGN<address>(tile)` or `TASSIGN(tensor, pointer)`."""
    arguments = field(field(node, "function") or node, "arguments")
    if len(given) == 1 and arguments is not None and arguments.type == "template_argument_list":
        given = [*given, *named(arguments)]
    if len(given) != len(("object", "address")):
        ctx.fail(f"TASSIGN with {len(given)} operands is not modelled", node)
    variable = _variable(ctx, given[0])
    bound = ctx.value_of(variable, given[0])
    found = operand(ctx, given[1])
    match bound:
        case TileBinding():
            moved = replace(bound, address=tile_address(ctx, found, given[1]), tile=None)
            # A tile whose valid sizes are still to come is made when it has them.
            if is_whole(moved):
                moved = placed(ctx, part_of_tile(ctx, moved, found, variable.name), variable.name, node)
            ctx.assign(variable, moved)
        case TensorBinding():
            pointer = tensor_pointer(ctx, bound.type, found, given[1])
            ctx.assign(variable, viewed(ctx, replace(bound, pointer=pointer), variable.name))
        case _:
            ctx.fail(f"TASSIGN to {describe(bound.type)} is not modelled", given[0])


def _reshape(ctx: Context, given: Sequence[Node], node: Node) -> None:
    """`TRESHAPE(tile, other)`: the tile lies where the other one does."""
    if len(given) != len(("tile", "other")):
        ctx.fail(f"TRESHAPE with {len(given)} operands is not modelled", node)
    variable = _variable(ctx, given[0])
    tile, other = ctx.value_of(variable, given[0]), read_expression(ctx, given[1])
    if not isinstance(tile, TileBinding) or not isinstance(other, TileBinding):
        ctx.fail("TRESHAPE of anything but tiles is not modelled", node)
    ctx.assign(variable, replace(tile, address=address(ctx, other, given[1]).value, tile=None))


def _method(ctx: Context, function: Node, given: Sequence[Node]) -> None:
    target, name = field(function, "argument"), field(function, "field")
    assert target is not None and name is not None
    method = ctx.tree.text(name)
    if method == "SetValue" and len(given) == len(("offset", "value")):
        _set_value(ctx, target, given)
        return
    counts = {"SetValidShape": 2, "SetValidRow": 1, "SetValidCol": 1}
    if counts.get(method) != len(given):
        ctx.fail(f"a call of {method} is not modelled", name)
    variable = _variable(ctx, target)
    tile = ctx.value_of(variable, target)
    if not isinstance(tile, TileBinding):
        ctx.fail(f"{method} of {describe(tile.type)} is not modelled", name)
    sizes = [valid_size(ctx, argument) for argument in given]
    rows = sizes[0] if method != "SetValidCol" else tile.rows
    cols = sizes[-1] if method != "SetValidRow" else tile.cols
    static = (tile.type.valid_rows, tile.type.valid_cols)
    if (method != "SetValidCol" and static[0] is not None) or (method != "SetValidRow" and static[1] is not None):
        ctx.fail(f"{method} of a tile with fixed valid sizes is not modelled", name)
    ctx.assign(variable, replace(tile, rows=rows, cols=cols, tile=None))


def _set_value(ctx: Context, target: Node, given: Sequence[Node]) -> None:
    tile = read_expression(ctx, target)
    if not isinstance(tile, TileBinding):
        ctx.fail(f"SetValue of {describe(tile.type)} is not modelled", target)
    values = tuple(operand(ctx, argument).value for argument in given)
    made = tile_value(ctx, tile, target)
    ctx.add(TileOp(ctx.uid(), ctx.span, "pto.tsetval", values, (made,)))


def _all_lanes(ctx: Context, given: Sequence[Node], node: Node) -> None:
    """`set_mask_norm(); set_vector_mask(-1, -1);` lets vector ops work on all lanes, as they do here anyway."""
    if any(ctx.constant_or_none(argument) != -1 for argument in given):
        ctx.fail("a vector mask that leaves out lanes is not modelled", node)


_SPECIAL: Mapping[str, Callable[[Context, Sequence[Node], Node], None]] = {
    "TASSIGN": _assign_address,
    "TRESHAPE": _reshape,
    "set_mask_norm": _all_lanes,
    "set_vector_mask": _all_lanes,
}
