"""Which conditions and trip counts come together for some arguments.

Conditions that follow from arguments are run both ways, and loops with every count, also in combinations that no
arguments give: only intervals are looked at beforehand. Where a combination fails, arguments are tried. If they give
each of its conditions and counts, but never all at once, what fails is not known to happen.

Tried are small arguments, and those around every constant of the arithmetic and around what can be made of two, as far
as what it divides by repeats twice. Where that is too many, as for several integers, nothing is said.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import isinf, lcm, prod

from syncopt.check.execution import Execution
from syncopt.ir.forcing import LoopGroup, TripCounts
from syncopt.ir.intervals import Intervals
from syncopt.ir.kernel import Scalar, Value
from syncopt.ir.scalars import UNKNOWN, ScalarValue, Unknown, evaluate
from syncopt.ir.types import ScalarType

_MOST_TRIED = 50_000
_MOST_TRIPS = 32
_SMALL = 4096
_DIVIDING = frozenset(
    f"arith.{name}" for name in ("divsi", "divui", "floordivsi", "ceildivsi", "ceildivui", "remsi", "remui")
)


@dataclass(frozen=True, slots=True)
class _Deciding:
    """Conditions and trip counts that share arguments.

    Parameters
    ----------
    conditions : tuple of int
        Their value numbers.
    groups : tuple of int
        Indices of the loops' groups.
    outcomes : frozenset of tuple
        What the conditions are, and then the counts, for all arguments tried.
    """

    conditions: tuple[int, ...]
    groups: tuple[int, ...]
    outcomes: frozenset[tuple[ScalarValue, ...]]

    def excludes(self, execution: Execution) -> bool:
        """Whether each is as in an execution for some of the arguments tried, but not all for the same ones."""
        choices = [execution.choices.get(number) for number in self.conditions]
        wanted = (*choices, *(execution.counts[group] for group in self.groups))
        asked = [at for at, value in enumerate(wanted) if value is not None]

        def is_met(outcome: tuple[ScalarValue, ...], at: int) -> bool:
            return outcome[at] is UNKNOWN or outcome[at] == wanted[at]

        if not any(choice is not None for choice in choices):
            return False
        if any(all(is_met(outcome, at) for at in asked) for outcome in self.outcomes):
            return False
        return all(any(is_met(outcome, at) for outcome in self.outcomes) for at in asked)


class Combinations:
    """What arguments make of the conditions and trip counts of a kernel.

    Parameters
    ----------
    trips : TripCounts
        The loops.
    conditions : iterable of int
        Value numbers of conditions that only arguments decide.
    intervals : Intervals
        What is known of arguments.
    """

    def __init__(self, trips: TripCounts, conditions: Iterable[int], intervals: Intervals) -> None:
        self._trips = trips
        self._conditions = tuple(conditions)
        self._intervals = intervals
        self._found: tuple[_Deciding, ...] | None = None

    def excludes(self, execution: Execution) -> bool:
        """Whether no arguments are known to give the conditions and trip counts of an execution, though they give each.

        Parameters
        ----------
        execution : Execution
            The conditions that it chooses, and its counts.
        """
        if not execution.choices:
            return False
        if self._found is None:
            self._found = tuple(self._tried())
        return any(deciding.excludes(execution) for deciding in self._found)

    def _tried(self) -> Iterator[_Deciding]:
        """What shares arguments, with what these make of it."""
        members = [(self._trips.values(number)[0],) for number in self._conditions]
        members += [_bounds(group) for group in self._trips.groups]
        for sharing in _connected([self._inputs(values) for values in members]):
            conditions = tuple(self._conditions[at] for at in sharing if at < len(self._conditions))
            groups = tuple(at - len(self._conditions) for at in sharing if at >= len(self._conditions))
            values = [value for at in sharing for value in members[at]]
            if conditions and len(sharing) > 1 and (inputs := self._domains(values)) is not None:
                yield _Deciding(conditions, groups, frozenset(self._outcomes(conditions, groups, inputs)))

    def _inputs(self, values: Iterable[Value]) -> frozenset[int]:
        """Numbers of the arguments and launch values that values follow from; none if from anything else as well."""
        found: set[int] = set()
        for value in frozenset[Value]().union(*map(self._trips.definitions.ancestry, values)):
            op = self._trips.definitions.scalar(value)
            if op is None and value not in self._trips.definitions.arguments:
                return frozenset()
            if op is None or (not op.operands and op.name != "arith.constant"):
                found.add(self._trips.numbers[value])
        return frozenset(found)

    # -- arguments that are tried ----------------------------------------------------------------------------------

    def _domains(self, values: list[Value]) -> Mapping[int, list[int]] | None:
        """What each argument behind some values is tried as; None if that is too much."""
        ancestry = frozenset[Value]().union(*map(self._trips.definitions.ancestry, values))
        ops = [op for value in ancestry if (op := self._trips.definitions.scalar(value)) is not None]
        constants = {abs(number) for op in ops if (number := _constant(op))} | {1}
        divisors = (self._trips.definitions.scalar(op.operands[1]) for op in ops if op.name in _DIVIDING)
        unit = lcm(1, *(abs(_constant(op) or 1) for op in divisors if op is not None))
        if unit * len(constants) > _MOST_TRIED:
            return None
        anchors = {found for a, b in product(constants, repeat=2) for found in (a, a * b, a // b, a + b, a - b)}
        anchors |= {count * constant for count in range(_MOST_TRIPS) for constant in constants}
        away = range(-2 * unit - 1, 2 * unit + 2)
        around = {sign * anchor + step for anchor in anchors for step in away for sign in (1, -1)}
        around |= set(range(-_SMALL, _SMALL + 1))
        inputs = {number: self._domain(number, around) for number in self._inputs(values)}
        return inputs if prod(map(len, inputs.values())) <= _MOST_TRIED else None

    def _domain(self, number: int, around: set[int]) -> list[int]:
        """Those of some numbers that an argument can be."""
        value = self._trips.values(number)[0]
        if value.type == ScalarType("i1"):
            return [0, 1]
        low, high = self._intervals.of(value)
        ends = [int(end) for end in (low, high) if not isinf(end)]
        return sorted({*ends, *(number for number in around if low <= number <= high)})

    # -- what they give --------------------------------------------------------------------------------------------

    def _outcomes(
        self, conditions: tuple[int, ...], groups: tuple[int, ...], inputs: Mapping[int, list[int]]
    ) -> Iterator[tuple[ScalarValue, ...]]:
        atoms = [self._trips.values(number)[0] for number in conditions]
        for given in product(*inputs.values()):
            known: dict[int, ScalarValue] = dict(zip(inputs, given, strict=True))
            counts = (self._count(self._trips.groups[group], known) for group in groups)
            yield (*(self._value(atom, known) for atom in atoms), *counts)

    def _count(self, group: LoopGroup, known: dict[int, ScalarValue]) -> ScalarValue:
        bounds = [self._value(value, known) for value in _bounds(group)]
        lower, upper, step = (UNKNOWN if isinstance(bound, Unknown) else int(bound) for bound in bounds)
        if isinstance(lower, Unknown) or isinstance(upper, Unknown) or isinstance(step, Unknown) or step <= 0:
            return UNKNOWN
        return min(len(range(lower, upper, step)), _MOST_TRIPS)

    def _value(self, value: Value, known: dict[int, ScalarValue]) -> ScalarValue:
        number = self._trips.numbers[value]
        if number not in known:
            op = self._trips.definitions.scalar(value)
            operands = () if op is None else tuple(self._value(operand, known) for operand in op.operands)
            known[number] = UNKNOWN if op is None else evaluate(op, operands)
        return known[number]


def _bounds(group: LoopGroup) -> tuple[Value, ...]:
    return group.leader.lower, group.leader.upper, group.leader.step


def _constant(op: Scalar) -> int | None:
    return op.attribute if op.name == "arith.constant" and isinstance(op.attribute, int) else None


def _connected(inputs: list[frozenset[int]]) -> Iterator[list[int]]:
    """Places of sets that share members, directly or through others."""
    left = [at for at, numbers in enumerate(inputs) if numbers]
    while left:
        found, numbers = [left.pop(0)], set[int]()
        for at in found:
            numbers |= inputs[at]
            found += [other for other in left if other not in found and not numbers.isdisjoint(inputs[other])]
        left = [at for at in left if at not in found]
        yield sorted(found)
