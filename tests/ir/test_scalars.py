"""Meaning of scalar ops, op by op: widths, signs, what is undefined, what is unknown."""

import math

import pytest

from syncopt.ir.kernel import NO_SPAN, Scalar, Value
from syncopt.ir.scalars import AS_SIGNED, UNKNOWN, Number, ScalarValue, bits_of, evaluate, wrapped
from syncopt.ir.types import ScalarType

LEAST_32, MOST_32 = -(1 << 31), (1 << 31) - 1


def value_of(
    name: str, type_name: str, *values: ScalarValue, to: str = "", attribute: int | float | str | None = None
) -> ScalarValue:
    """An op whose operands have one type and whose result has the same, or the type `to`."""
    operands = tuple(Value(f"%{n}", ScalarType(type_name)) for n in range(len(values)))
    result = Value("%r", ScalarType(to or type_name))
    return evaluate(Scalar(0, NO_SPAN, f"arith.{name}", operands, (result,), attribute), values)


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("addi", 7, -9, -2),
        ("addi", MOST_32, 1, LEAST_32),
        ("subi", LEAST_32, 1, MOST_32),
        ("muli", 1 << 16, 1 << 16, 0),
        ("muli", 1 << 16, 1 << 15, LEAST_32),
        ("divsi", 7, 2, 3),
        ("divsi", -7, 2, -3),
        ("divsi", 7, -2, -3),
        ("remsi", 7, 3, 1),
        ("remsi", -7, 3, -1),
        ("remsi", 7, -3, 1),
        ("ceildivsi", 7, 2, 4),
        ("ceildivsi", -7, 2, -3),
        ("floordivsi", 7, 2, 3),
        ("floordivsi", -7, 2, -4),
        ("minsi", -1, 1, -1),
        ("maxsi", -1, 1, 1),
        ("minui", -1, 1, 1),
        ("maxui", -1, 1, -1),
        ("divui", -1, 2, MOST_32),
        ("remui", -1, 16, 15),
        ("ceildivui", 7, 2, 4),
        ("andi", 12, 10, 8),
        ("ori", 12, 10, 14),
        ("xori", 12, 10, 6),
        ("shli", 3, 4, 48),
        ("shli", 1, 31, LEAST_32),
        ("shli", 3, 31, LEAST_32),
        ("shrsi", -8, 1, -4),
        ("shrui", -8, 1, MOST_32 - 3),
    ],
)
def test_arithmetic_on_i32(name: str, a: int, b: int, expected: int) -> None:
    assert value_of(name, "i32", a, b) == expected


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        *((name, 7, 0) for name in ("divsi", "remsi", "ceildivsi", "floordivsi", "divui", "remui", "ceildivui")),
        *((name, LEAST_32, -1) for name in ("divsi", "remsi", "ceildivsi", "floordivsi")),
        *((name, 1, 32) for name in ("shli", "shrsi", "shrui")),
        *((name, 1, -1) for name in ("shli", "shrsi", "shrui")),
    ],
)
def test_undefined_arithmetic_is_unknown(name: str, a: int, b: int) -> None:
    """Division by zero, quotients that do not fit, shifts by the width or more."""
    assert value_of(name, "i32", a, b) is UNKNOWN


@pytest.mark.parametrize(("type_name", "expected"), [("i32", LEAST_32), ("i64", 1 << 31), ("index", 1 << 31)])
def test_width_of_the_result_decides_when_it_wraps(type_name: str, expected: int) -> None:
    assert value_of("addi", type_name, MOST_32, 1) == expected


def test_index_wraps_at_64_bits() -> None:
    assert value_of("addi", "index", (1 << 63) - 1, 1) == -(1 << 63)


@pytest.mark.parametrize(
    ("predicate", "a", "b", "expected"),
    [
        *(("eq", 1, 1, 1), ("eq", 1, 2, 0), ("ne", 1, 2, 1), ("slt", -1, 1, 1), ("slt", 1, 1, 0), ("sle", 1, 1, 1)),
        *(
            ("sgt", 1, -1, 1),
            ("sge", -1, 1, 0),
            ("ult", -1, 1, 0),
            ("ule", 1, 1, 1),
            ("ugt", -1, 1, 1),
            ("uge", 0, -1, 0),
        ),
    ],
)
def test_comparisons_of_integers(predicate: str, a: int, b: int, expected: int) -> None:
    """-1 is the largest unsigned integer."""
    assert value_of("cmpi", "i32", a, b, to="i1", attribute=predicate) == expected


