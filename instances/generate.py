"""Write the GEMM kernels of `instances/gemm`.

    python instances/generate.py [FOLDER]

C = A * B^T in fp16 with fp32 accumulation. One 128 x 256 tile of C at a time, K in steps of 512 = eight 64-wide phases.
"""

from __future__ import annotations

import sys
from pathlib import Path

from syncopt.gen.gemm import Buffers, Extents, GemmKernel, Sync, Tiling, text
from syncopt.hwmodel import load_machine

PANEL = 5
ORIGIN = "Written by instances/generate.py: change that, then run `make instances`."


def variant(name: str, about: str, buffers: Buffers, sync: Sync = Sync.NONE) -> GemmKernel:
    """One kernel; its file is called `<name>.pto`, its function `gemm_<name>`."""
    tiling = Tiling(Extents(128, 256, 512), Extents(128, 256, 64), b_parts=2, buffers=buffers)
    return GemmKernel(f"gemm_{name}", tiling, panel=PANEL, sync=sync, about=about, origin=ORIGIN)


VARIANTS = {
    "single_buffered": variant(
        "single_buffered",
        "GEMM with one buffer for each operand and no flags: both halves of B and all K steps of A go through the same "
        "tiles, so loads, extracts and matmuls take turns.",
        Buffers(1, 1, 1, 1),
    ),
    "double_buffered": variant(
        "double_buffered",
        "GEMM with two buffers for each operand and no flags: A alternates by the parity of the K step, B by its "
        "halves, the L0 pair by phase.",
        Buffers(2, 2, 2, 2),
    ),
    "hand_synchronised": variant(
        "hand_synchronised",
        "The double-buffered GEMM with flags placed as kernel writers do it by hand. A token says that a buffer is "
        "free: on MTE1 -> MTE2 ids 0 and 1 are A, 2 and 3 are B; on M -> MTE1 ids 0 and 1 are the L0 pairs. All are "
        "recorded before the tile loop and waited for behind it. All MTE1 -> M events share id 0. At least one K step "
        "is taken for granted: with K < 512 the kernel hangs.",
        Buffers(2, 2, 2, 2),
        Sync.HAND_SHARED,
    ),
}


def generate(name: str) -> str:
    """The text of one kernel."""
    return text(VARIANTS[name], load_machine("910b2"))


def write_all(folder: Path) -> None:
    """Write every variant as `<name>.pto` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in VARIANTS:
        (folder / f"{name}.pto").write_bytes(generate(name).encode())


if __name__ == "__main__":
    write_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "gemm")
