"""Shapes along the iterations of one run of a loop, and along the trip count of a group of loops."""

import math
from fractions import Fraction

from syncopt.ir.forcing import LoopGroup, TripCounts
from syncopt.ir.kernel import For, Value, Yield
from syncopt.ir.numbering import Definitions
from syncopt.ir.recurrence import Motion, Now
from syncopt.ir.scalars import Unknown
from syncopt.ir.shapes import Shape, constant
from syncopt.ir.types import ScalarType


class LoopMotion(Motion):
    """Shapes along the iterations of one run of a loop.

    Parameters
    ----------
    trips : TripCounts
        The loops of the kernel.
    loop : For
        The loop.
    group : LoopGroup or None
        The group it belongs to.
    now : callable
        Values at its start.
    """

    def __init__(self, trips: TripCounts, loop: For, group: LoopGroup | None, now: Now) -> None:
        super().__init__(trips, group, now)
        self.counters: set[Value] = set()
        self._loop = loop
        self._inside = trips.inside(loop)
        self._start = self._definitions.ancestry(loop.lower)
        bounds = [now(value) for value in (loop.lower, loop.upper, loop.step)]
        known = [int(bound) for bound in bounds if not isinstance(bound, Unknown)]
        assert len(known) == 3, "the loop runs"
        self._range = range(*known)

    @property
    def count(self) -> int:
        """How often the loop goes round in this run."""
        return len(self._range)

    @property
    def step(self) -> int:
        """The step of the loop."""
        return self._range.step

    def _step(self) -> int:
        return self._range.step

    def _count(self) -> int:
        return len(self._range)

    def _bound(self, value: Value) -> Shape:
        del value
        upper = self._range.stop
        return Shape(bound=Fraction(1), start=upper, least=upper)

    def _is_moved(self, value: Value) -> bool:
        return value in self._inside or (self._group is not None and self._trips.follows(value, self._group))

    def _moves(self, value: Value) -> Shape | None:
        if value is self._loop.induction:
            return Shape(drift=self._range.step, start=self._range.start, least=self._range.start)
        if value not in self._loop.carried:
            return None
        return self._carried(value, self._loop.carried.index(value))

    def _carried(self, value: Value, at: int) -> Shape:
        """A carried value: a counter moves, every other one is part of the state.

        What makes such a one out of the one before has to repeat, and must not follow from the trip count.
        """
        if not isinstance(value.type, ScalarType):
            return constant(None)
        counted = self._counted(value, at)
        if counted is not None:
            return counted
        self._known[value] = constant(None)
        for shape in (self.of(self._loop.inits[at]), self.of(_handed_on(self._loop, at))):
            if shape is None or not shape.is_still or shape.follows_bound:
                self.refuse(value, f"carried value {value.name} does not repeat")
        return constant(None)

    def _counted(self, value: Value, at: int) -> Shape | None:
        """The shape of a counter: a known start, and a constant added in every iteration."""
        start, init = self._now(self._loop.inits[at]), self.of(self._loop.inits[at])
        added = _added(self._definitions, value, _handed_on(self._loop, at))
        if not isinstance(start, int) or init is None or init.is_bent or added is None:
            return None
        self._known[value] = None
        other = self.of(added)
        if other is None or other.factor is None:
            return None
        self.counters.add(value)
        least = start if other.factor >= 0 and init.bound >= 0 else -math.inf
        return Shape(drift=other.factor, bound=init.bound, start=start, least=least, is_upstream=init.is_upstream)


class CountMotion(Motion):
    """Shapes along the trip count of a group of loops: what stands outside them, or does not depend on their variables.

    Parameters
    ----------
    trips : TripCounts
        The loops of the kernel.
    group : LoopGroup
        The group.
    count : int
        Its trip count in the run.
    now : callable
        Values of the run.

    Attributes
    ----------
    stride : int
        The step of the loop that turns a count into a bound.
    """

    def __init__(self, trips: TripCounts, group: LoopGroup, count: int, now: Now) -> None:
        super().__init__(trips, group, now)
        self._trip_count = count
        step = now(group.leader.step)
        self.stride = 1 if isinstance(step, Unknown) else int(step)
        self._free = trips.made_in(group)
        self._start = self._definitions.ancestry(group.leader.lower)

    def _step(self) -> int:
        return 0

    def _count(self) -> int:
        return self._trip_count

    def _bound(self, value: Value) -> Shape:
        now = self._now(value)
        start = None if isinstance(now, Unknown) else int(now) - self._trip_count * self.stride
        return Shape(drift=self.stride, start=start, least=-math.inf if start is None else start)

    def _is_moved(self, value: Value) -> bool:
        assert self._group is not None
        return self._trips.follows(value, self._group)

    def _leaf(self, value: Value) -> Shape:
        return constant(None) if self._definitions.varies(value) else super()._leaf(value)

    def _moves(self, value: Value) -> Shape | None:
        """What the variables of the loops are in is looked at along those; here only what else is in it."""
        if self._free.isdisjoint(self._definitions.ancestry(value)) or self._is_count(value):
            return None
        self._known[value] = constant(None)
        for source in self._definitions.sources(value):
            if self.of(source) is None:
                self.refuse(source, f"{source.name} does not repeat")
        return constant(None)

    def _is_count(self, value: Value) -> bool:
        """Whether a loop hands out what it has counted up."""
        op = self._definitions.maker(value)
        if not isinstance(op, For):
            return False
        at = op.results.index(value)
        return _added(self._definitions, op.carried[at], _handed_on(op, at)) is not None


def _handed_on(loop: For, at: int) -> Value:
    """What a loop carries into its next iteration."""
    last = loop.body.ops[-1]
    assert isinstance(last, Yield)
    return last.operands[at]


def _added(definitions: Definitions, value: Value, handed_on: Value) -> Value | None:
    """What is added to a carried value to make the next one; None if it is made otherwise."""
    op = definitions.scalar(definitions.behind_casts(handed_on))
    if op is None or op.name != "arith.addi" or value not in op.operands:
        return None
    return next((operand for operand in op.operands if operand is not value), value)
