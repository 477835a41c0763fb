"""When the iterations of a loop begin to repeat: what conditions, ids, slots and offsets do from one to the next.

Every value that decides what a loop executes is given a shape (`syncopt.ir.shapes`). Comparisons of values that move
against each other settle after some iterations, or a fixed number of iterations before the last one. Between those two
ends the iterations repeat with the common period of all shapes, for any trip count.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from syncopt.ir.forcing import LoopGroup, TripCounts
from syncopt.ir.kernel import For, If, Scalar, Value, Yield, regions
from syncopt.ir.numbering import Definitions
from syncopt.ir.scalars import CASTS, ScalarValue, Unknown, evaluate
from syncopt.ir.shapes import Shape, aligned, constant, divided, joined, minus, plus, remainder, times
from syncopt.ir.types import ScalarType

Now = Callable[[Value], ScalarValue]
"""What a value is at this point of a run; unknown if it has not come by."""

_ADD = "arith.addi"
_SUBTRACT = "arith.subi"
_MULTIPLY = "arith.muli"
_DIVISIONS = frozenset({"arith.divsi", "arith.divui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui"})
_REMAINDERS = frozenset({"arith.remsi", "arith.remui"})
_BIT = ScalarType("i1")
_EXTREMES = {"arith.minsi": -1, "arith.minui": -1, "arith.maxsi": 1, "arith.maxui": 1}


class Problem(NamedTuple):
    """A value that is not followed, and why."""

    value: Value
    text: str


class Motion(ABC):
    """Shapes of the values of a kernel along one loop, or along the trip count of a group of loops.

    Parameters
    ----------
    trips : TripCounts
        The loops of the kernel.
    group : LoopGroup or None
        The group whose trip count is any; None if the count of `loop` is given.
    now : callable
        The run in which the values are known.

    Attributes
    ----------
    period, settle, tail : int
        Iterations from number `settle` on, up to `tail` before the end, repeat every `period` ones.
    problems : list of Problem
        What is not followed.
    """

    def __init__(self, trips: TripCounts, group: LoopGroup | None, now: Now) -> None:
        self.period = 1
        self.settle = 0
        self.tail = 0
        self.problems: list[Problem] = []
        self._trips = trips
        self._definitions: Definitions = trips.definitions
        self._group = group
        self._now = now
        self._known: dict[Value, Shape | None] = {}
        self._turning: set[Value] = set()
        self._upstream = _upstream(trips, group)
        self._start: frozenset[Value] = frozenset()

    # -- what is asked ---------------------------------------------------------------------------------------------

    def keep_still(self, value: Value, what: str) -> None:
        """A value that decides what is executed has to repeat, and to be the same for another trip count.

        What follows from the trip count alone is looked at along that (`CountMotion`).
        """
        shape = self.of(value)
        if shape is None or not shape.is_still or (shape.bound and not self._is_pure(value)):
            self.refuse(value, f"{what} {value.name} does not repeat")

    def of(self, value: Value) -> Shape | None:
        """The shape of a value; None if it is not followed."""
        if value not in self._known:
            self._known[value] = self._shape(value)
            shape = self._known[value]
            if shape is not None and shape.is_still:
                self.period = math.lcm(self.period, shape.period)
        return self._known[value]

    # -- leaves ----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _moves(self, value: Value) -> Shape | None:
        """The shape of a value that the loop itself moves; None for all others."""

    @abstractmethod
    def _is_moved(self, value: Value) -> bool:
        """Whether a value can differ from iteration to iteration or follow from the upper bound."""

    @abstractmethod
    def _bound(self, value: Value) -> Shape:
        """The shape of the upper bound."""

    def _leaf(self, value: Value) -> Shape:
        now = self._now(value)
        origins = self._trips.origins(value)
        shape = constant(None if isinstance(now, Unknown) else int(now))
        upstream = any(self._trips.numbers[source] in self._upstream for source in origins)
        upstream = upstream or bool(origins & self._definitions.arguments - self._start)
        return Shape(start=shape.start, least=shape.least, is_upstream=upstream)

    def _shape(self, value: Value) -> Shape | None:
        moved = self._moves(value)
        if moved is not None:
            return moved
        if self._group is not None and self._trips.numbers[value] == self._group.number:
            return self._bound(value)
        if not self._is_moved(value):
            return self._leaf(value)
        match self._definitions.maker(value):
            case Scalar() as op:
                return self._scalar(op)
            case If() as op:
                return self._chosen(op, value)
            case For() as op:
                return self._looped(op, op.results.index(value), value)
            case _:
                return self._inner(value)

    def _inner(self, value: Value) -> Shape | None:
        """Loop variable or carried value of a loop inside this one."""
        op = self._trips.loop_of(value)
        if op is None:
            return None
        if value is not op.induction:
            return self._looped(op, op.carried.index(value), value)
        lower, step = self.of(op.lower), self.of(op.step)
        if lower is None or step is None or not step.is_still:
            return None
        return Shape(lower.period, lower.drift, lower.bound, None, lower.least, lower.is_bent, lower.is_upstream)

    def _looped(self, op: For, at: int, value: Value) -> Shape | None:
        """What an inner loop carries: it repeats if what it starts from and what it is made of do."""
        self._known[value] = self._known[op.carried[at]] = constant(None)
        last = op.body.ops[-1] if op.body.ops else None
        if not isinstance(last, Yield):
            return None
        return self._still(self.of(op.inits[at]), self.of(last.operands[at]), self.of(op.upper))

    def _still(self, *shapes: Shape | None) -> Shape | None:
        found = [shape for shape in shapes if shape is not None and shape.is_still]
        return joined(*found) if len(found) == len(shapes) else None

    # -- scalars ---------------------------------------------------------------------------------------------------

    def _scalar(self, op: Scalar) -> Shape | None:
        shapes = [self.of(value) for value in op.operands]
        known = [shape for shape in shapes if shape is not None]
        if len(known) < len(shapes):
            return None
        found = self._computed(op, known)
        # What turns on its way goes on from where it is then, not from what it is at first.
        if found is None or found.start is not None or op.results[0] in self._turning:
            return found
        starts = tuple(shape.start for shape in known if shape.start is not None)
        start = evaluate(op, starts) if len(starts) == len(known) else None
        return found if not isinstance(start, int) else _starting(found, start)

    def _computed(self, op: Scalar, shapes: list[Shape]) -> Shape | None:
        if _is_unsigned(op) and not all(map(self._stays_positive, shapes)):
            return self._function(op, *shapes)
        if op.name in CASTS and op.results[0].type != _BIT:
            return shapes[0]
        if op.name == "arith.select":
            return self._select(*shapes)
        if len(shapes) == 2:
            return self._of_two(op, *shapes)
        return self._function(op, *shapes) if shapes else constant(None)

    def _of_two(self, op: Scalar, a: Shape, b: Shape) -> Shape | None:
        if op.name in (_ADD, _SUBTRACT):
            return plus(a, b) if op.name == _ADD else minus(a, b)
        if op.name == _MULTIPLY:
            return times(a, b)
        if op.name == "arith.cmpi":
            return self._compared(op, a, b)
        if op.name in _EXTREMES:
            return self._extreme(op, a, b)
        if op.name == "arith.andi":
            return self._masked(op, a, b)
        if op.name in _DIVISIONS or op.name in _REMAINDERS:
            return self._by_constant(op, a, b)
        return self._function(op, a, b)

    def _function(self, op: Scalar, *shapes: Shape) -> Shape | None:
        """Some function, which is still where its operands are; the bound must not mix with the loop's variables."""
        if any(shape.bound for shape in shapes) and not self._is_pure(op.results[0]):
            return None
        return self._still(*shapes)

    def _is_pure(self, value: Value) -> bool:
        """Whether no variable of the group's loops is in a value, so that `CountMotion` looks at it too."""
        return self._group is None or self._trips.made_in(self._group).isdisjoint(self._definitions.ancestry(value))

    def _by_constant(self, op: Scalar, a: Shape, b: Shape) -> Shape | None:
        divisor = b.factor
        if divisor is None or divisor <= 0 or not self._stays_positive(a):
            return self._function(op, a, b)
        if op.name in _DIVISIONS:
            # How it rounds decides where it starts.
            return replace(divided(a, divisor), start=None)
        return self._remainder(op, a, b, divisor)

    def _masked(self, op: Scalar, a: Shape, b: Shape) -> Shape | None:
        """The low bits of a value: its remainder by a power of two, also where it is negative."""
        value, mask = (a, b) if a.factor is None else (b, a)
        if mask.factor is None or mask.factor < 0 or mask.factor & (mask.factor + 1):
            return self._function(op, a, b)
        return self._remainder(op, value, mask, mask.factor + 1)

    def _remainder(self, op: Scalar, a: Shape, b: Shape, divisor: int) -> Shape | None:
        if a.bound.denominator != 1 or a.is_bent:
            return self._function(op, a, b)
        self.period = math.lcm(self.period, divisor // math.gcd(int(a.bound) * self._step(), divisor))
        return remainder(a, divisor)

    def _select(self, condition: Shape, then: Shape, orelse: Shape) -> Shape | None:
        a, b = aligned(then, orelse)
        if not condition.is_still or a.drift != b.drift or a.bound != b.bound:
            return None
        period = math.lcm(condition.period, a.period)
        least = min(a.least, b.least)
        bent = condition.follows_bound or a.is_bent or b.is_bent
        upstream = condition.is_upstream or a.is_upstream or b.is_upstream
        return Shape(period, a.over(period).drift, a.bound, None, least, bent, upstream)

    def _chosen(self, op: If, value: Value) -> Shape | None:
        at = op.results.index(value)
        lasts = [block.ops[-1] for block in regions(op) if block.ops]
        yields = [self.of(last.operands[at]) for last in lasts if isinstance(last, Yield)]
        condition = self.of(op.condition)
        known = [shape for shape in (condition, *yields) if shape is not None]
        return self._select(*known) if len(known) == 3 else None

    # -- values that move against each other -----------------------------------------------------------------------

    @abstractmethod
    def _step(self) -> int:
        """By how much the upper bound moves when the trip count grows by one."""

    @abstractmethod
    def _count(self) -> int:
        """The trip count of this run."""

    def _compared(self, op: Scalar, a: Shape, b: Shape) -> Shape | None:
        difference = minus(a, b)
        if difference.is_still:
            return None if difference.bound and not self._is_pure(op.results[0]) else joined(a, b)
        value = op.results[0]
        told = self._trips.compared_bounds(value)
        if told is not None and self._trips.groups[told] is self._group:
            # The trip count is forced, whatever arguments the bounds follow from.
            self.settle = max(self.settle, 1)
            return joined(constant(None))
        return joined(constant(None)) if self._meet(value, difference, f"{value.name} compares") else None

    def _extreme(self, op: Scalar, a: Shape, b: Shape) -> Shape | None:
        difference = minus(a, b)
        if difference.is_still:
            mixed = difference.bound and not self._is_pure(op.results[0])
            return None if mixed else self._select(constant(None), *aligned(a, b))
        if not self._meet(op.results[0], difference, f"{op.results[0].name} is the extreme of"):
            return None
        # Far from the end a value tied to it lies where it drifts from; any other ends where it drifts to.
        above = (difference.drift > 0) != difference.follows_bound
        chosen = a if above == (_EXTREMES[op.name] > 0) else b
        return replace(chosen, least=min(a.least, b.least))

    def _meet(self, value: Value, difference: Shape, what: str) -> bool:
        """Note from when on, or up to when, a difference that moves has the same sign; False if that is not known.

        The value that turns there has the shape that it has behind it, or before it.
        """
        self._turning.add(value)
        if difference.is_upstream:
            return self.refuse(value, f"{what} with an argument that keeps its given value")
        if difference.period != 1 or difference.start is None or difference.is_bent:
            return self.refuse(value, f"{what} values that move in ways that are not followed")
        # The iteration, as a fraction, in which the difference is zero.
        zero = Fraction(-difference.start, difference.drift)
        if not difference.follows_bound:
            self.settle = max(self.settle, math.floor(zero) + 1)
            return True
        if difference.bound * self._step() + difference.drift != 0:
            return self.refuse(value, f"{what} with a part of the trip count")
        self.tail = max(self.tail, self._count() - math.ceil(zero))
        return True

    def _stays_positive(self, shape: Shape) -> bool:
        if shape.least >= 0:
            return True
        if shape.start is None or shape.period != 1 or shape.start < 0:
            return False
        last = shape.start + shape.drift * max(0, self._count() - 1)
        tied = shape.bound * self._step() + shape.drift == 0
        return shape.drift > 0 or (shape.follows_bound and tied and last >= 0)

    def refuse(self, value: Value, text: str) -> bool:
        """Note that a value is not followed."""
        problem = Problem(value, text)
        if problem not in self.problems:
            self.problems.append(problem)
        return False


def _is_unsigned(op: Scalar) -> bool:
    """Whether an op takes negative integers for large ones."""
    return op.name.endswith("ui") or (op.name == "arith.cmpi" and str(op.attribute).startswith("u"))


def _starting(shape: Shape, start: int) -> Shape:
    least = max(shape.least, start) if shape.period == 1 and shape.drift >= 0 else shape.least
    return Shape(shape.period, shape.drift, shape.bound, start, least, shape.is_bent, shape.is_upstream)


def _upstream(trips: TripCounts, group: LoopGroup | None) -> frozenset[int]:
    """Numbers of the arguments and launch values that the bound of a group is computed from."""
    if group is None:
        return frozenset()
    definitions, found = trips.definitions, set[int]()
    for value in definitions.ancestry(group.bound):
        op = definitions.scalar(value)
        if value in definitions.arguments or (op is not None and not op.operands and op.name != "arith.constant"):
            found.add(trips.numbers[value])
    return frozenset(found - {group.number})
