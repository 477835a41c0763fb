"""Operands of traces: on which bytes an instruction works, and on which numbers."""

import pytest

from syncopt.ir.footprint import Access, Footprint, whole
from syncopt.ir.kernel import TileOp
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.scalars import UNKNOWN
from syncopt.ir.trace import Instance
from tests.ir.bodies import LINE, LOAD, UNKNOWN_INDEX, VIEW, part, refusal, trace


def only(body: str, **arguments: int) -> Instance:
    (instance,) = (i for i in trace(body, **arguments) if isinstance(i.op, TileOp))
    return instance


def tile_at(instance: Instance) -> int:
    """First byte of the tile that is written."""
    return instance.accesses[-1].footprint.start


def test_tile_op_on_whole_tiles() -> None:
    """64 x 64 x 4 = 16384 bytes each."""
    tiles = "%s = pto.alloc_tile addr = %a0 : TILE\n%t = pto.alloc_tile addr = %a1 : TILE\n"
    instance = only(f"{tiles}pto.tadd ins(%s, %t : TILE, TILE) outs(%t : TILE)")
    s, t = Footprint(Memory.VEC, 4096, 16384), Footprint(Memory.VEC, 65536, 16384)
    assert instance.accesses == (Access(s, writes=False), Access(t, writes=False), Access(t, writes=True))
    assert instance.work is not None
    assert (instance.pipe, [o.bytes for o in instance.work.ins]) == (Pipe.V, [16384, 16384])


def test_scratch_tile_is_written_too() -> None:
    tiles = "%s = pto.alloc_tile addr = %a0 : TILE\n%t = pto.alloc_tile addr = %a1 : TILE\n"
    instance = only(f"{tiles}pto.trowsum ins(%s, %t : TILE, TILE) outs(%s : TILE)")
    assert [(a.footprint.start, a.writes) for a in instance.accesses] == [
        (4096, False),
        (65536, False),
        (65536, True),
        (4096, True),
    ]


def test_scalar_in_the_place_of_scratch_has_no_bytes() -> None:
    """`pto.tcvt` takes a scratch tile as its second operand; here it is a number."""
    tile = "%s = pto.alloc_tile addr = %a0 : TILE\n"
    instance = only(f"{tile}pto.tcvt ins(%s, %scale : TILE, f32) outs(%s : TILE)")
    assert [(a.footprint.start, a.writes) for a in instance.accesses] == [(4096, False), (4096, True)]


def test_works_of_equal_operands_are_one_object() -> None:
    tiles = "%s = pto.alloc_tile addr = %a0 : TILE\n%t = pto.alloc_tile addr = %a1 : TILE\n"
    ops = "pto.tadd ins(%s, %s : TILE, TILE) outs(%s : TILE)\npto.tadd ins(%t, %t : TILE, TILE) outs(%t : TILE)"
    first, second = trace(f"{tiles}{ops}")
    assert first.work is second.work
    assert first.accesses != second.accesses


def test_view_of_rows_that_are_apart() -> None:
    """Rows of 100 elements: from row 16, column 2, 16 runs of 256 bytes every 400, at (16 * 100 + 2) * 4."""
    instance = only(f"{VIEW}{part('%c16')}{LOAD}", n=100)
    footprint = instance.accesses[0].footprint
    assert (footprint.start, footprint.width, footprint.dims) == (6408, 256, ((16, 400),))
    assert instance.work is not None
    assert (instance.work.ins[0].rows, instance.work.ins[0].cols) == (16, 64)


def test_view_of_rows_that_touch_is_one_run() -> None:
    footprint = only(f"{VIEW}{part('%c0')}{LOAD}", n=64).accesses[0].footprint
    assert (footprint.start, footprint.width, footprint.dims) == (8, 16 * 256, ())


def test_view_moves_with_its_loop() -> None:
    body = f"{VIEW}scf.for %i = %c0 to %c2 step %c1 {{\n{part('%i')}{LOAD}\n}}"
    assert [i.accesses[0].footprint.start for i in trace(body, n=100)] == [8, 408]


def test_pointer_arithmetic_moves_the_view() -> None:
    moved = f"%q = pto.addptr %x, %c16 : !pto.ptr<f32> -> !pto.ptr<f32>\n{VIEW.replace('%x', '%q')}"
    footprint = only(f"{moved}{part('%c0')}{LOAD}", n=64).accesses[0].footprint
    assert footprint.start == 16 * 4 + 8


