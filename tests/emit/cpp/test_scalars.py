"""Scalar ops mean in C++ what they mean in the tree."""

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from syncopt.emit.cpp.names import Names
from syncopt.emit.cpp.scalars import expression
from syncopt.emit.cpp.spelling import scalar_type
from syncopt.ir.kernel import NO_SPAN, Scalar, Value
from syncopt.ir.scalars import UNKNOWN, evaluate, wrapped
from syncopt.ir.types import ScalarType
from tests.emit.cpp.running import needs_compiler, printed_by

BINARY = (
    *("addi", "subi", "muli", "divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi", "remui"),
    *("minsi", "minui", "maxsi", "maxui", "andi", "ori", "xori", "shli", "shrsi", "shrui"),
)
ON_BITS = ("addi", "subi", "muli", "andi", "ori", "xori")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
CASTS = ("index_cast", "index_castui", "extsi", "extui", "trunci")
WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}


def scalar(name: str, types: Sequence[str], result: str, attribute: int | float | str | None = None) -> Scalar:
    operands = tuple(Value(f"%{letter}", ScalarType(type_)) for letter, type_ in zip("abc", types, strict=False))
    return Scalar(0, NO_SPAN, f"arith.{name}", operands, (Value("%r", ScalarType(result)),), attribute)


def in_cpp(op: Scalar) -> str | None:
    names = Names()
    for operand in op.operands:
        names.declare(operand)
    return expression(op, names)


def numbers(type_: str) -> list[int]:
    """The ends of the range of a type, and what is near 0."""
    bits = WIDTHS[type_]
    ends = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return sorted({wrapped(value, type_) for value in (*ends, ends[1] - 1, -3, -2, -1, 0, 1, 2, 3, 7)})


def integer_ops() -> Iterator[Scalar]:
    """Every integer op on every type that it takes."""
    for type_ in WIDTHS:
        for name in ON_BITS if type_ == "i1" else BINARY:
            yield scalar(name, (type_, type_), type_)
        for predicate in PREDICATES:
            yield scalar("cmpi", (type_, type_), "i1", predicate)
        yield scalar("select", ("i1", type_, type_), type_)
        for name, other in itertools.product(CASTS, WIDTHS):
            yield scalar(name, (type_,), other)


def type_names(values: Sequence[Value]) -> list[str]:
    return [value.type.name for value in values if isinstance(value.type, ScalarType)]


def function(name: str, op: Scalar) -> str:
    """An op as a C++ function."""
    [result, *operands] = [scalar_type(ScalarType(type_)) for type_ in type_names((*op.results, *op.operands))]
    arguments = ", ".join(f"{type_} {letter}" for type_, letter in zip(operands, "abc", strict=False))
    return f"static {result} {name}({arguments}) {{ {result} r = {in_cpp(op)}; return r; }}\n"


def program(functions: Sequence[str], body: Sequence[str]) -> str:
    return "".join([*functions, "int main() {\n", *(f"{line}\n" for line in body), "}\n"])


@needs_compiler
def test_integer_ops_give_what_the_tree_gives(tmp_path: Path) -> None:
    """At the ends of all widths; what is undefined in the tree is left out."""
    ops = list(integer_ops())
    expected: list[tuple[str, object]] = []
    functions: list[str] = []
    body: list[str] = []
    for at, op in enumerate(ops):
        functions.append(function(f"f{at}", op))
        defined = [
            (operands, value)
            for operands in itertools.product(*(numbers(type_) for type_ in type_names(op.operands)))
            if (value := evaluate(op, operands)) is not UNKNOWN
        ]
        rows = ", ".join(f"{{{', '.join(f'{as_unsigned(number)}ull' for number in row)}}}" for row, _ in defined)
        casts = [str(scalar_type(ScalarType(type_))) for type_ in type_names(op.operands)]
        call = ", ".join(f"({type_}) row[{column}]" for column, type_ in enumerate(casts))
        body.append(
            f"for (const auto& row : (const unsigned long long[][{len(casts)}]) {{{rows}}}) show(f{at}({call}));"
        )
        expected += [(f"{op.name} {op.attribute} {type_names(op.operands)} {row}", value) for row, value in defined]
    show = 'static void show(long long r) { std::printf("%lld\\n", r); }\n'
    printed = printed_by(program([show, *functions], body), tmp_path)
    assert len(expected) > 5000
    assert [(case, int(line)) for (case, _), line in zip(expected, printed, strict=True)] == expected


def as_unsigned(number: int) -> int:
    return number % (1 << 64)


