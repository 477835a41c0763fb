"""Channels: where flags are set and waited for, and the kernel that has them.

A channel belongs to one pipe pair. Its sets and waits alternate in every execution; it starts down, or it is primed: up
from before the first op that uses it and taken down after the last one (docs/plan.md section 3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile

from syncopt.ir.kernel import (
    Block,
    Braces,
    For,
    Guard,
    Kernel,
    Op,
    Return,
    Section,
    TileOp,
    regions,
    walk,
)
from syncopt.ir.optable import pipe_of
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.model.rewrite import Side, Site
from syncopt.model.slots import Slot


@dataclass(frozen=True, slots=True)
class Channel:
    """One flag's sites.

    Parameters
    ----------
    pair : PipePair
        Set behind `pair.source`, held at `pair.target`.
    sets, waits : tuple of Site
        Sorted; sets stand behind ops, waits before ops.
    primed : bool
        Whether it is up before the first of its waits.
    slot : Slot or None
        Its sites are passed only by instructions that use this slot of a rotating tile; None: by all.
    """

    pair: PipePair
    sets: tuple[Site, ...]
    waits: tuple[Site, ...]
    primed: bool = False
    slot: Slot | None = None

    @property
    def sites(self) -> tuple[Site, ...]:
        """All sites."""
        return (*self.sets, *self.waits)


def site_key(site: Site) -> tuple[int, str, int]:
    """Text order of sites."""
    return (site.uid, site.side.value, site.region)


@dataclass(frozen=True, slots=True)
class Compensation:
    """What stands behind a loop for the case that it does not go round.

    Parameters
    ----------
    loop : int
        Uid of the loop.
    waits, sets : tuple of int
        Numbers of the channels that are waited for, then of those that are set.
    slot_at : Site or None
        Of channels of slots, which all belong to one rotation, that of the slot used at this site before the loop.
    """

    loop: int
    waits: tuple[int, ...]
    sets: tuple[int, ...]
    slot_at: Site | None = None


class Priming(Enum):
    """Where priming sets stand: the earlier, the less they wait for; the later, the more channels share an id."""

    FIRST = "before the first op of the section that runs on the setting pipe, or holds one that does"
    USE = "before the first op that uses the channel"


@dataclass(frozen=True, slots=True)
class Placement:
    """All flags and barriers of a kernel.

    Parameters
    ----------
    channels : tuple of Channel
        In a fixed order; a channel's number is its place here.
    barriers : tuple of (Site, Pipe)
        Barriers before ops.
    compensations : tuple of Compensation
        For loops that may not go round.
    priming : Priming
        Where primed channels are set for the first time.
    """

    channels: tuple[Channel, ...] = ()
    barriers: tuple[tuple[Site, Pipe], ...] = ()
    compensations: tuple[Compensation, ...] = ()
    priming: Priming = Priming.FIRST


def rotation_of(placement: Placement, number: int) -> tuple[int, ...]:
    """Numbers of the channels that are one flag with a channel in the text: those of the slots of its rotating tile."""
    channel = placement.channels[number]
    if channel.slot is None:
        return (number,)
    return tuple(
        n
        for n, other in enumerate(placement.channels)
        if other.slot is not None and other.slot.tile == channel.slot.tile and _where(other) == _where(channel)
    )


def _where(channel: Channel) -> tuple[PipePair, tuple[Site, ...], tuple[Site, ...]]:
    return channel.pair, channel.sets, channel.waits


def has_full_barrier(placement: Placement) -> bool:
    """Whether a placement has a barrier of all pipes."""
    return any(pipe is Pipe.ALL for _, pipe in placement.barriers)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Ops that one run of a core goes through from top to bottom: a section, or a body without sections.

    Parameters
    ----------
    ops : tuple of Op
        Its ops.
    end : Site
        Behind the last of them.
    """

    ops: tuple[Op, ...]
    end: Site


def stretches(kernel: Kernel) -> tuple[Stretch, ...]:
    """The sections of a kernel that hold all its tile ops, else its body as one stretch.

    If all of them stand in a block of its own, or in one arm of a branch that returns early, that is the stretch.
    """
    ops = kernel.body.ops
    if not ops:
        return ()
    return _stretches(ops, Site(ops[-1].uid, Side.BEFORE if isinstance(ops[-1], Return) else Side.AFTER))


def _stretches(ops: tuple[Op, ...], end: Site) -> tuple[Stretch, ...]:
    sections = [op for op in ops if isinstance(op, Section)]
    outside = any(_has_tile_ops(op) for op in ops if not isinstance(op, Section))
    if sections and not outside:
        return tuple(part for op in sections for part in _stretches(op.body.ops, Site(op.uid, Side.END)))
    busy = [op for op in ops if _has_tile_ops(op)]
    if len(busy) == 1 and isinstance(busy[0], Guard | Braces):
        arms = [(n, arm) for n, arm in enumerate(regions(busy[0])) if any(map(_has_tile_ops, arm.ops))]
        if len(arms) == 1:
            number, arm = arms[0]
            return _stretches(arm.ops, Site(busy[0].uid, Side.END, number))
    return (Stretch(ops, end),)


def _pipes(op: Op) -> frozenset[Pipe | None]:
    """The pipes of the tile ops in an op, None among them if one is not known."""
    inside = (op, *(o for region in regions(op) for o in walk(region)))
    return frozenset(pipe_of(o) for o in inside if isinstance(o, TileOp))


