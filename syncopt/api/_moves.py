"""What a plan moved."""

from collections.abc import Sequence
from dataclasses import dataclass

from syncopt.ir.kernel import Kernel, TileOp, regions, walk
from syncopt.model.order import BlockHeads
from syncopt.model.planner import Plan, Planner


@dataclass(frozen=True)
class Move:
    """An op that a plan issues elsewhere.

    Parameters
    ----------
    op : str
        Its name.
    line : int
        Its line in the input.
    moved_to : int
        Its line in the output.
    place_before, place_now : int
        Its place among the ops of its block that are issued (an `if` or a loop counts as one), as written and in the
        plan, counted from 0.
    """

    op: str
    line: int
    moved_to: int
    place_before: int
    place_now: int


def moves(written: Kernel, emitted: Kernel, planner: Planner, plan: Plan) -> list[Move]:
    """Units that stand elsewhere in their blocks, by the line of their first tile op."""
    places = _planned_lines(planner, plan, emitted)
    ops = {op.uid: op for op in walk(written.body)}
    rows: list[Move] = []
    for block in planner.mobility.blocks:
        order = plan.order[block.key]
        for unit in _moved(block, order):
            inner = (ops[unit], *(op for region in regions(ops[unit]) for op in walk(region)))
            leaf = next(op for op in inner if isinstance(op, TileOp))
            line = written.source.line(leaf.span.start)
            rows.append(Move(leaf.name, line, places[leaf.uid], block.heads.index(unit), order.index(unit)))
    return sorted(rows, key=lambda row: row.line)


def _moved(block: BlockHeads, order: Sequence[int]) -> list[int]:
    """Units with other anchored ops ahead of them, and of the rest those that overtake a unit."""
    anchored = frozenset(block.anchored)
    moved = [unit for unit in block.units if anchored & _ahead(unit, block.heads) != anchored & _ahead(unit, order)]
    rest = frozenset(block.units) - frozenset(moved)
    overtaking = [unit for unit in rest if rest & _ahead(unit, block.heads) - _ahead(unit, order)]
    return moved + overtaking


def _ahead(unit: int, heads: Sequence[int]) -> frozenset[int]:
    return frozenset(heads[: heads.index(unit)])


def _planned_lines(planner: Planner, plan: Plan, emitted: Kernel) -> dict[int, int]:
    """Line in the emitted text of every tile op: both kernels have the same tile ops in the same order."""
    planned = [op for op in walk(planner.ordered(plan.order).body) if isinstance(op, TileOp)]
    printed = [op for op in walk(emitted.body) if isinstance(op, TileOp)]
    return {a.uid: emitted.source.line(b.span.start) for a, b in zip(planned, printed, strict=True)}
