"""Channels: where flags are set and waited for, and the kernel that has them.

A channel belongs to one pipe pair. Its sets and waits alternate in every execution; it starts down, or it is primed: up
from before the first op that uses it and taken down after the last one (planning.md section 3).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from syncopt.ir.kernel import (
    NO_SPAN,
    Barrier,
    Block,
    For,
    If,
    Kernel,
    Op,
    Return,
    Scalar,
    Section,
    SetFlag,
    TileOp,
    Value,
    WaitFlag,
    regions,
    walk,
)
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.types import ScalarType
from syncopt.model.placement import fresh_name, names_in
from syncopt.model.rewrite import Insertions, Side, Site, insert


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
    """

    pair: PipePair
    sets: tuple[Site, ...]
    waits: tuple[Site, ...]
    primed: bool = False

    @property
    def sites(self) -> tuple[Site, ...]:
        """All sites."""
        return (*self.sets, *self.waits)


def site_key(site: Site) -> tuple[int, str, int]:
    """Text order of sites."""
    return (site.uid, site.side.value, site.region)


@dataclass(frozen=True, slots=True)
class Compensation:
    """What stands behind a loop for the case that it does not go round: waits, then sets, by channel number."""

    loop: int
    waits: tuple[int, ...]
    sets: tuple[int, ...]


class Priming(Enum):
    """Where priming sets stand: the earlier, the less they wait for; the later, the more channels share an id."""

    FIRST = "before the first tile op, loop or branch of the section"
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
    """The sections of a kernel that hold all its tile ops, else its body as one stretch."""
    ops = kernel.body.ops
    sections = [op for op in ops if isinstance(op, Section)]
    outside = any(_has_tile_ops(op) for op in ops if not isinstance(op, Section))
    if sections and not outside:
        return tuple(Stretch(op.body.ops, Site(op.uid, Side.END)) for op in sections)
    if not ops:
        return ()
    last = ops[-1]
    return (Stretch(ops, Site(last.uid, Side.BEFORE if isinstance(last, Return) else Side.AFTER)),)


def _is_issued(op: Op) -> bool:
    return isinstance(op, TileOp) or bool(regions(op))


def _has_tile_ops(op: Op) -> bool:
    return isinstance(op, TileOp) or any(isinstance(o, TileOp) for region in regions(op) for o in walk(region))


class Ancestry:
    """Which ops stand inside which."""

    def __init__(self, kernel: Kernel) -> None:
        self._blocks: dict[int, tuple[int | None, int]] = {}
        self._note(kernel.body, (None, 0))

    def _note(self, block: Block, place: tuple[int | None, int]) -> None:
        for op in block.ops:
            self._blocks[op.uid] = place
            for number, region in enumerate(regions(op)):
                self._note(region, (op.uid, number))

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
            first = tops.first_beside(holding[0]) if placement.priming is Priming.FIRST else holding[0]
            primes.setdefault(Site(first, Side.BEFORE), []).append(number)
            drains.setdefault(Site(holding[-1], Side.AFTER), []).append(number)
    return primes, drains


class Tops:
    """The ops of a kernel's stretches that hold a channel's sites."""

    def __init__(self, kernel: Kernel) -> None:
        self._ancestry = Ancestry(kernel)
        levels = [stretch.ops for stretch in stretches(kernel)]
        if len(levels) > 1:
            levels.append(kernel.body.ops)
        self._levels = [{op.uid: number for number, op in enumerate(filter(_is_issued, ops))} for ops in levels]

    def of(self, channel: Channel) -> tuple[int, ...]:
        """Uids of the ops that hold a site of the channel, in text order, each once."""
        chains = [(*self._ancestry.chain(site), site.uid) for site in channel.sites]
        for position in self._levels:
            found = {uid for chain in chains for uid in chain if uid in position}
            if all(any(uid in position for uid in chain) for chain in chains):
                return tuple(sorted(found, key=lambda uid: position[uid]))
        raise ValueError("a channel's sites are in no stretch")

    def first_beside(self, uid: int) -> int:
        """The first op in the stretch of another one that is issued or holds others."""
        return next(next(iter(position)) for position in self._levels if uid in position)


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


def with_flags(kernel: Kernel, placement: Placement, ids: Sequence[int]) -> Kernel:
    """The kernel with a placement's flags, channel n on event id `ids[n]`, and the barrier at the end of
    every section."""
    return _Writer(kernel, placement, ids).kernel()


class _Writer:
    def __init__(self, kernel: Kernel, placement: Placement, ids: Sequence[int]) -> None:
        self._kernel = kernel
        self._placement = placement
        self._ids = ids
        self._uid = min((op.uid for op in walk(kernel.body)), default=0)
        self._taken = names_in(kernel)

    def _next_uid(self) -> int:
        self._uid = min(self._uid, 0) - 1
        return self._uid

    def _sets(self, numbers: Iterable[int]) -> list[Op]:
        channels = self._placement.channels
        return [SetFlag(self._next_uid(), NO_SPAN, channels[n].pair, self._ids[n]) for n in numbers]

    def _waits(self, numbers: Iterable[int]) -> list[Op]:
        channels = self._placement.channels
        return [WaitFlag(self._next_uid(), NO_SPAN, channels[n].pair, self._ids[n]) for n in numbers]

    def kernel(self) -> Kernel:
        placement, add = self._placement, Insertions()
        sets, waits = numbers_at(placement)
        primes, drains = primes_and_drains(self._kernel, placement)
        for compensation in placement.compensations:
            add.add(Site(compensation.loop, Side.AFTER), *self._no_trip(compensation))
        for site, numbers in (*primes.items(), *sets.items()):
            add.add(site, *self._sets(numbers))
        for site, numbers in (*waits.items(), *drains.items()):
            add.add(site, *self._waits(numbers))
        for site, pipe in placement.barriers:
            add.add(site, Barrier(self._next_uid(), NO_SPAN, pipe))
        for stretch in stretches(self._kernel):
            add.add(stretch.end, Barrier(self._next_uid(), NO_SPAN, Pipe.ALL))
        return insert(self._kernel, add)

    def _no_trip(self, compensation: Compensation) -> list[Op]:
        loop = next(op for op in walk(self._kernel.body) if op.uid == compensation.loop)
        assert isinstance(loop, For)
        name = fresh_name(self._taken, "%no_trip")
        self._taken.add(name)
        no_trip = Value(name, ScalarType("i1"))
        compare = Scalar(self._next_uid(), NO_SPAN, "arith.cmpi", (loop.lower, loop.upper), (no_trip,), "sge")
        body = Block((*self._waits(compensation.waits), *self._sets(compensation.sets)), NO_SPAN)
        return [compare, If(self._next_uid(), NO_SPAN, no_trip, (), body, None)]


def loops_of(kernel: Kernel) -> tuple[For, ...]:
    """The loops of a kernel in text order."""
    return tuple(op for op in walk(kernel.body) if isinstance(op, For))