def test_comparison_by_an_unknown_predicate_is_unknown() -> None:
    assert value_of("cmpi", "i32", 1, 2, to="i1", attribute="xlt") is UNKNOWN


@pytest.mark.parametrize(
    ("name", "source", "value", "to", "expected"),
    [
        ("index_cast", "i32", -5, "index", -5),
        ("index_cast", "index", (1 << 32) + 5, "i32", 5),
        ("index_castui", "i32", -1, "index", (1 << 32) - 1),
        ("extsi", "i32", -1, "i64", -1),
        ("extui", "i32", -1, "i64", (1 << 32) - 1),
        ("trunci", "i64", (1 << 31) + 1, "i32", LEAST_32 + 1),
        ("extui", "i1", 1, "i32", 1),
        ("extsi", "i1", 1, "i32", -1),
        ("trunci", "i32", 3, "i1", 1),
        ("fptosi", "f32", -2.7, "i32", -2),
        ("fptoui", "f32", 4294967040.0, "i32", -256),
        ("fptoui", "f32", -0.5, "i32", 0),
        ("sitofp", "i32", 3, "f32", 3.0),
        # 24 bits: 2^24 + 1 is halfway between 2^24 and 2^24 + 2; -1 stands for 2^32 - 1
        ("sitofp", "i32", 16777217, "f32", 16777216.0),
        ("uitofp", "i32", -1, "f32", 4294967296.0),
        ("uitofp", "i32", -1, "f64", 4294967295.0),
        ("extf", "f16", 0.5, "f32", 0.5),
        # the nearest f16 of 0.1; 2049 is halfway between two f16, of which 2048 is even; 65520 rounds to infinity
        ("truncf", "f32", 0.1, "f16", 0.0999755859375),
        ("truncf", "f32", 2049.0, "f16", 2048.0),
        ("truncf", "f32", 65520.0, "f16", math.inf),
        # 8 bits: 257 is halfway between 256 and 258
        ("truncf", "f32", 257.0, "bf16", 256.0),
        ("truncf", "f64", 16777217.0, "f32", 16777216.0),
    ],
)
def test_casts(name: str, source: str, value: Number, to: str, expected: Number) -> None:
    """A set 1-bit integer is 1, and -1 where its sign counts."""
    assert value_of(name, source, value, to=to) == expected


@pytest.mark.parametrize("value", [math.inf, math.nan, 2.0**31])
def test_floats_that_fit_no_integer_are_unknown(value: float) -> None:
    assert value_of("fptosi", "f32", value, to="i32") is UNKNOWN


@pytest.mark.parametrize("value", [-1.0, 2.0**32])
def test_floats_that_fit_no_unsigned_integer_are_unknown(value: float) -> None:
    assert value_of("fptoui", "f32", value, to="i32") is UNKNOWN


def test_arithmetic_on_floats_is_as_exact_as_their_type() -> None:
    """Of 2^24 and 2^24 + 2, between which no f32 lies, the sum is the even one; 2^11 is as far for an f16."""
    assert value_of("addf", "f32", 16777216.0, 1.0) == 16777216.0
    assert value_of("addf", "f64", 16777216.0, 1.0) == 16777217.0
    assert value_of("addf", "f16", 2048.0, 1.0) == 2048.0
    assert value_of("mulf", "f16", 256.0, 256.0) == math.inf
    assert value_of("negf", "f32", 2.5) == -2.5


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        *(("addf", 1.5, 2.0, 3.5), ("subf", 1.5, 2.0, -0.5), ("mulf", 1.5, 2.0, 3.0), ("divf", 3.0, 2.0, 1.5)),
        *(("maximumf", 1.0, 2.0, 2.0), ("minimumf", 1.0, 2.0, 1.0), ("divf", 1.0, 0.0, UNKNOWN)),
    ],
)
def test_arithmetic_on_floats(name: str, a: float, b: float, expected: ScalarValue) -> None:
    assert value_of(name, "f32", a, b) == expected


