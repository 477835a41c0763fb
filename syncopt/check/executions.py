"""Which executions of a kernel stand for all: trip counts, conditions and branches on data."""

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import combinations, product
from math import prod
from operator import add

from syncopt.check.arms import Arms, Deciding
from syncopt.check.combinations import Combinations
from syncopt.check.execution import AS_GIVEN, Branches, Execution
from syncopt.check.starts import Start
from syncopt.ir.forcing import LoopGroup, TripCounts
from syncopt.ir.intervals import Assumptions, Intervals, trip_interval
from syncopt.ir.kernel import Barrier, Block, Flag, For, If, TileOp, Value, regions, walk

_MOST_EXECUTIONS = 1500
_MOST_INSTRUCTIONS = 300_000
_LEAST_LIMIT = 2
_MOST_CHOICES = 16
"""Combinations of conditions that are run: those of four that have nothing to do with each other."""

_SMALL_STEP = 4
_MISSED_COUNTS = (1, 2, 3)
_ALMOST_A_STEP = 1 << 30
"""Stands for a step less one, whatever the step."""

_Choices = tuple[tuple[Mapping[int, bool], Intervals], ...]
"""Values of conditions, by value number, and what they tell of the arguments."""
_Ranges = tuple[tuple[int, int | None], ...]
"""The least and the largest trip count of each group."""


