"""Tiles, shapes, strides and tensors: how they are made, where they lie, and the ops of the IR that they become."""

from collections.abc import Sequence
from dataclasses import replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import choose, convert, index, literal
from syncopt.frontend._cpp.bindings import (
    Array,
    Bound,
    ExtentsBinding,
    Inside,
    Operand,
    TensorBinding,
    TileBinding,
    Variable,
)
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.types import (
    BOOL,
    DIMENSIONS,
    LONG,
    SIZE,
    UNSIGNED,
    CppType,
    Extents,
    Float,
    Integer,
    Pointer,
    Space,
    Tensor,
    describe,
)
from syncopt.ir.kernel import AllocTile, SubView, TensorView, Value
from syncopt.ir.types import Layout, TileType, ViewType
from syncopt.ir.values import primary


def operand(ctx: Context, node: Node) -> Operand:
    """An expression that is a number or a pointer."""
    bound = ctx.readers.expression(ctx, node)
    if not isinstance(bound, Operand):
        ctx.fail(f"{ctx.tree.phrase(node)} is {describe(bound.type)}, expected a number", node)
    return bound


def integer(ctx: Context, node: Node) -> Operand:
    """An expression that is an integer."""
    found = operand(ctx, node)
    if not isinstance(found.type, Integer):
        ctx.fail(f"{ctx.tree.phrase(node)} is {describe(found.type)}, expected an integer", node)
    return found


def construct(ctx: Context, type_: CppType, arguments: Sequence[Node], node: Node) -> Bound:
    """An object of a type from the arguments of its constructor."""
    match type_:
        case TileType():
            return _tile(ctx, type_, arguments, node)
        case Extents():
            return _extents(ctx, type_, arguments, node)
        case Tensor():
            return _tensor(ctx, type_, arguments, node)
        case Pointer():
            hint = "cast with (TYPE) or reinterpret_cast"
            raise ctx.refusal("a pointer made by its type is not modelled", node, hint)
        case Integer() | Float() if len(arguments) == 1:
            return convert(ctx, operand(ctx, arguments[0]), type_, node, ctx.tree.phrase(node))
        case _:
            raise ctx.refusal(f"{describe(type_)} from {len(arguments)} values is not modelled", node)


# -- tiles -------------------------------------------------------------------------------------------------------------


def _tile(ctx: Context, type_: TileType, arguments: Sequence[Node], node: Node) -> TileBinding:
    """Valid sizes that the type leaves open are given in order; without arguments they come later."""
    open_sizes = (type_.valid_rows, type_.valid_cols).count(None)
    if arguments and len(arguments) != open_sizes:
        ctx.fail(f"a tile with {open_sizes} run-time size(s) is made from {len(arguments)}", node)
    sizes = [valid_size(ctx, argument) for argument in arguments]
    rows = sizes.pop(0) if sizes and type_.valid_rows is None else None
    return TileBinding(type_, None, rows, sizes.pop(0) if sizes else None)


def valid_size(ctx: Context, node: Node) -> Value:
    """A valid size of a tile."""
    return convert(ctx, integer(ctx, node), UNSIGNED, node).value


def is_whole(tile: TileBinding) -> bool:
    """Whether all valid sizes of a tile are given."""
    sizes = ((tile.type.valid_rows, tile.rows), (tile.type.valid_cols, tile.cols))
    return all(static is not None or size is not None for static, size in sizes)


def placed(ctx: Context, tile: TileBinding, name: str, node: Node) -> TileBinding:
    """The tile, made where it is now."""
    if tile.tile is not None:
        return tile
    for static, given, what in (
        (tile.type.valid_rows, tile.rows, "rows"),
        (tile.type.valid_cols, tile.cols, "columns"),
    ):
        if static is None and given is None:
            ctx.fail(f"the valid {what} of {name} are not given here", node)
    result = Value(name, tile.type)
    ctx.add(AllocTile(ctx.uid(), ctx.span, result, tile.address, tile.rows, tile.cols))
    return replace(tile, tile=result)


def part_of_tile(ctx: Context, tile: TileBinding, found: Operand, name: str) -> TileBinding:
    """The tile as a part of another one, if its address lies in that and its rows or columns are as far apart.

    A whole tile at its own address stays one, and so does one with fractals, whose parts follow each other.
    """
    inside = found.inside
    if inside is None or not _has_steps_of(tile.type, inside.type):
        return tile
    sizes = tuple(
        full if valid is None else valid
        for valid, full in ((tile.type.valid_rows, tile.type.rows), (tile.type.valid_cols, tile.type.cols))
    )
    if inside.offset is None and sizes == (tile.type.rows, tile.type.cols):
        return tile
    result = Value(name, replace(tile.type, rows=sizes[0], cols=sizes[1]))
    given = (tile.rows, tile.cols)
    valid = tuple(
        size if size is not None else literal(ctx, LONG, full).value for size, full in zip(given, sizes, strict=True)
    )
    offsets = _row_and_column(ctx, inside.offset, inside.type)
    ctx.add(SubView(ctx.uid(), ctx.span, result, inside.tile, offsets, sizes, valid if any(given) else ()))
    return replace(tile, tile=result)


