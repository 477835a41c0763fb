"""Reductions, conversions, comparisons, selections and gathers against numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syncopt.ir.source import InputError
from tests.execute.kernels import BY_COLUMNS, Number, Tile, kernel_of, result, run, view

Matrix = NDArray[Any]
ROWS, COLS = 8, 32
REDUCTIONS: dict[str, Callable[..., Matrix]] = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


def tile(dtype: str, rows: int = ROWS, cols: int = COLS) -> Tile:
    return Tile(dtype, rows, cols)


@pytest.mark.parametrize("dtype", ["f16", "f32", "i32"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_of_rows(name: str, dtype: str) -> None:
    """In float64 or int64, then rounded or wrapped once."""
    column = Tile(dtype, 16, 1, BY_COLUMNS)
    a, _, found = result(f"trow{name}", [tile(dtype, 16), tile(dtype, 16)], column)
    wide = a.astype(np.float64 if "f" in dtype else np.int64)
    assert np.array_equal(found, REDUCTIONS[name](wide, axis=1, keepdims=True).astype(a.dtype))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_of_columns(name: str) -> None:
    a, found = result(f"tcol{name}", [tile("f32")], tile("f32", 1))
    assert np.array_equal(found, REDUCTIONS[name](a.astype(np.float64), axis=0, keepdims=True).astype(np.float32))


def test_sum_of_columns_with_scratch() -> None:
    a, _, found = result("tcolsum", [tile("f32"), tile("f32")], tile("f32", 1), "{isBinary = true}")
    assert np.array_equal(found[0], a.sum(0))


def test_scratch_is_spoilt() -> None:
    """What a reduction leaves in its scratch tile is not what stood there: a store of it gives other numbers."""
    tiles = Tile("f32", ROWS, COLS)
    column = Tile("f32", ROWS, 1, BY_COLUMNS)
    body = (
        f"%a0 = arith.constant 0 : i64\n%a1 = arith.constant 4096 : i64\n%a2 = arith.constant 8192 : i64\n"
        f"%x = pto.alloc_tile addr = %a0 : {tiles.type}\n%t = pto.alloc_tile addr = %a1 : {tiles.type}\n"
        f"%s = pto.alloc_tile addr = %a2 : {column.type}\n"
        f"{view('in', 'f32', ROWS, COLS)}{view('out', 'f32', ROWS, COLS)}"
        f"pto.tload ins(%inp : !pto.partition_tensor_view<8x32xf32>) outs(%t : {tiles.type})\n"
        f"pto.trowsum ins(%x, %t : {tiles.type}, {tiles.type}) outs(%s : {column.type})\n"
        f"pto.tstore ins(%t : {tiles.type}) outs(%outp : !pto.partition_tensor_view<8x32xf32>)"
    )
    done = run(kernel_of("%in: !pto.ptr<f32>, %out: !pto.ptr<f32>", body))
    assert set(done.after("out").view(np.uint32).tolist()) == {0xA5A5A5A5}


def away_from_zero(numbers: Matrix) -> Matrix:
    """The nearest integers, ties away from zero."""
    return np.sign(numbers) * np.floor(np.abs(numbers) + 0.5)


# -- conversion ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "compute"),
    [
        ("RINT", np.rint),
        ("ROUND", away_from_zero),
        ("FLOOR", np.floor),
        ("CEIL", np.ceil),
        ("TRUNC", np.trunc),
        ("CAST_TRUNC", np.trunc),
        ("NONE", np.rint),
    ],
)
def test_float_to_integer(mode: str, compute: Callable[[Matrix], Matrix]) -> None:
    """Halves are among the numbers, so that the modes differ; f32 -> i32 without a mode rounds to even."""
    a, found = result("tcvt", [tile("f32")], tile("i32"), f"{{rmode = #pto<round_mode {mode}>}}")
    assert np.any(a != np.rint(a))
    assert np.array_equal(found, compute(a).astype(np.int32))


def test_other_integers_without_a_mode_are_rounded_towards_zero() -> None:
    a, found = result("tcvt", [tile("f16")], tile("i16"), "{rmode = #pto<round_mode NONE>}")
    assert np.array_equal(found, np.trunc(a).astype(np.int16))


def test_conversions_that_are_exact() -> None:
    for source, target in (
        ("f16", "f32"),
        ("bf16", "f32"),
        ("i16", "f32"),
        ("i32", "f32"),
        ("ui8", "f16"),
        ("i8", "f16"),
    ):
        a, found = result("tcvt", [tile(source)], tile(target))
        assert np.array_equal(found, a.astype(found.dtype))


def test_float_to_a_narrower_float() -> None:
    """x * 1.1 in f32 is no f16: to even as numpy does it, towards zero never further out."""
    scaled = tile("f32")
    a, found = result("tcvt", [scaled], tile("f16"))
    assert np.array_equal(found, a.astype(np.float16))


@pytest.mark.parametrize(("satmode", "expected"), [("ON", 127), ("OFF", 44)])
def test_numbers_beyond_the_destination(satmode: str, expected: int) -> None:
    """300 as i8 is the largest one, or its low 8 bits: 300 - 256."""
    source, target = tile("f16"), tile("i8")
    body = (
        f"%a0 = arith.constant 0 : i64\n%a1 = arith.constant 4096 : i64\n%n = arith.constant 300.0 : f16\n"
        f"%x = pto.alloc_tile addr = %a0 : {source.type}\n%y = pto.alloc_tile addr = %a1 : {target.type}\n"
        f"{view('out', 'i8', ROWS, COLS)}pto.texpands ins(%n : f16) outs(%x : {source.type})\n"
        f"pto.tcvt ins(%x {{satmode = #pto<saturation_mode {satmode}>}} : {source.type}) outs(%y : {target.type})\n"
        f"pto.tstore ins(%y : {target.type}) outs(%outp : !pto.partition_tensor_view<8x32xi8>)"
    )
    assert np.all(run(kernel_of("%out: !pto.ptr<i8>", body)).after("out") == expected)


# -- comparison and selection --------------------------------------------------------------------------------------

COMPARISONS: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.mark.parametrize("mode", COMPARISONS)
def test_comparison_packs_bits(mode: str) -> None:
    """32 columns are the first 4 bytes of a row, column 0 the lowest bit."""
    before, found = _compared("tcmp", [tile("f32"), tile("f32")], mode)
    a, b = before[:2]
    bits = np.unpackbits(found[:, :4].view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(bits.astype(bool), COMPARISONS[mode](a, b))


def test_comparison_leaves_the_rest_of_the_row() -> None:
    before, found = _compared("tcmp", [tile("f32"), tile("f32")], "lt")
    assert np.array_equal(before[2][:, 4:], found[:, 4:])


def test_comparison_with_a_number() -> None:
    (a, _), found = _compared("tcmps", [tile("f16"), Number(0.5, "f16")], "ge")
    bits = np.unpackbits(found[:, :4].view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(bits.astype(bool), a >= 0.5)


def _compared(name: str, ins: list[Tile | Number], mode: str) -> tuple[tuple[Matrix, ...], Matrix]:
    *before, found = result(name, ins, tile("i8"), f"{{cmpMode = #pto<cmp {mode}>}}", loads_out=True)
    return tuple(before), found


def test_integers_are_compared_for_equality_only() -> None:
    (a, b, _), found = _compared("tcmp", [tile("i32"), tile("i32")], "ne")
    bits = np.unpackbits(found[:, :4].view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(bits.astype(bool), a != b)
    with pytest.raises(InputError, match="tcmp of i32 by lt: the hardware compares floats only"):
        _compared("tcmp", [tile("i32"), tile("i32")], "lt")


def test_selection() -> None:
    """The mask comes from memory: any bytes will do."""
    mask, a, b, _, found = result("tsel", [tile("i8"), tile("f32"), tile("f32"), tile("f32", 1)], tile("f32"))
    bits = np.unpackbits(mask[:, :4].copy().view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert np.array_equal(found, np.where(bits, a, b))
    assert bits.any()
    assert not bits.all()


def test_selection_between_a_tile_and_a_number() -> None:
    operands = [tile("i8"), tile("f16"), tile("f16", 1), Number(0.25, "f16")]
    mask, a, _, found = result("tsels", operands, tile("f16"))
    bits = np.unpackbits(mask[:, :4].copy().view(np.uint8), axis=1, bitorder="little").astype(bool)
    assert np.array_equal(found, np.where(bits, a, np.float16(0.25)))


# -- gathers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "every", "first"), [("P0101", 2, 0), ("P1010", 2, 1), ("P0100", 4, 2), ("P1111", 1, 0)]
)
def test_gather_by_pattern(pattern: str, every: int, first: int) -> None:
    """The last digit of a pattern stands for the first column."""
    attributes = f"{{maskPattern = #pto.mask_pattern<{pattern}>}}"
    a, found = result("tgather", [tile("f16", 1, 64)], tile("f16", 1, 64 // every), attributes)
    assert np.array_equal(found, a[:, first::every])


def test_gather_by_index() -> None:
    """Indices count elements of the source; one beyond it gives 0."""
    a, index, _, found = result("tgather", [tile("f32", 1, 8), tile("ui32"), tile("ui32")], tile("f32"))
    assert np.array_equal(found, a[0][index])
    a, index, _, found = result("tgather", [tile("f32", 1, 8), tile("i32"), tile("i32")], tile("f32"))
    assert np.array_equal(found, np.where(index >= 0, a[0][np.maximum(index, 0)], 0))
    assert (index < 0).any()


@pytest.mark.parametrize(
    ("name", "ins", "out", "attributes", "message"),
    [
        ("tcvt", [tile("f32")], tile("i32"), "{rmode = #pto<round_mode ODD>}", "rmode = odd has no meaning here"),
        ("tgather", [tile("f16", 1)], tile("f16", 1), "", "by pattern none has no meaning here"),
        ("tcmp", [tile("f32"), tile("f32")], tile("i8"), "{cmpMode = #pto<cmp about>}", "cmpMode = about has no"),
    ],
)
def test_form_without_meaning_is_refused(
    name: str, ins: list[Tile | Number], out: Tile, attributes: str, message: str
) -> None:
    with pytest.raises(InputError) as refused:
        result(name, ins, out, attributes)
    assert message in str(refused.value)
