"""What is refused, one test per rule: the exact message."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from syncopt.gen import gemm
from syncopt.gen.gemm import Buffers, Extents, GemmKernel, GlobalLayout, Sync, Tiling
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.source import InputError
from syncopt.ir.types import DType

MACHINE = load_machine("910b2")
LEGAL = GemmKernel("k", Tiling(Extents(128, 256, 256), Extents(128, 256, 64)))


def refusal(kernel: GemmKernel, machine: Machine = MACHINE) -> str:
    with pytest.raises(InputError) as error:
        gemm.text(kernel, machine)
    return str(error.value)


def tiled(l1: Extents, l0: Extents, parts: int = 1, buffers: Buffers | None = None) -> GemmKernel:
    return replace(LEGAL, tiling=Tiling(l1, l0, parts, buffers or Buffers()))


def test_legal_kernel_is_not_refused() -> None:
    assert gemm.broken(LEGAL, MACHINE) is None


def test_name() -> None:
    assert refusal(replace(LEGAL, name="a-b")) == (
        "error: 'a-b' is not the name of a function\n   help: use letters, digits and underscores, no digit in front"
    )


def test_operand_type() -> None:
    assert refusal(replace(LEGAL, dtype=DType.I16)) == (
        "error: the cube does not multiply i16\n   help: operands may be f16, bf16, f32, i8"
    )


@pytest.mark.parametrize(
    ("dtype", "output", "message"),
    [
        (DType.F16, DType.I32, "i32 from an accumulator of f32 is not modelled\n   help: C may be f16, bf16, f32"),
        (DType.I8, DType.F16, "f16 from an accumulator of i32 is not modelled\n   help: C may be i32"),
    ],
)
def test_output_type(dtype: DType, output: DType, message: str) -> None:
    assert refusal(replace(LEGAL, dtype=dtype, output=output)) == f"error: a store that makes {message}"


def test_partial_sums_in_another_type() -> None:
    assert refusal(replace(LEGAL, splits=4, output=DType.F16)) == (
        "error: 4 slices of K leave partial sums, which are stored as f32\n"
        "   help: not f16: convert when the slices are summed up"
    )


@pytest.mark.parametrize(
    ("l1", "l0", "message"),
    [
        ((128, 256, 256), (96, 256, 64), "M = 128 in L1 is not a multiple of M = 96 in L0\n   help: 64 is"),
        ((128, 240, 256), (128, 96, 64), "N = 240 in L1 is not a multiple of N = 96 in L0\n   help: 80 is"),
        ((128, 256, 256), (128, 256, 96), "K = 256 in L1 is not a multiple of K = 96 in L0\n   help: 64 is"),
        ((64, 64, 64), (128, 64, 64), "M = 64 in L1 is not a multiple of M = 128 in L0\n   help: 64 is"),
    ],
)
def test_sizes_that_do_not_divide(l1: tuple[int, int, int], l0: tuple[int, int, int], message: str) -> None:
    expected = f"error: {message} the next size below that divides it"
    assert refusal(tiled(Extents(*l1), Extents(*l0))) == expected


def test_parts_that_do_not_divide() -> None:
    sizes = Extents(128, 128, 64)
    assert (
        refusal(tiled(sizes, sizes, parts=3))
        == "error: 3 parts of B do not divide K = 64 in L1\n   help: 2 parts would"
    )


def test_matmul_deeper_than_a_part() -> None:
    assert refusal(tiled(Extents(128, 128, 128), Extents(128, 128, 128), parts=2)) == (
        "error: a part of B with K = 64 in L1 is not a multiple of K = 128 in L0\n"
        "   help: 64 is the next size below that divides it"
    )


ND, DN = GlobalLayout.ND, GlobalLayout.DN


@pytest.mark.parametrize(
    ("size", "dtype", "a", "b", "message"),
    [
        ((24, 64, 64), DType.F16, ND, DN, "M = 24 in L0 is not a multiple of 16: A in layout ND"),
        ((64, 40, 64), DType.F16, ND, DN, "N = 40 in L0 is not a multiple of 16: B in layout DN"),
        ((64, 64, 24), DType.F16, ND, DN, "K = 24 in L0 is not a multiple of 16: A in layout ND"),
        ((64, 64, 12), DType.F32, ND, DN, "K = 12 in L0 is not a multiple of 8: A in layout ND"),
        ((64, 64, 24), DType.F32, DN, DN, "K = 24 in L0 is not a multiple of 16: A in layout DN"),
        ((64, 64, 24), DType.F32, ND, ND, "K = 24 in L0 is not a multiple of 16: B in layout ND"),
        ((64, 64, 16), DType.I8, ND, DN, "K = 16 in L0 is not a multiple of 32: A in layout ND"),
        ((48, 64, 64), DType.I8, DN, DN, "M = 48 in L0 is not a multiple of 32: A in layout DN"),
        ((64, 48, 64), DType.I8, ND, ND, "N = 48 in L0 is not a multiple of 32: B in layout ND"),
    ],
)
def test_sizes_that_are_no_whole_fractals(
    size: tuple[int, int, int], dtype: DType, a: GlobalLayout, b: GlobalLayout, message: str
) -> None:
    """A fractal has 16 rows of 32 bytes: 16 fp16, 8 fp32, 32 int8; transposing takes squares of 16, of 32 for int8."""
    kernel = replace(tiled(Extents(*size), Extents(*size)), dtype=dtype, a_layout=a, b_layout=b)
    assert refusal(kernel) == f"error: {message} is extracted in whole fractals of {dtype.spelling}"


@pytest.mark.parametrize(("dtype", "k"), [(DType.F32, 8), (DType.F16, 16), (DType.I8, 32)])
def test_smallest_depth(dtype: DType, k: int) -> None:
    """One row of a fractal in K, and 48 columns, which only a transposing extract of int8 refuses."""
    sizes = Extents(64, 48, k)
    assert gemm.broken(replace(tiled(sizes, sizes), dtype=dtype), MACHINE) is None


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            tiled(Extents(128, 256, 512), Extents(128, 256, 64)),
            # 2 * 128 * 512 * 2 + 2 * 512 * 256 * 2 = 262,144 + 524,288
            "L1 (mat): 786,432 of 524,288 bytes (262,144 too many): 2 x A of 131,072, 2 x B of 262,144\n"
            "   help: use smaller tiles in L1, one buffer for A or B, or more parts of B",
        ),
        (
            tiled(Extents(256, 128, 128), Extents(256, 128, 128)),
            "L0A (left): 131,072 of 65,536 bytes (65,536 too many): 2 x A of 65,536\n"
            "   help: use a smaller M or K in L0, or one buffer for L0A",
        ),
        (
            tiled(Extents(128, 256, 128), Extents(128, 256, 128)),
            "L0B (right): 131,072 of 65,536 bytes (65,536 too many): 2 x B of 65,536\n"
            "   help: use a smaller K or N in L0, or one buffer for L0B",
        ),
        (
            tiled(Extents(128, 256, 64), Extents(64, 256, 64), buffers=Buffers(l0c=2)),
            # each of the two buffers is a tile of C of two matmuls: 4 * 64 * 256 * 4
            "L0C (acc): 262,144 of 131,072 bytes (131,072 too many): 4 x C of 65,536\n"
            "   help: use a smaller M or N in L1, or one buffer for L0C",
        ),
    ],
)
def test_tiles_that_do_not_fit(kernel: GemmKernel, message: str) -> None:
    assert refusal(kernel) == f"error: the tiles do not fit {message}"


def test_machine_with_less_memory() -> None:
    """(128 + 256) * 256 * 2 bytes, twice."""
    small = MACHINE.with_figure("memory.mat.bytes", 393215)
    assert refusal(LEGAL, small).splitlines()[0] == (
        "error: the tiles do not fit L1 (mat): 393,216 of 393,215 bytes (1 too many): 2 x A of 65,536, 2 x B of 131,072"
    )
    assert gemm.broken(LEGAL, MACHINE.with_figure("memory.mat.bytes", 393216)) is None


def test_step_of_too_many_matmuls() -> None:
    """8 * 8 * 8 of them."""
    assert refusal(tiled(Extents(128, 128, 128), Extents(16, 16, 16))) == (
        "error: a K step of 128x128x128 takes 512 matmuls of 16x16x16, which are all written out\n"
        "   help: use sizes that take 256 or fewer"
    )


def test_more_event_ids_than_the_machine_has() -> None:
    """Two tiles of A and two of B."""
    machine = MACHINE.with_figure("flag.event_ids", 3)
    assert refusal(replace(LEGAL, sync=Sync.HAND), machine) == (
        "error: flags placed by hand need 4 event ids MTE2->MTE1, 910b2 has 3\n   help: use fewer buffers, or no flags"
    )
    assert gemm.broken(LEGAL, machine) is None


@pytest.mark.parametrize(
    "tiling",
    [
        Tiling(Extents(64, 64, 32), Extents(64, 64, 16), 1, Buffers(l0a=1)),
        Tiling(Extents(64, 128, 32), Extents(64, 64, 16)),
        Tiling(Extents(128, 64, 32), Extents(64, 64, 16)),
    ],
)
def test_shared_id_without_pairs(tiling: Tiling) -> None:
    """Extracts into a second tile of L0B need not wait for any matmul: two events, and no wait in between."""
    assert refusal(replace(LEGAL, tiling=tiling, sync=Sync.HAND_SHARED)) == (
        "error: one event id for all MTE1->M flags has no form without pairs of tiles in L0A and L0B\n"
        "   help: use as many buffers in both and M and N of L1 in L0, or ids for each buffer"
    )
    assert gemm.broken(replace(LEGAL, tiling=tiling, sync=Sync.HAND), MACHINE) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Extents(0, 1, 1),
        lambda: Buffers(a=3),
        lambda: Tiling(Extents(1, 1, 1), Extents(1, 1, 1), 0),
        lambda: replace(LEGAL, panel=-1),
        lambda: replace(LEGAL, splits=0),
    ],
)
def test_impossible_values(make: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="impossible"):
        make()
