"""When two searches are the same, and when they are not."""

from dataclasses import replace

import pytest

from syncopt.hwmodel import Machine, load_machine
from syncopt.model.fingerprint import fingerprint
from syncopt.model.planner import Planner
from tests.check.kernels import setting, vector_kernel

MACHINE = load_machine("910b2")
PLAIN = "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\nstore t1\n}"
AT_ROW = """
scf.for %i = %c0 to %n step %c1 {{
%row = arith.muli %i, %m : index
%at = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c64, %c64] : \
!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x64xf32>
pto.tload ins(%at : !pto.partition_tensor_view<64x64xf32>) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)
store t0 {stored}
}}
"""
"""Loads rows 0, m, 2*m, ... of x."""


def of(body: str, machine: Machine = MACHINE, **arguments: int) -> str:
    return fingerprint(Planner(vector_kernel(body), setting(**arguments), machine))


def test_shapes_with_one_window_share_a_fingerprint() -> None:
    """Of 4 and of 400 rounds three stay; of 3 rounds none is cut, which is the same trace. Of 2 rounds two stay."""
    assert of(PLAIN, n=4) == of(PLAIN, n=400) == of(PLAIN, n=3)
    assert of(PLAIN, n=2) != of(PLAIN, n=4)


def test_argument_that_nothing_depends_on_does_not_count() -> None:
    assert of(PLAIN, m=1) == of(PLAIN, m=5)


@pytest.mark.parametrize(
    "other",
    [
        MACHINE.with_queue_depth(16),
        MACHINE.with_figure("flag.event_ids", 4),
        MACHINE.with_figure("dispatch.issue", 3),
    ],
)
def test_figures_of_the_machine_count(other: Machine) -> None:
    assert of(PLAIN, other) != of(PLAIN)


def test_name_of_the_machine_and_sources_of_its_figures_do_not_count() -> None:
    renamed = replace(MACHINE.with_figure("dispatch.issue", MACHINE.issue, "elsewhere"), name="other")
    assert of(PLAIN, renamed) == of(PLAIN)


def test_text_counts() -> None:
    """Ops are named by their place in the text, in a plan too."""
    assert of(PLAIN) != of(PLAIN + "\n// a comment")


def test_rows_that_are_only_loaded_do_not_count() -> None:
    """x is only read: whether the loads of two rounds overlap, as they do for m < 64, orders nothing."""
    body = AT_ROW.format(stored="y")
    assert of(body, m=64) == of(body, m=8)


def test_rows_that_are_loaded_and_stored_count() -> None:
    """The store of row 0 of x meets only the load of the first round for m = 64, and those of all rounds for m = 8."""
    body = AT_ROW.format(stored="x")
    assert of(body, m=64) != of(body, m=8)


def test_arguments_count_where_scalar_steps_take_time() -> None:
    slow = MACHINE.with_figure("dispatch.scalar_op", 1)
    assert of(PLAIN, slow, n=4) != of(PLAIN, slow, n=400)
