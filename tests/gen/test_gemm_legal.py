"""The tilings that a sweep tries."""

import pytest

from syncopt.gen.gemm import (
    Buffers,
    Extents,
    GemmKernel,
    GlobalLayout,
    Tiling,
    broken,
    deepest_l0,
    fewest_parts,
    legal_tilings,
    memory_use,
)
from syncopt.hwmodel import load_machine
from syncopt.ir.types import DType

MACHINE = load_machine("910b2")
FACTS = Tiling(Extents(128, 256, 512), Extents(128, 256, 64), 2)


def test_published_tiling_comes_first() -> None:
    """It loads least per product: (128 + 256) / (128 * 256), and only halves of B make its K step as deep as 512."""
    tilings = legal_tilings(MACHINE, DType.F16)
    assert tilings[0] == FACTS
    assert len(tilings) >= 12
    assert len(set(tilings)) == len(tilings)


@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16, DType.F32, DType.I8])
@pytest.mark.parametrize("layout", GlobalLayout)
def test_tilings_are_legal_and_fill_memories(dtype: DType, layout: GlobalLayout) -> None:
    """Three quarters of L0C; twice the depth does not fit L1, nor L0A and L0B together."""
    tilings = legal_tilings(MACHINE, dtype, layout, layout)
    assert len(tilings) >= 12
    for tiling in tilings:
        kernel = GemmKernel("k", tiling, dtype, None, layout, layout)
        assert broken(kernel, MACHINE) is None
        l1, left, right, acc = memory_use(kernel, MACHINE)
        assert 4 * acc.used >= 3 * acc.size
        assert 2 * l1.used > l1.size
        assert max(left.used, right.used) * 2 > left.size
        assert tiling.l0.m % 16 == tiling.l0.n % 16 == 0


def test_least_loads_come_first() -> None:
    loads = [(t.l1.m + t.l1.n) / (t.l1.m * t.l1.n) for t in legal_tilings(MACHINE, DType.F16)]
    assert loads == sorted(loads)


def test_matmuls_of_half_the_longer_side_are_twice_as_deep() -> None:
    """128 x 128 x 128 fp16 twice are 65,536 bytes in L0A and in L0B, where 128 x 256 x 64 leave half of L0A empty."""
    halved = Tiling(FACTS.l1, Extents(128, 128, 128), 2)
    tilings = legal_tilings(MACHINE, DType.F16)
    assert tilings[1] == halved
    assert memory_use(GemmKernel("k", halved), MACHINE)[1].used == 65536
    assert memory_use(GemmKernel("k", FACTS), MACHINE)[1].used == 32768
    whole = {t.l1: t.l0 for t in tilings if t.rows * t.columns == 1}
    split = [t for t in tilings if t.rows * t.columns > 1]
    assert split
    assert all(t.rows * t.columns == 2 and t.l0.k == 2 * whole[t.l1].k for t in split)


def test_matmuls_are_halved_only_where_they_get_deeper() -> None:
    """Square ones fill L0A and L0B alike; 64 * 64 fp16 twice fill an L0A of 16,384 bytes, whatever L0B would hold."""
    assert not [t for t in legal_tilings(MACHINE, DType.F16) if t.l1.m == t.l1.n and t.rows * t.columns > 1]
    narrow = MACHINE.with_figure("memory.left.bytes", 16384)
    flat = [t.l0 for t in legal_tilings(narrow, DType.F16) if (t.l1.m, t.l1.n) == (64, 256)]
    assert flat == [Extents(64, 256, 64)] * 2


def test_tilings_divide_the_shape() -> None:
    """96 does not divide 4096."""
    tilings = legal_tilings(MACHINE, DType.F16, shape=Extents(4096, 4096, 4096))
    assert FACTS in tilings
    assert len(tilings) >= 12
    assert not [t for t in tilings if t.l1.m % 32 or 4096 % t.l1.m or 4096 % t.l1.n or 4096 % t.l1.k]
    assert legal_tilings(MACHINE, DType.F16, shape=Extents(100, 100, 100)) == ()


def test_smaller_machine_has_smaller_tiles() -> None:
    """A quarter of L0C holds 64 x 128 and 64 x 96, or 64 x 64 twice."""
    small = MACHINE.with_figure("memory.acc.bytes", 32768)
    tiles = {(t.l1.m, t.l1.n, t.buffers.l0c) for t in legal_tilings(small, DType.F16)}
    assert tiles == {(64, 96, 1), (96, 64, 1), (64, 128, 1), (128, 64, 1), (64, 64, 2)}


def test_no_tilings_of_what_the_cube_does_not_multiply() -> None:
    assert legal_tilings(MACHINE, DType.I16) == ()


@pytest.mark.parametrize(("k", "parts"), [(256, 1), (512, 2), (1024, 1)])
def test_fewest_parts(k: int, parts: int) -> None:
    """4 * (128 + 256 / parts) * K bytes in 524,288; at K = 1024 A alone takes them all, so that nothing fits."""
    l1 = Extents(128, 256, k)
    assert fewest_parts(GemmKernel("k", Tiling(l1, l1)), MACHINE).b_parts == parts


@pytest.mark.parametrize(("buffers", "depth"), [(Buffers(), 64), (Buffers(l0b=1), 128), (Buffers(l0a=1), 64)])
def test_deepest_l0(buffers: Buffers, depth: int) -> None:
    """128 * K and 256 * K fp16 in 65,536 bytes each: with one buffer of the latter K doubles."""
    l1 = Extents(128, 256, 256)
    tiling = deepest_l0(GemmKernel("k", Tiling(l1, l1, 1, buffers)), MACHINE)
    assert tiling.l0 == Extents(128, 256, depth)


def test_deepest_l0_does_not_depend_on_other_memories() -> None:
    l1 = Extents(128, 256, 256)
    small = MACHINE.with_figure("memory.acc.bytes", 512).with_figure("memory.mat.bytes", 512)
    assert deepest_l0(GemmKernel("k", Tiling(l1, l1)), small).l0.k == 64


def test_l0_of_what_never_fits_is_as_shallow_as_can_be() -> None:
    l1 = Extents(4096, 4096, 64)
    assert deepest_l0(GemmKernel("k", Tiling(l1, l1)), MACHINE).l0 == Extents(4096, 4096, 16)


def test_l0_of_what_is_no_whole_fractal_is_left_as_it_is() -> None:
    l1 = Extents(100, 256, 64)
    assert deepest_l0(GemmKernel("k", Tiling(l1, l1)), MACHINE).l0 == l1
