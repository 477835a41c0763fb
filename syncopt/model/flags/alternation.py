"""Whether the sets and waits of a channel alternate, and what loops that do not go round leave undone.

A channel that alternates in every trace starts down (set first) or up (wait first). A loop that may leave it in another
state than it found it in needs, behind it, what it would have done: for the case that it does not go round
(docs/plan.md section 3).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from syncopt.ir.kernel import Kernel
from syncopt.ir.trace import Instance
from syncopt.model.flags.channels import Ancestry, Channel, Compensation, Placement, loops_of, rotation_of
from syncopt.model.rewrite import Side, Site
from syncopt.model.skeleton import Skeleton
from syncopt.model.slots import Slot


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
    kernel : Kernel
        Its kernel.
    """

    def __init__(self, traces: Iterable[Skeleton], kernel: Kernel) -> None:
        loops = frozenset(loop.uid for loop in loops_of(kernel))
        passes = (_passes(trace, loops) for trace in traces)
        self._traces = [found for found in passes if found.goes_round]
        self._changes: dict[Channel, tuple[tuple[int, bool], ...] | None] = {}
        self._ancestry = Ancestry(kernel)

    def started(self, channel: Channel) -> Channel | None:
        """The channel with the state that it starts in.

        None if it does not alternate, or if one loop leaves it in another state than it found it in only at times.
        """
        started = self._with_start(channel)
        return None if started is None or self._changed(started) is None else started

    def started_rotation(self, channels: Iterable[Channel]) -> tuple[Channel, ...] | None:
        """The channels of all slots of a rotating tile with the state that they start in.

        None if one does not alternate, or if a loop changes them otherwise than the sites right before it did.
        """
        started = [self._with_start(channel) for channel in channels]
        found = tuple(channel for channel in started if channel is not None)
        return found if found and len(found) == len(started) and self._preloaded(found) is not None else None

    def _with_start(self, channel: Channel) -> Channel | None:
        """The channel with the state that it starts in; None if it does not alternate."""
        first: set[bool] = set()
        for passes in self._traces:
            events = _events(channel, passes)
            if any(a == b for (_, a), (_, b) in pairwise(events)) or len(events) % 2:
                return None
            first.update(waits for _, waits in events[:1])
        return replace(channel, primed=first.pop()) if len(first) == 1 else None

    def compensated(self, placement: Placement) -> Placement:
        """The placement of channels that alternate, with what loops that do not go round would miss."""
        waits: dict[int, list[int]] = {}
        sets: dict[int, list[int]] = {}
        for number, channel in enumerate(placement.channels):
            if channel.slot is not None:
                continue
            changes = self._changed(channel)
            assert changes is not None, "a channel that alternates is changed in one way by every loop"
            for loop, was_up in changes:
                (waits if was_up else sets).setdefault(loop, []).append(number)
        compensations = tuple(
            Compensation(loop, tuple(waits.get(loop, ())), tuple(sets.get(loop, ())))
            for loop in sorted({*waits, *sets})
        )
        return replace(placement, compensations=(*compensations, *self._compensated_slots(placement)))

    def _compensated_slots(self, placement: Placement) -> Iterator[Compensation]:
        """What loops that do not go round would miss of the flags of slots."""
        for rotation in dict.fromkeys(rotation_of(placement, n) for n, _ in enumerate(placement.channels)):
            channels = tuple(placement.channels[number] for number in rotation)
            if channels[0].slot is None:
                continue
            preloaded = self._preloaded(channels)
            assert preloaded is not None, "channels of slots are changed by loops as the sites before them tell"
            for loop, sites in preloaded:
                for site in sites:
                    is_set = site in channels[0].sets
                    yield Compensation(loop, rotation if is_set else (), () if is_set else rotation, site)

    def _preloaded(self, channels: Sequence[Channel]) -> tuple[tuple[int, tuple[Site, ...]], ...] | None:
        """The loops that change the state of channels of slots, each with the sites right before it, whose work it
        undoes; None if one does anything else."""
        undone: dict[int, set[bool]] = {}
        for passes in self._traces:
            places = [[place for place, _ in _events(channel, passes)] for channel in channels]
            for run in passes.runs:
                found = [_changes_state(of_channel, run) for of_channel in places]
                sites = self._right_before(run.loop, channels[0].sites)
                slots = [_last_slot(channels, site, run.start, passes) for site in sites]
                changed = {number for number, changes in enumerate(found) if changes}
                if changed and (changed != {*slots} or len(changed) < len(slots)):
                    return None
                undone.setdefault(run.loop, set()).add(bool(changed))
        if any(len(seen) > 1 for seen in undone.values()):
            return None
        loops = sorted(loop for loop, seen in undone.items() if True in seen)
        return tuple((loop, self._right_before(loop, channels[0].sites)) for loop in loops)

    def _right_before(self, loop: int, sites: Sequence[Site]) -> tuple[Site, ...]:
        """Sites at ops that stand before a loop in its block, with no other op between that holds sites."""
        found: list[Site] = []
        for op in self._ancestry.before(loop):
            if any(op.uid in self._ancestry.chain(site) for site in sites):
                found.clear()
            found += [site for site in sites if site.uid == op.uid]
        return tuple(found)

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


def _changes_state(places: Sequence[int], run: _Run) -> bool:
    """Whether a run of a loop passes an odd number of places."""
    return (bisect_left(places, run.end) - bisect_right(places, run.start)) % 2 == 1


def _last_slot(channels: Sequence[Channel], site: Site, before: int, passes: _Passes) -> int:
    """Which of the channels of a rotation passes a site last before a place."""
    places = [passes.of(site, channel.slot) for channel in channels]
    last = [of_channel[at - 1] if (at := bisect_left(of_channel, before)) else -1 for of_channel in places]
    return max(range(len(channels)), key=last.__getitem__)


def _is_up(channel: Channel, events: int) -> bool:
    """State after a number of sets and waits."""
    return channel.primed != (events % 2 == 1)
