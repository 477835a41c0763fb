"""Loops with other trip counts than the arguments give."""

import pytest

from syncopt.frontend import parse_module
from syncopt.ir.forcing import ForcedTrips, TripCounts
from syncopt.ir.kernel import If, Kernel, walk
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Setting, Tracer

SETTING = Setting({"n": 100, "m": 100, "k": 2048}, 3, 8)


def kernel_of(body: str) -> Kernel:
    """A function with i32 %k and index %n, %m; `barrier` lines mark what is executed."""
    text = (
        "func.func @f(%n: index, %m: index, %k: i32, %flag: i1) {\n%c0 = arith.constant 0 : index\n"
        "%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n%c7 = arith.constant 7 : index\n"
        f"{body}\nreturn\n}}\n"
    )
    return parse_module(Source("f.pto", text.replace("barrier", "pto.barrier <PIPE_V>").encode())).kernel()


def executed(kernel: Kernel, overrides: ForcedTrips) -> list[tuple[int, ...]]:
    return [instance.iteration for instance in Tracer(kernel, SETTING, overrides)]


@pytest.mark.parametrize("count", range(6))
def test_argument_as_bound_with_lower_bound_and_step_further_down(count: int) -> None:
    """%n comes before %c1 and %c2 in the trace, so both are computed ahead: %n = 1 + 2 * count."""
    kernel = kernel_of("scf.for %i = %c1 to %n step %c2 {\nbarrier\n}")
    assert executed(kernel, ForcedTrips(kernel, {0: count})) == [(i,) for i in range(count)]


def test_what_follows_from_the_bound_is_evaluated_again() -> None:
    """Three rounds from 1 in steps of 2 make %n 7, so the comparison with 7 holds; 100 does not."""
    body = "%is7 = arith.cmpi eq, %n, %c7 : index\nscf.if %is7 {\nbarrier\n}\nscf.for %i = %c1 to %n step %c2 {\n}"
    kernel = kernel_of(body)
    assert executed(kernel, ForcedTrips(kernel, {0: 3})) == [()]
    assert executed(kernel, ForcedTrips(kernel, {0: 2})) == []
    assert executed(kernel, ForcedTrips(kernel, {})) == []


def test_the_value_behind_the_casts_is_forced() -> None:
    """%k = 4: the loop over the cast runs 4 times, the one over %k / 2 is another class and follows with 2."""
    kernel = kernel_of(
        "%ki = arith.index_cast %k : i32 to index\n%half = arith.divsi %ki, %c2 : index\n"
        "scf.for %i = %c0 to %ki step %c1 {\nbarrier\n}\nscf.for %j = %c0 to %half step %c1 {\nbarrier\n}"
    )
    trips = TripCounts(kernel)
    assert [(group.name, group.label, group.depth) for group in trips.groups] == [
        ("%k", "i loop", 0),
        ("%half", "j loop", 0),
    ]
    assert len(executed(kernel, ForcedTrips(trips, {0: 4}))) == 4 + 2
    assert len(executed(kernel, ForcedTrips(trips, {0: 4, 1: 5}))) == 4 + 5


def test_equal_bounds_are_one_group() -> None:
    """%p and %q are the same product: both loops run twice, the second one to 0 + 2 * 1 from 1: once."""
    kernel = kernel_of(
        "%p = arith.muli %n, %m : index\nscf.for %i = %c0 to %p step %c1 {\nbarrier\n"
        "%q = arith.muli %n, %m : index\nscf.for %j = %c1 to %q step %c1 {\nbarrier\n}\n}"
    )
    trips = TripCounts(kernel)
    assert [len(group.loops) for group in trips.groups] == [2]
    assert executed(kernel, ForcedTrips(trips, {0: 2})) == [(0,), (0, 0), (1,), (1, 0)]


