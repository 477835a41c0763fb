"""Bytes and event ids over time."""

from collections.abc import Iterable

from syncopt.emit.timeline import Cycles, Slice, SliceKind
from syncopt.emit.timeline.occupancy import Held, Occupancy, Steps, steps
from syncopt.ir.footprint import Access, Footprint, strided
from syncopt.ir.kernel import NO_SPAN, TileOp
from syncopt.ir.pipes import Memory, Pipe, PipePair
from syncopt.ir.trace import Instance
from tests.emit.timeline.drawing import sliced
from tests.sim.programs import load, matmul, set_flag, toy, wait_flag


def op(start: int, done: int, read: list[Footprint], written: list[Footprint]) -> Slice:
    """An op on bytes."""
    accesses = (*(Access(footprint, False) for footprint in read), *(Access(footprint, True) for footprint in written))
    instance = Instance(TileOp(0, NO_SPAN, "pto.tadd", (), ()), Pipe.V, (), 0, None, accesses)
    return Slice(SliceKind.OP, "tadd", Pipe.V, start, done, done, None, instance)


def tile(first: int, size: int) -> Footprint:
    """Bytes of UB."""
    return Footprint(Memory.VEC, first, size)


def occupied(pieces: Iterable[Slice], cycles: Cycles | None = None) -> Occupancy:
    """What a run occupies."""
    occupancy = Occupancy(cycles or Cycles())
    for piece in pieces:
        occupancy.add(piece)
    return occupancy


def live(*ops: Slice, cycles: Cycles | None = None) -> list[tuple[int, int]]:
    """Cycles and bytes of UB."""
    found = occupied(ops, cycles).live_bytes()[Memory.VEC]
    return list(zip(found.times, found.values, strict=True))


def test_value_lives_from_its_write_to_its_last_read() -> None:
    """Written from 5 on, read until 30 and until 40."""
    a = tile(0, 100)
    assert live(op(5, 10, [], [a]), op(12, 30, [a], []), op(15, 40, [a], [])) == [(0, 0), (5, 100), (40, 0)]


def test_value_that_nobody_reads_lives_while_it_is_written() -> None:
    assert live(op(5, 10, [], [tile(0, 100)])) == [(0, 0), (5, 100), (10, 0)]


def test_value_is_dead_between_its_last_read_and_the_next_write() -> None:
    a = tile(0, 100)
    found = live(op(5, 10, [], [a]), op(12, 30, [a], []), op(50, 60, [], [a]), op(60, 70, [a], []))
    assert found == [(0, 0), (5, 100), (30, 0), (50, 100), (70, 0)]


def test_accumulator_is_one_value() -> None:
    """The second op reads what it writes."""
    a = tile(0, 100)
    assert live(op(5, 10, [], [a]), op(20, 30, [a], [a]), op(40, 45, [a], [])) == [(0, 0), (5, 100), (45, 0)]


def test_values_add_up() -> None:
    a, b = tile(0, 100), tile(100, 50)
    assert live(op(0, 10, [], [a]), op(5, 20, [a], [b]), op(20, 30, [b], [])) == [(0, 100), (5, 150), (20, 50), (30, 0)]


def test_part_of_a_tile_is_written_anew() -> None:
    """The first half is read until 12; the second half is overwritten at 20 and read until 40."""
    whole, half = tile(0, 100), tile(50, 50)
    found = live(op(0, 10, [], [whole]), op(11, 12, [whole], []), op(20, 30, [], [half]), op(35, 40, [whole], []))
    # 0 to 12 the old second half; the first half lives from 0 to 40; the new second half from 20 to 40
    assert found == [(0, 100), (12, 50), (20, 100), (40, 0)]


def test_columns_of_a_tile() -> None:
    """Two runs of 8 bytes, 64 apart; a read of the second one keeps only that alive."""
    columns = strided(Memory.VEC, 0, 1, ((2, 64), (8, 1)))
    assert live(op(0, 10, [], [columns]), op(10, 20, [tile(64, 8)], [])) == [(0, 16), (10, 8), (20, 0)]


def test_part_of_a_run_knows_what_was_written_before() -> None:
    """From 40 to 60: one value is older and read later, one is dead by then, one comes later."""
    a, b, c = tile(0, 100), tile(100, 50), tile(200, 25)
    ops = [op(0, 10, [], [a]), op(0, 20, [], [b]), op(50, 55, [], [c]), op(90, 95, [a], []), op(95, 99, [], [b])]
    assert live(*ops, cycles=Cycles(40, 60)) == [(40, 100), (50, 125), (55, 100), (95, 0)]


def test_global_memory_has_no_occupancy() -> None:
    assert occupied(sliced(toy(), [load(10)])).live_bytes() == {}


def test_ids_are_in_use_from_set_to_wait() -> None:
    """Set 11 to 12, wait 3 to 19; set 13 to 14 after the second load, wait 19 to 22; the third set has no wait."""
    flag = (Pipe.MTE2, Pipe.M)
    program = [
        *(load(10), set_flag(*flag, 0), wait_flag(*flag, 0)),
        *(load(1), set_flag(*flag, 1), wait_flag(*flag, 1), matmul(1), set_flag(Pipe.M, Pipe.MTE2)),
    ]
    # load 1 to 11; set 11 to 12, up at 19; load 12 to 13; set 13 to 14, up at 21; waits end at 19 and 21
    assert occupied(sliced(toy(), program)).live_ids() == {PipePair(*flag): Steps((0, 11, 13, 19, 21), (0, 1, 2, 1, 0))}


def test_changes_of_one_cycle_are_one_step() -> None:
    assert steps([Held(3, 0, 5), Held(3, 5, 9), Held(1, 5, 5)]) == Steps((0, 9), (3, 0))
    assert steps([]) == Steps((0,), (0,))
    assert steps([Held(3, 2, 5), Held(1, 0, 3)], 3) == Steps((3, 5), (3, 0))
    assert steps([Held(3, 2, 5), Held(4, 3, 4)]).most == 7
