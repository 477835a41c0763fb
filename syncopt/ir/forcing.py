"""Other trip counts than the arguments give: loops by the class of their upper bound, and the traces that force it.

A loop is made to run n times by giving the value at its upper bound, behind its casts, lower + n * step; so do all
values equal to it. The tracer then evaluates everything that follows from them again.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from syncopt.ir.kernel import Block, For, If, Kernel, Op, Scalar, Value, Yield, regions, walk
from syncopt.ir.numbering import Definitions
from syncopt.ir.runtime import RuntimeValue
from syncopt.ir.scalars import UNKNOWN, ScalarValue, Unknown, evaluate
from syncopt.ir.trace import Environment, Iteration, Overrides, Setting
from syncopt.ir.values import results_of

_NOTHING: Mapping[int, bool] = MappingProxyType({})


class NestedLoop(NamedTuple):
    """A loop and the number of loops around it."""

    op: For
    depth: int


@dataclass(frozen=True, eq=False, slots=True)
class LoopGroup:
    """Loops whose upper bounds are equal and can be forced together.

    Parameters
    ----------
    name : str
        Name of the value that is forced, as in the text.
    loops : tuple of int
        Uids of the loops, in text order.
    depth : int
        Number of loops around the outermost of them.
    leader : For
        The loop whose lower bound and step turn a count into a bound.
    bound : Value
        The leader's upper bound behind its casts.
    number : int
        Value number of `bound`.
    """

    name: str
    loops: tuple[int, ...]
    depth: int
    leader: For
    bound: Value
    number: int

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"{self.leader.induction.name.removeprefix('%')} loop"


class TripCounts:
    """The loops of a kernel whose trip count can be forced, and those where it cannot.

    A bound can be forced if it does not change inside a loop, is no constant, and does not decide the lower bound or
    the step of its own loop.

    Parameters
    ----------
    kernel : Kernel
        Whose loops.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.definitions = Definitions(kernel)
        self.numbers = self.definitions.numbers
        self.loops = tuple(_loops(kernel.body, 0))
        self.groups = self._groups()
        forced = {uid for group in self.groups for uid in group.loops}
        self._group_of = {uid: index for index, group in enumerate(self.groups) for uid in group.loops}
        self._variables = {value: loop.op for loop in self.loops for value in _variables(loop.op)}
        self._inside: dict[For, frozenset[Value]] = {}
        self._depths: dict[Value, int] = {}
        self._origins: dict[Value, frozenset[Value]] = {}
        self.fixed = tuple(loop.op for loop in self.loops if loop.op.uid not in forced)

    def values(self, wanted: int) -> tuple[Value, ...]:
        """The values with a number."""
        return tuple(value for value, found in self.numbers.items() if found == wanted)

    def group_of(self, loop: For) -> int | None:
        """Index of the group that a loop belongs to; None if its count cannot be forced."""
        return self._group_of.get(loop.uid)

    def loop_of(self, value: Value) -> For | None:
        """The loop whose variable or carried value it is."""
        return self._variables.get(value)

    def inside(self, loop: For) -> frozenset[Value]:
        """All values that are made inside a loop, its own variables included."""
        found = self._inside.get(loop)
        if found is None:
            made = (value for op in walk(loop.body) for value in (*results_of(op), *_variables(op)))
            found = self._inside[loop] = frozenset((*made, *_variables(loop)))
        return found

    def depth_of(self, value: Value) -> int:
        """The number of loops around the op that makes a value."""
        found = self._depths.get(value)
        if found is None:
            found = self._depths[value] = sum(value in self.inside(loop.op) for loop in self.loops)
        return found

    def sources(self, value: Value) -> tuple[Value, ...] | None:
        """What a value follows from; None for arguments, launch values, and whatever has no rule."""
        loop = self._variables.get(value)
        if loop is not None:
            return self._carried_sources(loop, value)
        match self.definitions.maker(value):
            case Scalar() as op if op.operands or op.name == "arith.constant":
                return op.operands
            case For() as op:
                return self._carried_sources(op, op.carried[op.results.index(value)])
            case If() as op:
                at = op.results.index(value)
                return (op.condition, *(last.operands[at] for last in _yields(regions(op))))
            case _:
                return None

    def _carried_sources(self, loop: For, value: Value) -> tuple[Value, ...]:
        if value is loop.induction:
            return _bounds(loop)
        at = loop.carried.index(value)
        return (*_bounds(loop), loop.inits[at], *(last.operands[at] for last in _yields((loop.body,))))

    def origins(self, value: Value) -> frozenset[Value]:
        """The value and all that it follows from, also through what loops carry; loop variables are taken as given."""
        found = self._origins.get(value)
        if found is None:
            seen: set[Value] = set()
            ahead = [value]
            while ahead:
                current = ahead.pop()
                if current not in seen:
                    seen.add(current)
                    ahead.extend(self._flow(current))
            found = self._origins[value] = frozenset(seen)
        return found

    def follows(self, value: Value, group: LoopGroup) -> bool:
        """Whether a value follows from the bound of a group."""
        return any(self.numbers[origin] == group.number for origin in self.origins(value))

    def _flow(self, value: Value) -> tuple[Value, ...]:
        loop = self._variables.get(value)
        sources = self.sources(value) or ()
        # How often a loop goes round decides what it hands out, not what it carries at some iteration.
        return sources if loop is None else sources[len(_bounds(loop)) :]

    def made_in(self, group: LoopGroup) -> frozenset[Value]:
        """Variables and results of the loops of a group."""
        loops = (loop.op for loop in self.loops if loop.op.uid in group.loops)
        return frozenset(value for op in loops for value in (*_variables(op), *op.results))

    def compared_bounds(self, value: Value) -> int | None:
        """Index of the group of a loop whose lower and upper bound a comparison compares, casts aside."""
        op = self.definitions.scalar(value)
        if op is None or op.name != "arith.cmpi":
            return None
        sides = {self._behind_casts(side) for side in op.operands}
        loops = (loop.op for loop in self.loops if loop.op.uid in self._group_of)
        found = (loop for loop in loops if {self._behind_casts(loop.lower), self._behind_casts(loop.upper)} == sides)
        return next((self._group_of[loop.uid] for loop in found), None)

    def rounds_told(self, value: Value, outcome: bool) -> tuple[int, bool] | None:
        """The group whose loops go round, or do not, if a comparison of the bounds of one of them has this outcome."""
        index, op = self.compared_bounds(value), self.definitions.scalar(value)
        if index is None or op is None:
            return None
        # Any two bounds with a trip between them, and any two without one, compare alike.
        upper = self._behind_casts(self.groups[index].leader.upper)
        going = evaluate(op, tuple(int(self._behind_casts(side) == upper) for side in op.operands))
        return index, bool(going) is outcome

    def _behind_casts(self, value: Value) -> int:
        return self.numbers[self.definitions.behind_casts(value)]

    def _groups(self) -> tuple[LoopGroup, ...]:
        classes: dict[int, list[NestedLoop]] = {}
        for loop in self.loops:
            bound = self.definitions.behind_casts(loop.op.upper)
            if not self.definitions.is_constant(bound) and not self.definitions.varies(bound):
                classes.setdefault(self.numbers[bound], []).append(loop)
        groups = (self._group(wanted, loops) for wanted, loops in classes.items())
        return tuple(group for group in groups if group is not None)

    def _group(self, wanted: int, loops: list[NestedLoop]) -> LoopGroup | None:
        leaders = [loop.op for loop in loops if self._leads(loop.op, wanted)]
        if not leaders:
            return None
        # The finest loop that starts lowest leads: its counts give the others every count that they can have.
        leader = min(leaders, key=lambda op: (self._constant(op.step), self._constant(op.lower)))
        bound = self.definitions.behind_casts(leader.upper)
        uids = tuple(loop.op.uid for loop in loops)
        return LoopGroup(bound.name, uids, min(loop.depth for loop in loops), leader, bound, wanted)

    def _constant(self, value: Value) -> float:
        """A constant integer; infinity for a value that is not constant."""
        op = self.definitions.scalar(self.definitions.behind_casts(value))
        return op.attribute if op is not None and isinstance(op.attribute, int) else math.inf

    def _leads(self, op: For, wanted: int) -> bool:
        """Whether lower bound and step are known without the loops and without the bound that they shall give."""
        needed = self.definitions.ancestry(op.lower) | self.definitions.ancestry(op.step)
        return all(self.numbers[value] != wanted and value not in self.definitions.loop_values for value in needed)


