"""Branches; variables that they assign become their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import condition
from syncopt.frontend._cpp.bindings import Bound, Part, Variable, parts, unmade, with_parts
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.objects import operand
from syncopt.frontend._cpp.text import field, named
from syncopt.ir.kernel import Block, If, Value, Yield
from syncopt.ir.source import Span

Bindings = Mapping[Variable, Bound]


@dataclass(frozen=True, slots=True)
class _Arm:
    """One side of a branch, and what names stand for at its end."""

    block: Block
    bound: Bindings


def read_if(ctx: Context, node: Node) -> None:
    """`if (c) ... else ...`."""
    asked, then, orelse = (field(node, name) for name in ("condition", "consequence", "alternative"))
    assert asked is not None and then is not None
    chosen = condition(ctx, operand(ctx, asked), asked)
    before = dict(ctx.bound)
    first, second = _arm(ctx, before, then), _Arm(Block((), Span(then.end_byte, then.end_byte)), before)
    if orelse is not None:
        second = _arm(ctx, before, named(orelse)[-1])
    results: dict[tuple[Value, Value], Value] = {}
    ctx.bound = _merged(before, first.bound, second.bound, results)
    blocks = [first.block, second.block]
    if results:
        blocks = [
            handing_out(ctx, block, values) for block, values in zip(blocks, zip(*results, strict=True), strict=True)
        ]
    has_else = bool(results) or orelse is not None
    values = tuple(results.values())
    ctx.add(If(ctx.uid(), ctx.span, chosen.value, values, blocks[0], blocks[1] if has_else else None))


def _arm(ctx: Context, before: Bindings, node: Node) -> _Arm:
    ctx.bound = dict(before)
    block = ctx.readers.block(ctx, node)
    return _Arm(block, ctx.bound)


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
