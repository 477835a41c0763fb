"""Tilings in text."""

import pytest

from syncopt.api import InputError, load_machine
from syncopt.gen import gemm
from syncopt.sweep.tilings import GemmForm, in_text, kernel_text, tilings_of

MACHINE = load_machine("910b2")
SHAPE = {"M": 4096, "N": 4096, "K": 4096}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("128x256x512", "128x256x512/128x256x64/b2/c1"),
        ("128x256x512/128x128x128", "128x256x512/128x128x128/b2/c1"),
        ("128x256x256/b2", "128x256x256/128x256x64/b2/c1"),
        ("128x128x512/c2", "128x128x512/128x128x128/b1/c2"),
        ("64x64x64/64x64x32/b1/c1", "64x64x64/64x64x32/b1/c1"),
    ],
)
def test_what_is_left_out_is_chosen(text: str, expected: str) -> None:
    """The fewest parts of B that fit L1, the deepest matmuls that fit L0, one buffer in L0C."""
    (tiling,) = tilings_of(GemmForm(), text, SHAPE, MACHINE)
    assert in_text(tiling) == expected
    assert tilings_of(GemmForm(), expected, SHAPE, MACHINE) == (tiling,)


def test_auto_is_what_fills_the_machine_and_divides_the_shape() -> None:
    found = tilings_of(GemmForm(dtype="bf16"), "auto", SHAPE, MACHINE)
    dtype = gemm.element_type("bf16")
    assert found == gemm.legal_tilings(MACHINE, dtype, shape=gemm.Extents(4096, 4096, 4096))
    assert len(found) >= 12


@pytest.mark.parametrize("text", ["", "128x256", "128x256x512/b0", "128x256x512/c3", "128x256x512/c1/b2", "all"])
def test_what_is_no_tiling_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a tiling"):
        tilings_of(GemmForm(), text, SHAPE, MACHINE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("512x512x512", "the tiles do not fit L1"),
        ("128x256x512/100x256x64", "M = 128 in L1 is not a multiple of M = 100 in L0"),
    ],
)
def test_illegal_tiling_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tilings_of(GemmForm(), text, SHAPE, MACHINE)


@pytest.mark.parametrize("text", ["auto", "128x256x512"])
def test_type_that_the_cube_does_not_multiply_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="the cube does not multiply i16"):
        tilings_of(GemmForm(dtype="i16"), text, SHAPE, MACHINE)


def test_shape_without_a_size_is_refused() -> None:
    with pytest.raises(InputError, match="the shapes of a GEMM lack N and K"):
        tilings_of(GemmForm(), "auto", {"M": 128}, MACHINE)
    with pytest.raises(InputError, match="at least 1"):
        tilings_of(GemmForm(), "auto", SHAPE | {"K": 0}, MACHINE)


def test_form_shows_in_the_text() -> None:
    (tiling,) = tilings_of(GemmForm(dtype="i8"), "128x256x512", SHAPE, MACHINE)
    text = kernel_text(GemmForm(dtype="i8", sync=gemm.Sync.HAND, panel=0), tiling, MACHINE)
    assert "!pto.ptr<i8>" in text
    assert "pto.record_event" in text
    assert "panel" not in text
