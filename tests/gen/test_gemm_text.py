"""The text of small kernels: order of instructions, flags, buffers, views."""

import pytest

from syncopt.gen.gemm import Buffers, Extents, GemmKernel, GlobalLayout, Sync, Tiling
from syncopt.ir.types import DType
from tests.gen.skeleton import between, lines_of, skeleton

SINGLE = Buffers(1, 1, 1, 1)
SMALL = Extents(64, 64, 16)


def kernel(
    l1: Extents, buffers: Buffers = SINGLE, parts: int = 1, sync: Sync = Sync.NONE, splits: int = 1
) -> GemmKernel:
    """A GEMM in fp16 with matmuls of 64 x 64 x 16."""
    return GemmKernel("k", Tiling(l1, SMALL, parts, buffers), sync=sync, splits=splits)


def test_single_buffers_without_flags() -> None:
    """Two K phases per step; the first matmul of a tile of C overwrites what is in L0C, all others add to it."""
    assert (
        skeleton(kernel(Extents(64, 64, 32)))
        == """\
for tile
  load a_l1 a_first
  for k
    load b_l1 b_step
    extract a_l0 a_l1 0 0
    extract b_l0 b_l1 0 0
    if is_first
      matmul c_l0 a_l0 b_l0
    else
      matmul.acc c_l0 c_l0 a_l0 b_l0
    extract a_l0 a_l1 0 16
    extract b_l0 b_l1 16 0
    matmul.acc c_l0 c_l0 a_l0 b_l0
    if has_next
      load a_l1 a_next
  store c_tile c_l0"""
    )


def test_flags_of_single_buffers() -> None:
    """One phase: every buffer is taken, filled, used and given back once per step; all tokens are taken back."""
    assert (
        skeleton(kernel(SMALL, sync=Sync.HAND))
        == """\
M->MTE1 0 set
MTE1->MTE2 0 set
MTE1->MTE2 1 set
for tile
  if not_first_tile
    FIX->M 0 wait
  MTE1->MTE2 0 wait
  load a_l1 a_first
  MTE2->MTE1 0 set
  for k
    MTE1->MTE2 1 wait
    load b_l1 b_step
    MTE2->MTE1 1 set
    M->MTE1 0 wait
    MTE2->MTE1 0 wait
    extract a_l0 a_l1 0 0
    MTE1->MTE2 0 set
    MTE2->MTE1 1 wait
    extract b_l0 b_l1 0 0
    MTE1->M 0 set
    MTE1->MTE2 1 set
    MTE1->M 0 wait
    if is_first
      matmul c_l0 a_l0 b_l0
    else
      matmul.acc c_l0 c_l0 a_l0 b_l0
    M->MTE1 0 set
    if has_next
      MTE1->MTE2 0 wait
      load a_l1 a_next
      MTE2->MTE1 0 set
  M->FIX 0 set
  M->FIX 0 wait
  store c_tile c_l0
  if has_next_tile
    FIX->M 0 set
MTE1->MTE2 0 wait
MTE1->MTE2 1 wait
M->MTE1 0 wait
barrier #pto.pipe<PIPE_ALL>"""
    )


def test_parts_of_an_odd_number_alternate_over_steps() -> None:
    """Three parts of B on two buffers: an odd step begins with the second one."""
    text = skeleton(kernel(Extents(64, 64, 48), Buffers(1, 2, 1, 1), parts=3))
    loads = [line.split() for line in text.splitlines() if line.strip().startswith("load b")]
    assert [(tile, part) for _, tile, part in loads] == [
        *(("b0_l1", "b_part0"), ("b1_l1", "b_part1"), ("b0_l1", "b_part2")),
        *(("b1_l1", "b_part0"), ("b0_l1", "b_part1"), ("b1_l1", "b_part2")),
    ]


def test_buffers_that_are_used_evenly_need_no_branch() -> None:
    """One buffer of A, two parts of B, two phases: every step begins with the first buffers."""
    assert "is_even" not in skeleton(kernel(Extents(64, 64, 32), Buffers(1, 2, 2, 2), parts=2))


