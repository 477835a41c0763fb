"""Whether the sets and waits of a channel alternate, and what loops that do not go round leave undone.

A channel that alternates in every trace starts down (set first) or up (wait first). A loop that may leave it in another
state than it found it in needs, behind it, what it would have done: for the case that it does not go round
(docs/plan.md section 3).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from syncopt.ir.trace import Instance
from syncopt.model.flags.channels import Channel, Compensation, Placement
from syncopt.model.rewrite import Side, Site
from syncopt.model.rotation import Slot
from syncopt.model.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a loop, from the place of the site before it to that of the site behind it."""

    loop: int
    start: int
    end: int


@dataclass(slots=True)
class _Passes:
    """Where one trace passes ops and sites; places grow along the trace, three to a step."""

    ops: dict[int, list[tuple[int, Instance]]] = field(default_factory=dict[int, list[tuple[int, Instance]]])
    sites: dict[Site, list[int]] = field(default_factory=dict[Site, list[int]])
    runs: list[_Run] = field(default_factory=list[_Run])
    goes_round: bool = True

    def of(self, site: Site, slot: Slot | None) -> list[int]:
        """The places of a site, those where a slot of a rotating tile is used if one is named."""
        if site in self.sites:
            return self.sites[site]
        behind = 2 if site.side is Side.AFTER else 0
        passed = self.ops.get(site.uid, ())
        return [place + behind for place, by in passed if slot is None or slot.is_used(by.accesses)]


def _passes(trace: Skeleton, loops: frozenset[int]) -> _Passes:
    found, entered = _Passes(), dict[int, int]()
    for number, step in enumerate(trace.steps):
        if isinstance(step, Instance):
            found.ops.setdefault(step.op.uid, []).append((3 * number, step))
            continue
        place = 3 * number + 1
        found.sites.setdefault(step, []).append(place)
        if step.uid not in loops:
            continue
        if step.side is Side.BEFORE:
            entered[step.uid] = number
        elif step.side is Side.AFTER:
            found.goes_round = found.goes_round and entered[step.uid] < number - 1
            found.runs.append(_Run(step.uid, 3 * entered[step.uid] + 1, place))
    return found


class Alternation:
    """Judges channels on the traces of a family in which every loop that is reached goes round.

    Parameters
    ----------
    traces : iterable of Skeleton
        The family's traces; those in which a loop does not go round are left out.
    loops : frozenset of int
        Uids of the loops.
    """

    def __init__(self, traces: Iterable[Skeleton], loops: frozenset[int]) -> None:
        passes = (_passes(trace, loops) for trace in traces)
        self._traces = [found for found in passes if found.goes_round]
        self._changes: dict[Channel, tuple[tuple[int, bool], ...] | None] = {}

    def started(self, channel: Channel) -> Channel | None:
        """The channel with the state that it starts in.

        None if it does not alternate, or if one loop leaves it in another state than it found it in only at times. No
        loop may change the state of a slot's channel: what a loop without iterations would miss depends on the slot.
        """
        first: set[bool] = set()
        for passes in self._traces:
            events = _events(channel, passes)
            if any(a == b for (_, a), (_, b) in pairwise(events)) or len(events) % 2:
                return None
            first.update(waits for _, waits in events[:1])
        if len(first) != 1:
            return None
        started = replace(channel, primed=first.pop())
        changed = self._changed(started)
        return None if changed is None or (changed and channel.slot is not None) else started

    def compensated(self, placement: Placement) -> Placement:
        """The placement of channels that alternate, with what loops that do not go round would miss."""
        waits: dict[int, list[int]] = {}
        sets: dict[int, list[int]] = {}
        for number, channel in enumerate(placement.channels):
            changes = self._changed(channel)
            assert changes is not None, "a channel that alternates is changed in one way by every loop"
            for loop, was_up in changes:
                (waits if was_up else sets).setdefault(loop, []).append(number)
        compensations = tuple(
            Compensation(loop, tuple(waits.get(loop, ())), tuple(sets.get(loop, ())))
            for loop in sorted({*waits, *sets})
        )
        return replace(placement, compensations=compensations)

    def _changed(self, channel: Channel) -> tuple[tuple[int, bool], ...] | None:
        """The loops that change the channel's state, and whether it is up before them; None if not always alike."""
        if channel not in self._changes:
            self._changes[channel] = self._find_changes(channel)
        return self._changes[channel]

    def _find_changes(self, channel: Channel) -> tuple[tuple[int, bool], ...] | None:
        seen: dict[int, set[tuple[bool, bool]]] = {}
        for passes in self._traces:
            places = [place for place, _ in _events(channel, passes)]
            for run in passes.runs:
                before, after = bisect_right(places, run.start), bisect_left(places, run.end)
                seen.setdefault(run.loop, set()).add((_is_up(channel, before), _is_up(channel, after)))
        changing = {loop: states for loop, states in seen.items() if any(a != b for a, b in states)}
        if any(len(states) > 1 for states in changing.values()):
            return None
        return tuple((loop, states.pop()[0]) for loop, states in sorted(changing.items()))


def _events(channel: Channel, passes: _Passes) -> Sequence[tuple[int, bool]]:
    """(place, whether it is a wait) of each set and wait, in program order; sets stand before waits at one spot."""
    events = [(place, False) for site in channel.sets for place in passes.of(site, channel.slot)]
    events += [(place, True) for site in channel.waits for place in passes.of(site, channel.slot)]
    return sorted(events)


def _is_up(channel: Channel, events: int) -> bool:
    """State after a number of sets and waits."""
    return channel.primed != (events % 2 == 1)
