"""When iterations repeat: period, from when on, and up to how long before the end."""

from collections.abc import Sequence

import pytest

from syncopt.ir.forcing import ForcedTrips, TripCounts
from syncopt.ir.kernel import For, If, Kernel, walk
from syncopt.ir.motions import CountMotion, LoopMotion
from syncopt.ir.runtime import Environment, RuntimeValue, number
from syncopt.ir.trace import Iteration, Tracer
from tests.check.kernels import setting, vector_kernel

COUNT = 8


class Heads(ForcedTrips):
    """Keeps the values at the first head of the outermost loop, and those of the whole run."""

    def __init__(self, trips: TripCounts) -> None:
        super().__init__(trips, {0: COUNT})
        self.first: Environment = {}
        self.last: Environment = {}

    def head(self, loop: For, iteration: Iteration, carried: Sequence[RuntimeValue], env: Environment) -> None:
        """The values so far."""
        del loop, carried
        self.last = env
        if iteration == (0,):
            self.first = dict(env)


def motion_of(condition: str) -> LoopMotion:
    """How `%c`, the last line of `condition`, moves in a loop of eight rounds from 0 to %n."""
    body = f"{condition}\nscf.if %c {{\nload t0\n}}"
    kernel = vector_kernel(f"scf.for %i = %c0 to %n step %c1 {{\n{body}\n}}\nbarrier ALL")
    trips = TripCounts(kernel)
    heads = Heads(trips)
    list(Tracer(kernel, setting(m=3), heads))
    loop = next(op for op in walk(kernel.body) if isinstance(op, For))
    found = LoopMotion(trips, loop, trips.groups[0], lambda value: number(value, heads.first))
    found.keep_still(asked(kernel).condition, "condition")
    return found


def asked(kernel: Kernel) -> If:
    return next(op for op in walk(kernel.body) if isinstance(op, If))


@pytest.mark.parametrize(
    ("condition", "period", "settle", "tail"),
    [
        ("%p = arith.remsi %i, %c2 : index\n%c = arith.cmpi eq, %p, %c0 : index", 2, 0, 0),
        ("%p = arith.andi %i, %c1 : index\n%c = arith.cmpi eq, %p, %c0 : index", 2, 0, 0),
        # the low bit of 1 - i, which is negative from 2 on
        (
            "%d = arith.subi %c1, %i : index\n%p = arith.andi %d, %c1 : index\n%c = arith.cmpi eq, %p, %c0 : index",
            2,
            0,
            0,
        ),
        # false for 0 and 1, true from 2 on
        ("%c = arith.cmpi sge, %i, %c2 : index", 1, 3, 0),
        # first round only
        ("%c = arith.cmpi eq, %i, %c0 : index", 1, 1, 0),
        # false in the last round, 7 + 1 = 8
        ("%j = arith.addi %i, %c1 : index\n%c = arith.cmpi slt, %j, %n : index", 1, 0, 1),
        # n - i <= 2 in the last two rounds
        ("%r = arith.subi %n, %i : index\n%c = arith.cmpi sle, %r, %c2 : index", 1, 0, 2),
        # min(i, 2) moves no more from 2 on
        ("%lo = arith.minsi %i, %c2 : index\n%c = arith.cmpi eq, %lo, %c1 : index", 1, 3, 0),
        # the half of i, by parity
        (
            "%h = arith.divsi %i, %c2 : index\n%p = arith.remsi %h, %c2 : index\n%c = arith.cmpi eq, %p, %c0 : index",
            4,
            0,
            0,
        ),
        # rounds from the end by parity: the count decides, so it must grow by two
        (
            "%r = arith.subi %n, %i : index\n%p = arith.remsi %r, %c2 : index\n%c = arith.cmpi eq, %p, %c0 : index",
            2,
            0,
            0,
        ),
    ],
    ids=[
        *("parity", "low bit", "low bit of a negative value", "threshold", "first", "last", "two from the end"),
        *("minimum", "pairs", "parity from the end"),
    ],
)
def test_conditions_repeat(condition: str, period: int, settle: int, tail: int) -> None:
    found = motion_of(condition)
    assert (found.problems, found.period, max(0, found.settle), max(0, found.tail)) == ([], period, settle, tail)


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("%s = arith.muli %i, %i : index\n%c = arith.cmpi sgt, %s, %m : index", "condition %c does not repeat"),
        ("%d = arith.muli %i, %c2 : index\n%c = arith.cmpi slt, %d, %n : index", "%c compares with a part of"),
        ("%h = arith.divsi %n, %c2 : index\n%c = arith.cmpi slt, %i, %h : index", "in ways that are not followed"),
        ("%c = arith.cmpi slt, %i, %m : index", "with an argument that keeps its given value"),
        ("%s = arith.andi %i, %c2 : index\n%c = arith.cmpi eq, %s, %i : index", "condition %c does not repeat"),
    ],
    ids=["square", "twice", "half of the bound", "argument", "mask with a hole"],
)
def test_conditions_that_are_not_followed_are_named(condition: str, problem: str) -> None:
    found = motion_of(condition)
    assert any(problem in text for _, text in found.problems)


