"""The optimisation problem: what runs in the window, what is ordered, and which orders are open.

The problem knows nothing of how it is solved. `tree` has the structure of the window's execution: block executions with
their heads; the order of an anchored head and a unit, or of two units, is one open decision per pair of ops, shared by
all executions of their block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from syncopt.hwmodel import Machine
from syncopt.ir.kernel import Kernel, SetFlag, TileOp, Value, WaitFlag
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance
from syncopt.model.flags.channels import Placement, has_full_barrier
from syncopt.model.hazards import Hazards, least_hop
from syncopt.model.order import BODY, BlockKey, Mobility, Order
from syncopt.model.rewrite import Side, Site
from syncopt.model.skeleton import Flagged, Skeleton, Step


@dataclass(frozen=True, slots=True)
class Item:
    """One instruction of the window.

    Parameters
    ----------
    instance : Instance
        What is executed; the event of a flag is its channel's number.
    entries : int
        Queue entries.
    occupancy, latency : int
        Cycles of a tile op, 0 for others.
    """

    instance: Instance
    entries: int
    occupancy: int
    latency: int

    @property
    def pipe(self) -> Pipe:
        """The pipe that executes it."""
        return self.instance.pipe


@dataclass(slots=True)
class Head:
    """One op of a block execution that is not pure, with the flags around it."""

    uid: int
    unit: bool
    content: list["int | BlockRun"] = field(default_factory=list["int | BlockRun"])


@dataclass(slots=True)
class BlockRun:
    """One execution of a block."""

    key: BlockKey
    heads: list[Head] = field(default_factory=list[Head])


Decision = tuple[BlockKey, int, int]
"""Whether, in a block, the first op (a unit) is issued after the second."""


@dataclass(frozen=True)
class Problem:
    """Find the order of the units with the shortest makespan of the window.

    Parameters
    ----------
    machine : Machine
        Dispatch, queues and flag rules.
    mobility : Mobility
        Blocks, units, and pairs whose order is fixed.
    placement : Placement
        The flags that every order has.
    items : tuple of Item
        The window in the order as written.
    tree : BlockRun
        Its structure; leaves are numbers of items.
    hazards : tuple of (int, int)
        Items that conflict: the first completes before the second starts, in every order.
    """

    machine: Machine
    mobility: Mobility
    placement: Placement
    items: tuple[Item, ...]
    tree: BlockRun
    hazards: tuple[tuple[int, int], ...]

    @property
    def hop(self) -> int:
        """Least cycles from the completion of an op to the start of one on another pipe that waits for it.

        Barriers of all pipes can take fewer than flags do; without any channels the plan is open, and may have them.
        """
        if self.placement.channels and not has_full_barrier(self.placement):
            return self.machine.hop
        return least_hop(self.machine)

    def check(self) -> None:
        """Check that the problem can be solved at all.

        Raises
        ------
        ValueError
            Naming the first rule that is broken.
        """
        for item in self.items:
            if item.pipe not in (Pipe.S, Pipe.ALL) and item.entries > self.machine.queue_depth(item.pipe):
                raise ValueError(f"an op takes {item.entries} entries of the {item.pipe} queue")
        for earlier, later in self.hazards:
            if earlier >= later:
                raise ValueError("a hazard points backwards")

    def decisions(self) -> Iterator[Decision]:
        """The open decisions: unit against anchored op, and unit against unit in the order as written."""
        for block in self.mobility.blocks:
            fixed = block.before
            for number, unit in enumerate(block.units):
                for other in (*block.anchored, *block.units[:number]):
                    if (unit, other) not in fixed and (other, unit) not in fixed:
                        yield (block.key, unit, other)

    def order_of(self, after: dict[Decision, bool]) -> Order:
        """The order that decisions stand for."""
        order: dict[BlockKey, tuple[int, ...]] = {}
        for block in self.mobility.blocks:
            position = {head: number for number, head in enumerate(block.heads)}

            def is_after(a: int, b: int, key: BlockKey = block.key, at: dict[int, int] = position) -> bool:
                if (key, a, b) in after:
                    return after[key, a, b]
                if (key, b, a) in after:
                    return not after[key, b, a]
                return at[a] > at[b]

            count = {h: sum(is_after(h, other) for other in block.heads if other != h) for h in block.heads}
            order[block.key] = tuple(sorted(block.heads, key=lambda head: count[head]))
        return order


@dataclass(slots=True)
class _Builder:
    machine: Machine
    units: dict[BlockKey, frozenset[int]]
    items: list[Item] = field(default_factory=list[Item])

    def item(self, instance: Instance) -> int:
        entries, occupancy, latency = 1, 0, 0
        if isinstance(instance.op, TileOp):
            assert instance.work is not None
            cost = self.machine.cost(instance.work)
            entries, occupancy, latency = cost.entries, cost.occupancy, cost.latency
        self.items.append(Item(instance, entries, occupancy, latency))
        return len(self.items) - 1

    def head(self, run: BlockRun, uid: int) -> Head:
        """The head of an op in a block execution, opened where it is not open yet."""
        if not run.heads or run.heads[-1].uid != uid:
            run.heads.append(Head(uid, uid in self.units.get(run.key, frozenset())))
        return run.heads[-1]


def problem_of(
    kernel: Kernel,
    window: Skeleton,
    placement: Placement,
    mobility: Mobility,
    machine: Machine,
    shared: frozenset[Value],
) -> Problem:
    """The problem of a kernel (without flags, in the order as written) with a placement, over the window's trace."""
    builder = _Builder(machine, {block.key: frozenset(block.units) for block in mobility.blocks})
    tree = BlockRun(BODY)
    stack: list[BlockRun] = [tree]
    flagged = Flagged(kernel, placement)
    previous: Step | None = None
    passed: dict[int, Instance] = {}
    for step in window.steps:
        run = stack[-1]
        if isinstance(step, Instance):
            passed[step.op.uid] = step
            head = builder.head(run, step.op.uid)
            around = (flagged.before(step), [step], flagged.after(step))
            head.content.extend(builder.item(instance) for part in around for instance in part)
        elif step.side is Side.START:
            inner = BlockRun((step.uid, step.region))
            builder.head(run, step.uid).content.append(inner)
            stack.append(inner)
            _edge(builder, inner, flagged.at(step))
        elif step.side is Side.END:
            _edge(builder, run, flagged.at(step))
            stack.pop()
        else:
            head = builder.head(run, step.uid)
            missing = flagged.no_trip(step.uid, passed) if previous == Site(step.uid, Side.BEFORE) else ()
            head.content.extend(builder.item(instance) for instance in (*missing, *flagged.at(step)))
        previous = step
    items = tuple(builder.items)
    return Problem(machine, mobility, placement, items, tree, tuple(_hazards(items, shared)))


