"""Costs worked out by hand from the figures of the 910B2, in the order of the costs in docs/model.md."""

from fractions import Fraction

import pytest

from syncopt.hwmodel import Cost, Machine, UnmodelledWork, load_machine
from syncopt.ir.optable import lookup
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.types import DType, Layout
from syncopt.ir.work import Operand, Work

GM, MAT, LEFT, RIGHT = Memory.GM, Memory.MAT, Memory.LEFT, Memory.RIGHT
ACC, VEC, BIAS, SCALING = Memory.ACC, Memory.VEC, Memory.BIAS, Memory.SCALING
F16, F32, I8, I32, UI8, UI64 = DType.F16, DType.F32, DType.I8, DType.I32, DType.UI8, DType.UI64


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def tile(memory: Memory, rows: int, cols: int, dtype: DType = F16) -> Operand:
    return Operand(memory, dtype, rows, cols)


def column_major(rows: int, cols: int, dtype: DType = F16) -> Operand:
    """A mat tile that was loaded column-major, as for a DN operand."""
    return Operand(MAT, dtype, rows, cols, Layout.ROW_MAJOR, Layout.COL_MAJOR)


def row_major(rows: int, cols: int, dtype: DType = F16) -> Operand:
    """A mat tile that was loaded row-major, as for an ND operand."""
    return Operand(MAT, dtype, rows, cols, Layout.COL_MAJOR, Layout.ROW_MAJOR)


def work(name: str, ins: tuple[Operand, ...], outs: tuple[Operand, ...], pipe: Pipe | None = None) -> Work:
    row = lookup(f"pto.{name}")
    found = row.pipe(tuple(i.memory for i in ins), tuple(o.memory for o in outs)) if row else None
    assert pipe is not None or found is not None
    return Work(f"pto.{name}", pipe or found or Pipe.ALL, ins, outs)


def vector(name: str, rows: int, cols: int, dtype: DType = F32, ins: int = 2) -> Work:
    operand = tile(VEC, rows, cols, dtype)
    return work(name, (operand,) * ins, (operand,))


def matmul(m: int, k: int, n: int, dtype: DType = F16, name: str = "tmatmul") -> Work:
    acc = tile(ACC, m, n, F32)
    ins = (tile(LEFT, m, k, dtype), tile(RIGHT, k, n, dtype))
    return work(name, (acc, *ins) if name.endswith(".acc") else ins, (acc,))


# Transfers


def test_load_to_mat(machine: Machine):
    """128 x 512 fp16 = 131072 B at 85 B/cycle = 1542.02; 270 latency overlaps the next load."""
    load = work("tload", (tile(GM, 128, 512),), (tile(MAT, 128, 512),))
    assert machine.cost(load) == Cost(1543, 270)


def test_load_counts_the_bytes_of_the_view(machine: Machine):
    """100 x 85 fp16 = 17000 B at 85 B/cycle = 200 exactly, whatever the tile's valid part is."""
    load = work("tload", (tile(GM, 100, 85),), (tile(MAT, 128, 512),))
    assert machine.cost(load) == Cost(200, 270)


def test_load_to_vec(machine: Machine):
    """64 x 64 fp32 = 16384 B at 58.6 B/cycle = 279.59."""
    load = work("tload", (tile(GM, 64, 64, F32),), (tile(VEC, 64, 64, F32),))
    assert machine.cost(load) == Cost(280, 264)


def test_rates_are_exact_decimals(machine: Machine):
    """29300 B at 58.6 B/cycle = 500 exactly; a binary fraction would give 501."""
    view = tile(GM, 1, 29300, UI8)
    assert machine.cost(work("tload", (view,), (tile(VEC, 1, 29300, UI8),))) == Cost(500, 264)
    assert machine.value("gm_to_vec.bytes_per_cycle") == Fraction(586, 10)


def test_extract_to_left(machine: Machine):
    """12 + 16384/256 = 76, by the destination's bytes."""
    assert machine.cost(work("textract", (row_major(128, 512),), (tile(LEFT, 128, 64),))) == Cost(76)


def test_move_to_left(machine: Machine):
    """12 + 100*10*2/256 = 19.8."""
    assert machine.cost(work("tmov", (row_major(100, 10),), (tile(LEFT, 100, 10),))) == Cost(20)