@pytest.mark.parametrize(
    ("predicate", "a", "b", "expected"),
    [
        *(("olt", 1.0, 2.0, 1), ("ult", 2.0, 1.0, 0), ("oeq", 1.0, 1.0, 1), ("une", 1.0, 1.0, 0)),
        *(("oge", math.nan, 1.0, 0), ("uge", math.nan, 1.0, 1), ("ord", 1.0, 1.0, UNKNOWN)),
    ],
)
def test_comparisons_of_floats(predicate: str, a: float, b: float, expected: ScalarValue) -> None:
    """With a NaN the unordered ones hold."""
    assert value_of("cmpf", "f32", a, b, to="i1", attribute=predicate) == expected


@pytest.mark.parametrize(
    ("attribute", "expected"), [(3, 3), (2.5, 2.5), (0, 0), ("dense<0>", UNKNOWN), (None, UNKNOWN)]
)
def test_constants(attribute: int | float | str | None, expected: ScalarValue) -> None:
    assert value_of("constant", "i32", attribute=attribute) == expected


def test_constant_of_a_float_is_one_that_its_type_holds() -> None:
    """The nearest f16 of 0.1."""
    assert value_of("constant", "f16", attribute=0.1) == 0.0999755859375


@pytest.mark.parametrize(
    ("values", "expected"),
    [((1, 5, UNKNOWN), 5), ((0, UNKNOWN, 6), 6), ((UNKNOWN, 5, 5), UNKNOWN), ((1, UNKNOWN, 6), UNKNOWN)],
)
def test_select_needs_its_condition_and_one_value(values: tuple[ScalarValue, ...], expected: ScalarValue) -> None:
    assert value_of("select", "i32", *values) == expected


@pytest.mark.parametrize("name", ["addi", "divui", "shli", "addf"])
def test_unknown_operands_make_an_unknown_result(name: str) -> None:
    assert value_of(name, "i32", UNKNOWN, 1) is UNKNOWN
    assert value_of(name, "i32", 1, UNKNOWN) is UNKNOWN


@pytest.mark.parametrize(
    ("name", "kind", "known", "expected"),
    [
        ("andi", "i1", 0, 0),
        ("andi", "i1", 1, UNKNOWN),
        ("andi", "i32", 0, 0),
        ("andi", "i32", -1, UNKNOWN),
        ("ori", "i1", 1, 1),
        ("ori", "i1", 0, UNKNOWN),
        ("ori", "i32", -1, -1),
        ("ori", "i32", 1, UNKNOWN),
        ("xori", "i1", 1, UNKNOWN),
    ],
)
def test_one_operand_can_be_enough(name: str, kind: str, known: int, expected: ScalarValue) -> None:
    """What is false and something else is false, what is true or something else is true."""
    assert value_of(name, kind, known, UNKNOWN) == expected
    assert value_of(name, kind, UNKNOWN, known) == expected


def test_op_without_a_rule_is_unknown() -> None:
    assert value_of("somethingnew", "i32", 1, 2) is UNKNOWN


def test_widths_by_name() -> None:
    assert [bits_of(name) for name in ("i1", "i32", "i64", "index", "f32")] == [1, 32, 64, 64, 64]


@pytest.mark.parametrize(("value", "type_name", "expected"), [(5, "i32", 5), (1 << 31, "i32", LEAST_32), (3, "i1", 1)])
def test_values_held_in_a_type(value: int, type_name: str, expected: int) -> None:
    assert wrapped(value, type_name) == expected


def test_unsigned_number_is_the_signed_one_that_can_hold_it() -> None:
    """2^63 - 1 is the largest that fits; integers are held as signed ones, so -1 stands for 2^64 - 1."""
    operand, result = Value("%0", ScalarType("i64")), Value("%r", ScalarType("i64"))
    op = Scalar(0, NO_SPAN, AS_SIGNED, (operand,), (result,))
    assert evaluate(op, (7,)) == 7
    assert evaluate(op, ((1 << 63) - 1,)) == (1 << 63) - 1
    assert evaluate(op, (-1,)) is UNKNOWN
    assert evaluate(op, (UNKNOWN,)) is UNKNOWN
