"""How integers move from iteration to iteration of a loop: shapes, and the arithmetic on them.

Arithmetic is that of whole numbers: nothing wraps around.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Shape:
    """A value that has moved by `drift` after every `period` iterations.

    Parameters
    ----------
    period : int
        Iterations after which the value has moved by exactly `drift`, whatever it does between them.
    drift : int
        By how much it moves in a period.
    bound : Fraction
        How often the upper bound of the loop is contained in it.
    start : int or None
        Its value in the first iteration, if known.
    least : float
        No value is below it.
    is_bent : bool
        It follows from the upper bound in another way than as a multiple.
    is_upstream : bool
        It follows from an argument that keeps its given value when the upper bound is forced.
    """

    period: int = 1
    drift: int = 0
    bound: Fraction = Fraction(0)
    start: int | None = None
    least: float = -math.inf
    is_bent: bool = False
    is_upstream: bool = False

    @property
    def is_still(self) -> bool:
        """Whether it comes back to the same value in every period."""
        return self.drift == 0

    @property
    def follows_bound(self) -> bool:
        """Whether another trip count gives it another value."""
        return self.bound != 0 or self.is_bent

    @property
    def factor(self) -> int | None:
        """Its value if that is known and the same in all iterations, whatever the trip count."""
        return self.start if self.is_still and self.period == 1 and not self.follows_bound else None

    def over(self, period: int) -> "Shape":
        """The same value with a multiple of its period."""
        return replace(self, period=period, drift=self.drift * (period // self.period))


def constant(value: int | None, least: float | None = None) -> Shape:
    """A value that never changes; `least` only where it is not known."""
    if value is not None:
        return Shape(start=value, least=value)
    return Shape(least=-math.inf if least is None else least)


def aligned(a: Shape, b: Shape) -> tuple[Shape, Shape]:
    """Both shapes with their common period."""
    period = math.lcm(a.period, b.period)
    return a.over(period), b.over(period)


def joined(*shapes: Shape) -> Shape:
    """A value that some function makes of still ones: it comes back when all of them do."""
    return Shape(
        period=math.lcm(*(shape.period for shape in shapes)),
        is_bent=any(shape.follows_bound for shape in shapes),
        is_upstream=any(shape.is_upstream for shape in shapes),
    )


def plus(a: Shape, b: Shape) -> Shape:
    """The sum."""
    a, b = aligned(a, b)
    return Shape(
        a.period,
        a.drift + b.drift,
        a.bound + b.bound,
        None if a.start is None or b.start is None else a.start + b.start,
        a.least + b.least,
        a.is_bent or b.is_bent,
        a.is_upstream or b.is_upstream,
    )


def times(a: Shape, b: Shape) -> Shape | None:
    """The product; None unless one of them is a known constant or both are still."""
    for shape, factor in ((a, b.factor), (b, a.factor)):
        if factor is not None:
            return replace(
                shape,
                drift=shape.drift * factor,
                bound=shape.bound * factor,
                start=None if shape.start is None else shape.start * factor,
                least=shape.least * factor if factor > 0 else 0 if factor == 0 else -math.inf,
                is_upstream=a.is_upstream or b.is_upstream,
            )
    if a.is_still and b.is_still:
        start = None if a.start is None or b.start is None else a.start * b.start
        return replace(joined(a, b), start=start, least=a.least * b.least if min(a.least, b.least) >= 0 else -math.inf)
    return None


def minus(a: Shape, b: Shape) -> Shape:
    """The difference."""
    negative = times(b, constant(-1))
    assert negative is not None, "a known factor"
    return plus(a, negative)


def divided(a: Shape, divisor: int) -> Shape:
    """The quotient by a positive constant, of a value that is not negative (any rounding)."""
    rounds = divisor // math.gcd(a.drift, divisor)
    return Shape(
        a.period * rounds,
        a.drift * rounds // divisor,
        a.bound / divisor,
        None if a.start is None else a.start // divisor,
        max(0, a.least) // divisor,
        a.is_bent or (a.bound / divisor).denominator != 1,
        a.is_upstream,
    )


def remainder(a: Shape, divisor: int) -> Shape:
    """The remainder by a positive constant, of a value that is not negative."""
    rounds = divisor // math.gcd(a.drift, divisor)
    return Shape(
        a.period * rounds,
        start=None if a.start is None else a.start % divisor,
        least=0,
        is_bent=a.follows_bound,
        is_upstream=a.is_upstream,
    )
