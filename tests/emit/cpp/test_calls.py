"""Every tile op as a call: destination first, upper case, and what is otherwise."""

import re
from pathlib import Path

import pytest

from syncopt.emit.cpp.calls import call_of
from syncopt.ir.optable import op_names
from syncopt.ir.source import InputError
from tests.emit.cpp.every_op import CUBE, TYPES, VECTOR, Use, text_with
from tests.emit.cpp.texts import cpp_of, statements

EXPECTED = Path(__file__).with_name("every_op.expected")
CALL = re.compile(r"[TM][A-Z][A-Z0-9_]*[(<]|\w+\.SetValue")


def calls(section: str, uses: tuple[Use, ...]) -> list[str]:
    lines = statements(cpp_of(text_with(section, uses)))
    return [line for line in lines if CALL.match(line) and not line.startswith("TASSIGN")]


def test_calls_are_as_expected() -> None:
    expected = EXPECTED.read_text().splitlines()
    assert [*calls("vector", VECTOR), *calls("cube", CUBE)] == expected


def test_every_op_has_a_call_or_none_can_exist() -> None:
    """`tgetval` hands out a number, so it is no op of this form; `treshape` gives its tile another one's address."""
    assert {name for name in op_names() if call_of(name) is None} == {"pto.tgetval", "pto.treshape"}
    assert {f"pto.{use.name}" for use in (*VECTOR, *CUBE)} == {name for name in op_names() if call_of(name)}


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (Use("treshape", ("f",), "g"), "no C++ for pto.treshape"),
        (Use("tgather", ("f",), "o"), "no C++ for pto.tgather"),
        (Use("trowsum", ("f",), "col"), "no C++ for pto.trowsum with operands t->t"),
        (Use("tadd", ("f", "x"), "o"), "no C++ for pto.tadd with operands ts->t"),
        (Use("tnew", ("f",), "o"), "no C++ for pto.tnew"),
        (Use("tadd", ("f", "g"), "o", "{mode = 1 : i32}"), "no C++ for pto.tadd {mode = 1 : i32}"),
        (Use("tcmp", ("f", "g"), "mask", "{cmpMode = #pto<cmp zz>}"), "no C++ for pto.tcmp {cmpMode = #pto<cmp zz>}"),
        (Use("tcmp", ("f", "g"), "mask", "{cmpMode = #alias}"), "no C++ for pto.tcmp {cmpMode = #alias}"),
        (
            Use("tcvt", ("f",), "h", "{rmode = #pto<round_mode UP>}"),
            "no C++ for pto.tcvt {rmode = #pto<round_mode UP>}",
        ),
        (Use("tcolsum", ("f",), "row", "{isBinary = true}"), "no C++ for pto.tcolsum {isBinary = true}"),
        (Use("mgather", ("vf", "u"), "o", "{gatherOob = 1}"), "no C++ for pto.mgather {gatherOob = 1}"),
        (Use("tci", ("w",), "irow"), "no C++ for pto.tci"),
        (Use("tmatmul.acc", ("crow", "l", "r"), "c"), "no C++ for pto.tmatmul.acc"),
        (Use("tmov", ("c", "s"), "b"), "no C++ for pto.tmov with operands tt->t"),
        (Use("tgemv.acc", ("lrow", "r"), "crow"), "no C++ for pto.tgemv.acc with operands tt->t"),
        (
            Use("tstore", ("f",), "vf", "{stPhase = #pto<st_phase x>}"),
            "no C++ for pto.tstore {stPhase = #pto<st_phase x>}",
        ),
    ],
    ids=lambda value: value.name if isinstance(value, Use) else "",
)
def test_what_has_no_known_form_is_refused_where_it_stands(use: Use, message: str) -> None:
    text = text_with("vector", (use,))
    line = next(number for number, line in enumerate(text.splitlines(), 1) if line.startswith(f"pto.{use.name} "))
    with pytest.raises(InputError) as caught:
        cpp_of(text)
    first = str(caught.value).splitlines()[0]
    assert first == f"kernel.pto:{line}:1: error: {message}"


def test_refusal_says_which_operands_are_known() -> None:
    with pytest.raises(InputError, match=r"known for ts->t and st->t: t is a tile, v a view, s a scalar"):
        cpp_of(text_with("vector", (Use("tdivs", ("f", "g"), "o"),)))


def test_op_with_two_destinations_is_refused() -> None:
    uses = text_with("vector", (Use("tadd", ("f", "g"), "o"),)).replace("outs(%o :", f"outs(%o, %g : {TYPES['g']},")
    with pytest.raises(InputError, match=r"no C\+\+ for pto.tadd with operands tt->tt"):
        cpp_of(uses)
