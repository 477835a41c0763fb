"""Names of the text as identifiers of C++."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncopt.emit.cpp.names import Names, function_name, identifier
from syncopt.ir.kernel import Value
from syncopt.ir.types import ScalarType

INDEX = ScalarType("index")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("%a0_l1", "a0_l1"),
        ("%0", "v0"),
        ("%1#0", "v1_0"),
        ("%a.b$c-1", "a_b_c_1"),
        ("%_", "v"),
        ("%__x__", "x"),
        ("%for", "for_"),
        ("%half", "half_"),
        ("%Tile", "Tile_"),
        ("%TLOAD", "TLOAD_"),
        ("%EVENT_ID0", "EVENT_ID0_"),
        ("%PIPE_V", "PIPE_V_"),
        ("%M", "M"),
        ("%T", "T"),
    ],
)
def test_identifier(name: str, expected: str) -> None:
    assert identifier(name) == expected


@given(st.text("ab_Z09.$-#", min_size=1).map("%{}".format))
def test_identifier_is_none_that_the_language_keeps_for_itself(name: str) -> None:
    found = identifier(name)
    assert re.fullmatch(r"[A-Za-z]\w*", found)
    assert "__" not in found


def test_function_keeps_the_name_that_its_callers_know() -> None:
    assert function_name("_kernel") == "_kernel"
    assert function_name("TMATMUL_v1") == "TMATMUL_v1"
    assert function_name("TMATMUL_ACC") == "TMATMUL_ACC_"
    assert function_name("a.b") == "a_b"
    assert function_name("main") == "main_"


def test_names_that_look_alike_stay_apart() -> None:
    names = Names()
    values = [Value(name, INDEX) for name in ("%a.b", "%a_b", "%a$b", "%a_b_2")]
    assert [names.declare(value) for value in values] == ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]
    assert names[values[1]] == "a_b_2"


def test_names_of_a_closed_scope_are_free_again() -> None:
    names = Names()
    outer, inner, later = (Value("%a", INDEX) for _ in range(3))
    names.declare(outer)
    with names.scope():
        assert names.declare(inner) == "a_2"
    assert names.declare(later) == "a_2"
