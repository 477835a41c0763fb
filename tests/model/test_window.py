"""What is cut from the loops of a trace."""

import pytest

from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import For, walk
from syncopt.model.planner import Planner
from syncopt.model.window import Cut
from tests.check.kernels import setting, vector_kernel

PARITY = """
scf.for %i = %c0 to %n step %c1 {
%rest = arith.remui %i, %c2 : index
%even = arith.cmpi eq, %rest, %c0 : index
scf.if %even {
load t0
} else {
load t1
}
}
"""
PLAIN = "scf.for %i = %c0 to %n step %c1 {\nload t0\n}"


def cut(body: str, n: int) -> Cut | None:
    kernel = vector_kernel(body)
    planner = Planner(kernel, setting(n=n), load_machine("910b2"))
    (loop,) = (op for op in walk(kernel.body) if isinstance(op, For))
    return planner.window.cuts.get(loop.uid)


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (3, None),
        (4, Cut(1, 1, 4)),
        (100, Cut(1, 97, 100)),
    ],
)
def test_three_rounds_of_a_plain_loop_stay(n: int, expected: Cut | None):
    assert cut(PLAIN, n) == expected


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (5, None),
        # two periods of two rounds stay, and the remainder
        (16, Cut(2, 12, 16)),
        (17, Cut(2, 12, 17)),
    ],
)
def test_whole_periods_go_so_that_parity_is_kept(n: int, expected: Cut | None):
    assert cut(PARITY, n) == expected


def test_the_window_keeps_the_values_of_the_full_shape():
    kernel = vector_kernel(PLAIN)
    planner = Planner(kernel, setting(n=100), load_machine("910b2"))
    assert [i.iteration for i in planner.window_trace().instances] == [(0,), (98,), (99,)]


def test_inner_loops_of_changing_length_are_not_cut():
    body = "scf.for %i = %c0 to %n step %c1 {\nscf.for %j = %c0 to %i step %c1 {\nload t0\n}\n}"
    planner = Planner(vector_kernel(body), setting(n=6), load_machine("910b2"))
    assert len(list(planner.window_trace().instances)) == 15
