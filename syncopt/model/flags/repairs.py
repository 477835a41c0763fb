"""Channels out of hazards, and repairs of those whose sets and waits do not alternate (docs/plan.md section 3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

import networkx as nx

from syncopt.check import HappensBefore, HazardKind, Observer, Record
from syncopt.check.memories import Cell
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import TileOp, walk
from syncopt.ir.optable import pipe_of
from syncopt.ir.pipes import LEGAL_PAIRS, PipePair
from syncopt.ir.trace import Instance
from syncopt.model.family import Family
from syncopt.model.flags.channels import Ancestry, Channel, Placement, site_key
from syncopt.model.rewrite import Side, Site
from syncopt.model.skeleton import Flagged
from syncopt.model.slots import Slot


class Repair(Enum):
    """Ways to make the sets and waits of a channel alternate."""

    CLOSURE = "closure"
    UNION = "union"
    LIFT = "lift"
    ROTATE = "a channel for each slot of a rotating tile"


POLICIES: tuple[tuple[Repair, ...], ...] = (
    (Repair.CLOSURE, Repair.UNION, Repair.LIFT),
    (Repair.LIFT, Repair.CLOSURE, Repair.UNION),
    (Repair.ROTATE, Repair.CLOSURE, Repair.UNION, Repair.LIFT),
)
"""Orders in which repairs are tried. The last one is for kernels with rotating tiles: it does not wait for a fault."""


class Unite(Enum):
    """Which channels may become one to save an id."""

    BRANCHES = "those in branches that exclude each other: none waits for the other's ops"
    ANY = "any two"


class Edge(NamedTuple):
    """A hazard that needs a flag: set behind `earlier`, wait before `later` (uids)."""

    pair: PipePair
    earlier: int
    later: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A repaired channel, and the other failing channels that it takes the place of."""

    channel: Channel
    used: tuple[Channel, ...] = ()


def components(edges: Iterable[Edge]) -> list[Channel]:
    """Connected edges of one pipe pair as channels."""
    graph: nx.Graph[tuple[PipePair, Site]] = nx.Graph()
    for edge in edges:
        graph.add_edge((edge.pair, Site(edge.earlier, Side.AFTER)), (edge.pair, Site(edge.later, Side.BEFORE)))
    found: list[Channel] = []
    for nodes in nx.connected_components(graph):
        pair = next(iter(nodes))[0]
        sets = (site for _, site in nodes if site.side is Side.AFTER)
        waits = (site for _, site in nodes if site.side is Side.BEFORE)
        found.append(_channel(pair, sets, waits))
    return sorted(found, key=channel_key)


def channel_key(
    channel: Channel,
) -> tuple[str, tuple[tuple[int, str, int], ...], tuple[tuple[int, str, int], ...], tuple[int, int]]:
    """A fixed order of channels; those of the slots of one rotating tile stand in a row."""
    slot = (-1, -1) if channel.slot is None else channel.slot[:2]
    return (str(channel.pair), tuple(map(site_key, channel.sets)), tuple(map(site_key, channel.waits)), slot)


def _channel(pair: PipePair, sets: Iterable[Site], waits: Iterable[Site]) -> Channel:
    return Channel(pair, tuple(sorted(set(sets), key=site_key)), tuple(sorted(set(waits), key=site_key)))


def united(a: Channel, b: Channel) -> Channel:
    """One channel with the sites of two of one pair."""
    return _channel(a.pair, (*a.sets, *b.sets), (*a.waits, *b.waits))