def test_extract_to_right_from_a_row_major_load(machine: Machine):
    """12 + 32768/128 = 268, one entry."""
    assert machine.cost(work("textract", (row_major(256, 256),), (tile(RIGHT, 64, 256),))) == Cost(268)


def test_extract_to_right_from_a_column_major_load(machine: Machine):
    """K=64, N=256, fp16: min(64*2/32, 256/16) = 4 entries; 12 + 8*3 + 256 = 292."""
    extract = work("textract", (column_major(256, 256),), (tile(RIGHT, 64, 256),))
    assert machine.cost(extract) == Cost(292, 0, 4)


@pytest.mark.parametrize(
    ("k", "n", "dtype", "entries"),
    [(64, 32, F16, 2), (256, 64, F16, 4), (64, 256, F32, 8), (64, 256, I8, 2), (8, 8, F16, 1), (20, 256, F16, 2)],
)
def test_entries_of_an_extract_to_right(machine: Machine, k: int, n: int, dtype: DType, entries: int):
    """The lesser of K*size/32 and N/16, parts of a fractal counting whole."""
    extract = work("textract", (column_major(512, 512, dtype),), (tile(RIGHT, k, n, dtype),))
    assert machine.cost(extract).entries == entries


@pytest.mark.parametrize(
    ("blayout", "slayout"),
    [
        (Layout.COL_MAJOR, Layout.COL_MAJOR),
        (Layout.ROW_MAJOR, Layout.ROW_MAJOR),
        (Layout.ROW_MAJOR, Layout.NONE_BOX),
    ],
)
def test_other_layouts_take_one_entry(machine: Machine, blayout: Layout, slayout: Layout):
    source = Operand(MAT, F16, 256, 256, blayout, slayout)
    assert machine.cost(work("textract", (source,), (tile(RIGHT, 64, 256),))) == Cost(268)


def test_layout_of_the_destination_does_not_matter(machine: Machine):
    destination = Operand(RIGHT, F16, 64, 256, Layout.ROW_MAJOR, Layout.COL_MAJOR)
    assert machine.cost(work("textract", (row_major(256, 256),), (destination,))).entries == 1


def test_move_to_right_takes_one_entry(machine: Machine):
    assert machine.cost(work("tmov", (column_major(64, 256),), (tile(RIGHT, 64, 256),))) == Cost(268)


def test_store_of_fp32(machine: Machine):
    """150 + 131072/75 = 1897.6."""
    assert machine.cost(work("tstore", (tile(ACC, 128, 256, F32),), (tile(GM, 128, 256, F32),))) == Cost(1898)


def test_store_converts_to_fp16(machine: Machine):
    """The output's bytes count: 150 + 65536/75 = 1023.8."""
    assert machine.cost(work("tstore", (tile(ACC, 128, 256, F32),), (tile(GM, 128, 256),))) == Cost(1024)


def test_store_with_scales(machine: Machine):
    """150 + 7500/75 = 250."""
    store = work("tstore_fp", (tile(ACC, 75, 100, F32), tile(SCALING, 1, 100)), (tile(GM, 75, 100, I8),))
    assert machine.cost(store) == Cost(250)


def test_accumulator_to_mat(machine: Machine):
    """150 + 65536/74 = 1035.6."""
    assert machine.cost(work("tmov", (tile(ACC, 128, 256, F32),), (tile(MAT, 128, 256),))) == Cost(1036)
    move = work("tmov.fp", (tile(ACC, 128, 256, F32), tile(SCALING, 1, 256)), (tile(MAT, 128, 256),))
    assert machine.cost(move) == Cost(1036)


def test_insert_moves_the_part_that_it_writes(machine: Machine):
    """16 x 37 fp16 into a larger tile: 150 + 1184/74 = 166."""
    assert machine.cost(work("tinsert", (tile(ACC, 16, 37, F32),), (tile(MAT, 128, 256),))) == Cost(166)


def test_extract_from_the_accumulator_moves_the_part_that_it_writes(machine: Machine):
    assert machine.cost(work("textract", (tile(ACC, 128, 256, F32),), (tile(MAT, 16, 37),))) == Cost(166)


def test_store_of_vec(machine: Machine):
    """100 + 16384/109 = 250.3."""
    assert machine.cost(work("tstore", (tile(VEC, 64, 64, F32),), (tile(GM, 64, 64, F32),))) == Cost(251)


