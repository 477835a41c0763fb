"""Kernels of the repository, and short ones, for replays."""

from pathlib import Path

from syncopt.frontend import read_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.model.addresses import place

GEMM = Path(__file__).parents[2] / "instances" / "gemm" / "hand_synchronised.pto"
GATHER = """\
func.func @gather() {
  %a = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %a : !pto.tile_buf<vec, 64x64xf32>
  pto.tgatherb ins(%t, %t : !pto.tile_buf<vec, 64x64xf32>, !pto.tile_buf<vec, 64x64xf32>)
      outs(%t : !pto.tile_buf<vec, 64x64xf32>)
  return
}
"""


def gemm() -> tuple[Kernel, dict[int, int]]:
    """The hand-synchronised kernel, with addresses for its tiles."""
    kernel = read_module(GEMM).kernel()
    return kernel, place(kernel, load_machine("910b2"))