def test_part_of_a_serves_all_columns() -> None:
    """Two columns of matmuls: the tile in L0A is extracted once and given back behind the second matmul."""
    text = skeleton(kernel(Extents(64, 128, 16), Buffers(1, 1, 1, 2), sync=Sync.HAND))
    assert (
        between(text, "extract a_l0 a_l1 0 0", "M->MTE1 2 set")
        == """\
extract a_l0 a_l1 0 0
MTE1->MTE2 0 set
M->MTE1 1 wait
MTE2->MTE1 1 wait
extract b0_l0 b_l1 0 0
MTE1->M 0 set
MTE1->M 0 wait
if is_first
  matmul c_l0_0_0 a_l0 b0_l0
else
  matmul.acc c_l0_0_0 c_l0_0_0 a_l0 b0_l0
M->MTE1 1 set
M->MTE1 2 wait
extract b1_l0 b_l1 0 64
MTE1->M 1 set
MTE1->MTE2 1 set
MTE1->M 1 wait
if is_first
  matmul c_l0_0_1 a_l0 b1_l0
else
  matmul.acc c_l0_0_1 c_l0_0_1 a_l0 b1_l0
M->MTE1 0 set
M->MTE1 2 set"""
    )
    assert "store c_tile_0_0 c_l0_0_0\n  store c_tile_0_1 c_l0_0_1\n" in text


def test_two_buffers_of_c_alternate_over_tiles() -> None:
    """A buffer is waited for from the third tile on, and given back if the tile after the next is this block's."""
    made = kernel(SMALL, Buffers(1, 1, 1, 1, 2), sync=Sync.HAND)
    text = skeleton(made)
    for place, branch in enumerate(text.split("if is_even_tile")[1].split("\n  else\n")):
        lines = [line.strip() for line in branch.splitlines() if "FIX" in line or "matmul" in line or "store" in line]
        assert lines == [
            f"FIX->M {place} wait",
            f"matmul c{place}_l0 a_l0 b_l0",
            f"matmul.acc c{place}_l0 c{place}_l0 a_l0 b_l0",
            f"M->FIX {place} set",
            f"M->FIX {place} wait",
            f"store c_tile c{place}_l0",
            f"FIX->M {place} set",
        ]
    lines = lines_of(made)
    assert "%not_first_tile = arith.cmpi sge, %ordinal, %c2 : index" in lines
    assert "%two_rounds = arith.muli %block_num, %c2 : index" in lines
    assert "%next_tile = arith.addi %tile, %two_rounds : index" in lines


@pytest.mark.parametrize(("sync", "ids"), [(Sync.HAND, {"0", "1"}), (Sync.HAND_SHARED, {"0"})])
def test_event_ids_between_extracts_and_matmuls(sync: Sync, ids: set[str]) -> None:
    text = skeleton(kernel(Extents(64, 64, 32), Buffers(), sync=sync))
    assert {line.split()[1] for line in text.splitlines() if "MTE1->M " in line} == ids


@pytest.mark.parametrize(("m", "n", "barriers"), [(32, 64, 2), (32, 80, 0)])
def test_small_accumulators_get_barriers(m: int, n: int, barriers: int) -> None:
    """2 x 4 fractals of 16 x 16 are fewer than ten, 2 x 5 are not; two K phases per step."""
    made = GemmKernel("k", Tiling(Extents(m, n, 32), Extents(m, n, 16), 1, SINGLE), sync=Sync.HAND)
    assert skeleton(made).count("barrier <PIPE_M>") == barriers


