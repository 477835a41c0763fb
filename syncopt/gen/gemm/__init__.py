"""GEMM kernels: a tiling in, the text of a `.pto` kernel out.

machine = load_machine("910b2")
tiling = gemm.Tiling(gemm.Extents(128, 256, 512), gemm.Extents(128, 256, 64), b_parts=2)
text = gemm.text(gemm.GemmKernel("my_gemm", tiling), machine)
"""

from syncopt.gen.gemm.kernel import (
    Buffers,
    Extents,
    GemmKernel,
    GlobalLayout,
    Sync,
    Tiling,
    default_output,
    element_type,
    operand_type,
)
from syncopt.gen.gemm.legal import deepest_l0, fewest_parts, legal_tilings
from syncopt.gen.gemm.rules import broken, check
from syncopt.gen.gemm.text import text
from syncopt.gen.gemm.tiles import MemoryUse, memory_use

__all__ = [
    "Buffers",
    "Extents",
    "GemmKernel",
    "GlobalLayout",
    "MemoryUse",
    "Sync",
    "Tiling",
    "broken",
    "check",
    "deepest_l0",
    "default_output",
    "element_type",
    "fewest_parts",
    "legal_tilings",
    "memory_use",
    "operand_type",
    "text",
]
