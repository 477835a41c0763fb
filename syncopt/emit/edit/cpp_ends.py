"""Ops behind a branch that ends its block early, which no text stands behind: they go to the ends of its arms."""

from collections.abc import Sequence
from dataclasses import replace

from syncopt.ir.kernel import Block, Braces, Guard, Op, Section, Yield, ends_early, regions
from syncopt.ir.source import InputError, Source
from syncopt.model.rewrite import with_ops, with_regions


def at_ends(source: Source, block: Block) -> Block:
    """A changed block in which nothing that has a text stands behind a branch with `return` or `continue` inside.

    What is added behind such a branch is done on every way out of it: in front of the jumps, and where no jump is.

    Raises
    ------
    InputError
        If something that stood in front of the branch is behind it, or something is added behind a section that
        returns.
    """
    return _Ends(source).block(block)


class _Ends:
    def __init__(self, source: Source) -> None:
        self._source = source

    def block(self, block: Block) -> Block:
        """The block and the blocks inside it."""
        place = next((place for place, op in enumerate(block.ops) if ends_early(op)), len(block.ops) - 1)
        kept, behind = list(block.ops[: place + 1]), list[Op]()
        for op in block.ops[place + 1 :]:
            (behind if op.uid < 0 else kept).append(op)
            if op.uid >= 0 and op.span.start < op.span.end and not isinstance(op, Section):
                message = "the plan moves this statement behind a branch that ends what is around it early"
                raise InputError(message, self._source, op.span, "use --order fixed")
        if behind:
            kept[place] = self._extended(kept[place], behind)
        return with_ops(block, [with_regions(op, [self.block(region) for region in regions(op)]) for op in kept])

    def _extended(self, op: Op, behind: Sequence[Op]) -> Op:
        """An op with others at the ends of its arms."""
        match op:
            case Guard():
                return with_regions(op, [_with_last(arm, behind) for arm in regions(op)])
            case Braces():
                return replace(op, then=_with_last(op.then, behind))
            case _:
                message = "the plan has flags behind this section, which returns early"
                raise InputError(message, self._source, op.span, "write what stands behind the return into its else")


def _with_last(block: Block, added: Sequence[Op]) -> Block:
    """The block with ops at its end, in front of what it hands out."""
    tail = 1 if block.ops and isinstance(block.ops[-1], Yield) else 0
    place = len(block.ops) - tail
    return with_ops(block, [*block.ops[:place], *added, *block.ops[place:]])