class Executions:
    """The executions to run for a kernel, and what they leave out.

    Parameters
    ----------
    trips : TripCounts
        The loops.
    assumptions : Assumptions
        What is known of the arguments.
    limit : int
        The largest trip count to force, if that gives no more executions than can be run.
    """

    def __init__(self, trips: TripCounts, assumptions: Assumptions, limit: int) -> None:
        self.trips = trips
        self._intervals = Intervals(trips.definitions, assumptions)
        self._labels = _labels(trips)
        free = self._conditions()
        choices = self._combined(free)
        self.conditions, self.unexplored = (free, ()) if choices is not None else ((), free)
        self.shortfalls = _shortfalls(trips)
        self._starts_high = tuple(_starts_high(trips, group) for group in trips.groups)
        self._choices = self._few_choices() if choices is None else choices
        self._arms = Arms(trips, self._intervals)
        self._combinations = Combinations(trips, (*self.conditions, *self.unexplored), self._intervals)
        self._ranges = tuple(trip_interval(group.leader, self._intervals) for group in trips.groups)
        self._nests = self._instructions()
        self._limit = self._affordable(limit)
        self._firsts = self._first_counts(self._ranges, self._limit)
        self.limits = [first + self._limit for first in self._firsts]
        self._tops = tuple(self.limits)
        self.wanted_limit = limit
        self.is_complete = self._is_complete(self._limit)
        self.unaffordable: dict[str, None] = {}

    def __iter__(self) -> Iterator[Execution]:
        if not any(self._firsts) or self._is_affordable(self._counts(self._limit)):
            yield from self._with_counts(self._counts(self._limit))

    def raised(self, group: int, limit: int) -> Iterator[Execution]:
        """The executions that come in when the loops of a group go round `limit` times more than they have to.

        None come, and the limits stay, if that is more than can be run, or has been.
        """
        ranges = self._up_to_limits()
        top = self._firsts[group] + limit
        ranges[group] = range(self.limits[group] + 1, top + 1)
        counts = list(product(*ranges)) if prod(map(len, ranges)) <= _MOST_EXECUTIONS else []
        if not self.is_complete or not counts or not self._is_affordable(counts):
            return
        self.limits[group] = top
        yield from self._with_counts(counts)

    def from_start(self, start: Start) -> Iterator[Execution]:
        """All executions within the limits, from another start; none if that is more than can be run."""
        counts = list(product(*self._up_to_limits()))
        if self.is_complete and self._is_affordable(counts):
            yield from (execution.starting(start) for execution in self._with_counts(counts))

    def trip_range(self, group: int) -> tuple[int, int | None]:
        """The least and the largest trip count that the assumptions leave a group (None: any number)."""
        return self._ranges[group]

    def label(self, group: int) -> str:
        """What messages call the loops of a group."""
        return self._labels[group]

    def _up_to_limits(self) -> list[range]:
        return [range(first, limit + 1) for first, limit in zip(self._firsts, self.limits, strict=True)]

    def _with_counts(self, many: Iterable[tuple[int, ...]]) -> Iterator[Execution]:
        vectors = list(many)
        for choices, intervals in self._choices:
            ranges = tuple(trip_interval(group.leader, intervals) for group in self.trips.groups)
            for counts in self._within(ranges, vectors, choices):
                for short in self._shortfalls_of(counts):
                    yield self.execution(dict(enumerate(counts)), choices, Branches.THEN, short)

    def _within(
        self, ranges: _Ranges, vectors: list[tuple[int, ...]], choices: Mapping[int, bool]
    ) -> list[tuple[int, ...]]:
        """The counts within some ranges; from the least one on, if conditions leave none of those that all have."""
        more = [
            low - first if low > top else 0
            for (low, _), first, top in zip(ranges, self._firsts, self._tops, strict=True)
        ]
        if any(more):
            vectors = [tuple(map(add, counts, more)) for counts in vectors]
            if sum(map(self._size, vectors)) > _MOST_INSTRUCTIONS:
                self.unaffordable[self.words_of(choices)] = None
                return []
        return [
            counts
            for counts in vectors
            if all(low <= n <= (n if high is None else high) for n, (low, high) in zip(counts, ranges, strict=True))
        ]

    def _shortfalls_of(self, counts: tuple[int, ...]) -> tuple[int, ...]:
        """Those that make a difference: bounds within a step, or below the start of a loop without a trip."""
        found = self.shortfalls if any(counts) else (0,)
        if any(not count and high for count, high in zip(counts, self._starts_high, strict=True)):
            return tuple(sorted({*found, 1, _ALMOST_A_STEP}))
        return found

    def execution(
        self, counts: Mapping[int, int], choices: Mapping[int, bool], branches: Branches, short: int = 0
    ) -> Execution:
        """An execution with its description."""
        words = [f"{self._labels[index]} x{count}" for index, count in counts.items()]
        words += [self.words_of(choices)] if choices else []
        if branches is not Branches.THEN:
            words.append(f"conditions on data {branches}")
        if short and not any(counts.values()):
            words.append("bound below the start")
        elif short:
            words.append("last step cut to 1" if short == _ALMOST_A_STEP else f"last step cut by {short}")
        instructions = self._size(tuple(counts[index] for index in range(len(self.trips.groups))))
        return Execution(counts, choices, branches, instructions, ", ".join(words) or AS_GIVEN, short)

    def words_of(self, choices: Mapping[int, bool]) -> str:
        """Conditions and what they are."""
        return ", ".join(f"{self.name_of(wanted)} {str(choice).lower()}" for wanted, choice in choices.items())

    def excludes(self, execution: Execution) -> bool:
        """Whether no arguments are known to give the conditions of an execution together with its counts."""
        return self._combinations.excludes(execution)

    def missed(self, reached: Set[int], unforced: Set[int], *deciding: Deciding) -> Iterator[Execution]:
        """Executions that go through the arms of ifs in which no op was reached, the outer ones first.

        Parameters
        ----------
        reached, unforced : set of int
            Uids of the ops that ran; of those that ran before any of these executions.
        deciding : Deciding
            Which arms are meant, by what decides about them.
        """
        for arm in self._arms.missed(reached, unforced):
            for count in _MISSED_COUNTS if arm.deciding in deciding else ():
                counts = {**dict(enumerate(self._rounds(count))), **self._arms.without_rounds(arm)}
                yield self.execution(counts, arm.choices, Branches.THEN)

    def led_into(self, reached: Set[int], unforced: Set[int]) -> Iterator[Execution]:
        """Executions that may go through arms in which no op was reached and about which trip counts alone decide.

        Conditions around them that other things decide are chosen if they do not come by themselves, the loops around
        them go round, and all other loops do so 0 to 3 times.

        Parameters
        ----------
        reached, unforced : set of int
            As for `missed`.
        """
        for passage in self._arms.decided_by_counts(reached, unforced):
            choices = [{**choices, **passage.choices} for choices, _ in self._choices]
            for number, chosen in enumerate(choices):
                if chosen not in choices[:number]:
                    counts = self._leading(passage.groups)
                    yield from (self.execution(each, chosen, Branches.THEN) for each in counts)

    def _leading(self, groups: Set[int]) -> Iterator[dict[int, int]]:
        """Trip counts with which the loops of some groups go round."""
        for inner, outer in product((0, *_MISSED_COUNTS), _MISSED_COUNTS):
            pairs = enumerate(zip(self._rounds(inner), self._rounds(outer), strict=True))
            yield {index: there if index in groups else elsewhere for index, (elsewhere, there) in pairs}

    def _rounds(self, count: int) -> tuple[int, ...]:
        """A count for each group, so much further up as the assumptions ask for more than one round."""
        return tuple(count + max(0, low - (count > 0)) for low, _ in self._ranges)

    @property
    def covers(self) -> str:
        """Which executions these are, in words."""
        words = [
            f"{label} x{max(low, 0)}..{limit if high is None else min(limit, high)}"
            for label, limit, (low, high) in zip(self._labels, self.limits, self._ranges, strict=True)
        ]
        if not words:
            words.append("no loop with a trip count that depends on arguments")
        elif len(words) > 1:
            words[-1] += ", in all combinations" if self.is_complete else ", two at a time, the others x2"
        words += [f"{self.name_of(wanted)} both ways" for wanted in self.conditions]
        if len(self.shortfalls) > 1:
            words.append("bounds that end within a step too")
        return ", ".join(words)

    @property
    def reduced(self) -> bool:
        """Whether fewer trip counts are run than asked for."""
        fewest = min((len(counts) - 1 for counts in self._up_to_limits()), default=self.wanted_limit)
        return fewest < self.wanted_limit or not self.is_complete

    @property
    def impossible(self) -> tuple[str, ...]:
        """Trip counts that the assumptions rule out, in words."""
        lines: list[str] = []
        for label, counts, (low, high) in zip(self._labels, self._up_to_limits(), self._ranges, strict=True):
            ruled_out = [n for n in counts if n < low or (high is not None and n > high)]
            if ruled_out:
                lines.append(f"{label} x{', x'.join(map(str, ruled_out))}")
        return tuple(lines)

    def name_of(self, wanted: int) -> str:
        """The name of a condition in the text."""
        return self.trips.values(wanted)[0].name

    # -- conditions ------------------------------------------------------------------------------------------------

    def _conditions(self) -> tuple[int, ...]:
        """Conditions that only arguments decide."""
        numbers, found = self.trips.numbers, dict[int, Value]()
        for op in walk(self.trips.kernel.body):
            if isinstance(op, If):
                found.update((numbers[atom], atom) for atom in self._atoms(op.condition))
        return tuple(wanted for wanted, atom in found.items() if self._is_free(atom))

    def _atoms(self, condition: Value) -> Iterator[Value]:
        """The conditions that one is put together from by and, or, xor."""
        op = self.trips.definitions.scalar(condition)
        if op is None or op.name not in ("arith.andi", "arith.ori", "arith.xori"):
            yield condition
            return
        for operand in op.operands:
            yield from self._atoms(operand)

    def _is_free(self, atom: Value) -> bool:
        definitions, numbers = self.trips.definitions, self.trips.numbers
        ancestry = definitions.ancestry(atom)
        forced = {group.number for group in self.trips.groups}
        interval = self._intervals.of(atom)
        if interval.low == interval.high or definitions.varies(atom):
            return False
        return forced.isdisjoint(numbers[value] for value in ancestry)

    def _combined(self, conditions: Iterable[int]) -> _Choices | None:
        """Values of conditions that some arguments can give, and what they tell of these; None if they are too many."""
        found: _Choices = (({}, self._intervals),)
        for wanted in conditions:
            asked = self.trips.values(wanted)[0]
            further = (
                ({**choices, wanted: value}, intervals.assuming(asked, value))
                for choices, intervals in found
                for value in (True, False)
            )
            found = tuple((choices, intervals) for choices, intervals in further if not intervals.is_contradiction)
            if len(found) > _MOST_CHOICES:
                return None
        return found

    def _few_choices(self) -> _Choices:
        """As given, all true and all false."""
        given: list[tuple[Mapping[int, bool], Intervals]] = [({}, self._intervals)]
        alike = ((dict.fromkeys(self.unexplored, value), self._intervals) for value in (True, False))
        return (*given, *alike)

    # -- trip counts -----------------------------------------------------------------------------------------------

    def _affordable(self, limit: int) -> int:
        """The largest trip count, at most `limit`, that keeps the work within bounds."""
        while limit > _LEAST_LIMIT and not self._is_cheap(limit):
            limit -= 1
        return limit

    def _is_cheap(self, limit: int) -> bool:
        return (limit + 1) ** len(self.trips.groups) * self._ways <= _MOST_EXECUTIONS and self._is_affordable(
            self._counts(limit)
        )

    @property
    def _ways(self) -> int:
        return len(self._choices) * len(self.shortfalls)

    def _is_affordable(self, counts: Iterable[tuple[int, ...]]) -> bool:
        return sum(map(self._size, counts)) * self._ways <= _MOST_INSTRUCTIONS

    def _is_complete(self, limit: int) -> bool:
        return (limit + 1) ** len(self.trips.groups) <= _MOST_EXECUTIONS

    def _first_counts(self, ranges: _Ranges, limit: int) -> tuple[int, ...]:
        """The counts to begin with: 0, or the least one if the assumptions leave none up to a limit."""
        return tuple(low if low > limit else 0 for low, _ in ranges)

    def _counts(self, limit: int) -> Iterator[tuple[int, ...]]:
        firsts = self._first_counts(self._ranges, limit)
        if self._is_complete(limit):
            yield from product(*(range(first, first + limit + 1) for first in firsts))
            return
        seen: set[tuple[int, ...]] = set()
        for a, b in combinations(range(len(firsts)), 2):
            for n, m in product(range(limit + 1), repeat=2):
                counts = tuple(
                    first + (n if at == a else m if at == b else _LEAST_LIMIT) for at, first in enumerate(firsts)
                )
                if counts not in seen:
                    seen.add(counts)
                    yield counts

    def _size(self, counts: tuple[int, ...]) -> int:
        """About how many instructions an execution has."""
        return sum(number * prod(counts[group] for group in nest) for nest, number in self._nests.items())

    def _instructions(self) -> Mapping[tuple[int, ...], int]:
        """How many instructions stand inside the same forced loops, times the rounds of the other loops around them."""
        found: dict[tuple[int, ...], int] = {}
        groups = {uid: index for index, group in enumerate(self.trips.groups) for uid in group.loops}

        def count(block: Block, nest: tuple[int, ...], rounds: int) -> None:
            for op in block.ops:
                if isinstance(op, TileOp | Flag | Barrier):
                    found[nest] = found.get(nest, 0) + rounds
                inner, times = nest, 1
                if op.uid in groups:
                    inner = (*nest, groups[op.uid])
                elif isinstance(op, For):
                    times = max(1, trip_interval(op, self._intervals)[0])
                for region in regions(op):
                    count(region, inner, rounds * times)

        count(self.trips.kernel.body, (), 1)
        return found


