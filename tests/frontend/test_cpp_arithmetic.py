"""Expressions come out as C++ defines them: promotions, conversions, widths, wrap-around, unsigned comparison."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.frontend import parse_module
from syncopt.ir.kernel import Scalar, Value, walk
from syncopt.ir.scalars import UNKNOWN, ScalarValue, evaluate, wrapped
from syncopt.ir.source import Source
from syncopt.ir.types import ScalarType
from tests.frontend.fixed_width import (
    OPERATORS,
    TYPES,
    Expression,
    Number,
    binary,
    cast,
    choice,
    literal,
    unary,
    variable,
)

NAMES = {f"x{number}": type_ for number, type_ in enumerate(TYPES)}


def value_of(text: str, arguments: Mapping[str, int], type_: str = "int64_t") -> ScalarValue:
    """What a variable that is declared with an expression holds."""
    parameters = ", ".join(f"{NAMES[name]} {name}" for name in NAMES)
    source = f"AICORE void k({parameters}) {{\n  {type_} made = {text};\n  set_flag(PIPE_V, PIPE_S, made);\n}}\n"
    kernel = parse_module(Source("k.cpp", source.encode())).kernel()
    env: dict[Value, ScalarValue] = {}
    for argument in kernel.arguments:
        assert isinstance(argument.type, ScalarType)
        env[argument] = wrapped(arguments.get(argument.name, 0), argument.type.name)
    last = kernel.arguments[0]
    for op in walk(kernel.body):
        if isinstance(op, Scalar):
            last = op.results[0]
            env[last] = evaluate(op, tuple(env[operand] for operand in op.operands))
    return env[last]


def numbers(type_: str) -> st.SearchStrategy[int]:
    """Numbers of a type, those at its ends and around zero more often."""
    bits = 1 if type_ == "bool" else 64 if type_ == "size_t" else int("".join(filter(str.isdigit, type_)))
    low = -(1 << (bits - 1)) if type_.startswith("int") else 0
    high = low + (1 << bits) - 1
    edges = {
        number for number in (low, low + 1, -1, 0, 1, 2, 3, 7, 31, 32, 63, high - 1, high) if low <= number <= high
    }
    return st.sampled_from(sorted(edges)) | st.integers(low, high)


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.sampled_from(sorted(NAMES)).map(variable) | st.integers(0, 1 << 31 - 1).map(literal)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(binary, st.sampled_from(OPERATORS), inner, inner),
            st.builds(cast, st.sampled_from(sorted(TYPES)), inner),
            st.builds(unary, st.sampled_from("!-~+"), inner),
            st.builds(choice, inner, inner, inner),
        ),
        max_leaves=8,
    )


@settings(deadline=None, max_examples=400)
@given(expression=expressions(), data=st.data())
def test_expression_comes_out_as_in_cpp(expression: Expression, data: st.DataObject) -> None:
    """The last variable keeps the reader from knowing the outcome as a constant, and does not change it."""
    given_numbers = {name: data.draw(numbers(type_), label=name) for name, type_ in NAMES.items()}
    env = {name: Number(NAMES[name], number) for name, number in given_numbers.items()}
    expected = expression.compute(env).to("int64_t").value
    found = value_of(f"0 * x7 + {expression.inside(10)}", given_numbers)
    assert found == (UNKNOWN if expected is None else expected), expression.text


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        # -1 as an unsigned number is the largest one
        ("x5 < x6", {"x5": -1, "x6": 1}, 0),
        ("x5 < x7", {"x5": -1, "x7": 1}, 1),
        # 200 * 200 in int, though both are bytes
        ("x2 * x2", {"x2": 200}, 40000),
        # the product wraps in 32 bits before it is widened, with a zero extension
        ("(size_t) ((uint32_t) x5 * (uint32_t) x5)", {"x5": 65536}, 0),
        ("(size_t) (uint32_t) x5", {"x5": -1}, 0xFFFFFFFF),
        ("(size_t) x5", {"x5": -1}, -1),
        # a cast binds tighter than the operator behind it, so that this is a division of unsigned numbers
        ("(int64_t) (uint64_t) x7 % (uint64_t) x7 / (int32_t) (int64_t) x7", {"x7": 5}, 0),
        ("(int32_t) (uint32_t) x5 + (uint32_t) x6", {"x5": -1, "x6": 2}, 1),
        # towards zero, the remainder with the sign of the first
        ("x5 / 2", {"x5": -7}, -3),
        ("x5 % 2", {"x5": -7}, -1),
        # comparisons of comparisons, as in rounded-up divisions
        ("x5 % 24 != 0 && x5 < 0 == 24 < 0 ? x5 / 24 + 1 : x5 / 24", {"x5": 49}, 3),
        # what is not chosen may be undefined
        ("x5 != 0 && 7 / x5 > 1", {"x5": 0}, 0),
        ("x5 == 0 ? 1 : 7 / x5", {"x5": 0}, 1),
        ("7 / x5", {"x5": 0}, UNKNOWN),
        ("1 << x5", {"x5": 32}, UNKNOWN),
        ("0xFFFFFFFF + x5", {"x5": 1}, 0),
        ("0xFFFFFFFFFF + x5", {"x5": 1}, 0x10000000000),
        ("4294967296 - x5", {"x5": 1}, 4294967295),
        ("1u - x5", {"x5": 2}, 0xFFFFFFFF),
        ("0b101 + 1'000 + x5", {"x5": 1}, 1006),
        ("sizeof(half) * x5", {"x5": 3}, 6),
        ("uint8_t(x5) + static_cast<int8_t>(x5)", {"x5": 255}, 254),
        ("(unsigned char) x5 + static_cast <signed char> (x5)", {"x5": 255}, 254),
        ("(long int) x5 * (unsigned short int) x5", {"x5": -1}, -65535),
        # a float has 24 bits and an unsigned number no sign
        ("(int) ((16777216.0f + 1.0f) - 16777216.0f) + x5", {"x5": 3}, 3),
        ("(int64_t) (float) x6", {"x6": -1}, 4294967296),
        ("(int) -2.5f + x5", {"x5": 0}, -2),
    ],
)
def test_conversions(text: str, arguments: Mapping[str, int], expected: ScalarValue) -> None:
    assert value_of(text, arguments) == expected


def test_narrow_variables_hold_what_fits() -> None:
    """300 in eight bits is 44."""
    assert value_of("x5", {"x5": 300}, "uint8_t") == 44
    assert value_of("x5", {"x5": 200}, "int8_t") == -56
    assert value_of("x5", {"x5": 2}, "bool") == 1