def _bounds(loop: For) -> tuple[Value, ...]:
    return loop.lower, loop.upper, loop.step


def _variables(op: Op) -> tuple[Value, ...]:
    return (op.induction, *op.carried) if isinstance(op, For) else ()


def _yields(blocks: tuple[Block, ...]) -> list[Yield]:
    lasts = [block.ops[-1] for block in blocks if block.ops]
    return [last for last in lasts if isinstance(last, Yield)]


def _loops(block: Block, depth: int) -> list[NestedLoop]:
    found: list[NestedLoop] = []
    for op in block.ops:
        if isinstance(op, For):
            found.append(NestedLoop(op, depth))
        for region in regions(op):
            found.extend(_loops(region, depth + isinstance(op, For)))
    return found


class ForcedTrips(Overrides):
    """A trace with given trip counts and given ways through branches.

    Parameters
    ----------
    trips : TripCounts or Kernel
        The loops.
    counts : mapping of group index to int
        How often the loops of a group run; groups that are left out run as the arguments say.
    choices : mapping of value number to bool
        Conditions that are given a value.
    unknown : bool or mapping of uid to bool
        Which way an `if` goes whose condition is not known; an `if` left out of the mapping takes its first branch.
    setting : Setting, optional
        Needed only where a lower bound or a step asks for an argument, or for the block index or number, that comes
        behind the upper bound in the text.
    short : int
        By how much the forced bounds fall short of a whole number of steps, at most a step less one; without a trip,
        how far below the start they lie, down to 0.
    """

    def __init__(
        self,
        trips: TripCounts | Kernel,
        counts: Mapping[int, int],
        choices: Mapping[int, bool] = _NOTHING,
        unknown: bool | Mapping[int, bool] = True,
        *,
        setting: Setting | None = None,
        short: int = 0,
    ) -> None:
        self.trips = trips if isinstance(trips, TripCounts) else TripCounts(trips)
        self.counts = dict(counts)
        self.choices = dict(choices)
        self._unknown = unknown
        self._setting = setting
        self._short = short
        self._busy: set[int] = set()
        self._forced: dict[Value, tuple[LoopGroup, int]] = {}
        self._chosen: dict[Value, int] = {}
        for index, count in self.counts.items():
            group = self.trips.groups[index]
            self._forced.update(dict.fromkeys(self.trips.values(group.number), (group, count)))
        for wanted, choice in self.choices.items():
            self._chosen.update(dict.fromkeys(self.trips.values(wanted), int(choice)))
        self._touched = self._forced.keys() | self._chosen.keys()

    def value(self, value: Value, computed: RuntimeValue, env: Environment) -> RuntimeValue:
        """The forced bound or the chosen condition, else what was computed."""
        if value not in self._touched:
            return computed
        if value in self._chosen:
            return self._chosen[value]
        group, count = self._forced[value]
        return self._bound(group, count, env)

    def unknown_branch(self, op: If, iteration: Iteration) -> bool:
        """As told for this `if`."""
        del iteration
        return self._unknown if isinstance(self._unknown, bool) else self._unknown.get(op.uid, True)

    def _bound(self, group: LoopGroup, count: int, env: Environment) -> ScalarValue:
        if group.number in self._busy:
            return UNKNOWN
        self._busy.add(group.number)
        lower, step = self._now(group.leader.lower, env), self._now(group.leader.step, env)
        self._busy.discard(group.number)
        if isinstance(lower, Unknown) or isinstance(step, Unknown):
            return UNKNOWN
        if count:
            return lower + count * step - min(self._short, int(step) - 1)
        # A bound below the start makes no trip either; it is not negative unless the start is.
        return max(lower - self._short, min(lower, 0))

    def _now(self, value: Value, env: Environment) -> ScalarValue:
        """A scalar at this point of the trace, computed ahead of the tracer if it has not come by yet."""
        if value in env:
            found = env[value]
            return found if isinstance(found, int | float | Unknown) else UNKNOWN
        op = self.trips.definitions.scalar(value)
        computed = self._argument(value) if op is None else self._ahead(op, env)
        found = self.value(value, computed, env)
        return found if isinstance(found, int | float | Unknown) else UNKNOWN

    def _argument(self, value: Value) -> ScalarValue:
        """An argument that the tracer has not bound yet."""
        if self._setting is None or value not in self.trips.kernel.arguments:
            return UNKNOWN
        return self._setting.arguments.get(value.name.removeprefix("%"), UNKNOWN)

    def _ahead(self, op: Scalar, env: Environment) -> ScalarValue:
        setting = self._setting
        match op.name:
            case "pto.get_block_idx":
                return UNKNOWN if setting is None else setting.block_idx
            case "pto.get_block_num":
                return UNKNOWN if setting is None else setting.block_num
            case "pto.get_subblock_idx":
                return UNKNOWN if setting is None else setting.subblock_idx
            case "pto.get_subblock_num":
                return UNKNOWN if setting is None else setting.subblock_num
            case _:
                return evaluate(op, tuple(self._now(value, env) for value in op.operands))