def _has_steps_of(tile: TileType, whole: TileType) -> bool:
    """Whether elements without fractals lie in a tile as they do in another one."""
    if tile.dtype is not whole.dtype or tile.blayout is not whole.blayout:
        return False
    if not tile.slayout is whole.slayout is Layout.NONE_BOX:
        return False
    if tile.blayout is Layout.ROW_MAJOR:
        return tile.cols == whole.cols or tile.rows == 1
    return tile.rows == whole.rows or tile.cols == 1


def _row_and_column(ctx: Context, offset: Value | None, whole: TileType) -> tuple[Value, Value]:
    """Where an element of a tile without fractals stands."""
    if offset is None:
        zero = literal(ctx, LONG, 0).value
        return zero, zero
    is_row_major = whole.blayout is Layout.ROW_MAJOR
    step = literal(ctx, LONG, whole.cols if is_row_major else whole.rows).value
    along, across = (
        ctx.scalar(f"arith.{op}", (offset, step), LONG.scalar, f"{primary(offset.name)} {sign} {step.name}")
        for op, sign in (("divsi", "/"), ("remsi", "%"))
    )
    return (along, across) if is_row_major else (across, along)


def tile_value(ctx: Context, tile: TileBinding, node: Node) -> Value:
    """The tile that an expression is, made now if it is not yet."""
    text = ctx.tree.phrase(node)
    if tile.tile is None and tile.address is None:
        ctx.fail(f"{text} has no address here", node, "give it one with TASSIGN on every way to here")
    made = placed(ctx, tile, text, node)
    _remember(ctx, text, tile, made)
    assert made.tile is not None
    return made.tile


def _remember(ctx: Context, name: str, bound: Bound, made: Bound) -> None:
    """What was made of a variable is there for those who use it next."""
    variable = ctx.scope.get(name)
    if isinstance(variable, Variable) and ctx.bound.get(variable) is bound:
        ctx.bound[variable] = made


def element(ctx: Context, node: Node) -> Variable | None:
    """The element of an array that `name[NUMBER]` is, None if the number is known at run time only."""
    array, index = array_of(ctx, node)
    number = ctx.constant_or_none(index)
    if number is not None and not 0 <= number < len(array.elements):
        ctx.fail(f"there is no {ctx.tree.phrase(node)}: the array has {len(array.elements)} elements", node)
    return None if number is None else array.elements[number]


def array_of(ctx: Context, node: Node) -> tuple[Array, Node]:
    """The array of `name[index]`, and the index."""
    argument, indices = field(node, "argument"), field(node, "indices")
    entry = (
        ctx.entry(ctx.tree.text(argument), argument) if argument is not None and argument.type == "identifier" else None
    )
    if not isinstance(entry, Array) or indices is None or len(named(indices)) != 1:
        ctx.fail("an element of an array that holds no tiles is not modelled", node)
    return entry, named(indices)[0]


def address(ctx: Context, tile: TileBinding, node: Node) -> Operand:
    """`t.data()`."""
    if tile.address is None:
        ctx.fail(f"the address of {ctx.tree.phrase(node)} is not known here", node, "give it one with TASSIGN")
    inside = None if tile.tile is None else Inside(tile.tile, tile.type)
    return Operand(Pointer(tile.type.dtype, Space.ON_CHIP), tile.address, inside=inside)


def valid_rows_or_columns(ctx: Context, static: int | None, given: Value | None, node: Node) -> Operand:
    """`t.GetValidRow()` or `t.GetValidCol()`."""
    if static is not None:
        return literal(ctx, UNSIGNED, static)
    if given is None:
        ctx.fail("this valid size is not given here", node)
    return Operand(UNSIGNED, given)


def chosen_tile(ctx: Context, chosen: Operand, then: TileBinding, orelse: TileBinding, node: Node) -> TileBinding:
    """`c ? t : u` for tiles."""
    if then.type != orelse.type:
        ctx.fail("a choice between tiles of different types is not modelled", node)
    value = choose(ctx, chosen, _address_of(ctx, then, node), _address_of(ctx, orelse, node), node).value
    rows = _chosen_size(ctx, chosen, then.rows, orelse.rows, node)
    cols = _chosen_size(ctx, chosen, then.cols, orelse.cols, node)
    return TileBinding(then.type, value, rows, cols)


