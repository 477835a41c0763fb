"""From a kernel in a given order to its flags: which are needed, made to alternate, none too many.

For every trace of a family the hazards that nothing proves give pairs of a set site and a wait site. Connected pairs
are one channel. A channel whose sets and waits do not alternate in every trace is repaired; the repairs are tried in
the order of a policy, and which policy is best is decided by replay (docs/plan.md section 3).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from syncopt.check import HazardKind, Observer, OpenHazard
from syncopt.check.clocks import Clock
from syncopt.check.observer import UnfencedLoad
from syncopt.ir.pipes import LEGAL_PAIRS, Memory, Pipe, PipePair
from syncopt.model.family import Family, early_channels, made_proven, proves, with_full_barriers, without_channel
from syncopt.model.flags.alternation import Alternation
from syncopt.model.flags.channels import Channel, Placement, rotation_of
from syncopt.model.flags.repairs import Candidate, Edge, Repair, Repairs, Unite, channel_key, components, united
from syncopt.model.rewrite import Side, Site
from syncopt.model.skeleton import Flagged

_ROUNDS = 12


@dataclass(slots=True)
class _Needs(Observer):
    """Collects the hazards that stay open, and goes on as if each had its flag or barrier."""

    edges: dict[Edge, None] = field(default_factory=dict[Edge, None])
    barriers: dict[tuple[Site, Pipe], None] = field(default_factory=dict[tuple[Site, Pipe], None])

    def open_hazard(self, hazard: OpenHazard) -> Clock:
        source, target = hazard.earlier.instance, hazard.later
        pair = PipePair(source.pipe, target.pipe)
        if pair in LEGAL_PAIRS and not _is_through_memory(hazard):
            self.edges[Edge(pair, source.op.uid, target.op.uid)] = None
            return hazard.earlier.completion
        pipe = target.pipe if source.pipe is target.pipe else Pipe.ALL
        self.barriers[Site(target.op.uid, Side.BEFORE), pipe] = None
        return hazard.all_earlier

    def unfenced(self, load: UnfencedLoad) -> Clock:
        """No flag makes a store visible to a load: a barrier of all pipes takes its place."""
        self.barriers[Site(load.load.op.uid, Side.BEFORE), Pipe.ALL] = None
        return load.store.completion

    def copy(self) -> "_Needs":
        """The same needs, to add to."""
        return _Needs(dict(self.edges), dict(self.barriers))


def _is_through_memory(hazard: OpenHazard) -> bool:
    """Whether a load reads what a store has written to global memory, which flags alone do not make visible."""
    if hazard.kind is not HazardKind.RAW:
        return False
    stored = [a.footprint for a in hazard.earlier.instance.accesses if a.writes]
    loaded = [a.footprint for a in hazard.later.accesses if not a.writes]
    return any(not isinstance(a.space, Memory) and a.meets(b) for a in stored for b in loaded)


class Derivation:
    """Placements for the order of one family.

    Parameters
    ----------
    family : Family
        Traces of the order.
    """

    def __init__(self, family: Family) -> None:
        self._family = family
        self._repairs = Repairs(family)
        self._alternation = Alternation(family.traces, family.kernel)
        self._needs = _Needs()
        bare = Flagged(family.kernel, Placement())
        for number, _ in enumerate(family.traces):
            family.run(number, bare, self._needs)

    def placement(self, policy: Sequence[Repair]) -> Placement:
        """The placement that a policy gives.

        Returns
        -------
        Placement
            No hazard of the family is open under it, every channel alternates, no set comes before the wait before it,
            and no channel can be left out.
        """
        needs = self._needs.copy()
        placement = Placement()
        for _ in range(_ROUNDS):
            placement = self._placed(needs, policy)
            more = self._still_open(placement)
            if not more.edges and not more.barriers:
                break
            needs.edges |= more.edges
            needs.barriers |= more.barriers
        return self.without_surplus(made_proven(self._family, self._with_returns(placement)))

    def united(self, placement: Placement, conflicts: Iterable[tuple[int, int]], which: Unite) -> Placement | None:
        """The placement with one channel in place of two that conflict, if that proves as much.

        Of branches that exclude each other all such channels become one at a time, if together they prove as much.
        """
        unions = list(self._unions(placement, conflicts, which))
        together = _disjoint(unions) if which is Unite.BRANCHES else []
        for some in (together, *([union] for union in unions)):
            gone = {number for union in some for number in union[:2]}
            kept = (channel for number, channel in enumerate(placement.channels) if number not in gone)
            fewer = self._with_channels(placement, (*kept, *(channel for _, _, channel in some)))
            if some and proves(self._family, fewer):
                return fewer
        return None

    def _unions(
        self, placement: Placement, conflicts: Iterable[tuple[int, int]], which: Unite
    ) -> Iterator[tuple[int, int, Channel]]:
        """Numbers of channels that alternate as one and are up at the start both or neither, and that one channel."""
        for a, b in conflicts:
            first, second = placement.channels[a], placement.channels[b]
            if first.primed is second.primed and self._repairs.may_unite(first, second, which):
                union = self._alternation.started(united(first, second))
                if union is not None and union.primed is first.primed:
                    yield a, b, union

    def _with_returns(self, placement: Placement) -> Placement:
        """The placement with channels that say when those that would be set too early may be set again."""
        early = [placement.channels[number] for number in sorted(early_channels(self._family, placement))]
        returns = [channel for channel in map(self._repairs.returned, early) if channel is not None]
        started = [channel for channel in map(self._alternation.started, returns) if channel is not None]
        return self._with_channels(placement, (*placement.channels, *started)) if started else placement

    def _with_channels(self, placement: Placement, channels: Iterable[Channel]) -> Placement:
        """The placement with other channels, each once, and with what loops that do not go round would miss."""
        ordered = tuple(sorted(dict.fromkeys(channels), key=channel_key))
        return self._alternation.compensated(replace(placement, channels=ordered))

    def _still_open(self, placement: Placement) -> _Needs:
        needs, family = _Needs(), self._family
        flagged = Flagged(family.kernel, placement)
        for number, _ in enumerate(family.traces):
            family.run(number, flagged, needs)
        return needs

    def without_surplus(self, placement: Placement) -> Placement:
        """The placement without the barriers and channels that nothing needs."""
        for barrier in placement.barriers:
            fewer = replace(placement, barriers=tuple(b for b in placement.barriers if b != barrier))
            if proves(self._family, fewer):
                placement = fewer
        for number in range(len(placement.channels) - 1, -1, -1):
            if number != rotation_of(placement, number)[0]:
                continue
            fewer = without_channel(placement, number)
            if proves(self._family, fewer):
                placement = fewer
        return placement

    def _placed(self, needs: _Needs, policy: Sequence[Repair]) -> Placement:
        channels, beyond_repair = self._alternating(needs, policy)
        placement = self._with_channels(Placement(barriers=tuple(needs.barriers)), channels)
        sites = (Site(site.uid, Side.BEFORE) for channel in beyond_repair for site in channel.waits)
        return with_full_barriers(placement, sites)

    def _alternating(self, needs: _Needs, policy: Sequence[Repair]) -> tuple[Sequence[Channel], Sequence[Channel]]:
        """The channels, repaired where they fail, and those that cannot be repaired."""
        edges = list(needs.edges)
        good: dict[Channel, None] = {}
        if Repair.ROTATE in policy:
            rotating, edges = self._rotated(edges)
            good.update(dict.fromkeys(rotating))
        failing: list[Channel] = []
        lost: list[Channel] = []
        for channel in components(edges):
            started = self._alternation.started(channel)
            if started is None:
                failing.append(channel)
            else:
                good[started] = None
        while failing:
            channel = failing.pop(0)
            repaired = self._repaired(channel, failing, policy)
            if repaired is None:
                for part in self._repairs.split(channel, needs.edges):
                    started = self._alternation.started(part)
                    if started is None:
                        lost.append(part)
                    else:
                        good[started] = None
                continue
            good[repaired.channel] = None
            failing = [other for other in failing if other not in repaired.used]
        return tuple(good), lost

    def _rotated(self, edges: Iterable[Edge]) -> tuple[list[Channel], list[Edge]]:
        """Channels of the slots of rotating tiles where they alternate, and the edges that they leave to others."""
        rotating: list[Channel] = []
        others: list[Edge] = []
        for held, ways in self._repairs.rotated(edges):
            tried = map(self._alternation.started_rotation, ways)
            started = next((channels for channels in tried if channels is not None), None)
            if started is None:
                others += held
            else:
                rotating += started
        return rotating, others

    def _repaired(self, channel: Channel, others: Sequence[Channel], policy: Sequence[Repair]) -> Candidate | None:
        for repair in policy:
            for candidate in self._repairs.candidates(repair, channel, others):
                started = self._alternation.started(candidate.channel)
                if started is not None:
                    return replace(candidate, channel=started)
        return None


def _disjoint(unions: Iterable[tuple[int, int, Channel]]) -> list[tuple[int, int, Channel]]:
    """Unions of which no two take in the same channel, the first ones first."""
    found: list[tuple[int, int, Channel]] = []
    taken: set[int] = set()
    for a, b, channel in unions:
        if not taken & {a, b}:
            found.append((a, b, channel))
            taken |= {a, b}
    return found