@pytest.mark.parametrize(
    ("layout", "a_view", "a_tile", "b_view", "b_tile"),
    [
        (
            GlobalLayout.ND,
            "strides = [%k_size, %c1] :",
            "blayout=col_major, slayout=row_major",
            "strides = [%n_size, %c1] :",
            "blayout=col_major, slayout=row_major",
        ),
        (
            GlobalLayout.DN,
            "strides = [%c1, %m_size] {layout = #pto.layout<dn>} :",
            "blayout=row_major, slayout=col_major",
            "strides = [%c1, %k_size] {layout = #pto.layout<dn>} :",
            "blayout=row_major, slayout=col_major",
        ),
    ],
)
def test_layouts(layout: GlobalLayout, a_view: str, a_tile: str, b_view: str, b_tile: str) -> None:
    """Rows behind one another make a tile of row-major fractals, columns one of column-major fractals."""
    lines = lines_of(GemmKernel("k", Tiling(SMALL, SMALL, 1, SINGLE), a_layout=layout, b_layout=layout))
    for start, part in (("%a_gm =", a_view), ("%a_l1 =", a_tile), ("%b_gm =", b_view), ("%b_l1 =", b_tile)):
        (line,) = [line for line in lines if line.startswith(start)]
        assert part in line


@pytest.mark.parametrize(
    ("dtype", "output", "accumulator", "stored"),
    [
        (DType.F16, None, "f32", "f16"),
        (DType.F16, DType.F32, "f32", "f32"),
        (DType.BF16, None, "f32", "bf16"),
        (DType.F32, None, "f32", "f32"),
        (DType.I8, None, "i32", "i32"),
    ],
)
def test_types(dtype: DType, output: DType | None, accumulator: str, stored: str) -> None:
    sizes = Extents(64, 64, 32)
    lines = lines_of(GemmKernel("k", Tiling(sizes, sizes, 1, SINGLE), dtype, output))
    operand = dtype.spelling
    pointers = f"%a: !pto.ptr<{operand}>, %b: !pto.ptr<{operand}>, %c: !pto.ptr<{stored}>"
    assert lines[1] == f"func.func @k({pointers}, %M: i32, %N: i32, %K: i32) {{"
    (allocation,) = [line for line in lines if line.startswith("%c_l0 =")]
    assert f"loc=acc, dtype={accumulator}, rows=64, cols=64" in allocation
    assert sum(f"outs(%c_tile : !pto.partition_tensor_view<64x64x{stored}>)" in line for line in lines) == 1


def test_slices_of_k_go_to_a_workspace() -> None:
    """Slice s begins s * slice_steps steps into K and stores at row s * M + m_offset of matrices below each other."""
    lines = lines_of(kernel(SMALL, splits=3))
    assert "%w: !pto.ptr<f32>, %M: i32" in lines[1]
    for line in (
        "%w_rows = arith.muli %m_size, %c3 : index",
        "%slice_steps = arith.divsi %k_steps, %c3 : index",
        "%items = arith.muli %tiles, %c3 : index",
        "scf.for %item = %block_idx to %items step %block_num {",
        "%slice = arith.divsi %item, %tiles : index",
        "%tile = arith.remsi %item, %tiles : index",
        "%slice_start = arith.muli %slice, %slice_steps : index",
        "%slice_offset = arith.muli %slice_start, %c16 : index",
        "scf.for %k = %c0 to %slice_steps step %c1 {",
        "%w_row = arith.muli %slice, %m_size : index",
        "%w_offset = arith.addi %w_row, %m_offset : index",
    ):
        assert line in lines, line


def test_tiles_row_by_row_or_in_panels() -> None:
    row_by_row = lines_of(kernel(SMALL))
    assert "%m_tile = arith.divsi %tile, %n_tiles : index" in row_by_row
    assert "%n_tile = arith.remsi %tile, %n_tiles : index" in row_by_row
    panels = lines_of(GemmKernel("k", Tiling(SMALL, SMALL, 1, SINGLE), panel=3))
    assert "%panel_tiles = arith.muli %c3, %m_tiles : index" in panels
    assert "%m_tile = arith.select %is_backwards, %m_backwards, %m_forwards : index" in panels


def test_every_constant_is_used() -> None:
    lines = lines_of(kernel(Extents(64, 128, 32), Buffers(), sync=Sync.HAND))
    constants = [line.split()[0] for line in lines if "arith.constant" in line]
    assert constants == ["%c0", "%c1", "%c2", "%c16", "%c32", "%c64", "%c128"]
    for name in constants:
        assert sum(name in line.replace(",", " ").replace("]", " ").split() for line in lines) > 1, name
