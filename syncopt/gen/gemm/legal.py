"""Tilings that make sense on a machine."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from syncopt.gen.gemm.kernel import ACCUMULATORS, Buffers, Extents, GemmKernel, GlobalLayout, Tiling
from syncopt.gen.gemm.rules import broken, fractal_faults
from syncopt.gen.gemm.tiles import memory_use
from syncopt.hwmodel import Machine
from syncopt.ir.pipes import Memory
from syncopt.ir.types import DType

_SIZES = (64, 96, 128, 192, 256, 384, 512)
"""Sizes of a tile of C: below 64 loads bind long before matmuls do."""
_DEPTHS = tuple(16 << doubling for doubling in range(8))
"""Depths of a K step in elements."""
_PARTS = (1, 2, 4, 8)
_MOST_PARTS = 2
_LEAST_USE = Fraction(3, 4)
"""Share of L0C that a tile of C fills, with its buffers: what a smaller one leaves is bandwidth lost."""


def legal_tilings(
    machine: Machine,
    dtype: DType,
    a_layout: GlobalLayout = GlobalLayout.ND,
    b_layout: GlobalLayout = GlobalLayout.DN,
    shape: Extents | None = None,
) -> tuple[Tiling, ...]:
    """Tilings that fill a machine's memories, with two buffers for everything but, for some, L0C.

    For each tile of C that takes at least three quarters of L0C, alone or with a second one: the deepest K step that
    fits L1 with B in one part and in two; of each of those the deepest matmuls that fit L0, of the whole tile and,
    where they are deeper, of half its longer side. A tiling that another one of the same tile of C and the same matmuls
    dominates (as many buffers, as deep a step, fewer parts) is left out.

    Parameters
    ----------
    machine : Machine
        Whose memories are to be filled.
    dtype : DType
        Element type of A and B.
    a_layout, b_layout : GlobalLayout
        Where their elements lie.
    shape : Extents, optional
        Sizes of the matrices: only tilings whose sizes divide them.

    Returns
    -------
    tuple of Tiling
        Least bytes loaded per product first, then the deepest K step; the same from run to run.
    """
    template = GemmKernel("k", Tiling(Extents(1, 1, 1), Extents(1, 1, 1)), dtype, None, a_layout, b_layout)
    if dtype not in ACCUMULATORS:
        return ()
    found = [
        tiling
        for m in _SIZES
        for n in _SIZES
        for l0c in (1, 2)
        for tiling in _of_tile(template, machine, m, n, l0c)
        if shape is None or _divides(tiling.l1, shape)
    ]
    return tuple(sorted(found, key=_rank))


def fewest_parts(kernel: GemmKernel, machine: Machine) -> Tiling:
    """The kernel's tiling with the fewest parts of B that fit L1; one part if none do."""
    tiling = kernel.tiling
    for parts in _PARTS:
        if tiling.l1.k % parts == 0:
            found = replace(tiling, b_parts=parts)
            if _fits(replace(kernel, tiling=found), machine, Memory.MAT):
                return found
    return replace(tiling, b_parts=1)


def deepest_l0(kernel: GemmKernel, machine: Machine) -> Tiling:
    """The kernel's tiling with the deepest matmuls that fit L0A and L0B; the shallowest ones if none do.

    Where none are whole fractals, those of a whole part of B: then the size that is at fault is the one to be named.
    """
    tiling = kernel.tiling
    found = replace(tiling, l0=replace(tiling.l0, k=tiling.b_k))
    for depth in _divisors(tiling.b_k):
        deep = replace(tiling, l0=replace(tiling.l0, k=depth))
        candidate = replace(kernel, tiling=deep)
        if next(fractal_faults(candidate), None) is None:
            found = deep
            if _fits(candidate, machine, Memory.LEFT, Memory.RIGHT):
                break
    return found


def _of_tile(template: GemmKernel, machine: Machine, m: int, n: int, l0c: int) -> Iterator[Tiling]:
    """The tilings of one tile of C, and only those that no other one dominates."""
    deepest = 0
    for parts in range(1, _MOST_PARTS + 1):
        tiling = _deepest(template, machine, m, n, Buffers(l0c=l0c), parts)
        if tiling is not None and tiling.l1.k > deepest and _is_full(replace(template, tiling=tiling), machine):
            deepest = tiling.l1.k
            yield tiling
            yield from _halved(replace(template, tiling=tiling), machine)


def _halved(kernel: GemmKernel, machine: Machine) -> Iterator[Tiling]:
    """The tiling with matmuls of half the longer side of its tile of C, if these can be deeper."""
    l0 = kernel.tiling.l0
    if l0.m == l0.n:
        return
    half = replace(l0, m=l0.m // 2) if l0.m > l0.n else replace(l0, n=l0.n // 2)
    halved = deepest_l0(replace(kernel, tiling=replace(kernel.tiling, l0=half)), machine)
    if halved.l0.k > l0.k and broken(replace(kernel, tiling=halved), machine) is None:
        yield halved


def _deepest(template: GemmKernel, machine: Machine, m: int, n: int, buffers: Buffers, parts: int) -> Tiling | None:
    for k in reversed(_DEPTHS):
        if k % parts:
            continue
        kernel = replace(template, tiling=Tiling(Extents(m, n, k), Extents(m, n, k // parts), parts, buffers))
        if _fits(kernel, machine, Memory.MAT, Memory.ACC):
            tiling = deepest_l0(kernel, machine)
            if broken(replace(kernel, tiling=tiling), machine) is None:
                return tiling
    return None


def _fits(kernel: GemmKernel, machine: Machine, *memories: Memory) -> bool:
    return all(use.used <= use.size for use in memory_use(kernel, machine) if use.memory in memories)


def _is_full(kernel: GemmKernel, machine: Machine) -> bool:
    return all(use.used >= _LEAST_USE * use.size for use in memory_use(kernel, machine) if use.memory is Memory.ACC)


def _divisors(number: int) -> Iterable[int]:
    """The divisors of a number, largest first."""
    return (divisor for divisor in range(number, 0, -1) if number % divisor == 0)


def _divides(l1: Extents, shape: Extents) -> bool:
    return shape.m % l1.m == shape.n % l1.n == shape.k % l1.k == 0


def _rank(tiling: Tiling) -> tuple[Fraction, int, int, int, int, int]:
    """Elements loaded per product, then depth, parts, buffers of L0C, and rows and matmuls to tell the rest apart."""
    l1 = tiling.l1
    loaded = Fraction(l1.m + l1.n, l1.m * l1.n)
    return loaded, -l1.k, tiling.b_parts, tiling.buffers.l0c, -l1.m, tiling.rows * tiling.columns