@pytest.mark.parametrize(
    "body",
    [
        "scf.for %i = %c0 to %c7 step %c1 {\n}",
        "%half = arith.divsi %n, %c2 : index\nscf.for %i = %half to %n step %c1 {\n}",
        "scf.for %i = %c0 to %n step %n {\n}",
    ],
    ids=["constant", "lower bound made of the bound", "step made of the bound"],
)
def test_bounds_that_cannot_be_forced(body: str) -> None:
    trips = TripCounts(kernel_of(body))
    assert trips.groups == ()
    assert len(trips.fixed) == 1


def test_a_bound_that_changes_in_a_loop_follows_it() -> None:
    """The inner loop runs %i + 1 times: 1 and 2 for two outer rounds."""
    kernel = kernel_of(
        "scf.for %i = %c0 to %n step %c1 {\n%e = arith.addi %i, %c1 : index\n"
        "scf.for %j = %c0 to %e step %c1 {\nbarrier\n}\n}"
    )
    trips = TripCounts(kernel)
    assert [group.label for group in trips.groups] == ["i loop"]
    assert executed(kernel, ForcedTrips(trips, {0: 2})) == [(0, 0), (1, 0), (1, 1)]


def test_groups_come_outermost_first_and_know_their_depth() -> None:
    kernel = kernel_of("scf.for %i = %c0 to %n step %c1 {\nscf.for %j = %c0 to %m step %c1 {\nbarrier\n}\n}")
    trips = TripCounts(kernel)
    assert [(group.name, group.depth) for group in trips.groups] == [("%n", 0), ("%m", 1)]
    assert executed(kernel, ForcedTrips(trips, {0: 1, 1: 2})) == [(0, 0), (0, 1)]


def test_launch_values_behind_the_bound_come_from_the_setting() -> None:
    """%n = 3 + 2 * 8 on block 3 of 8; without the setting the block is not known when %n is bound."""
    kernel = kernel_of(
        "%b = pto.get_block_idx\n%bi = arith.index_cast %b : i64 to index\n%s = pto.get_block_num\n"
        "%si = arith.index_cast %s : i64 to index\nscf.for %i = %bi to %n step %si {\nbarrier\n}"
    )
    assert executed(kernel, ForcedTrips(kernel, {0: 2}, setting=SETTING)) == [(0,), (1,)]
    with pytest.raises(InputError, match="not known from the arguments"):
        executed(kernel, ForcedTrips(kernel, {0: 2}))


def test_chosen_conditions_hold_wherever_they_are_equal() -> None:
    """Both comparisons are one value: chosen true both branches run, chosen false none does."""
    kernel = kernel_of(
        "%a = arith.cmpi eq, %n, %c7 : index\n%b = arith.cmpi eq, %n, %c7 : index\n"
        "scf.if %a {\nbarrier\n}\nscf.if %b {\nbarrier\n}"
    )
    trips = TripCounts(kernel)
    condition = next(op.condition for op in walk(kernel.body) if isinstance(op, If))
    assert len(executed(kernel, ForcedTrips(trips, {}, {trips.numbers[condition]: True}))) == 2
    assert len(executed(kernel, ForcedTrips(trips, {}, {trips.numbers[condition]: False}))) == 0


def test_conditions_that_nobody_knows_go_as_told() -> None:
    """x / 0 is undefined, so both branches of the `if` are possible."""
    kernel = kernel_of("%x = arith.divsi %n, %c0 : index\n%a = arith.cmpi eq, %x, %c7 : index\nscf.if %a {\nbarrier\n}")
    uid = next(op.uid for op in walk(kernel.body) if isinstance(op, If))
    assert len(executed(kernel, ForcedTrips(kernel, {}))) == 1
    assert len(executed(kernel, ForcedTrips(kernel, {}, unknown=False))) == 0
    assert len(executed(kernel, ForcedTrips(kernel, {}, unknown={uid: False}))) == 0
    assert len(executed(kernel, ForcedTrips(kernel, {}, unknown={uid + 1: False}))) == 1
