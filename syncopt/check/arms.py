"""The arms of ifs that no execution has reached, and what leads into them."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from enum import Enum

from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import Intervals
from syncopt.ir.kernel import Barrier, Block, Flag, For, If, TileOp, Value, regions, walk


class Deciding(Enum):
    """What decides about an arm: trip counts and constants alone, or other things too."""

    TRIP_COUNTS = "trip counts"
    OTHER_THINGS = "other things"


@dataclass(frozen=True, slots=True)
class Arm:
    """A way into an arm that does not come by itself.

    Parameters
    ----------
    choices : mapping of value number to bool
        The conditions to choose, of this arm and of those around it that do not come by themselves either.
    deciding : Deciding
        What decides about the outermost of them.
    """

    choices: Mapping[int, bool]
    deciding: Deciding


@dataclass(frozen=True, slots=True)
class Passage:
    """What it takes to come to an `if` about which trip counts alone decide.

    Parameters
    ----------
    choices : mapping of value number to bool
        The conditions around it that other things decide, of arms that do not come by themselves.
    groups : set of int
        Numbers of the groups of the loops around it.
    """

    choices: Mapping[int, bool]
    groups: Set[int]


class Arms:
    """The arms of a kernel.

    Parameters
    ----------
    trips : TripCounts
        Its loops.
    intervals : Intervals
        What is known of its values: no arm is looked for that they rule out.
    """

    def __init__(self, trips: TripCounts, intervals: Intervals) -> None:
        self._trips = trips
        self._intervals = intervals

    def missed(self, reached: Set[int], unforced: Set[int]) -> Iterator[Arm]:
        """Arms in which no op was reached; those below one come only when that has been reached.

        Parameters
        ----------
        reached, unforced : set of int
            Uids of the ops that ran; of those that ran before any arm was chosen.
        """
        yield from self._below(self._trips.kernel.body, reached, unforced, None)

    def without_rounds(self, arm: Arm) -> Mapping[int, int]:
        """Groups of loops that cannot go round on the way into an arm, with the trip count 0."""
        told = [
            self._trips.rounds_told(value, chosen)
            for number, chosen in arm.choices.items()
            for value in self._trips.values(number)
        ]
        return {group: 0 for group, goes_round in (found for found in told if found is not None) if not goes_round}

    def decided_by_counts(self, reached: Set[int], unforced: Set[int]) -> Iterator[Passage]:
        """Ways to ifs about which trip counts alone decide and that have an arm in which no op was reached.

        Parameters
        ----------
        reached, unforced : set of int
            As for `missed`.
        """
        yield from self._passages(self._trips.kernel.body, reached, unforced, Passage({}, frozenset()))

    def _passages(self, block: Block, reached: Set[int], unforced: Set[int], way: Passage) -> Iterator[Passage]:
        for op in block.ops:
            match op:
                case If():
                    arms = [(chosen, arm) for chosen, arm in ((True, op.then), (False, op.orelse)) if arm is not None]
                    exact = self._is_exact(op.condition)
                    if exact and any(_is_missed(arm, reached) for _, arm in arms):
                        yield way
                    number = self._trips.numbers[op.condition]
                    for chosen, arm in arms:
                        # What is chosen holds in every iteration: conditions of arms that come by themselves are not.
                        comes = exact or not _is_missed(arm, unforced)
                        inner = way if comes else replace(way, choices={**way.choices, number: chosen})
                        yield from self._passages(arm, reached, unforced, inner)
                case For():
                    group = self._trips.group_of(op)
                    inner = way if group is None else replace(way, groups=way.groups | {group})
                    yield from self._passages(op.body, reached, unforced, inner)
                case _:
                    for region in regions(op):
                        yield from self._passages(region, reached, unforced, way)

    def _below(self, block: Block, reached: Set[int], unforced: Set[int], around: Arm | None) -> Iterator[Arm]:
        for op in block.ops:
            if not isinstance(op, If):
                for region in regions(op):
                    yield from self._below(region, reached, unforced, around)
                continue
            for chosen, inner in self._possible(op, around):
                way = around
                if self._is_open(op) and _is_missed(inner, unforced):
                    way = self._into(op, chosen, around)
                    if _is_missed(inner, reached):
                        yield way
                        continue
                yield from self._below(inner, reached, unforced, way)

    def _possible(self, op: If, around: Arm | None) -> Iterator[tuple[bool, Block]]:
        """The arms that neither intervals nor the conditions chosen around them rule out."""
        interval, number = self._intervals.of(op.condition), self._trips.numbers[op.condition]
        for chosen, inner in ((True, op.then), (False, op.orelse)):
            agrees = around is None or around.choices.get(number, chosen) is chosen
            if inner is not None and agrees and interval.low <= chosen <= interval.high:
                yield chosen, inner

    def _is_open(self, op: If) -> bool:
        interval = self._intervals.of(op.condition)
        return interval.low < interval.high

    def _into(self, op: If, chosen: bool, around: Arm | None) -> Arm:
        number = self._trips.numbers[op.condition]
        if around is not None:
            return Arm({**around.choices, number: chosen}, around.deciding)
        return Arm({number: chosen}, Deciding.TRIP_COUNTS if self._is_exact(op.condition) else Deciding.OTHER_THINGS)

    def _is_exact(self, value: Value) -> bool:
        """Whether nothing but forced bounds and constants decides a value, loop variables included."""
        forced = {group.number for group in self._trips.groups}
        seen: set[Value] = set()
        ahead = [value]
        while ahead:
            current = ahead.pop()
            if current in seen or self._trips.numbers[current] in forced:
                continue
            seen.add(current)
            sources = self._trips.sources(current)
            if sources is None:
                return False
            ahead.extend(sources)
        return True


def _is_missed(block: Block, reached: Set[int]) -> bool:
    """Whether a block holds instructions of which none was reached."""
    uids = [op.uid for op in walk(block) if isinstance(op, TileOp | Flag | Barrier)]
    return bool(uids) and reached.isdisjoint(uids)
