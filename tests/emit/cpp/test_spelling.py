"""Constants in C++ are the numbers that the types of the tree hold."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncopt.emit.cpp.spelling import element_type, literal, scalar_type
from syncopt.ir.types import DType, ScalarType


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (0.1, "f32", "0.1f"),
        (1.0, "f32", "1.0f"),
        (-0.0, "f32", "-0.0f"),
        (1e-5, "f32", "1e-05f"),
        (3.4028234663852886e38, "f32", "3.4028235e+38f"),
        (16777217.0, "f32", "16777216.0f"),
        (1e39, "f32", "__builtin_inf()"),
        (-math.inf, "f32", "-__builtin_inf()"),
        (math.nan, "f32", '__builtin_nan("")'),
        (0.1, "f16", "0.099975586f"),
        (65520.0, "f16", "__builtin_inf()"),
        (1.00390625, "bf16", "1.0f"),
        (1.01171875, "bf16", "1.015625f"),
        (0.1, "f64", "0.1"),
        (3, "index", "3"),
        (-1, "i32", "-1"),
        (200, "i8", "-56"),
        (1, "i1", "true"),
    ],
)
def test_literal(value: int | float, type_: str, text: str) -> None:
    """65520 is halfway between the largest f16 and the next power of two; bf16 keeps 8 bits, ties to even."""
    assert literal(value, ScalarType(type_)) == text


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_literal_of_a_float_is_that_float(value: float) -> None:
    text = literal(value, ScalarType("f32")).removesuffix("f")
    assert struct.pack("<f", float(text)) == struct.pack("<f", value)


def test_element_types() -> None:
    assert {dtype: element_type(dtype) for dtype in (DType.F16, DType.BF16, DType.I8, DType.SI16, DType.UI64)} == {
        DType.F16: "half",
        DType.BF16: "bfloat16_t",
        DType.I8: "int8_t",
        DType.SI16: "int16_t",
        DType.UI64: "uint64_t",
    }


@pytest.mark.parametrize("name", ["i7", "i128", "ui7", "f80", "tf32"])
def test_no_type(name: str) -> None:
    assert scalar_type(ScalarType(name)) is None