def test_view_at_an_unknown_place_is_all_of_its_pointer() -> None:
    """%u depends on data."""
    body = f"%u = arith.fptosi %scale : f32 to i32\n%w = arith.index_cast %u : i32 to index\n{VIEW}{part('%w')}{LOAD}"
    footprint = only(body).accesses[0].footprint
    assert footprint == whole(footprint.space)


def test_valid_sizes_known_at_run_time_only() -> None:
    dynamic = "!pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=64, v_row=?, v_col=64>"
    body = (
        f"%t = pto.alloc_tile addr = %a0 valid_row = %n : {dynamic}\npto.tabs ins(%t : {dynamic}) outs(%t : {dynamic})"
    )
    for given, valid in ((10, 10), (64, 64), (-3, 0)):
        work = only(body, n=given).work
        assert work is not None
        assert (work.outs[0].rows, work.outs[0].cols) == (valid, 64)


@pytest.mark.parametrize(("slot", "start"), [(0, 4096), (1, 4128), (2, 4160)])
def test_slots_of_a_rotating_tile_are_aligned(slot: int, start: int) -> None:
    """1 x 5 elements of 4 bytes take 20 bytes; slots stand 32 apart in vec."""
    small = "!pto.tile_buf<vec, 1x5xf32>"
    body = (
        "%mt = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 1x5xf32, count=3>\n"
        f"%t = pto.multi_tile_get %mt[%n] : !pto.multi_tile_buf<vec, 1x5xf32, count=3> -> {small}\n"
        f"pto.tabs ins(%t : {small}) outs(%t : {small})"
    )
    assert tile_at(only(body, n=slot)) == start


def test_slot_that_does_not_exist() -> None:
    body = (
        "%mt = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 64x64xf32, count=3>\n"
        "%t = pto.multi_tile_get %mt[%n] : !pto.multi_tile_buf<vec, 64x64xf32, count=3> -> TILE"
    )
    assert refusal(body, n=3) == f"f.pto:{LINE + 1}:1: error: %mt has no slot 3: it has 3"


SUB = "%s = pto.alloc_tile addr = %a0 : TILE\n%t = pto.subview %s[%c16, %c2] sizes [16, 16]"
SMALL = "!pto.tile_buf<vec, 16x16xf32>"


def test_part_of_a_tile_is_its_own_bytes() -> None:
    """Row 16, column 2 of rows of 256 bytes: 16 runs of 64 bytes."""
    instance = only(f"{SUB} : TILE -> {SMALL}\npto.tabs ins(%t : {SMALL}) outs(%t : {SMALL})")
    assert instance.accesses[0].footprint == Footprint(Memory.VEC, 4096 + 16 * 256 + 8, 64, ((16, 256),))
    assert instance.work is not None
    assert instance.work.ins[0].bytes == 16 * 16 * 4


@pytest.mark.parametrize(("given", "rows"), [(5, 5), (40, 16)])
def test_part_of_a_tile_with_valid_sizes(given: int, rows: int) -> None:
    """`valid` counts for the work, not for the bytes; more than the part holds is the whole part."""
    part = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=?, v_col=?>"
    instance = only(f"{SUB} valid [%n, %c2] : TILE -> {part}\npto.tabs ins(%t : {part}) outs(%t : {part})", n=given)
    assert instance.work is not None
    assert (instance.work.ins[0].rows, instance.work.ins[0].cols) == (rows, 2)
    assert instance.accesses[0].footprint.width == 64


@pytest.mark.parametrize(("given", "rows"), [(40, 16), (20, 4), (16, 16), (10, 4), (0, 16)])
def test_part_of_a_tile_has_the_valid_rows_that_are_left_behind_its_first(given: int, rows: int) -> None:
    """From row 16 on: 24 of 40, of which it holds 16; 4 of 20; of 10, which repeat, 4 of the second ten.

    What no valid row leaves is not defined, and counts as all of the part.
    """
    whole = "!pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=64, v_row=?, v_col=64>"
    part = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=?, v_col=16>"
    work = only(
        f"%s = pto.alloc_tile addr = %a0 valid_row = %n : {whole}\n%t = pto.subview %s[%c16, %c2] sizes [16, 16] : "
        f"{whole} -> {part}\npto.tabs ins(%t : {part}) outs(%t : {part})",
        n=given,
    ).work
    assert work is not None
    assert (work.ins[0].rows, work.ins[0].cols) == (rows, 16)


