"""Kernels compiled with g++ compute in program order what numpy computes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from syncopt.api import Budget, Job, OrderMode, Request, solve
from tests.emit.cpp.running import Array, Program, compiled, needs_compiler
from tests.emit.cpp.texts import MACHINE, cpp_of

KERNELS = Path(__file__).parent / "kernels"
GEMM = Path(__file__).parents[3] / "instances" / "gemm"
UNTOUCHED = -7

pytestmark = needs_compiler


def planned(name: str, *arguments: int) -> str:
    """The C++ of the plan of a kernel."""
    job = Job(KERNELS / f"{name}.pto", MACHINE, arguments=arguments)
    return cpp_of(solve(job, Request(OrderMode.FREE, Budget(600, work=0.5))).text)


def integers(random: np.random.Generator, *shape: int) -> Array:
    """Small whole numbers in fp16: sums of their products are exact."""
    return random.integers(-4, 5, shape).astype(np.float16)


def check_product(program: Program, m: int, n: int, k: int, cores: int, dtype: type[np.floating]) -> None:
    """C = A (M x K) * B (N x K) transposed, every element of it."""
    random = np.random.default_rng(m * n + k)
    a, b, c = integers(random, m, k), integers(random, n, k), np.full((m, n), UNTOUCHED, dtype)
    expected = (a.astype(np.float32) @ b.T.astype(np.float32)).astype(dtype)
    assert np.array_equal(program.run([a, b, c], [m, n, k], cores)[2], expected), (m, n, k, cores)


def test_planned_product(tmp_path: Path) -> None:
    """One tile; several tiles on one core; more cores than tiles; an uneven share."""
    program = compiled(planned("product", 64, 96, 128), tmp_path)
    for m, n, k, cores in ((32, 32, 32, 1), (64, 64, 96, 1), (32, 64, 160, 3), (96, 64, 64, 4)):
        check_product(program, m, n, k, cores, np.float32)


def test_instance(tmp_path: Path) -> None:
    """Tiles of 128 x 256 x 512: one of them, one with a second step, four on three cores."""
    program = compiled(cpp_of((GEMM / "double_buffered.pto").read_bytes()), tmp_path)
    for m, n, k, cores in ((128, 256, 512, 1), (128, 256, 1024, 1), (256, 512, 512, 3)):
        check_product(program, m, n, k, cores, np.float16)


def softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def test_planned_vector_kernel(tmp_path: Path) -> None:
    """Full blocks, a last block of fewer rows, one column, all columns that a tile has."""
    program = compiled(planned("softmax", 40, 50), tmp_path)
    random = np.random.default_rng(0)
    for shape in ((32, 50), (37, 64), (1, 3), (17, 1)):
        x = random.normal(size=shape).astype(np.float32)
        assert program.run([x, np.zeros_like(x)], shape)[1] == pytest.approx(softmax(x), abs=1e-6)


def structured(x: Array, scale: float) -> Array:
    """What kernels/structure.pto makes of `x`."""
    y = x.copy()
    y[:, :, :16] *= np.float32(scale)
    y[:, :, 16:] += np.float32(0.5)
    low, high = 0, 1
    for _ in x:
        low, high = high, low + high
    y[0] = 2 * y[max(at for at in range(len(x)) if at % 3 == low % 3)]
    return y


@pytest.fixture(name="structure", scope="module")
def _structure(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled(cpp_of((KERNELS / "structure.pto").read_bytes()), tmp_path_factory.mktemp("structure"))


@pytest.mark.parametrize(("rounds", "turned"), [(3, 0), (4, 1), (5, 0), (7, 1)])
def test_carried_values_branches_and_parts(structure: Program, rounds: int, turned: int) -> None:
    """Of 3, 4, 5 and 7 rounds the Fibonacci numbers are 2, 3, 5 and 13: slots 2, 0, 2 and 1."""
    x = np.random.default_rng(rounds).normal(size=(rounds, 4, 32)).astype(np.float32)
    y = np.zeros_like(x)
    arrays: Sequence[Array] = [y, x] if turned else [x, y]
    found = structure.run(arrays, [1.5, rounds, turned])[1 - turned]
    assert np.array_equal(found, structured(x, 1.5))


@pytest.mark.parametrize("n", [100, 40])
def test_parts_are_as_valid_as_their_tile(n: int, tmp_path: Path) -> None:
    """Of 100 elements the first part has 64, all that it holds, and the second one 50; of 40 they have 40 and 20."""
    program = compiled(cpp_of((KERNELS / "halves.pto").read_bytes()), tmp_path)
    x = np.random.default_rng(n).normal(size=n).astype(np.float32)
    expected = x.copy()
    expected[:64] *= np.float32(2)
    expected[n // 2 :] += np.float32(1)
    assert np.array_equal(program.run([x, np.zeros_like(x)], [n])[1], expected)


def test_access_outside_a_buffer_ends_the_run(structure: Program) -> None:
    x = np.zeros((3, 4, 32), np.float32)
    finished = structure.finish([x, np.zeros_like(x)], [1.0, 4, 0])
    assert (finished.returncode, finished.stderr) == (3, "an access outside the buffers of global memory\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID2);", "", "a flag is not waited for as often as it is set\n"),
        ("(event_t) slot", "(event_t) (slot + 6)", "an event id that does not exist\n"),
        ("at = 65536;", "at = 65552;", "a tile off the alignment of vec\n"),
        ("last_base + 16", "last_base + 32760", "an access outside vec\n"),
    ],
)
def test_faults_end_the_run(old: str, new: str, message: str, tmp_path: Path) -> None:
    """The header would not let a wrong kernel pass."""
    text = cpp_of((KERNELS / "structure.pto").read_bytes())
    assert old in text
    x = np.zeros((3, 4, 32), np.float32)
    finished = compiled(text.replace(old, new, 1), tmp_path).finish([x, np.zeros_like(x)], [1.0, 3, 0])
    assert (finished.returncode, finished.stderr) == (3, message)
