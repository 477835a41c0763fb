"""Issue order: which ops of a block may move among the others, and the kernel in a given order.

A mobile unit is a load, a store, or an `scf.if` without results that holds only such ops and the pure ops they need. It
moves among the anchored ops of its block; it never crosses an op it conflicts with (docs/plan.md section 2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from syncopt.ir import optable
from syncopt.ir.kernel import Block, Guard, If, Kernel, Op, Return, TileOp, Value, Yield, ends_early, regions, walk
from syncopt.ir.optable import Family
from syncopt.ir.values import is_pure, operands_of, results_of
from syncopt.model.rewrite import with_body, with_ops, with_regions
from syncopt.model.touched import Touched

BlockKey = tuple[int, int]
"""Uid of the op a block belongs to and the number of the region; (-1, 0) for a kernel's body."""

BODY: BlockKey = (-1, 0)

Order = Mapping[BlockKey, tuple[int, ...]]
"""Uids of the heads (anchored ops and mobile units) per block that has units, in issue order."""


@dataclass(frozen=True, slots=True)
class BlockHeads:
    """The heads of one block in the order as written.

    Parameters
    ----------
    key : BlockKey
        The block.
    heads : tuple of int
        Uids of the ops that are not pure: anchored ops and units.
    units : tuple of int
        Those of the heads that may move.
    before : frozenset of (int, int)
        Pairs of heads, at least one of them a unit, whose order is fixed: the first stands before the second.
    """

    key: BlockKey
    heads: tuple[int, ...]
    units: tuple[int, ...]
    before: frozenset[tuple[int, int]]

    @property
    def anchored(self) -> tuple[int, ...]:
        """The heads that do not move, in order."""
        return tuple(head for head in self.heads if head not in self.units)


@dataclass(frozen=True)
class Mobility:
    """The blocks of a kernel that hold mobile units."""

    blocks: tuple[BlockHeads, ...]
    touched: Mapping[int, Touched] = field(repr=False)

    def as_written(self) -> dict[BlockKey, tuple[int, ...]]:
        """The order of the text."""
        return {block.key: block.heads for block in self.blocks}

    def earliest(self) -> dict[BlockKey, tuple[int, ...]]:
        """Every unit as early in its block as its hazards allow."""
        return {block.key: _earliest(block) for block in self.blocks}


def _earliest(block: BlockHeads) -> tuple[int, ...]:
    """Units first, anchored ops only when a unit still to come needs them before it."""
    order: list[int] = []

    def place(head: int) -> None:
        if head in order:
            return
        position = block.heads.index(head)
        for other in block.heads[:position]:
            if (other, head) in block.before or (head not in block.units and other not in block.units):
                place(other)
        order.append(head)

    for head in (*block.units, *block.heads):
        place(head)
    return tuple(order)


def mobility(kernel: Kernel, touched: Mapping[int, Touched]) -> Mobility:
    """The units of a kernel without flags, and what they may not cross.

    Parameters
    ----------
    kernel : Kernel
        Without flags and barriers.
    touched : mapping of uid to Touched
        From traces that reach every op that runs; an op of which a part was never reached stays where it is.
    """
    blocks: list[BlockHeads] = []
    for key, block in blocks_of(kernel):
        heads = tuple(op for op in block.ops if not is_pure(op) and not isinstance(op, Yield | Return))
        units = frozenset(op.uid for op in heads if op.uid in touched and _is_unit(op))
        if not units or len(heads) < 2:
            continue
        before = frozenset(
            (a.uid, b.uid)
            for number, b in enumerate(heads)
            for a in heads[:number]
            if (a.uid in units or b.uid in units) and _stay_in_order(a, b, block, touched)
        )
        blocks.append(
            BlockHeads(key, tuple(op.uid for op in heads), tuple(op.uid for op in heads if op.uid in units), before)
        )
    return Mobility(tuple(blocks), touched)


def blocks_of(kernel: Kernel) -> list[tuple[BlockKey, Block]]:
    """Every block of a kernel with its key, in text order."""
    found: list[tuple[BlockKey, Block]] = [(BODY, kernel.body)]
    for op in walk(kernel.body):
        found.extend(((op.uid, number), region) for number, region in enumerate(regions(op)))
    return found


def _is_unit(op: Op) -> bool:
    if isinstance(op, TileOp):
        row = optable.lookup(op.name)
        return row is not None and row.family in (Family.LOAD, Family.STORE)
    if isinstance(op, If) and not isinstance(op, Guard) and not op.results:
        inner = [o for region in regions(op) for o in region.ops if not is_pure(o) and not isinstance(o, Yield)]
        return bool(inner) and all(_is_unit(o) for o in inner)
    return False


def _stay_in_order(a: Op, b: Op, block: Block, touched: Mapping[int, Touched]) -> bool:
    if a.uid not in touched or b.uid not in touched or ends_early(b):
        # No text stands behind a branch that ends its block early.
        return True
    if touched[a.uid].conflicts(touched[b.uid]):
        return True
    return bool(set(results_of(a)) & _needs(b, block))


def _needs(op: Op, block: Block) -> set[Value]:
    """Values that an op needs, directly or through pure ops of its block, from anywhere outside itself."""
    makers = {result: maker for maker in block.ops for result in results_of(maker)}
    open_ops, needed = [op, *(o for region in regions(op) for o in walk(region))], set[Value]()
    while open_ops:
        for value in operands_of(open_ops.pop()):
            if value not in needed:
                needed.add(value)
                if value in makers and is_pure(makers[value]):
                    open_ops.append(makers[value])
    return needed


def in_order(kernel: Kernel, mobility: Mobility, order: Order) -> Kernel:
    """The kernel with the heads of its blocks in another order; the kernel itself if nothing changes."""
    units = {block.key: frozenset(block.units) for block in mobility.blocks}
    return with_body(kernel, _reorder(kernel.body, BODY, order, units))


def _reorder(block: Block, key: BlockKey, order: Order, units: Mapping[BlockKey, frozenset[int]]) -> Block:
    ops = [
        with_regions(op, [_reorder(region, (op.uid, n), order, units) for n, region in enumerate(regions(op))])
        for op in block.ops
    ]
    return with_ops(block, _arrange(ops, order[key], units[key]) if key in order else ops)


def _arrange(ops: Sequence[Op], heads: Sequence[int], units: frozenset[int]) -> list[Op]:
    """Ops of a block with its heads in an order; pure ops stay unless a head that moved up needs them earlier."""
    position = {op.uid: number for number, op in enumerate(ops)}
    makers = {result: op for op in ops for result in results_of(op) if is_pure(op)}
    arranged: list[Op] = []
    placed: set[int] = set()

    def put(op: Op) -> None:
        if op.uid not in placed:
            placed.add(op.uid)
            arranged.append(op)

    def need(op: Op) -> None:
        inner = [o for region in regions(op) for o in walk(region)]
        wanted = {makers[v].uid: makers[v] for o in (op, *inner) for v in operands_of(o) if v in makers}
        for maker in sorted(wanted.values(), key=lambda o: position[o.uid]):
            need(maker)
            put(maker)

    anchored = frozenset(heads) - units
    for head in heads:
        op = ops[position[head]]
        earlier = ops[: position[head]]
        if all(o.uid in placed for o in earlier if o.uid in anchored):
            for o in earlier:
                if o.uid not in units:
                    put(o)
        need(op)
        put(op)
    for op in ops:
        put(op)
    return arranged
