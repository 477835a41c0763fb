"""Against a checkout of the public PTO-ISA, named by PTO_ISA_PATH: its headers take the C++, its simulator runs it."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from syncopt.api import Budget, Job, OrderMode, Request, solve
from tests.emit.cpp.every_op import CUBE, VECTOR, Use, text_with
from tests.emit.cpp.running import Array, Headers, compiled, needs_public_headers, public_headers
from tests.emit.cpp.test_runs import GEMM, KERNELS, check_product, planned, softmax, structured
from tests.emit.cpp.texts import MACHINE, cpp_of

pytestmark = needs_public_headers

NOT_SIMULATED = (("tci", ("k", "bytes")), ("tcvt", ("f", "g")), ("tmatmul.acc", ("l", "r")))
"""Forms that the headers have for the chip only: with a scratch tile, with one accumulator to read and to write."""


@pytest.fixture(name="cube", scope="module")
def _cube(tmp_path_factory: pytest.TempPathFactory) -> Headers:
    return public_headers(tmp_path_factory.mktemp("cube"), "__DAV_CUBE__")


@pytest.fixture(name="vector", scope="module")
def _vector(tmp_path_factory: pytest.TempPathFactory) -> Headers:
    return public_headers(tmp_path_factory.mktemp("vector"), "__DAV_VEC__")


def test_solved_gemm(cube: Headers, tmp_path: Path) -> None:
    """One tile, one K step, more tiles than cores, more cores than tiles."""
    job = Job(GEMM / "double_buffered.pto", MACHINE, arguments=(256, 512, 1024))
    solved = solve(job, Request(OrderMode.FREE, Budget(600, work=2)))
    program = compiled(cpp_of(solved.text), tmp_path, cube)
    shapes = ((128, 256, 512, 1), (256, 512, 512, 1), (256, 256, 1024, 3), (384, 512, 512, 4), (256, 1536, 1024, 5))
    for m, n, k, cores in shapes:
        check_product(program, m, n, k, cores, np.float16)


def test_solved_product(cube: Headers, tmp_path: Path) -> None:
    program = compiled(planned("product", 64, 96, 128), tmp_path, cube)
    for m, n, k, cores in ((32, 32, 32, 1), (96, 64, 160, 4)):
        check_product(program, m, n, k, cores, np.float32)


def test_solved_vector_kernel(vector: Headers, tmp_path: Path) -> None:
    program = compiled(planned("softmax", 40, 50), tmp_path, vector)
    x: Array = np.random.default_rng(0).normal(size=(37, 50)).astype(np.float32)
    assert program.run([x, np.zeros_like(x)], x.shape)[1] == pytest.approx(softmax(x), abs=1e-6)


def test_structure(vector: Headers, tmp_path: Path) -> None:
    program = compiled(cpp_of((KERNELS / "structure.pto").read_bytes()), tmp_path, vector)
    x: Array = np.random.default_rng(1).normal(size=(5, 4, 32)).astype(np.float32)
    assert np.array_equal(program.run([x, np.zeros_like(x)], [1.5, 5, 0])[1], structured(x, 1.5))


def test_every_vector_op_compiles(vector: Headers, tmp_path: Path) -> None:
    compiled(cpp_of(text_with("vector", simulated(VECTOR))), tmp_path, vector)


def test_every_cube_op_compiles(cube: Headers, tmp_path: Path) -> None:
    compiled(cpp_of(text_with("cube", simulated(CUBE))), tmp_path, cube)


def simulated(uses: Iterable[Use]) -> tuple[Use, ...]:
    return tuple(use for use in uses if (use.name, use.ins) not in NOT_SIMULATED)