def _has_tile_ops(op: Op) -> bool:
    return isinstance(op, TileOp) or any(isinstance(o, TileOp) for region in regions(op) for o in walk(region))


class Ancestry:
    """Which ops stand inside which."""

    def __init__(self, kernel: Kernel) -> None:
        self._blocks: dict[int, tuple[int | None, int]] = {}
        self._ops: dict[tuple[int | None, int], tuple[Op, ...]] = {}
        self._note(kernel.body, (None, 0))

    def _note(self, block: Block, place: tuple[int | None, int]) -> None:
        self._ops[place] = block.ops
        for op in block.ops:
            self._blocks[op.uid] = place
            for number, region in enumerate(regions(op)):
                self._note(region, (op.uid, number))

    def before(self, uid: int) -> Sequence[Op]:
        """The ops that stand before an op in its block."""
        return list(takewhile(lambda op: op.uid != uid, self._ops[self._blocks[uid]]))

    def in_common_block(self, a: int, b: int) -> tuple[int, int]:
        """The ops of the innermost block that holds two ops, or what they stand in; one op with both is both."""
        holders = {self._blocks[uid]: uid for uid in self._holders(a)}
        return next((holders[block], uid) for uid in self._holders(b) if (block := self._blocks[uid]) in holders)

    def exclude_each_other(self, a: Channel, b: Channel) -> bool:
        """Whether all sites of one channel are in another branch of an op than all sites of the other."""
        around_a, around_b = self._branches(a), self._branches(b)
        return any(owner in around_b and around_b[owner] != number for owner, number in around_a.items())

    def _branches(self, channel: Channel) -> dict[int, int]:
        """Ops that hold all sites of a channel in one of their regions, and the number of that region."""
        blocks = [{self._blocks[uid] for uid in self._holders(site.uid)} for site in channel.sites]
        shared = set[tuple[int | None, int]].intersection(*blocks)
        return {owner: number for owner, number in shared if owner is not None}

    def _holders(self, uid: int) -> tuple[int, ...]:
        """An op and the ops around it, innermost first."""
        return (uid, *reversed(self.chain(Site(uid, Side.BEFORE))))

    def chain(self, site: Site) -> tuple[int, ...]:
        """Uids of the ops around a site, outermost first; the op that the site is at is not one of them."""
        chain: list[int] = [site.uid] if site.side in (Side.START, Side.END) else []
        parent, _ = self._blocks[site.uid]
        while parent is not None:
            chain.append(parent)
            parent, _ = self._blocks[parent]
        return tuple(reversed(chain))


def primes_and_drains(kernel: Kernel, placement: Placement) -> tuple[dict[Site, list[int]], dict[Site, list[int]]]:
    """Sites of the priming sets and of the draining waits, with the numbers of the channels there.

    A channel is primed where its placement says and drained behind the last op of its stretch that holds one of its
    sites.
    """
    primes: dict[Site, list[int]] = {}
    drains: dict[Site, list[int]] = {}
    tops = Tops(kernel)
    for number, channel in enumerate(placement.channels):
        if channel.primed:
            holding = tops.of(channel)
            primes.setdefault(Site(tops.held_back(channel, placement.priming)[0], Side.BEFORE), []).append(number)
            drains.setdefault(Site(holding[-1], Side.AFTER), []).append(number)
    return primes, drains


class Tops:
    """The ops of a kernel's stretches that hold a channel's sites."""

    def __init__(self, kernel: Kernel) -> None:
        self._ancestry = Ancestry(kernel)
        levels = [stretch.ops for stretch in stretches(kernel)]
        if len(levels) > 1:
            levels.append(kernel.body.ops)
        self._levels = [{op.uid: number for number, op in enumerate(ops)} for ops in levels]
        self._pipes = {op.uid: _pipes(op) for ops in levels for op in ops}

    def of(self, channel: Channel) -> tuple[int, ...]:
        """Uids of the ops that hold a site of the channel, in text order, each once."""
        chains = [(*self._ancestry.chain(site), site.uid) for site in channel.sites]
        for position in self._levels:
            found = {uid for chain in chains for uid in chain if uid in position}
            if all(any(uid in position for uid in chain) for chain in chains):
                return tuple(sorted(found, key=lambda uid: position[uid]))
        raise ValueError("a channel's sites are in no stretch")

    def held_back(self, channel: Channel, priming: Priming) -> tuple[int, ...]:
        """Uids of the ops behind which a channel is not primed, in text order: it is before the first of them."""
        holding = self.of(channel)
        if priming is Priming.USE:
            return holding
        level = next(position for position in self._levels if holding[0] in position)
        source = channel.pair.source
        return tuple(uid for uid in level if uid in holding or not self._pipes[uid].isdisjoint((source, None)))


def numbers_at(placement: Placement) -> tuple[dict[Site, list[int]], dict[Site, list[int]]]:
    """Numbers of the channels that are set and that are waited for at each site."""
    sets: dict[Site, list[int]] = {}
    waits: dict[Site, list[int]] = {}
    for number, channel in enumerate(placement.channels):
        for site in channel.sets:
            sets.setdefault(site, []).append(number)
        for site in channel.waits:
            waits.setdefault(site, []).append(number)
    return sets, waits


def loops_of(kernel: Kernel) -> tuple[For, ...]:
    """The loops of a kernel in text order."""
    return tuple(op for op in walk(kernel.body) if isinstance(op, For))