def _edge(builder: _Builder, run: BlockRun, flags: Sequence[Instance]) -> None:
    """Flags at the edge of a block are anchored there."""
    if flags:
        run.heads.append(Head(-1 - len(run.heads), unit=False, content=[builder.item(flag) for flag in flags]))


def _hazards(items: Sequence[Item], shared: frozenset[Value]) -> Iterator[tuple[int, int]]:
    """Every RAW, WAR and WAW hazard between last accesses."""
    hazards = Hazards(shared)
    for number, item in enumerate(items):
        yield from ((earlier, number) for earlier in hazards.earlier(number, item.instance.accesses))


def pair_of(item: Item) -> PipePair:
    """The pipe pair of a flag."""
    assert isinstance(item.instance.op, SetFlag | WaitFlag)
    return item.instance.op.pair


def refuse_oversized(problem: Problem, kernel: Kernel) -> None:
    """Refuse a tile op that takes more queue entries than its queue holds.

    Raises
    ------
    InputError
        At the op.
    """
    for item in problem.items:
        if item.pipe in (Pipe.S, Pipe.ALL) or item.entries <= problem.machine.queue_depth(item.pipe):
            continue
        depth = problem.machine.queue_depth(item.pipe)
        message = f"this op takes {item.entries} entries of the {item.pipe} queue, which holds {depth}"
        raise InputError(message, kernel.source, item.instance.op.span, "use a smaller tile or a deeper queue")