def test_part_of_a_tile_whose_type_says_what_is_valid() -> None:
    part = "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=16, v_row=3, v_col=16>"
    work = only(f"{SUB} : TILE -> {part}\npto.tabs ins(%t : {part}) outs(%t : {part})").work
    assert work is not None
    assert work.ins[0].rows == 3


def boxed(layout: str, offsets: str, sizes: str, shape: str = "64x64xf16", fractal: int = 512) -> Footprint:
    """The bytes of a part of a tile with fractals at 4096."""
    config = f"{layout}, fractal={fractal}"
    whole_tile = f"!pto.tile_buf<mat, {shape}, {config}>"
    part_type = f"!pto.tile_buf<mat, {sizes.replace(', ', 'x')}x{shape.rpartition('x')[2]}, {config}>"
    body = (
        f"%s = pto.alloc_tile addr = %a0 : {whole_tile}\n"
        f"%t = pto.subview %s[{offsets}] sizes [{sizes}] : {whole_tile} -> {part_type}\n"
        f"%l = pto.alloc_tile addr = %a0 : !pto.tile_buf<left, 16x16xf16, slayout=row_major>\n"
        f"pto.textract ins(%t, %c0, %c0 : {part_type}, index, index) outs(%l : !pto.tile_buf<left, 16x16xf16>)"
    )
    return only(body).accesses[0].footprint


NZ, ZN = "blayout=col_major, slayout=row_major", "blayout=row_major, slayout=col_major"
ALL = Footprint(Memory.MAT, 4096, 64 * 64 * 2)


@pytest.mark.parametrize(
    ("layout", "offsets", "sizes", "footprint"),
    [
        # fractals of 16 x 16 follow each other down a column: 16 columns are 64 rows of 32 bytes
        (NZ, "%c0, %c16", "64, 32", Footprint(Memory.MAT, 4096 + 64 * 32, 64 * 64)),
        (ZN, "%c16, %c0", "32, 64", Footprint(Memory.MAT, 4096 + 64 * 32, 64 * 64)),
        # what leaves out part of a column, or divides fractals, is scattered
        (NZ, "%c16, %c0", "32, 64", ALL),
        (NZ, "%c0, %c2", "64, 16", ALL),
        (ZN, "%c0, %c16", "64, 32", ALL),
        (ZN, "%c2, %c0", "16, 64", ALL),
    ],
)
def test_part_of_a_tile_with_fractals(layout: str, offsets: str, sizes: str, footprint: Footprint) -> None:
    assert boxed(layout, offsets, sizes) == footprint


def test_fractals_of_accumulators_are_square() -> None:
    """16 x 16 of 4 bytes: 16 columns are a column of them, which would be 8 in fractals of 512 bytes."""
    found = boxed(NZ, "%c0, %c16", "64, 16", shape="64x64xf32", fractal=1024)
    assert found == Footprint(Memory.MAT, 4096 + 64 * 64, 64 * 64)


def test_scalar_operands_are_noted() -> None:
    """In the order of the text, those that no argument determines as unknown."""
    body = (
        "%t = pto.alloc_tile addr = %a0 : TILE\n"
        "pto.tsetval ins(%n, %scale : index, f32) outs(%t : TILE)\n"
        "pto.tabs ins(%t : TILE) outs(%t : TILE)"
    )
    assert [instance.numbers for instance in trace(body, n=5)] == [(5, UNKNOWN), ()]


def test_part_of_a_part_at_an_unknown_offset_may_be_anywhere_in_the_tile() -> None:
    parts = SUB.replace("%s[%c16, %c2]", "%s[%w, %c0]") + f" : TILE -> {SMALL}\n"
    parts += f"%p = pto.subview %t[%c0, %c0] sizes [8, 8] : {SMALL} -> !pto.tile_buf<vec, 8x8xf32>\n"
    instance = only(f"{UNKNOWN_INDEX}{parts}pto.tabs ins(%p : TILE) outs(%p : TILE)")
    assert instance.accesses[0].footprint == Footprint(Memory.VEC, 4096, 64 * 64 * 4)
