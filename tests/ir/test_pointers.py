"""Which pointer arguments two pipes can clash over."""

from syncopt.ir.pointers import shared_pointers
from tests.check.kernels import vector_kernel


def names(body: str) -> set[str]:
    return {value.name for value in shared_pointers(vector_kernel(body))}


def test_loads_and_stores_of_different_pointers_share_nothing() -> None:
    assert names("load t0\nstore t0") == set()


def test_a_pointer_that_is_stored_and_loaded_is_shared() -> None:
    """Stored by MTE3, loaded by MTE2."""
    assert names("load t0\nstore t0\nload t1 y") == {"%y"}


def test_a_pointer_that_is_only_read_or_touched_by_one_pipe_is_not() -> None:
    assert names("load t0\nload t1 x") == set()
    assert names("store t0 x\nstore t1 x") == set()


def test_views_are_followed_to_their_pointer() -> None:
    """%far is %y moved by %n elements."""
    far = (
        "%far = pto.addptr %y, %n : !pto.ptr<f32> -> !pto.ptr<f32>\n"
        "%fv = pto.make_tensor_view %far, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>\n"
        "%fp = pto.partition_view %fv, offsets = [%c0, %c0], sizes = [%c64, %c64]"
        " : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x64xf32>\n"
    )
    assert names(f"{far}load t0 f\nstore t0") == {"%y"}