def test_what_the_bound_is_computed_from_is_not_followed() -> None:
    """The loop goes round m / 2 times; m itself keeps its given value when another count is forced."""
    kernel = vector_kernel(
        "%b = arith.divsi %m, %c2 : index\nscf.for %i = %c0 to %b step %c1 {\n"
        "%t = arith.muli %i, %c2 : index\n%c = arith.cmpi slt, %t, %m : index\nscf.if %c {\nload t0\n}\n}\nbarrier ALL"
    )
    trips = TripCounts(kernel)
    heads = Heads(trips)
    list(Tracer(kernel, setting(m=40), heads))
    loop = next(op for op in walk(kernel.body) if isinstance(op, For))
    found = LoopMotion(trips, loop, trips.groups[0], lambda value: number(value, heads.first))
    found.keep_still(asked(kernel).condition, "condition")
    assert any("an argument that keeps its given value" in text for _, text in found.problems)


@pytest.mark.parametrize(
    ("condition", "period", "settle"),
    [
        ("%p = arith.remsi %n, %c2 : index\n%c = arith.cmpi eq, %p, %c0 : index", 2, 0),
        # true from n = 3 on: 2 is the last count that differs
        ("%c = arith.cmpi sgt, %n, %c2 : index", 1, 3),
    ],
    ids=["parity", "threshold"],
)
def test_conditions_behind_the_loop_repeat_with_the_count(condition: str, period: int, settle: int) -> None:
    kernel = vector_kernel(
        f"scf.for %i = %c0 to %n step %c1 {{\nload t0\n}}\n{condition}\nscf.if %c {{\nload t1\n}}\nbarrier ALL"
    )
    trips = TripCounts(kernel)
    heads = Heads(trips)
    list(Tracer(kernel, setting(), heads))
    found = CountMotion(trips, trips.groups[0], COUNT, lambda value: number(value, heads.last))
    found.keep_still(asked(kernel).condition, "condition")
    assert (found.problems, found.period, max(0, found.settle)) == ([], period, settle)


@pytest.mark.parametrize("sides", ["sge, %b, %e", "sle, %e, %b"])
def test_bounds_that_follow_from_one_argument_tell_whether_the_loop_goes_round(sides: str) -> None:
    """From 2m to 3m: m keeps its given value when another count is forced, but a comparison of the bounds does not."""
    kernel = vector_kernel(
        "%b = arith.muli %m, %c2 : index\n%e = arith.addi %b, %m : index\n"
        "scf.for %i = %b to %e step %c1 {\nload t0\n}\n"
        f"%c = arith.cmpi {sides} : index\nscf.if %c {{\nload t1\n}}\nbarrier ALL"
    )
    trips = TripCounts(kernel)
    heads = Heads(trips)
    list(Tracer(kernel, setting(), heads))
    found = CountMotion(trips, trips.groups[0], COUNT, lambda value: number(value, heads.last))
    found.keep_still(asked(kernel).condition, "condition")
    assert (found.problems, found.settle) == ([], 1)
