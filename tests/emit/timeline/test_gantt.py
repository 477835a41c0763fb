"""Timelines in characters, worked out by hand on the toy machine."""

from syncopt.emit.timeline.gantt import gantt
from syncopt.ir.pipes import Pipe
from tests.emit.timeline.drawing import toy_version
from tests.sim.programs import barrier, load, matmul, set_flag, toy, wait_flag

FLAG = (Pipe.MTE2, Pipe.M)
PROGRAM = (load(10), set_flag(*FLAG), wait_flag(*FLAG), matmul(6))
"""Load 1 to 11, set 11 to 12, its flag up at 19; wait 3 to 19, matmul 19 to 25."""


def rows(first: int, last: int, columns: int) -> dict[str, str]:
    """The rows of the program."""
    drawn = gantt(toy_version(toy(), PROGRAM), first, last, columns)
    return {str(pipe): "".join(mark.value for mark in marks) for pipe, marks in drawn.rows.items()}


def test_one_column_per_cycle() -> None:
    assert rows(0, 25, 25) == {
        "MTE2": " ##########              ",
        "M": "   ................######",
    }


def test_no_more_columns_than_cycles() -> None:
    assert rows(0, 25, 80) == rows(0, 25, 25)


def test_column_shows_what_took_most_of_it() -> None:
    """Five cycles each: of 10 to 14 the load has one and the idle pipe three, of 15 to 19 the wait has four."""
    assert rows(0, 25, 5) == {"MTE2": "##   ", "M": " ...#"}


def test_op_wins_a_tie() -> None:
    """Columns 17 and 18, 19 and 20 from cycle 18 on: wait and matmul have one cycle each of 18 and 19."""
    assert rows(18, 24, 3) == {"MTE2": "   ", "M": "###"}


def test_part_of_a_run() -> None:
    assert rows(9, 21, 12) == {"MTE2": "##          ", "M": "..........##"}


def test_full_barrier_stands_on_the_scalar_row() -> None:
    """Load 1 to 11; the barrier from clock 1 to 16."""
    drawn = gantt(toy_version(toy(), [load(10), barrier(Pipe.ALL)]), 0, 11, 11)
    assert ["".join(mark.value for mark in marks) for marks in drawn.rows.values()] == [" ||||||||||", " ##########"]
    assert list(drawn.rows) == [Pipe.S, Pipe.MTE2]
