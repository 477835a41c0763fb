"""Branches and blocks of their own; variables that they assign become their results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import condition, literal
from syncopt.frontend._cpp.bindings import Bound, Part, Variable, parts, unmade, with_parts
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.objects import operand
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.types import BOOL
from syncopt.ir.kernel import Block, Braces, Guard, If, Value, Yield
from syncopt.ir.source import Span

Bindings = Mapping[Variable, Bound]


@dataclass(frozen=True, slots=True)
class _Arm:
    """One side of a branch, and what names stand for at its end."""

    block: Block
    bound: Bindings


def read_if(ctx: Context, node: Node) -> None:
    """`if (c) ... else ...`."""
    _branch(ctx, node, If, _else(ctx, node))


def read_guard(ctx: Context, node: Node, behind: Callable[[], Block] | None = None) -> None:
    """A branch with a jump inside; `behind` reads what stands behind one that has no `else` and always jumps."""
    # What a called function returns to stands behind both arms.
    _branch(ctx, node, If if ctx.calls else Guard, _else(ctx, node) if behind is None else behind)


def _else(ctx: Context, node: Node) -> Callable[[], Block] | None:
    orelse = field(node, "alternative")
    return None if orelse is None else lambda: ctx.readers.block(ctx, named(orelse)[-1])


def _branch(ctx: Context, node: Node, kind: type[If], orelse: Callable[[], Block] | None) -> None:
    asked, then = field(node, "condition"), field(node, "consequence")
    assert asked is not None and then is not None
    chosen = condition(ctx, operand(ctx, asked), asked)
    before = dict(ctx.bound)
    first = _arm(ctx, before, lambda: ctx.readers.block(ctx, then))
    second = _Arm(Block((), Span(then.end_byte, then.end_byte)), before)
    if orelse is not None:
        second = _arm(ctx, before, orelse)
    results: dict[tuple[Value, Value], Value] = {}
    ctx.bound = _merged(before, first.bound, second.bound, results)
    blocks = [first.block, second.block]
    if results:
        blocks = [
            handing_out(ctx, block, values) for block, values in zip(blocks, zip(*results, strict=True), strict=True)
        ]
    has_else = bool(results) or orelse is not None or kind is Guard
    values = tuple(results.values())
    ctx.add(kind(ctx.uid(), ctx.span, chosen.value, values, blocks[0], blocks[1] if has_else else None))


def _arm(ctx: Context, before: Bindings, read: Callable[[], Block]) -> _Arm:
    ctx.bound = dict(before)
    block = read()
    return _Arm(block, ctx.bound)


def read_braces(ctx: Context, node: Node) -> None:
    """`{ ... }`: what it declares is gone behind it, what it assigns stays."""
    read_under(ctx, lambda: ctx.readers.block(ctx, node))


def read_under(ctx: Context, read: Callable[[], Block]) -> None:
    """A block that always runs."""
    always = literal(ctx, BOOL, 1, "true")
    before = dict(ctx.bound)
    inside = _arm(ctx, before, read)
    results: dict[Value, Value] = {}
    ctx.bound = {
        variable: _behind(variable, before.get(variable), bound, results) for variable, bound in inside.bound.items()
    }
    block = handing_out(ctx, inside.block, tuple(results)) if results else inside.block
    ctx.add(Braces(ctx.uid(), ctx.span, always.value, tuple(results.values()), block, None))


def _behind(variable: Variable, before: Bound | None, inside: Bound, results: dict[Value, Value]) -> Bound:
    """What a variable stands for behind a block: what it did before, or results for what the block changed."""
    olds = [None] * len(parts(inside)) if before is None else parts(before)
    values = [
        new if new is None or new is old else results.setdefault(new, Value(variable.name, new.type))
        for old, new in zip(olds, parts(inside), strict=True)
    ]
    return with_parts(unmade(inside) if before is None else before, values)


def _merged(
    before: Bindings, then: Bindings, orelse: Bindings, results: dict[tuple[Value, Value], Value]
) -> dict[Variable, Bound]:
    """What names stand for behind a branch; names that have a value on one side only have none there."""
    merged: dict[Variable, Bound] = {}
    for variable, first in then.items():
        second = orelse.get(variable)
        values = None if second is None else _merged_parts(variable, parts(first), parts(second), results)
        if values is not None:
            # A tile or view that was made on one side is not there behind the branch.
            merged[variable] = with_parts(before.get(variable) or unmade(first), values)
    return merged


def _merged_parts(
    variable: Variable, first: Sequence[Part], second: Sequence[Part], results: dict[tuple[Value, Value], Value]
) -> list[Part] | None:
    found: list[Part] = []
    for a, b in zip(first, second, strict=True):
        if a is not b and (a is None or b is None):
            return None
        if a is b or a is None or b is None:
            found.append(a)
        else:
            found.append(results.setdefault((a, b), Value(variable.name, a.type)))
    return found


def handing_out(ctx: Context, block: Block, values: tuple[Value, ...]) -> Block:
    """The block with its `Yield`, for which no text stands."""
    last = Yield(ctx.uid(), Span(block.span.end, block.span.end), values)
    return replace(block, ops=(*block.ops, last))