@pytest.mark.parametrize(
    ("name", "source", "destination"),
    [
        ("tmov", tile(MAT, 1, 128, F32), tile(BIAS, 1, 128, F32)),
        ("tmov", tile(MAT, 1, 256), tile(BIAS, 1, 256, F32)),
        ("textract", tile(MAT, 1, 1024, F32), tile(BIAS, 1, 128, F32)),
        ("tmov", tile(MAT, 1, 64, UI64), tile(SCALING, 1, 64, UI64)),
        ("textract", tile(MAT, 1, 1024, UI64), tile(SCALING, 1, 64, UI64)),
    ],
)
def test_move_to_the_tables(machine: Machine, name: str, source: Operand, destination: Operand):
    """512 bytes are read: 512/18.6 = 27.5. What is widened or left in L1 does not count."""
    assert machine.cost(work(name, (source,), (destination,))) == Cost(28)


@pytest.mark.parametrize(("rate", "cycles"), [("mat_to_bias", 8), ("mat_to_scaling", 28)])
def test_each_table_has_a_rate_of_its_own(machine: Machine, rate: str, cycles: int):
    """512/64 = 8."""
    move = work("tmov", (tile(MAT, 1, 128, F32),), (tile(BIAS, 1, 128, F32),))
    assert machine.with_figure(f"{rate}.bytes_per_cycle", 64).cost(move) == Cost(cycles)


# Matrix products


def test_matmul(machine: Machine):
    """128 x 256 x 64 fp16: 14 + 8*4*16 = 526 (measured 524.5)."""
    assert machine.cost(matmul(128, 64, 256)) == Cost(526)
    assert machine.cost(matmul(128, 64, 256, name="tmatmul.acc")) == Cost(526)


def test_matmul_of_fp32(machine: Machine):
    """8 elements of k per fractal and twice the time: 14 + 2*8*8*16 = 2062."""
    assert machine.cost(matmul(128, 64, 256, F32)) == Cost(2062)


def test_matmul_of_int8(machine: Machine):
    """32 elements of k per fractal: 14 + 8*2*16 = 270."""
    assert machine.cost(matmul(128, 64, 256, I8)) == Cost(270)


def test_matmul_rounds_each_dimension_up(machine: Machine):
    """17 x 33 x 1 fp16 as (m, k, n): 14 + 2*3*1 = 20."""
    assert machine.cost(matmul(17, 33, 1)) == Cost(20)


def test_matmul_with_bias(machine: Machine):
    ins = (tile(LEFT, 128, 64), tile(RIGHT, 64, 256), tile(BIAS, 1, 256, F32))
    assert machine.cost(work("tmatmul.bias", ins, (tile(ACC, 128, 256, F32),))) == Cost(526)


def test_gemv(machine: Machine):
    """One row takes a whole fractal: 14 + 1*4*16 = 78."""
    assert machine.cost(matmul(1, 64, 256, name="tgemv")) == Cost(78)


# Vector ops: 64 x 64 fp32 is 16384 B, 64 repeats


@pytest.mark.parametrize(
    ("name", "ins", "expected"),
    [
        ("tadd", 2, Cost(2 * 64, 10 + 14)),
        ("trowexpandmul", 2, Cost(2 * 64, 10 + 14)),
        ("taxpy", 1, Cost(2 * 64, 10 + 14)),
        ("tadds", 1, Cost(64, 12 + 14)),
        ("tabs", 1, Cost(64, 12 + 14)),
        ("tmov", 1, Cost(64, 12 + 14)),
        ("texp", 1, Cost(2 * 64, 13 + 18)),
        ("tlog", 1, Cost(2 * 64, 13 + 18)),
        ("tsqrt", 1, Cost(2 * 64, 13 + 18)),
        ("tdiv", 2, Cost(4 * 64, 11 + 19)),
        ("tcvt", 1, Cost(2 * 64, 14 + 18)),
        ("trowsum", 1, Cost(7 * 64, 14 + 24)),
        ("tcolmax", 1, Cost(2 * 64, 14 + 24)),
        ("tgather", 1, Cost(14 * 64, 14 + 20)),
    ],
)
def test_vector_op(machine: Machine, name: str, ins: int, expected: Cost):
    assert machine.cost(vector(name, 64, 64, ins=ins)) == expected