FLOAT_PREDICATES = {
    "false": set[str](),
    "oeq": {"="},
    "ogt": {">"},
    "oge": {">", "="},
    "olt": {"<"},
    "ole": {"<", "="},
    "one": {"<", ">"},
    "ord": {"<", "=", ">"},
    "ueq": {"=", "?"},
    "ugt": {">", "?"},
    "uge": {">", "=", "?"},
    "ult": {"<", "?"},
    "ule": {"<", "=", "?"},
    "une": {"<", ">", "?"},
    "uno": {"?"},
    "true": {"<", "=", ">", "?"},
}
"""By MLIR: the outcomes of a comparison, `?` with a NaN, for which a predicate holds."""
PAIRS = {"<": (1.0, 2.0), "=": (1.5, 1.5), ">": (2.0, 1.0), "?": (math.nan, 1.0)}


@needs_compiler
def test_float_comparisons_know_nan(tmp_path: Path) -> None:
    functions = [function(f"{name}_", scalar("cmpf", ("f32", "f32"), "i1", name)) for name in FLOAT_PREDICATES]
    calls = [
        f'std::printf("%d\\n", {name}_({spelled(a)}, {spelled(b)}));'
        for name in FLOAT_PREDICATES
        for a, b in PAIRS.values()
    ]
    printed = printed_by(program(functions, calls), tmp_path)
    expected = [str(int(outcome in holds)) for holds in FLOAT_PREDICATES.values() for outcome in PAIRS]
    assert printed == expected


def spelled(value: float) -> str:
    return 'std::nanf("")' if math.isnan(value) else f"{value}f"


NAN = math.nan
EXTREMES = [
    # a, b, maximumf, minimumf, maxnumf, minnumf: only the first two hand a NaN on
    (1.0, 2.0, 2.0, 1.0, 2.0, 1.0),
    (2.0, 1.0, 2.0, 1.0, 2.0, 1.0),
    (0.0, -0.0, 0.0, -0.0, 0.0, -0.0),
    (-0.0, 0.0, 0.0, -0.0, 0.0, -0.0),
    (-0.0, -0.0, -0.0, -0.0, -0.0, -0.0),
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (NAN, 1.0, NAN, NAN, 1.0, 1.0),
    (1.0, NAN, NAN, NAN, 1.0, 1.0),
    (NAN, NAN, NAN, NAN, NAN, NAN),
]


@needs_compiler
def test_extremes_know_nan_and_the_sign_of_zero(tmp_path: Path) -> None:
    names = ("maximumf", "minimumf", "maxnumf", "minnumf")
    functions = [function(f"{name}_", scalar(name, ("f32", "f32"), "f32")) for name in names]
    calls = [
        f'std::printf("%.1f\\n", {call} != {call} ? NAN : {call});'
        for a, b, *_ in EXTREMES
        for name in names
        for call in [f"{name}_({spelled(a)}, {spelled(b)})"]
    ]
    printed = printed_by(program(functions, calls), tmp_path)
    assert printed == [f"{value:.1f}" for _, _, *values in EXTREMES for value in values]


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (scalar("addi", ("index", "index"), "index"), "(int64_t) ((uint64_t) a + (uint64_t) b)"),
        (scalar("muli", ("i16", "i16"), "i16"), "(int16_t) ((uint32_t) a * (uint32_t) b)"),
        (scalar("divsi", ("i32", "i32"), "i32"), "a / b"),
        (scalar("ceildivsi", ("index", "index"), "index"), "a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0)"),
        (scalar("minui", ("i64", "i64"), "i64"), "(uint64_t) a < (uint64_t) b ? a : b"),
        (scalar("cmpi", ("index", "index"), "i1", "slt"), "a < b"),
        (scalar("cmpi", ("i32", "i32"), "i1", "ult"), "(uint32_t) a < (uint32_t) b"),
        (scalar("select", ("i1", "index", "index"), "index"), "a ? b : c"),
        (scalar("index_cast", ("i32",), "index"), "(int64_t) a"),
        (scalar("trunci", ("i64",), "i1"), "(a & 1) != 0"),
        (scalar("mulf", ("f16", "f16"), "f16"), "a * b"),
        (scalar("uitofp", ("i32",), "f32"), "(float) (uint32_t) a"),
        (scalar("constant", (), "i1", 1), "true"),
        (scalar("constant", (), "i64", -(1 << 63)), "(-9223372036854775807 - 1)"),
        (scalar("constant", (), "i8", 255), "-1"),
    ],
)
def test_text(op: Scalar, text: str) -> None:
    assert in_cpp(op) == text


@pytest.mark.parametrize(
    "op",
    [
        scalar("remf", ("f32", "f32"), "f32"),
        scalar("bitcast", ("f32",), "i32"),
        scalar("divsi", ("i1", "i1"), "i1"),
        scalar("addi", ("i7", "i7"), "i7"),
        scalar("addi", ("ui32", "ui32"), "ui32"),
        scalar("addf", ("f32", "f32"), "f80"),
        scalar("fptosi", ("f32",), "i1"),
        scalar("cmpi", ("f32", "f32"), "i1", "slt"),
        scalar("cmpf", ("i32", "i32"), "i1", "olt"),
    ],
    ids=lambda op: op.name,
)
def test_has_no_form(op: Scalar) -> None:
    assert in_cpp(op) is None
