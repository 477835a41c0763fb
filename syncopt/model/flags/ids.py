"""Which channels may not share an event id (docs/plan.md section 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count

from syncopt.check import HappensBefore, Observer
from syncopt.check.clocks import LANE
from syncopt.ir.kernel import SetFlag
from syncopt.ir.pipes import PipePair
from syncopt.ir.trace import Instance
from syncopt.model.family import Family, made_proven, proves, with_full_barriers, without_channel
from syncopt.model.flags.channels import Placement, Priming
from syncopt.model.flags.derive import Derivation
from syncopt.model.flags.repairs import Unite
from syncopt.model.skeleton import Flagged

Conflict = tuple[int, int]


class _Conflicts(HappensBefore):
    """Collects pairs of channels of which one is set while the other is up or may still be waited for."""

    def __init__(self, family: Family, placement: Placement) -> None:
        super().__init__(family.machine, family.shared, Observer())
        self.found: set[Conflict] = set()
        self._by_pair = channels_by_pair(placement)

    def raised(self, instance: Instance, lane: int) -> None:
        assert isinstance(instance.op, SetFlag)
        pair, clock = instance.op.pair, self.clock_of(lane)
        for other in self._by_pair[pair]:
            if other == instance.event:
                continue
            up, last_wait = self.event_state(pair, other)
            if up or clock[LANE[pair.target]] < last_wait:
                self.found.add((min(other, instance.event), max(other, instance.event)))


def conflicts(family: Family, placement: Placement) -> frozenset[Conflict]:
    """Pairs of channel numbers that need different ids: one is set while the other is up, or without being ordered
    behind the other's latest wait, in some trace of the family."""
    found: set[Conflict] = set()
    flagged = Flagged(family.kernel, placement)
    for trace in family.traces:
        run = _Conflicts(family, placement)
        run.run(flagged.instances(trace.steps))
        found |= run.found
    return frozenset(found)


def channels_by_pair(placement: Placement) -> dict[PipePair, list[int]]:
    """Numbers of the channels of each pair, in order."""
    found: dict[PipePair, list[int]] = {}
    for number, channel in enumerate(placement.channels):
        found.setdefault(channel.pair, []).append(number)
    return found


def within_ids(family: Family, derivation: Derivation, placement: Placement) -> Placement:
    """The placement, made to need no more ids in any pair than there are, as known by greedy colouring.

    What costs least is tried first: one channel for branches that exclude each other, priming later, one channel for
    any two that alternate together, and full barriers in place of the channels with the most conflicts.
    """
    while (crowded := _crowded(placement, found := conflicts(family, placement), family.machine.event_ids)) is not None:
        pair = placement.channels[crowded].pair
        in_pair = [(a, b) for a, b in sorted(found) if placement.channels[a].pair == pair]
        placement = (
            derivation.united(placement, in_pair, Unite.BRANCHES)
            or _primed_later(family, placement)
            or derivation.united(placement, in_pair, Unite.ANY)
            or _with_a_barrier_instead(family, derivation, placement, crowded)
        )
    return placement


def _primed_later(family: Family, placement: Placement) -> Placement | None:
    later = replace(placement, priming=Priming.USE)
    return later if placement.priming is not Priming.USE and proves(family, later) else None


def _with_a_barrier_instead(family: Family, derivation: Derivation, placement: Placement, channel: int) -> Placement:
    fewer = with_full_barriers(without_channel(placement, channel), placement.channels[channel].waits)
    return derivation.without_surplus(made_proven(family, fewer))


def _crowded(placement: Placement, found: frozenset[Conflict], available: int) -> int | None:
    """A channel of a pair that greedy colouring does not get into the ids there are, the one with most conflicts."""
    neighbours: dict[int, set[int]] = {number: set() for number, _ in enumerate(placement.channels)}
    for a, b in found:
        neighbours[a].add(b)
        neighbours[b].add(a)
    for members in channels_by_pair(placement).values():
        if _colours(members, neighbours) > available:
            return max(members, key=lambda n: (len(neighbours[n]), -n))
    return None


def _colours(members: Sequence[int], neighbours: Mapping[int, set[int]]) -> int:
    """Colours that greedy colouring takes: first those with most colours around, then those with most neighbours."""
    coloured: dict[int, int] = {}
    left = set(members)
    while left:

        def urgency(number: int) -> tuple[int, int, int]:
            around = {coloured[other] for other in neighbours[number] if other in coloured}
            return len(around), len(neighbours[number]), -number

        chosen = max(left, key=urgency)
        left.remove(chosen)
        taken = {coloured[other] for other in neighbours[chosen] if other in coloured}
        coloured[chosen] = next(colour for colour in count() if colour not in taken)
    return max(coloured.values(), default=-1) + 1
