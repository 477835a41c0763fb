"""What of a run is shown, and what is said of the rest."""

import pytest

from syncopt.emit.timeline import Cycles, Slice, show
from syncopt.ir.pipes import Pipe
from tests.emit.timeline.drawing import toy_version
from tests.sim.programs import load, matmul, toy, wait_flag

PROGRAM = (load(10), matmul(2), load(5), matmul(30))
"""Load 1 to 11, matmul 2 to 4, load 11 to 16, matmul 4 to 34."""


@pytest.mark.parametrize(
    ("cycles", "most", "starts", "statement"),
    [
        (Cycles(), None, [1, 2, 11, 4], "the full run, 34 cycles: all 4 instructions shown"),
        (Cycles(), 4, [1, 2, 11, 4], "the full run, 34 cycles: all 4 instructions shown"),
        (
            Cycles(),
            3,
            [1, 2, 11],
            "the full run, 34 cycles: 3 of 4 instructions shown (the first in program order)",
        ),
        (Cycles(12), None, [11, 4], "the full run, 34 cycles: 2 of 4 instructions shown (cycles 12 to the end)"),
        (Cycles(11, 11), None, [1, 11, 4], "the full run, 34 cycles: 3 of 4 instructions shown (cycles 11 to 11)"),
        (
            Cycles(0, 9),
            2,
            [1, 2],
            "the full run, 34 cycles: 2 of 4 instructions shown (cycles 0 to 9, the first in program order)",
        ),
        (Cycles(50), None, [], "the full run, 34 cycles: 0 of 4 instructions shown (cycles 50 to the end)"),
    ],
)
def test_part_of_a_run(cycles: Cycles, most: int | None, starts: list[int], statement: str) -> None:
    found: list[Slice] = []
    shown = show(toy_version(toy(), PROGRAM, cycles, most), found.append)
    assert [piece.start for piece in found] == starts
    assert shown.statement == statement


def test_hang_is_said() -> None:
    """The wait has no set: it and the matmul behind it are never timed."""
    shown = show(toy_version(toy(), [load(3), wait_flag(Pipe.MTE2, Pipe.M), matmul(1)]), lambda _: None)
    assert shown.statement == (
        "the full run, 4 cycles: 1 of 3 instructions shown; the run hangs: 2 of them never execute"
    )


def test_one_is_not_called_many() -> None:
    """A load of no cycles at cycle 1."""
    shown = show(toy_version(toy(), [load(0)]), lambda _: None)
    assert shown.statement == "the full run, 1 cycle: all 1 instruction shown"
