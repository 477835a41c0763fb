"""What follows from the parts of a kernel."""

import pytest

from syncopt.gen.gemm import Extents, GemmKernel, Tiling, default_output, element_type, operand_type
from syncopt.ir.source import InputError
from syncopt.ir.types import DType


def test_sizes_of_a_tiling() -> None:
    """Two parts of 256 rows of B; 512 / 64 phases for each of 2 x 2 accumulators."""
    tiling = Tiling(Extents(128, 256, 512), Extents(64, 128, 64), 2)
    assert (tiling.b_k, tiling.rows, tiling.columns, tiling.k_phases, tiling.matmuls) == (256, 2, 2, 8, 32)
    assert str(tiling.l1) == "128x256x512"


@pytest.mark.parametrize(
    ("dtype", "splits", "output"),
    [
        (DType.F16, 1, DType.F16),
        (DType.BF16, 1, DType.BF16),
        (DType.F32, 1, DType.F32),
        (DType.I8, 1, DType.I32),
        (DType.F16, 2, DType.F32),
        (DType.I8, 2, DType.I32),
    ],
)
def test_default_output(dtype: DType, splits: int, output: DType) -> None:
    assert default_output(dtype, splits) is output


def test_slices_multiply_what_k_must_be_a_multiple_of() -> None:
    sizes = Extents(64, 64, 32)
    assert GemmKernel("k", Tiling(sizes, sizes), splits=3).k_multiple == 96


def test_element_type() -> None:
    assert element_type("bf16") is DType.BF16
    with pytest.raises(InputError, match="no element type 'half'"):
        element_type("half")


@pytest.mark.parametrize("spelling", ["i16", "half", ""])
def test_operand_type(spelling: str) -> None:
    assert operand_type("i8") is DType.I8
    with pytest.raises(InputError, match=f"the cube does not multiply {spelling}") as refused:
        operand_type(spelling)
    assert refused.value.help == "operands may be f16, bf16, f32, i8"
