"""Every legal kernel computes the product: its trace, run on numbers, against numpy."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.check import Verdict, check_kernel, judge
from syncopt.frontend import parse_module
from syncopt.gen import gemm
from syncopt.gen.gemm import Buffers, Extents, GemmKernel, GlobalLayout, Sync, Tiling
from syncopt.hwmodel import load_machine
from syncopt.ir.intervals import parse_assumptions
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting
from syncopt.ir.types import DType
from syncopt.model.addresses import place
from tests.gen.evaluate import Evaluation, Matrix

MACHINE = load_machine("910b2")
ONE_OR_TWO = st.integers(1, 2)
FEW = st.integers(1, 3)


@st.composite
def kernels(draw: st.DrawFn) -> GemmKernel:
    """Kernels of small tiles: whole fractals of every type in every layout are multiples of 32."""
    size = st.sampled_from([32, 64])
    l0 = Extents(draw(size), draw(size), 32)
    parts = draw(FEW)
    l1 = Extents(l0.m * draw(ONE_OR_TWO), l0.n * draw(ONE_OR_TWO), l0.k * parts * draw(FEW))
    return GemmKernel(
        "k",
        Tiling(l1, l0, parts, Buffers(*(draw(ONE_OR_TWO) for _ in range(5)))),
        dtype=draw(st.sampled_from([DType.F16, DType.BF16, DType.F32, DType.I8])),
        a_layout=draw(st.sampled_from(GlobalLayout)),
        b_layout=draw(st.sampled_from(GlobalLayout)),
        panel=draw(st.integers(0, 3)),
        splits=draw(FEW),
    )


def read(made: GemmKernel) -> Kernel:
    return parse_module(Source("k.pto", gemm.text(made, MACHINE).encode())).kernel()


def setting_of(kernel: Kernel, shape: Extents, core: int, cores: int) -> Setting:
    sizes = {"M": shape.m, "N": shape.n, "K": shape.k}
    return Setting(sizes, core, cores, addresses=place(kernel, MACHINE))


def stored(matrix: Matrix, layout: GlobalLayout) -> Matrix:
    """The elements of a matrix in the order in which they lie in memory."""
    return (matrix if layout is GlobalLayout.ND else matrix.T).ravel().copy()


def evaluated(made: GemmKernel, kernel: Kernel, shape: Extents, cores: int) -> tuple[Evaluation, Matrix]:
    """What all blocks do, and the product by numpy: one matrix per slice of K."""
    random = np.random.default_rng(1)
    a = random.integers(-3, 4, (shape.m, shape.k)).astype(np.float64)
    b = random.integers(-3, 4, (shape.k, shape.n)).astype(np.float64)
    depth = shape.k // made.splits
    slices = [slice(depth * number, depth * (number + 1)) for number in range(made.splits)]
    wanted = np.stack([a[:, part] @ b[part] for part in slices])
    output = "c" if made.splits == 1 else "w"
    evaluation = Evaluation(
        {"a": stored(a, made.a_layout), "b": stored(b, made.b_layout), output: np.zeros(wanted.size)}
    )
    for core in range(cores):
        evaluation.run(kernel, setting_of(kernel, shape, core, cores))
    return evaluation, wanted


@settings(max_examples=25)
@given(made=kernels(), rows=FEW, columns=st.integers(1, 4), steps=FEW, cores=FEW)
def test_kernel_computes_the_product(made: GemmKernel, rows: int, columns: int, steps: int, cores: int) -> None:
    """Matmuls: one per L0 step of every L1 step. Loads: A and B of every L1 step, once. Stores: every element, once."""
    l1, l0 = made.tiling.l1, made.tiling.l0
    shape = Extents(rows * l1.m, columns * l1.n, steps * made.splits * l1.k)
    kernel = read(made)
    evaluation, wanted = evaluated(made, kernel, shape, cores)
    l1_steps = rows * columns * steps * made.splits
    assert evaluation.matmuls == l1_steps * (l1.m // l0.m) * (l1.n // l0.n) * (l1.k // l0.k)
    assert evaluation.loaded == l1_steps * (l1.m + l1.n) * l1.k * made.dtype.size
    assert evaluation.stores == made.splits * shape.m * shape.n
    result = evaluation.memory["c" if made.splits == 1 else "w"]
    assert np.array_equal(result.reshape(wanted.shape), wanted)


@settings(max_examples=25)
@given(made=kernels(), rows=FEW, columns=FEW, steps=FEW, cores=FEW)
def test_flags_placed_by_hand_order_everything(
    made: GemmKernel, rows: int, columns: int, steps: int, cores: int
) -> None:
    """Neither race nor deadlock nor flag left, and no id depends on times."""
    l1 = made.tiling.l1
    shape = Extents(rows * l1.m, columns * l1.n, steps * made.k_multiple)
    kernel = read(replace(made, sync=Sync.HAND))
    judgement = judge(kernel, setting_of(kernel, shape, 0, cores), MACHINE)
    assert judgement.valid
    assert judgement.findings == ()


@pytest.mark.parametrize(
    "made",
    [
        GemmKernel("k", Tiling(Extents(64, 64, 64), Extents(64, 64, 32), 1, Buffers(l0c=2)), panel=2),
        GemmKernel("k", Tiling(Extents(64, 128, 96), Extents(64, 64, 32), 3, Buffers(l0a=1)), splits=2),
        GemmKernel("k", Tiling(Extents(32, 32, 32), Extents(32, 32, 32), 1, Buffers(1, 1, 1, 1)), DType.I8),
    ],
    ids=["alternating C", "two columns, slices of K", "small accumulators"],
)
def test_flags_placed_by_hand_hold_for_all_trip_counts(made: GemmKernel) -> None:
    """All numbers of tiles of C and of K steps, as long as there is one K step; none at all hangs, as the head says."""
    kernel = read(replace(made, sync=Sync.HAND))
    setting = setting_of(kernel, Extents(1024, 1024, 6 * made.k_multiple), 0, 4)
    report = check_kernel(kernel, setting, MACHINE, parse_assumptions([f"K>={made.k_multiple}"], kernel))
    assert (report.verdict, report.findings) == (Verdict.CLEAN, ())
    assert check_kernel(kernel, setting, MACHINE).verdict is Verdict.DEADLOCK


def test_kernel_without_flags_has_races() -> None:
    sizes = Extents(64, 64, 64)
    kernel = read(GemmKernel("k", Tiling(sizes, sizes)))
    assert judge(kernel, setting_of(kernel, sizes, 0, 1), MACHINE).verdict is Verdict.RACE


@settings(max_examples=8)
@given(data=st.data())
def test_every_legal_tiling_gives_a_kernel(data: st.DataObject) -> None:
    """Two tiles of C in two K steps on one core of one: what they load and multiply follows from the sizes."""
    dtype = data.draw(st.sampled_from([DType.F16, DType.BF16, DType.F32, DType.I8]))
    layouts = data.draw(st.sampled_from(GlobalLayout)), data.draw(st.sampled_from(GlobalLayout))
    tiling = data.draw(st.sampled_from(gemm.legal_tilings(MACHINE, dtype, *layouts)))
    made = GemmKernel("k", tiling, dtype, None, *layouts, panel=data.draw(st.integers(0, 2)))
    l1 = tiling.l1
    evaluation, wanted = evaluated(made, read(made), Extents(l1.m, 2 * l1.n, 2 * l1.k), 1)
    assert evaluation.matmuls == 2 * 2 * l1.k // tiling.l0.k * (l1.m // tiling.l0.m) * (l1.n // tiling.l0.n)
    assert evaluation.loaded == 2 * 2 * (l1.m + l1.n) * l1.k * dtype.size
    assert np.array_equal(evaluation.memory["c"], wanted.ravel())