def test_gather_by_indices_has_no_figure(machine: Machine):
    """Only the gather by a mask, from one source, has a published cost."""
    with pytest.raises(UnmodelledWork, match="has no published cost"):
        machine.cost(vector("tgather", 64, 64, ins=2))


def test_repeats_are_rounded_up(machine: Machine):
    """1 x 65 fp32 = 260 B takes two repeats; slope 2."""
    assert machine.cost(vector("tadd", 1, 65)).occupancy == 4


def test_the_largest_operand_gives_the_repeats(machine: Machine):
    """fp16 to fp32: 8192 B become 16384 B, 64 repeats; a row sum reads 16384 B and writes little."""
    convert = work("tcvt", (tile(VEC, 64, 64, F16),), (tile(VEC, 64, 64, F32),))
    assert machine.cost(convert).occupancy == 128
    scratch = tile(VEC, 64, 256, F32)
    row_sum = work("trowsum", (tile(VEC, 64, 64, F32), scratch), (tile(VEC, 64, 1, F32),))
    assert machine.cost(row_sum).occupancy == 448


def test_fill(machine: Machine):
    """A fill has no tile operand but its destination."""
    assert machine.cost(work("texpands", (), (tile(VEC, 64, 64, F32),))) == Cost(64, 26)


def test_fractional_slope_is_rounded_once(machine: Machine):
    """1.5 cycles per repeat and 3 repeats: 4.5, not 3 * 2."""
    odd = machine.with_figure("vector.binary.slope", Fraction(3, 2))
    assert odd.cost(vector("tadd", 3, 64)).occupancy == 5


# Scalar ops


def test_scalar_ops_cost_what_their_figure_says(machine: Machine):
    get = work("tgetval", (tile(VEC, 8, 8),), ())
    assert machine.cost(get) == Cost(0)
    assert machine.with_figure("scalar.access", 7).cost(get) == Cost(7)


def test_scalar_loops_cost_by_element(machine: Machine):
    ramp = work("tci", (), (tile(VEC, 1, 64, I32),))
    assert machine.cost(ramp) == Cost(0)
    assert machine.with_figure("scalar.element", 3).cost(ramp) == Cost(192)


# What is not modelled


@pytest.mark.parametrize(
    ("name", "ins", "outs", "pipe", "message"),
    [
        ("tsort32", (VEC, VEC), (VEC,), Pipe.V, "pto.tsort32 (vec, vec -> vec) has no published cost"),
        ("tci", (VEC,), (VEC,), Pipe.V, "pto.tci (vec -> vec) has no published cost"),
        ("texpands", (), (MAT,), Pipe.MTE2, "pto.texpands (nothing -> mat) has no published cost"),
        ("tfillpad", (MAT,), (MAT,), Pipe.MTE2, "pto.tfillpad (mat -> mat) has no published cost"),
        ("tprefetch", (GM,), (VEC,), Pipe.MTE2, "pto.tprefetch (gm -> vec) has no published cost"),
        ("mgather", (GM, VEC), (MAT,), Pipe.MTE2, "pto.mgather (gm, vec -> mat) has no published cost"),
        ("tstore", (MAT,), (GM,), Pipe.MTE3, "pto.tstore (mat -> gm) has no published cost"),
        ("tadd", (VEC, VEC), (VEC,), Pipe.M, "pto.tadd (vec, vec -> vec) is not a form that runs on M"),
        ("tmov", (ACC,), (VEC,), Pipe.FIX, "pto.tmov (acc -> vec) is not a form that runs on FIX"),
        ("tpow", (VEC,), (VEC,), Pipe.V, "pto.tpow (vec -> vec) is not an op that the machine model knows"),
    ],
)
def test_unmodelled_work(
    machine: Machine, name: str, ins: tuple[Memory, ...], outs: tuple[Memory, ...], pipe: Pipe, message: str
):
    refused = work(name, tuple(tile(m, 16, 16) for m in ins), tuple(tile(m, 16, 16) for m in outs), pipe)
    with pytest.raises(UnmodelledWork) as error:
        machine.cost(refused)
    assert error.value.message == message
    assert error.value.work is refused


@pytest.mark.parametrize("figures", [(-1, 0, 1), (0, -1, 1), (0, 0, 0)])
def test_impossible_cost(figures: tuple[int, int, int]):
    with pytest.raises(ValueError, match="impossible cost"):
        Cost(*figures)
