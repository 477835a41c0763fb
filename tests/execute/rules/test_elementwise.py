"""Ops on elements against numpy, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syncopt.execute.numbers import decoded, encoded
from syncopt.ir.source import InputError
from syncopt.ir.types import DType
from tests.execute.kernels import BY_COLUMNS, Number, Tile, result

Matrix = NDArray[Any]
ROWS, COLS = 8, 32


def tile(dtype: str, rows: int = ROWS, cols: int = COLS) -> Tile:
    return Tile(dtype, rows, cols)


BINARY: dict[str, Callable[[Matrix, Matrix], Matrix]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("dtype", ["f16", "f32", "i16", "i32"])
@pytest.mark.parametrize("name", BINARY)
def test_two_tiles(name: str, dtype: str) -> None:
    a, b, found = result(f"t{name}", [tile(dtype), tile(dtype)], tile(dtype))
    assert np.array_equal(found, BINARY[name](a, b))
    assert len(np.unique(a)) > 1
    assert not np.array_equal(a, b)


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_quotient(dtype: str) -> None:
    a, b, found = result("tdiv", [tile(dtype), tile(dtype)], tile(dtype))
    with np.errstate(all="ignore"):
        assert np.array_equal(found, a / b, equal_nan=True)


def test_bf16_is_computed_in_float32_and_rounded() -> None:
    a, b, found = result("tmul", [tile("bf16"), tile("bf16")], tile("bf16"))
    assert np.array_equal(found, decoded(encoded(a * b, DType.BF16), DType.BF16))
    # 1.5 * 0.3 in bf16: 0.3 is 0.30078125, the product 0.451171875 is one again.
    found = result("tmuls", [tile("bf16"), Number(0.3, "bf16")], tile("bf16"))
    assert np.all(found[1][found[0] == 1.5] == np.float32(0.451171875))


@pytest.mark.parametrize(("name", "compute"), [("and", np.bitwise_and), ("or", np.bitwise_or)])
def test_bits(name: str, compute: Callable[[Matrix, Matrix], Matrix]) -> None:
    a, b, found = result(f"t{name}", [tile("i16"), tile("i16")], tile("i16"))
    assert np.array_equal(found, compute(a, b))
    a, found = result(f"t{name}s", [tile("i32"), Number(6, "i32")], tile("i32"))
    assert np.array_equal(found, compute(a, np.array(6, a.dtype)))


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(("dtype", "number"), [("f16", 0.75), ("f32", -1.5), ("i16", 3), ("i32", -7)])
def test_a_tile_and_a_number(name: str, dtype: str, number: float) -> None:
    a, found = result(f"t{name}s", [tile(dtype), Number(number, dtype)], tile(dtype))
    assert np.array_equal(found, BINARY[name](a, np.array(number).astype(a.dtype)))


def test_division_by_and_of_a_number() -> None:
    a, found = result("tdivs", [tile("f32"), Number(4.0, "f32")], tile("f32"))
    assert np.array_equal(found, a / 4)
    a, found = result("tdivs", [Number(4.0, "f32"), tile("f32")], tile("f32"))
    with np.errstate(all="ignore"):
        assert np.array_equal(found, np.float32(4) / a)


def test_integers_wrap() -> None:
    a, found = result("tmuls", [tile("i16"), Number(30000, "i16")], tile("i16"))
    assert np.array_equal(found, (a.astype(np.int64) * 30000).astype(np.int16))
    assert np.any(found.astype(np.int64) != a.astype(np.int64) * 30000)


def test_shifts() -> None:
    a, found = result("tshls", [tile("i32"), Number(3, "i32")], tile("i32"))
    assert np.array_equal(found, a << 3)
    a, found = result("tshrs", [tile("i16"), Number(1, "i16")], tile("i16"))
    assert np.array_equal(found, a >> 1)
    a, found = result("tshrs", [tile("ui16"), Number(1, "i16")], tile("ui16"))
    assert np.array_equal(found, a >> 1)


UNARY: dict[str, Callable[[Matrix], Matrix]] = {
    "abs": np.abs,
    "neg": np.negative,
    "relu": lambda a: np.where(a > 0, a, 0).astype(a.dtype),
    "exp": lambda a: np.exp(a.astype(np.float64)).astype(a.dtype),
    "log": lambda a: np.log(a.astype(np.float64)).astype(a.dtype),
    "sqrt": lambda a: np.sqrt(a.astype(np.float64)).astype(a.dtype),
    "rsqrt": lambda a: (1 / np.sqrt(a.astype(np.float64))).astype(a.dtype),
    "recip": lambda a: (1 / a.astype(np.float64)).astype(a.dtype),
}


@pytest.mark.parametrize("dtype", ["f16", "f32"])
@pytest.mark.parametrize("name", UNARY)
def test_one_tile(name: str, dtype: str) -> None:
    a, found = result(f"t{name}", [tile(dtype)], tile(dtype))
    with np.errstate(all="ignore"):
        assert np.array_equal(found, UNARY[name](a), equal_nan=True)


def test_not_of_integers() -> None:
    a, found = result("tnot", [tile("i16")], tile("i16"))
    assert np.array_equal(found, ~a)


def test_leaky_relu() -> None:
    a, found = result("tlrelu", [tile("f32"), Number(0.25, "f32")], tile("f32"))
    assert np.array_equal(found, np.where(a > 0, a, a / 4))


@pytest.mark.parametrize(("source", "target"), [("f16", "f16"), ("f32", "f32"), ("f16", "f32")])
def test_axpy_adds_to_what_was_there(source: str, target: str) -> None:
    x, y, found = result("taxpy", [tile(source), Number(0.75, source)], tile(target), loads_out=True)
    assert np.array_equal(found, (y + x.astype(np.float64) * 0.75).astype(y.dtype))


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["f16", "f32", "i32"])
def test_a_number_per_row(name: str, dtype: str) -> None:
    a, b, found = result(f"trowexpand{name}", [tile(dtype), Tile(dtype, ROWS, 1, BY_COLUMNS)], tile(dtype))
    assert b.shape == (ROWS, 1)
    assert np.array_equal(found, BINARY[name](a, b))


def test_a_block_of_32_bytes_per_row() -> None:
    """Element j meets element j % 8 of the block of f32."""
    a, b, found = result("trowexpandmul", [tile("f32"), tile("f32", ROWS, 8)], tile("f32"))
    assert np.array_equal(found, a * np.tile(b, (1, COLS // 8)))


def test_numbers_per_row_may_come_first_where_the_order_does_not_matter() -> None:
    per_row = Tile("f32", ROWS, 1, BY_COLUMNS)
    a, b, found = result("trowexpandmax", [per_row, tile("f32")], tile("f32"))
    assert np.array_equal(found, np.maximum(a, b))
    with pytest.raises(InputError, match="the first operand does not have the shape of the result"):
        result("trowexpandsub", [per_row, tile("f32")], tile("f32"))


@pytest.mark.parametrize("name", BINARY)
def test_a_number_per_column(name: str) -> None:
    a, b, found = result(f"tcolexpand{name}", [tile("f32"), tile("f32", 1)], tile("f32"))
    assert np.array_equal(found, BINARY[name](a, b))


def test_quotients_by_row_and_column() -> None:
    with np.errstate(all="ignore"):
        a, b, found = result("trowexpanddiv", [tile("f32"), Tile("f32", ROWS, 1, BY_COLUMNS)], tile("f32"))
        assert np.array_equal(found, a / b, equal_nan=True)
        a, b, found = result("tcolexpanddiv", [tile("f32"), tile("f32", 1)], tile("f32"))
        assert np.array_equal(found, a / b, equal_nan=True)


def test_broadcasts() -> None:
    a, found = result("trowexpand", [Tile("f16", 16, 1, BY_COLUMNS)], tile("f16", 16))
    assert np.array_equal(found, np.broadcast_to(a, found.shape))
    a, found = result("trowexpand", [tile("f32", 1, 8)], tile("f32", 8, 8))
    assert np.array_equal(found, np.broadcast_to(a.T, found.shape))
    a, found = result("tcolexpand", [tile("f16", 1)], tile("f16"))
    assert np.array_equal(found, np.broadcast_to(a, found.shape))
    (found,) = result("texpands", [Number(2.5, "f16")], tile("f16"))
    assert np.all(found == 2.5)


def test_ramps() -> None:
    (found,) = result("tci", [Number(5, "i32")], tile("i32", 1))
    assert np.array_equal(found[0], 5 + np.arange(COLS))
    (found,) = result("tci", [Number(5, "i16")], tile("i16", 1), "{descending = true}")
    assert np.array_equal(found[0], 5 - np.arange(COLS))


def test_set_value_writes_one_element() -> None:
    """Element 70 of rows of 32 is (2, 6)."""
    before, found = result("tsetval", [Number(70, "index"), Number(99, "i32")], tile("i32"), loads_out=True)
    assert found[2, 6] == 99
    before[2, 6] = 99
    assert np.array_equal(found, before)


def test_only_the_valid_part_is_computed() -> None:
    """3 x 5 of 8 x 32: the store brings 3 x 5, and what the op wrote is no more."""
    part = Tile("f32", ROWS, COLS, valid=(3, 5))
    a, b, found = result("tadd", [part, part], part)
    assert a.shape == (3, 5)
    assert np.array_equal(found, a + b)


@pytest.mark.parametrize(
    ("name", "ins", "out", "message"),
    [
        ("tdiv", [tile("i32"), tile("i32")], tile("i32"), "on int32 elements has no meaning here, expected floats"),
        ("tand", [tile("f32"), tile("f32")], tile("f32"), "on bits of float32 elements"),
        ("tnot", [tile("f16")], tile("f16"), "on bits of float16 elements"),
        ("tadd", [tile("f16"), tile("f32")], tile("f32"), "from f16 to f32 has no meaning here"),
        ("tadd", [tile("f32")], tile("f32"), "of 1 tiles and 0 scalars has no meaning here, only of 2 and 0"),
        ("tadd", [tile("f32", 4), tile("f32")], tile("f32"), "8 x 32 elements at (0, 0) of one that has 4 x 32"),
        ("tshls", [tile("i16"), Number(16, "i16")], tile("i16"), "a shift by less than 0 or by all bits"),
        ("tci", [Number(5, "i32")], tile("i32", 2), "to 2 rows of i32"),
        ("trowexpandadd", [tile("f32"), tile("f32", ROWS, 16)], tile("f32"), "16 columns of factors, expected 1 or 8"),
    ],
)
def test_form_without_meaning_is_refused(name: str, ins: list[Tile | Number], out: Tile, message: str) -> None:
    with pytest.raises(InputError) as refused:
        result(name, ins, out)
    assert message in str(refused.value)
    assert str(refused.value).startswith("f.pto:")
