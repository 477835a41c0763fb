"""Whole kernels: published figures, memory, and where errors point."""

import tracemalloc

import pytest

from syncopt.frontend import parse_module
from syncopt.hwmodel import UnmodelledWork, load_machine
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting, Tracer
from syncopt.sim import replay
from tests.sim.kernels import GATHER, gemm

PUBLISHED = 656
"""Cycles per matmul of this kernel on the hardware, published in the pto-dsl matmul guide."""


def test_hand_synchronised_gemm_takes_the_published_cycles() -> None:
    """Core 0 of 24 at M=2176, N=K=8192: 17 x 32 tiles, 23 of them on this core, with 16 x 8 matmuls each."""
    kernel, addresses = gemm()
    setting = Setting({"M": 2176, "N": 8192, "K": 8192}, 0, 24, addresses=addresses)
    result = replay(Tracer(kernel, setting), load_machine("910b2"))
    assert result.cycles / (23 * 16 * 8) == pytest.approx(PUBLISHED, rel=0.05)
    assert (result.cycles, result.sets, result.waits) == (1_885_786, 8147, 8147)
    assert (result.deadlock, result.double_sets, result.flags_left) == (None, (), ())


def test_memory_does_not_grow_with_the_trace() -> None:
    """Ten times as many K iterations; held as a list, they would take tens of times the memory."""
    kernel, addresses = gemm()
    machine = load_machine("910b2")

    def peak(k: int) -> tuple[int, int]:
        setting = Setting({"M": 128, "N": 1024, "K": k}, 0, 1, addresses=addresses)
        tracemalloc.start()
        result = replay(Tracer(kernel, setting), machine)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return result.tile_ops, most

    peak(512)
    (few, short), (many, long) = peak(1024), peak(10240)
    assert many > 9 * few
    assert long < 2 * short


def test_op_without_a_cost_is_shown_in_its_file() -> None:
    kernel = parse_module(Source("gather.pto", GATHER.encode())).kernel()
    with pytest.raises(UnmodelledWork) as error:
        replay(Tracer(kernel, Setting({}, 0, 1)), load_machine("910b2"), source=kernel.source)
    assert str(error.value).splitlines()[0] == (
        "gather.pto:4:3: error: pto.tgatherb (vec, vec -> vec) has no published cost"
    )
