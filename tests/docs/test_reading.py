"""The reader of pages finds what is wrong with one."""

import pytest

from tests.docs.reading import figures, missing, sums, worked_out

PRINTED = ["first line", "  row  1,234  56.7 %  ", "next", "last"]


@pytest.mark.parametrize(
    "quoted",
    [
        ("first line", "  row  1,234  56.7 %"),
        ("next", "last"),
        ("first ...", "...", "last"),
        ("...", "  row ... %"),
    ],
)
def test_quotes_that_are_printed(quoted: tuple[str, ...]) -> None:
    assert missing(quoted, PRINTED) is None


@pytest.mark.parametrize(
    ("quoted", "wrong"),
    [
        (("first line", "next"), "next"),  # a line is left out and nothing says so
        (("last", "...", "first line"), "first line"),  # another order
        (("  row  1,235  56.7 %",), "  row  1,235  56.7 %"),
        (("first",), "first"),  # a part of a line
        (("last", "more"), "more"),
    ],
)
def test_quotes_that_are_not_printed(quoted: tuple[str, ...], wrong: str) -> None:
    assert missing(quoted, PRINTED) == wrong


def test_rows_of_a_timeline_are_no_ellipses() -> None:
    """Four points and more are waits; so many of them may not make the comparison slow either."""
    row = "  V  " + "...." * 20 + "#"
    assert missing((row,), [row]) is None
    assert missing((row,), ["  V  " + "#" * 81]) == row


def test_sums_are_worked_out() -> None:
    prose = "`2 + 280 = 282`, `ceil(16384 / 58.6) = 281`, `1,245 / 2 = 622.5`, `flag.hop=9`, `10 * 1.8 = 18`"
    found = sums(prose)
    assert found == [("2 + 280", "282"), ("ceil(16384 / 58.6)", "281"), ("1,245 / 2", "622.5"), ("10 * 1.8", "18")]
    assert [worked_out(*each) for each in found] == [True, False, True, True]


def test_figures_are_what_a_machine_must_have_printed() -> None:
    prose = "1,245 cycles of 24 cores, 1.101 times, 0.35 %, 97 cycles, M=2176, 85 B/cycle, level 3"
    assert figures(prose) == {"1,245", "1.101", "0.35", "97"}
