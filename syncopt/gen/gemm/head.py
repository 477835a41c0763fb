"""The comment at the head of a GEMM kernel."""

from collections.abc import Iterator, Mapping
from textwrap import wrap

from syncopt.gen.gemm.flags import event_ids
from syncopt.gen.gemm.kernel import GemmKernel, GlobalLayout, Sync
from syncopt.ir.types import DType

_WIDTH = 100
_WORDS: Mapping[DType, str] = {
    DType.F16: "fp16",
    DType.BF16: "bf16",
    DType.F32: "fp32",
    DType.I8: "int8",
    DType.I32: "int32",
}


def paragraphs(kernel: GemmKernel) -> Iterator[str]:
    """The lines of the comment."""
    for paragraph in (kernel.about or _about(kernel), f"{_formula(kernel)} {kernel.origin}".strip()):
        yield from wrap(paragraph, _WIDTH, break_on_hyphens=False)


def _formula(kernel: GemmKernel) -> str:
    """What it computes."""
    a = "A (M x K)" if kernel.a_layout is GlobalLayout.ND else "A (K x M) transposed"
    b = "B (K x N)" if kernel.b_layout is GlobalLayout.ND else "B (N x K) transposed"
    types = f"{_WORDS[kernel.dtype]} with {_WORDS[kernel.accumulator]} accumulation"
    l1 = kernel.tiling.l1
    multiples = f"M, N, K are multiples of {l1.m}, {l1.n}, {kernel.k_multiple}."
    stored = _WORDS[kernel.stored]
    if kernel.splits > 1:
        sums = f"W ({kernel.splits} x M x N, {stored}): W[s] is the product over slice s of K; their sum is"
        return f"{sums} C (M x N) = {a} * {b}, {types}; {multiples}"
    output = "" if kernel.stored is kernel.dtype else f", stored as {stored}"
    return f"C (M x N) = {a} * {b}, {types}{output}; {multiples}"


def _about(kernel: GemmKernel) -> str:
    """How it does it."""
    tiling = kernel.tiling
    buffers = tiling.buffers
    parts = f" in {tiling.b_parts} parts per K step" if tiling.b_parts > 1 else ""
    text = (
        f"GEMM with tiles of {tiling.l1} in L1 and {tiling.l0} in L0 (M x N x K); buffers: {buffers.a} for A, "
        f"{buffers.b} for B{parts}, {buffers.l0a} in L0A, {buffers.l0b} in L0B, {buffers.l0c} in L0C."
    )
    return " ".join([text, *_about_flags(kernel)])


def _about_flags(kernel: GemmKernel) -> Iterator[str]:
    if not kernel.flags:
        yield "It holds no flags."
        return
    ids = ", ".join(f"{number} of {pair}" for pair, number in event_ids(kernel))
    yield f"Flags are placed by hand, with so many event ids: {ids}."
    if kernel.sync is Sync.HAND_SHARED:
        yield "All MTE1->M events share id 0: only timing keeps it from being set twice."
    yield f"At least one K step is taken for granted: with K < {kernel.k_multiple} the kernel hangs."
