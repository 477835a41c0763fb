"""What the plans of the GEMM instances reach, point by point; exits 1 if a point is missed.

Run by `make table`. Everything is measured here, for core 0 of 24 of the 910B2.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from syncopt.api import (
    Budget,
    Job,
    OrderMode,
    Request,
    Simulation,
    Solved,
    check,
    load_machine,
    simulate,
    solve,
)
from syncopt.frontend import parse_module
from syncopt.ir.kernel import Barrier, Flag, For, Kernel, TileOp, regions, walk
from syncopt.ir.source import Source

GEMM = Path(__file__).parents[1] / "instances" / "gemm"
SHAPE = (2176, 8192, 8192)
OTHER_SHAPES = ((4096, 4096, 4096), (640, 4096, 4096))
ODD_SHAPES = ((2176, 8192, 512), (2176, 8192, 1536))
BUDGET = Budget(seconds=60)
PUBLISHED_HAND, PUBLISHED_SINGLE = 656, 1373
"""Cycles per matmul that were measured on hardware and published in the pto-dsl matmul guide."""


@dataclass(frozen=True, slots=True)
class Point:
    """One line of the table."""

    name: str
    value: str
    wanted: str
    holds: bool


def job(name: str, shape: tuple[int, int, int], *assume: str) -> Job:
    """A GEMM instance on core 0 of 24 of the 910B2."""
    return Job(GEMM / f"{name}.pto", load_machine("910b2"), arguments=shape, assume=assume)


def solved(name: str, shape: tuple[int, int, int], mode: OrderMode = OrderMode.FREE) -> Solved:
    """The plan of an instance."""
    return solve(job(name, shape), Request(mode, BUDGET))


def matmuls(shape: tuple[int, int, int]) -> int:
    """Matmuls of core 0: 64-wide K steps of its 128 x 256 tiles."""
    m, n, k = shape
    tiles = (m // 128) * -(-n // 256)
    return -(-tiles // 24) * (k // 512) * 8


def in_cycles(cycles: int) -> str:
    """Cycles on the main shape, in all and per matmul."""
    return f"{cycles:,}, {cycles / matmuls(SHAPE):.1f} per matmul"


def planned(result: Solved) -> Kernel:
    """The emitted kernel."""
    return parse_module(Source("plan", result.text)).kernel(None)


def signature(kernel: Kernel) -> list[str]:
    """Tile ops, flags and barriers in text order, without names and places of the text."""
    return [
        f"{type(op).__name__} {getattr(op, 'name', '')} {getattr(op, 'pair', '')} {getattr(op, 'event', '')}"
        for op in walk(kernel.body)
        if isinstance(op, TileOp | Flag | Barrier)
    ]


def barriers_in_loops(kernel: Kernel) -> int:
    """Barriers that stand inside a loop."""
    loops = (op for op in walk(kernel.body) if isinstance(op, For))
    return sum(isinstance(op, Barrier) for loop in loops for region in regions(loop) for op in walk(region))


def main_points(hand: Simulation, plan: Solved) -> Iterator[Point]:
    """The points of the main shape."""
    per_matmul = hand.replay.cycles / matmuls(SHAPE)
    yield Point(
        "hand-synchronised",
        in_cycles(hand.replay.cycles),
        f"{PUBLISHED_HAND} per matmul +- 5 %",
        abs(per_matmul / PUBLISHED_HAND - 1) <= 0.05,
    )
    gain = hand.replay.cycles / plan.replay.cycles
    yield Point("plan", f"{in_cycles(plan.replay.cycles)} = hand / {gain:.3f}", "hand / 1.08", gain >= 1.08)
    yield Point("gap to the lower bound", f"{plan.gap:.2%} ({plan.bound.bound_by})", "<= 1.5 %", plan.gap <= 0.015)
    solution = plan.solution
    yield Point(
        "window",
        f"{solution.makespan:,} cycles, bound {solution.bound:,}, {solution.search_seconds:.1f} s",
        "optimal, < 20 s",
        solution.optimal and solution.search_seconds < 20,
    )
    ids = max(plan.replay.ids.values())
    inside = barriers_in_loops(planned(plan))
    yield Point("event ids of the fullest pair", str(ids), "<= 8", ids <= 8)
    yield Point("barriers inside loops", str(inside), "0", inside == 0)
    yield Point("findings of check, warnings too", str(len(plan.report.findings)), "0", not plan.report.findings)
    yield Point(
        "sets executed",
        f"{plan.replay.sets:,}, hand {hand.replay.sets:,}",
        "<= hand",
        plan.replay.sets <= hand.replay.sets,
    )


def other_orders(hand: Simulation, plan: Solved) -> Iterator[Point]:
    """Fixed order, one buffer, and the plan of the hand-synchronised kernel, with the sensitivity against it."""
    fixed = solved("double_buffered", SHAPE, OrderMode.FIXED).replay.cycles
    yield Point("plan of the order as written", in_cycles(fixed), "<= hand", fixed <= hand.replay.cycles)
    single = solved("single_buffered", SHAPE)
    per_matmul = single.replay.cycles / matmuls(SHAPE)
    yield Point(
        "single-buffered",
        f"{in_cycles(single.replay.cycles)}, bound by {single.bound.bound_by}, optimal: {single.solution.optimal}",
        f"<= {PUBLISHED_SINGLE} per matmul + 5 %",
        per_matmul <= PUBLISHED_SINGLE * 1.05 and single.solution.optimal,
    )
    from_hand = solved("hand_synchronised", SHAPE)
    same = signature(planned(from_hand)) == signature(planned(plan))
    yield Point("plan of the hand-synchronised kernel", "the same" if same else "another", "the same", same)
    for row in from_hand.sensitivity:
        ratio = row.baseline / row.cycles
        value = f"hand / {ratio:.3f}" + ("" if row.valid else " (hand sets a flag twice there)")
        yield Point(f"on {row.machine}", value, "hand / 0.999", row.cycles <= row.baseline * 1.001)


def shape_points() -> Iterator[Point]:
    """Other shapes, and K counts that are odd."""
    for shape in (*OTHER_SHAPES, *ODD_SHAPES):
        hand = simulate(job("hand_synchronised", shape)).replay.cycles
        plan = solved("double_buffered", shape)
        ok = plan.replay.cycles <= hand * 1.001 and not plan.report.findings
        if shape in OTHER_SHAPES:
            ok = ok and plan.gap <= 0.02
        value = f"hand / {hand / plan.replay.cycles:.3f}, gap {plan.gap:.2%}, check {plan.report.verdict}"
        yield Point("x".join(map(str, shape)), value, "hand / 0.999, clean", ok)


def zero_trip_points() -> Iterator[Point]:
    """No K iteration."""
    hand = check(job("hand_synchronised", SHAPE)).report
    yield Point("hand-synchronised, any K", str(hand.verdict), "deadlock", hand.verdict.value == "deadlock")
    at_least = check(job("hand_synchronised", SHAPE, "K>=512")).report
    yield Point("hand-synchronised, K >= 512", str(at_least.verdict), "clean", at_least.verdict.value == "clean")


def main() -> int:
    """Print the table."""
    hand = simulate(job("hand_synchronised", SHAPE))
    plan = solved("double_buffered", SHAPE)
    points = [*main_points(hand, plan), *other_orders(hand, plan), *shape_points(), *zero_trip_points()]
    table = Table(title=f"GEMM instances, 910B2, core 0 of 24, M={SHAPE[0]}, N=K={SHAPE[1]}: {matmuls(SHAPE)} matmuls")
    for column in ("point", "value", "wanted", ""):
        table.add_column(column)
    for point in points:
        table.add_row(point.name, point.value, point.wanted, "ok" if point.holds else "MISSED")
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    return 0 if all(point.holds for point in points) else 1


if __name__ == "__main__":
    sys.exit(main())
