"""The attributes of an op."""

from enum import Enum

import pytest

from syncopt.execute.attributes import parse_attributes
from syncopt.ir.source import InputError


class Mode(Enum):
    UP = "CEIL"
    DOWN = "FLOOR"


@pytest.mark.parametrize(
    "text",
    ["{rmode = #pto<round_mode FLOOR>}", "{rmode = #pto.round_mode<FLOOR>}", "{ rmode=#pto<round_mode  floor> }"],
)
def test_spellings_of_a_name(text: str) -> None:
    assert parse_attributes(text).choice("rmode", Mode, Mode.UP) is Mode.DOWN


def test_defaults_and_plain_values() -> None:
    attributes = parse_attributes("{descending = true, offset = 3 : i32}")
    assert attributes.get("descending", "false") == "true"
    assert attributes.get("offset", "") == "3"
    assert attributes.get("other", "none") == "none"
    assert parse_attributes("").choice("rmode", Mode, Mode.UP) is Mode.UP


def test_words_and_several_groups() -> None:
    attributes = parse_attributes('fp {accPhase = #pto<acc_phase final>} {isBinary = false} "row"')
    assert attributes.words == ("fp", "row")
    assert [key for key, _ in attributes.values] == ["accPhase", "isBinary"]


def test_hints_are_let_through_and_everything_else_is_refused() -> None:
    parse_attributes("{accPhase = #pto<acc_phase final>, stPhase = #pto<st_phase final>}").require()
    with pytest.raises(InputError, match="atomicType has no meaning here"):
        parse_attributes("{atomicType = #pto<atomic_type atomic_add>}").require("reluPreMode")
    with pytest.raises(InputError, match="fp has no meaning here"):
        parse_attributes("fp").require(words=("row",))


@pytest.mark.parametrize("text", ["{rmode = #pto<round_mode SOMEHOW>}", "{rmode = 3}"])
def test_name_that_is_none_of_the_choices(text: str) -> None:
    with pytest.raises(InputError, match=r"rmode = (somehow|3) has no meaning here"):
        parse_attributes(text).choice("rmode", Mode, Mode.UP)


@pytest.mark.parametrize("text", ["{candidates = [{id = 0}]}", "{inplace}", "{a = 1, b}"])
def test_text_that_is_not_understood(text: str) -> None:
    with pytest.raises(InputError, match="understood"):
        parse_attributes(text)
