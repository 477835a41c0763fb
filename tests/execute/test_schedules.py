"""Orders are legal, whole, and as late as they may be."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.execute import Constraints, Order, Schedule, ScheduleKind, constraints_of, order_of, schedules_of
from syncopt.execute.constraints import MOST_IN_FLIGHT, completion_of, start_of
from syncopt.hwmodel import UnmodelledWork
from syncopt.ir.kernel import TileOp
from syncopt.ir.pipes import Pipe
from tests.execute.streams import CHANNELS, program_of, stream

LEGAL = [kind for kind in ScheduleKind if kind is not ScheduleKind.PROGRAM]


def is_legal(order: Order, constraints: Constraints) -> bool:
    """Whether every event comes behind those it must come behind, as far as tile ops have them, directly or not."""
    place = {event: number for number, event in enumerate(order.events)}
    instances = constraints.program.instances
    earliest = [-1] * len(constraints.before)
    for _ in range(2):
        # Once more, since a wait may stand before its set.
        for event, before in enumerate(constraints.before):
            earliest[event] = max((earliest[other] for other in before), default=-1)
            if isinstance(instances[event // 2].op, TileOp):
                if place[event] < earliest[event]:
                    return False
                earliest[event] = place[event]
    return True


@given(
    st.sampled_from(LEGAL),
    st.integers(0, 1000),
    st.sampled_from([Pipe.MTE2, Pipe.V, Pipe.MTE3, Pipe.ALL]),
    st.sets(st.sampled_from(CHANNELS)),
)
@settings(max_examples=60)
def test_every_order_is_legal_and_whole(kind: ScheduleKind, seed: int, pipe: Pipe, missing: set[str]) -> None:
    """Each tile op starts and completes once."""
    constraints = constraints_of(program_of(stream(missing)))
    order = order_of(constraints, Schedule(kind, seed, pipe))
    tile_ops = [p for p, i in enumerate(constraints.program.instances) if isinstance(i.op, TileOp)]
    assert sorted(order.events) == sorted(event for p in tile_ops for event in (start_of(p), completion_of(p)))
    assert order.blocked == ()
    assert is_legal(order, constraints)


def test_an_order_against_a_flag_is_not_legal() -> None:
    """The add of the first round starts before its load completes."""
    constraints = constraints_of(program_of(stream(), blocks=1))
    order = order_of(constraints, Schedule(ScheduleKind.REPLAY))
    load, add = (
        next(p for p, i in enumerate(constraints.program.instances) if i.pipe is pipe and isinstance(i.op, TileOp))
        for pipe in (Pipe.MTE2, Pipe.V)
    )
    events = list(order.events)
    first, last = events.index(completion_of(load)), events.index(start_of(add))
    events[first], events[last] = events[last], events[first]
    assert is_legal(order, constraints)
    assert not is_legal(Order(order.schedule, tuple(events)), constraints)


def named(order: Order, constraints: Constraints) -> list[str]:
    """Events as `>load0` (starts) and `load0>` (completes), numbered per op."""
    seen: dict[str, list[int]] = {}
    words: list[str] = []
    for event in order.events:
        instance = constraints.program.instances[event // 2]
        assert instance.work is not None
        name = instance.work.name.removeprefix("pto.t")
        places = seen.setdefault(name, [])
        if event // 2 not in places:
            places.append(event // 2)
        number = places.index(event // 2)
        words.append(f">{name}{number}" if event == start_of(event // 2) else f"{name}{number}>")
    return words


def test_late_results_complete_when_they_are_waited_for() -> None:
    """Two blocks: an add completes only when nothing else can come, and that is at once, since everything waits for it.

    Before add0 nothing of the second round can start: its load waits for V to have read the tile.
    """
    constraints = constraints_of(program_of(stream(), blocks=2))
    order = order_of(constraints, Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.V))
    assert named(order, constraints) == [
        *(">load0", "load0>", ">add0", "add0>", ">store0", "store0>"),
        *(">load1", "load1>", ">add1", "add1>", ">store1", "store1>"),
    ]
    # Without V -> MTE2 the second load overwrites the tile before.
    constraints = constraints_of(program_of(stream(["V MTE2"]), blocks=2))
    order = order_of(constraints, Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.V))
    assert named(order, constraints)[:6] == [">load0", "load0>", ">add0", ">load1", "load1>", "add0>"]


def test_nothing_is_waited_for_without_flags() -> None:
    """All loads start, everything else is over before one of them completes, the last one first."""
    constraints = constraints_of(program_of(stream(CHANNELS), blocks=2))
    words = named(order_of(constraints, Schedule(ScheduleKind.LATE_RESULTS, pipe=Pipe.MTE2)), constraints)
    assert words[-1] == "load1>"
    # Both loads write one tile, so that the second starts when the first is complete.
    assert words.index("load0>") > words.index("store0>")
    assert words.index(">load1") == words.index("load0>") + 1


def test_ops_in_flight_are_bounded() -> None:
    """300 independent loads, all late: the 257th starts when the first has completed."""
    body = "rows %c0\n" + "load t0\nload t1\n" * 150 + "store t2\n"
    constraints = constraints_of(program_of(stream(body=body)))
    order = order_of(constraints, Schedule(ScheduleKind.LATE_RESULTS))
    in_flight = most = 0
    for event in order.events:
        in_flight += 1 if event == start_of(event // 2) else -1
        most = max(most, in_flight)
    assert most <= MOST_IN_FLIGHT + 1


def test_random_orders_differ_and_come_again() -> None:
    constraints = constraints_of(program_of(stream()))
    orders = [order_of(constraints, Schedule(ScheduleKind.RANDOM, seed)).events for seed in range(5)]
    assert len(set(orders)) == 5
    assert order_of(constraints, Schedule(ScheduleKind.RANDOM, 3)).events == orders[3]


def test_schedules_of_the_pipes_that_are_used() -> None:
    names = [str(schedule) for schedule in schedules_of(program_of(stream()).instances, 2, seed=7)]
    assert names == [
        *("program order", "replay", "random 7", "random 8"),
        *("late results of every pipe", "late results of MTE2", "late results of V", "late results of MTE3"),
        *("late reads of every pipe", "late reads of MTE2", "late reads of V", "late reads of MTE3"),
    ]


def test_replay_needs_costs() -> None:
    """No cost of tgather by indices is published; the other orders need none."""
    gather = "pto.tgather ins(%t0, %t0, %t0 : TILE, TILE, TILE) outs(%t1 : TILE)"
    body = f"rows %c0\nload t0\n{gather}\nstore t1\n"
    kernel = stream(body=body.replace("TILE", "!pto.tile_buf<vec, 8x64xf32>"))
    constraints = constraints_of(program_of(kernel))
    with pytest.raises(UnmodelledWork):
        order_of(constraints, Schedule(ScheduleKind.REPLAY))
    assert len(order_of(constraints, Schedule(ScheduleKind.RANDOM)).events) == 6
