"""The GEMM instances against the product of numpy, core by core."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syncopt.execute import Program, Schedule, ScheduleKind, constraints_of, execute, order_of, read_program
from syncopt.frontend import parse_module, read_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import AllocTile, Kernel, Value, walk
from syncopt.ir.pipes import Memory
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting
from syncopt.ir.types import TileType
from tests.execute.streams import MACHINE, wrong

GEMM = Path(__file__).parents[2] / "instances" / "gemm"
M, N, K = 256, 512, 1024


def setting(kernel: Kernel, core: int, cores: int, k: int = K) -> Setting:
    """Every tile behind the one before it in its memory."""
    ends: dict[Memory, int] = {}
    addresses: dict[int, int] = {}
    for op in walk(kernel.body):
        if isinstance(op, AllocTile) and isinstance(op.result.type, TileType):
            tile = op.result.type
            addresses[op.uid] = ends.get(tile.memory, 0)
            ends[tile.memory] = addresses[op.uid] + tile.size
    return Setting({"M": M, "N": N, "K": k}, core, cores, addresses=addresses)


def matrix(numbers: NDArray[Any], rows: int, cols: int) -> NDArray[Any]:
    """What stands behind a pointer as a matrix, as far as it is reached; the rest counts as 0."""
    return np.concatenate([numbers, np.zeros(rows * cols - len(numbers), numbers.dtype)]).reshape(rows, cols)


def numbers_of(program: Program, pointer: Value, memories: Any) -> NDArray[Any]:
    return memories.arrays[pointer][: program.sizes[pointer]].view(np.float16)


@pytest.mark.parametrize("name", ["single_buffered", "double_buffered", "hand_synchronised"])
def test_every_core_computes_its_tiles(name: str) -> None:
    """256 x 512 are 2 x 2 tiles of 128 x 256; with 3 cores the first one takes two."""
    kernel = read_module(GEMM / f"{name}.pto").kernel()
    done = np.zeros((M, N), bool)
    for core in range(3):
        program = read_program(kernel, setting(kernel, core, 3), MACHINE)
        end = execute(program, order_of(constraints_of(program), Schedule(ScheduleKind.PROGRAM))).memories
        a, b, c = program.sizes
        left = matrix(numbers_of(program, a, program.start), M, K).astype(np.float32)
        right = matrix(numbers_of(program, b, program.start), N, K).astype(np.float32)
        before = matrix(numbers_of(program, c, program.start), M, N)
        after = matrix(numbers_of(program, c, end), M, N)
        product = (left @ right.T).astype(np.float16)
        for row in range(0, M, 128):
            for col in range(0, N, 256):
                tile = np.s_[row : row + 128, col : col + 256]
                if not np.array_equal(before[tile], after[tile]):
                    assert np.array_equal(after[tile], product[tile])
                    assert not done[tile].any()
                    done[tile] = True
    assert done.all()


def test_hand_placed_flags_are_right_in_every_order() -> None:
    """Two tiles of one core."""
    kernel = read_module(GEMM / "hand_synchronised.pto").kernel()
    assert wrong(read_program(kernel, setting(kernel, 0, 2), MACHINE), 2) == {}


@pytest.mark.parametrize(
    ("source", "target", "event"), [("TLOAD", "TMOV_M2L", 2), ("TMATMUL", "TMOV_M2L", 1), ("TMATMUL", "TSTORE_ACC", 0)]
)
def test_missing_flags_give_wrong_products(source: str, target: str, event: int) -> None:
    """B extracted before it is loaded, L0 overwritten under a product, the accumulator stored too early."""
    text = (GEMM / "hand_synchronised.pto").read_text()
    flag = f"#pto.sync_op_type<{source}>, #pto.sync_op_type<{target}>, <EVENT_ID{event}>]"
    kept = "".join(line for line in text.splitlines(keepends=True) if flag not in line)
    assert kept != text
    kernel = parse_module(Source("gemm.pto", kept.encode())).kernel()
    assert wrong(read_program(kernel, setting(kernel, 0, 2), MACHINE), 0)


def test_kernel_without_flags_is_wrong_as_replayed() -> None:
    kernel = read_module(GEMM / "double_buffered.pto").kernel()
    program = read_program(kernel, replace(setting(kernel, 0, 4), block_num=4), load_machine("910b2"))
    found = wrong(program, 0)[Schedule(ScheduleKind.REPLAY)]
    assert found[0].pointer.name == "%c"
    assert found[0].elements > 10_000