def _address_of(ctx: Context, tile: TileBinding, node: Node) -> Operand:
    return Operand(SIZE, address(ctx, tile, node).value)


def _chosen_size(ctx: Context, chosen: Operand, then: Value | None, orelse: Value | None, node: Node) -> Value | None:
    if then is orelse:
        return then
    if then is None or orelse is None:
        ctx.fail("a choice between tiles of which one has no valid size is not modelled", node)
    return choose(ctx, chosen, Operand(UNSIGNED, then), Operand(UNSIGNED, orelse), node).value


def tile_address(ctx: Context, found: Operand, node: Node) -> Value:
    """The address that `TASSIGN` gives a tile."""
    if isinstance(found.type, Float) or found.type == BOOL:
        ctx.fail(f"{describe(found.type)} is no address", node)
    if isinstance(found.type, Pointer):
        if found.type.space is Space.GLOBAL:
            ctx.fail("a tile in global memory is not modelled", node)
        return found.value
    return convert(ctx, found, LONG, node).value


# -- shapes, strides, tensors ------------------------------------------------------------------------------------------


def _extents(ctx: Context, type_: Extents, arguments: Sequence[Node], node: Node) -> ExtentsBinding:
    """Open sizes are given in order, or all five sizes are given; without arguments open ones are 1."""
    open_sizes = [at for at, size in enumerate(type_.sizes) if size is None]
    if len(arguments) not in (0, len(open_sizes), DIMENSIONS):
        what = f"{type_.kind.value} with {len(open_sizes)} run-time size(s) is made from {len(arguments)}"
        ctx.fail(f"a {what}", node)
    places = open_sizes if len(arguments) == len(open_sizes) else range(len(arguments))
    given = {at: index(ctx, integer(ctx, argument), argument) for at, argument in zip(places, arguments, strict=True)}
    sizes = tuple(
        given[at] if size is None and at in given else literal(ctx, LONG, 1 if size is None else size).value
        for at, size in enumerate(type_.sizes)
    )
    return ExtentsBinding(type_, sizes)


def _tensor(ctx: Context, type_: Tensor, arguments: Sequence[Node], node: Node) -> TensorBinding:
    if not 1 <= len(arguments) <= len(("pointer", "shape", "stride")):
        ctx.fail(f"a GlobalTensor from {len(arguments)} values is not modelled", node)
    pointer = tensor_pointer(ctx, type_, operand(ctx, arguments[0]), arguments[0])
    shape = _given_extents(ctx, type_.shape, arguments[1:2], node)
    stride = _given_extents(ctx, type_.stride, arguments[2:3], node)
    return viewed(ctx, TensorBinding(type_, pointer, shape, stride), ctx.tree.phrase(node))


def tensor_pointer(ctx: Context, type_: Tensor, pointer: Operand, node: Node) -> Value:
    """The pointer of a tensor."""
    if not isinstance(pointer.type, Pointer) or pointer.type.space is Space.ON_CHIP:
        ctx.fail(f"{describe(pointer.type)} stands where a pointer into global memory is expected", node)
    if pointer.type.element is not type_.element:
        expected, found = type_.element.spelling, pointer.type.element.spelling
        ctx.fail(f"a GlobalTensor of {expected} on a pointer to {found} is not modelled", node)
    return pointer.value


def _given_extents(ctx: Context, type_: Extents, arguments: Sequence[Node], node: Node) -> tuple[Value, ...]:
    """All sizes; those that the type has fixed count, whatever is given."""
    if not arguments:
        if None in type_.sizes:
            ctx.fail(f"the {type_.kind.value} of this GlobalTensor has run-time sizes that are not given", node)
        return _extents(ctx, type_, (), node).sizes
    bound = ctx.readers.expression(ctx, arguments[0])
    if not isinstance(bound, ExtentsBinding) or bound.type != type_:
        ctx.fail(f"{describe(bound.type)} stands where {type_.kind.value} of this type is expected", arguments[0])
    return bound.sizes


def viewed(ctx: Context, tensor: TensorBinding, text: str) -> TensorBinding:
    """The tensor, made as a view now."""
    result = Value(text, ViewType(tensor.type.shape.sizes, tensor.type.element))
    view = TensorView(ctx.uid(), ctx.span, result, tensor.pointer, tensor.shape, tensor.strides, tensor.type.layout)
    ctx.add(view)
    return replace(tensor, view=result)


def view_value(ctx: Context, tensor: TensorBinding, node: Node) -> Value:
    """The view that an expression is, made now if it is not yet."""
    if tensor.view is not None:
        return tensor.view
    text = ctx.tree.phrase(node)
    made = viewed(ctx, tensor, text)
    _remember(ctx, text, tensor, made)
    assert made.view is not None
    return made.view