class Repairs:
    """Makes candidates for failing channels of one family.

    Parameters
    ----------
    family : Family
        Its kernel and traces.
    """

    def __init__(self, family: Family) -> None:
        self._family = family
        self._ancestry = Ancestry(family.kernel)
        self._direct: tuple[tuple[Edge, Footprint], ...] | None = None

    def candidates(self, repair: Repair, channel: Channel, others: Sequence[Channel]) -> Iterator[Candidate]:
        """What one kind of repair makes of a channel, `others` being further ones that fail."""
        match repair:
            case Repair.CLOSURE:
                closed = self._closure(channel)
                yield Candidate(closed)
                yield from map(Candidate, self._lifted(closed))
            case Repair.UNION:
                for other in others:
                    if other.pair == channel.pair:
                        yield Candidate(united(channel, other), (other,))
                        yield Candidate(self._closure(united(channel, other)), (other,))
            case Repair.LIFT:
                yield from map(Candidate, self._lifted(channel))
            case Repair.ROTATE:
                pass

    def rotated(self, edges: Iterable[Edge]) -> Iterator[tuple[list[Edge], Sequence[Sequence[Channel]]]]:
        """Connected edges between users of one rotating tile with the ways to give each of its slots a channel, and,
        without any, the other edges.

        The channels have the sites of the edges, or those of all users: an op before a loop that uses a slot for the
        first time meets no hazard, but takes its turn.
        """
        used: dict[tuple[Slot, ...], list[Edge]] = {}
        for edge in edges:
            used.setdefault(self._family.rotations.shared((edge.earlier, edge.later)), []).append(edge)
        for slots, some in used.items():
            for whole in components(some):
                sets = {(whole.pair, site.uid) for site in whole.sets}
                held = [edge for edge in some if (edge.pair, edge.earlier) in sets]
                ways = (whole, self._of_all_users(whole.pair, slots[0].tile)) if slots else ()
                yield held, [[replace(way, slot=slot) for slot in slots] for way in ways]

    def _of_all_users(self, pair: PipePair, tile: int) -> Channel:
        """The channel between all ops of two pipes that use a rotating tile."""
        chosen, ops = self._family.rotations.chosen, walk(self._family.kernel.body)
        users = [op for op in ops if isinstance(op, TileOp) and tile in chosen[op.uid]]
        sets = (Site(op.uid, Side.AFTER) for op in users if pipe_of(op) is pair.source)
        waits = (Site(op.uid, Side.BEFORE) for op in users if pipe_of(op) is pair.target)
        return _channel(pair, sets, waits)

    def returned(self, channel: Channel) -> Channel | None:
        """The channel that tells the setting pipe of one that its waits are over; None if the hardware has no such."""
        pair = PipePair(channel.pair.target, channel.pair.source)
        sets = (Site(site.uid, Side.AFTER) for site in channel.waits)
        waits = (Site(site.uid, Side.BEFORE) for site in channel.sets)
        return _channel(pair, sets, waits) if pair in LEGAL_PAIRS and channel.slot is None else None

    def may_unite(self, a: Channel, b: Channel, which: Unite) -> bool:
        """Whether two channels are of the kind that is to be united; those of slots are not."""
        if a.slot is not None or b.slot is not None:
            return False
        return which is Unite.ANY or self._ancestry.exclude_each_other(a, b)

    def split(self, channel: Channel, edges: Iterable[Edge]) -> list[Channel]:
        """A channel for every hazard of a component, its set and its wait in one block.

        There they are passed equally often in turns, whatever the loops and branches inside do: the wait before the set
        where the hazard goes from one iteration to a later one.
        """
        found: dict[Channel, None] = {}
        for edge in edges:
            if edge.pair == channel.pair and Site(edge.earlier, Side.AFTER) in channel.sets:
                earlier, later = self._ancestry.in_common_block(edge.earlier, edge.later)
                found[_channel(edge.pair, [Site(earlier, Side.AFTER)], [Site(later, Side.BEFORE)])] = None
        return list(found)

    def _closure(self, channel: Channel) -> Channel:
        """The channel with all direct hazards of its pair and bytes that share a set or a wait site."""
        sets = {site.uid for site in channel.sets if site.side is Side.AFTER}
        waits = {site.uid for site in channel.waits if site.side is Side.BEFORE}
        direct = [(edge, place) for edge, place in self._direct_hazards() if edge.pair == channel.pair]
        places = {place for edge, place in direct if edge.earlier in sets and edge.later in waits}
        edges = [edge for edge, place in direct if place in places]
        while new := [edge for edge in edges if (edge.earlier in sets) != (edge.later in waits)]:
            sets.update(edge.earlier for edge in new)
            waits.update(edge.later for edge in new)
        return _channel(channel.pair, (Site(u, Side.AFTER) for u in sets), (Site(u, Side.BEFORE) for u in waits))

    def _direct_hazards(self) -> tuple[tuple[Edge, Footprint], ...]:
        if self._direct is None:
            found: dict[tuple[Edge, Footprint], None] = {}
            bare = Flagged(self._family.kernel, Placement())
            for trace in self._family.traces:
                run = _DirectHazards(self._family)
                run.run(bare.instances(trace.steps))
                found |= run.found
            self._direct = tuple(found)
        return self._direct

    def _lifted(self, channel: Channel) -> Iterator[Channel]:
        """The channel with its sets or waits moved out of the ops that do not hold the other kind, step by step."""
        set_steps = self._steps_up(channel.sets, channel.waits, Side.AFTER)
        wait_steps = self._steps_up(channel.waits, channel.sets, Side.BEFORE)
        steps = [(i + j, i, j) for i in range(len(set_steps)) for j in range(len(wait_steps)) if i + j]
        for _, i, j in sorted(steps):
            yield _channel(channel.pair, set_steps[i], wait_steps[j])

    def _steps_up(self, sites: tuple[Site, ...], partners: Sequence[Site], side: Side) -> list[tuple[Site, ...]]:
        steps = [sites]
        while (up := self._lift(steps[-1], partners, side)) != steps[-1]:
            steps.append(up)
        return steps

    def _lift(self, sites: Sequence[Site], partners: Sequence[Site], side: Side) -> tuple[Site, ...]:
        """Sites moved one level up, those as deep as the deepest, out of ops that hold no partner."""
        around = {uid for partner in partners for uid in self._ancestry.chain(partner)}
        chains = {site: self._ancestry.chain(site) for site in sites}
        movable = [site for site in sites if chains[site] and chains[site][-1] not in around]
        depth = max((len(chains[site]) for site in movable), default=0)
        lifted = {
            Site(chains[site][-1], side) if site in movable and len(chains[site]) == depth else site for site in sites
        }
        return tuple(sorted(lifted, key=site_key))


class _DirectHazards(HappensBefore):
    """Collects every hazard between the last accesses, proven or not, with the bytes it is about."""

    def __init__(self, family: Family) -> None:
        super().__init__(family.machine, family.shared, Observer())
        self.found: dict[tuple[Edge, Footprint], None] = {}

    def compare(
        self, lane: int, instance: Instance, cell: Cell, kind: HazardKind, found: list[tuple[HazardKind, Record]]
    ) -> None:
        del lane, found
        for record in (cell.reads if kind is HazardKind.WAR else cell.writes).values():
            if record.instance.pipe is not instance.pipe:
                pair = PipePair(record.instance.pipe, instance.pipe)
                self.found[Edge(pair, record.instance.op.uid, instance.op.uid), cell.footprint] = None
