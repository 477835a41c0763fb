"""Shapes along the iterations of one run of a loop, and along the trip count of a group of loops."""

import math
from fractions import Fraction

from syncopt.ir.forcing import LoopGroup, TripCounts
from syncopt.ir.kernel import For, Scalar, Value, Yield
from syncopt.ir.recurrence import Motion, Now
from syncopt.ir.scalars import Unknown
from syncopt.ir.shapes import Shape, constant


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
        if value in self._inside:
            return True
        group, numbers = self._group, self._trips.numbers
        return group is not None and any(numbers[v] == group.number for v in self._definitions.ancestry(value))

    def _moves(self, value: Value) -> Shape | None:
        if value is self._loop.induction:
            return Shape(drift=self._range.step, start=self._range.start, least=self._range.start)
        if value not in self._loop.carried:
            return None
        return self._counted(value, self._loop.carried.index(value))

    def _counted(self, value: Value, at: int) -> Shape:
        """A carried value: a counter moves, every other one is part of the state."""
        last = self._loop.body.ops[-1]
        assert isinstance(last, Yield)
        start = self._now(self._loop.inits[at])
        op = self._definitions.scalar(self._definitions.behind_casts(last.operands[at]))
        if isinstance(start, int) and op is not None and op.name == "arith.addi" and value in op.operands:
            self._known[value] = None
            others = [self.of(operand) for operand in op.operands if operand is not value]
            factor = others[0].factor if others and others[0] is not None else None
            if factor is not None:
                self.counters.add(value)
                return Shape(drift=factor, start=start, least=start if factor >= 0 else -math.inf)
        return constant(None)


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
        numbers = self._trips.numbers
        assert self._group is not None
        return any(numbers[v] == self._group.number for v in self._definitions.ancestry(value))

    def _leaf(self, value: Value) -> Shape:
        return constant(None) if self._definitions.varies(value) else super()._leaf(value)

    def _moves(self, value: Value) -> Shape | None:
        """What the variables of the loops are in is looked at along those; here only what else is in it."""
        if self._free.isdisjoint(self._definitions.ancestry(value)):
            return None
        self._known[value] = constant(None)
        op = self._definitions.maker(value)
        for operand in op.operands if isinstance(op, Scalar) else ():
            if self.of(operand) is None:
                self.refuse(operand, f"{operand.name} does not repeat")
        return constant(None)