def _shortfalls(trips: TripCounts) -> tuple[int, ...]:
    """By how much bounds may fall short of a whole number of steps: all of a small step, the ends of a large one."""
    found = {0}
    for group in trips.groups:
        step = trips.definitions.scalar(trips.definitions.behind_casts(group.leader.step))
        constant = step.attribute if step is not None and isinstance(step.attribute, int) else None
        found.update(range(constant) if constant is not None and constant <= _SMALL_STEP else (1, _ALMOST_A_STEP))
    return tuple(sorted(found))


def _starts_high(trips: TripCounts, group: LoopGroup) -> bool:
    """Whether the bound can lie below the start though it is not negative: a start above 0, or at an argument."""
    lower = trips.definitions.behind_casts(group.leader.lower)
    op = trips.definitions.scalar(lower)
    if op is not None and isinstance(op.attribute, int):
        return op.attribute > 0
    return not trips.definitions.arguments.isdisjoint(trips.definitions.ancestry(lower))


def _labels(trips: TripCounts) -> tuple[str, ...]:
    """A name per group, with the line where two would be the same."""
    names = [group.label for group in trips.groups]
    return tuple(
        f"{name} (line {_line(trips, group)})" if names.count(name) > 1 else name
        for name, group in zip(names, trips.groups, strict=True)
    )


def _line(trips: TripCounts, group: LoopGroup) -> int:
    return trips.kernel.source.line(group.leader.span.start)
