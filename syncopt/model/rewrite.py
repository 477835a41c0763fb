"""Changed kernels: without their flags, with blocks in another order, with ops added at given sites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from syncopt.ir.kernel import Barrier, Block, Flag, For, If, Kernel, Op, Return, Section, Yield, regions, walk
from syncopt.ir.values import is_pure, operands_of, results_of


class Side(StrEnum):
    """Which side of an op or a region a site is on."""

    BEFORE = "before"
    AFTER = "after"
    START = "start"
    END = "end"


class Site(NamedTuple):
    """A spot in a kernel.

    Parameters
    ----------
    uid : int
        The op it is at.
    side : Side
        `BEFORE` or `AFTER` the op, or at the `START` or `END` of one of its regions.
    region : int
        Number of the region (`START` and `END` only).
    """

    uid: int
    side: Side
    region: int = 0


@dataclass(slots=True)
class Insertions:
    """Ops to add, per site, in the order in which they shall stand there."""

    at: dict[Site, list[Op]] = field(default_factory=dict[Site, list[Op]])

    def add(self, site: Site, *ops: Op) -> None:
        """Add ops behind those that the site holds already."""
        self.at.setdefault(site, []).extend(ops)

    def ops(self, site: Site) -> Sequence[Op]:
        """The ops of a site."""
        return self.at.get(site, ())


def with_regions(op: Op, blocks: Sequence[Block]) -> Op:
    """The same op around other blocks; the op itself if the blocks are its own."""
    if all(old is new for old, new in zip(regions(op), blocks, strict=True)):
        return op
    match op:
        case For() | Section():
            return replace(op, body=blocks[0])
        case If():
            return replace(op, then=blocks[0], orelse=blocks[1] if len(blocks) > 1 else None)
        case _:
            return op


def with_ops(block: Block, ops: Sequence[Op]) -> Block:
    """The block with other ops; the block itself if they are its own."""
    same = len(ops) == len(block.ops) and all(a is b for a, b in zip(ops, block.ops, strict=True))
    return block if same else Block(tuple(ops), block.span)


def with_body(kernel: Kernel, body: Block) -> Kernel:
    """The kernel with another body."""
    return kernel if body is kernel.body else replace(kernel, body=body)


def insert(kernel: Kernel, insertions: Insertions) -> Kernel:
    """The kernel with ops added at sites."""
    return with_body(kernel, _insert(kernel.body, insertions, None))


def _insert(block: Block, insertions: Insertions, owner: tuple[int, int] | None) -> Block:
    ops: list[Op] = []
    if owner is not None:
        ops.extend(insertions.ops(Site(owner[0], Side.START, owner[1])))
    for op in block.ops:
        ops.extend(insertions.ops(Site(op.uid, Side.BEFORE)))
        inner = [_insert(region, insertions, (op.uid, number)) for number, region in enumerate(regions(op))]
        ops.append(with_regions(op, inner))
        ops.extend(insertions.ops(Site(op.uid, Side.AFTER)))
    if owner is not None:
        tail = 1 if ops and isinstance(ops[-1], Yield | Return) else 0
        added = insertions.ops(Site(owner[0], Side.END, owner[1]))
        ops[len(ops) - tail : len(ops) - tail] = added
    return with_ops(block, ops)


def strip_flags(kernel: Kernel) -> Kernel:
    """The kernel without flags and barriers, and without the ifs and the pure ops that only served them."""
    served = _flags_only(kernel)
    return with_body(kernel, _strip(kernel.body, served))


def _flags_only(kernel: Kernel) -> frozenset[int]:
    """Uids of flags, barriers, ifs that hold nothing else, and pure ops that nothing else uses."""
    gone: set[int] = set()
    ops = list(walk(kernel.body))
    for op in reversed(ops):
        if isinstance(op, Flag | Barrier):
            gone.add(op.uid)
        elif isinstance(op, If) and not op.results and _has_flags(op):
            inner = [o for region in regions(op) for o in walk(region)]
            if all(o.uid in gone or isinstance(o, Yield) for o in inner if not is_pure(o)):
                gone.add(op.uid)
    if not gone:
        return frozenset()
    users = _users(ops)
    for op in reversed(ops):
        used = {user for result in results_of(op) for user in users.get(result, ())}
        if is_pure(op) and used and used <= gone:
            gone.add(op.uid)
    return frozenset(gone)


def _has_flags(op: If) -> bool:
    return any(isinstance(o, Flag | Barrier) for region in regions(op) for o in walk(region))


def _users(ops: Sequence[Op]) -> Mapping[object, set[int]]:
    users: dict[object, set[int]] = {}
    for op in ops:
        for operand in operands_of(op):
            users.setdefault(operand, set()).add(op.uid)
    return users


def _strip(block: Block, gone: frozenset[int]) -> Block:
    kept = [op for op in block.ops if op.uid not in gone]
    return with_ops(block, [with_regions(op, [_strip(region, gone) for region in regions(op)]) for op in kept])
