"""What a core multiplies and loads, and how large the operands are."""

from pathlib import Path

import pytest

from syncopt.api import Job, Subject, Traffic, load_machine, traffic
from syncopt.api._job import read

GEMM = Path(__file__).parents[2] / "instances" / "gemm"
STREAM = Path(__file__).parents[1] / "cli" / "kernels" / "stream.pto"
VIEW = "!pto.tensor_view<?x?xf32>"
PART = "!pto.partition_tensor_view<64x64xf32>"
TILE = "!pto.tile_buf<vec, 64x64xf32>"


def subject(path: Path, *arguments: int, text: str = "") -> Subject:
    return read(Job(path, load_machine("910b2"), arguments=arguments, text=text.encode() or None))


@pytest.mark.parametrize("name", ["single_buffered", "hand_synchronised"])
def test_gemm(name: str) -> None:
    """M = 256, N = 8192, K = 1024: 64 tiles of C, 3 for core 0, in two K steps of eight 128 x 256 x 64 matmuls.

    A step loads A of 128 x 512 and B of 512 x 256 fp16 in two parts. A is 256 x 1024, B 8192 x 1024.
    """
    found = traffic(subject(GEMM / f"{name}.pto", 256, 8192, 1024))
    assert found == Traffic(
        matmuls=3 * 2 * 8,
        products=3 * 2 * 8 * 128 * 256 * 64,
        loads=3 * 2 * 3,
        loaded_bytes=3 * 2 * (128 + 256) * 512 * 2,
        operand_bytes=(256 + 8192) * 1024 * 2,
    )


def test_vector_kernel() -> None:
    """Five rounds load a block of 64 x 64 f32 from x and from x2; both are 320 x 64. What is stored does not count."""
    found = traffic(subject(STREAM, 5))
    assert found == Traffic(0, 0, loads=10, loaded_bytes=10 * 16384, operand_bytes=2 * 320 * 64 * 4)


def loading(shape: str) -> Traffic:
    """A kernel that loads once from a view of the given rows."""
    return traffic(
        subject(
            Path("one.pto"),
            4,
            text=f"""
func.func @one(%x: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %unknown = arith.divsi %n, %c0 : index
  %xv = pto.make_tensor_view %x, shape = [{shape}, %c64], strides = [%c64, %c1] : {VIEW}
  %p = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c64, %c64] : {VIEW} -> {PART}
  %t = pto.alloc_tile : {TILE}
  pto.tload ins(%p : {PART}) outs(%t : {TILE})
  return
}}
""",
        )
    )


def test_size_that_is_an_argument() -> None:
    """4 rows of 64 f32."""
    assert loading("%n").operand_bytes == 4 * 64 * 4


def test_size_that_nothing_tells() -> None:
    assert loading("%unknown") == Traffic(0, 0, 1, 16384, None)
