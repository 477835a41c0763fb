"""Positions in a file, and the text of errors."""

import pytest

from syncopt.ir.kernel import NO_SPAN
from syncopt.ir.source import InputError, Language, Source, Span

CRLF = Source("crlf.pto", b"one\r\n  two\r\nthree")
CHINESE = Source("zh.pto", "// 矩阵\n  %a = pto.x // 乘 y\n".encode())


@pytest.mark.parametrize(
    ("offset", "line", "column"), [(0, 1, 1), (2, 1, 3), (3, 1, 4), (5, 2, 1), (7, 2, 3), (12, 3, 1), (17, 3, 6)]
)
def test_positions_with_crlf(offset: int, line: int, column: int) -> None:
    assert (CRLF.line(offset), CRLF.column(offset)) == (line, column)


def test_line_text_has_no_line_end() -> None:
    assert [CRLF.line_text(n) for n in (1, 2, 3)] == ["one", "  two", "three"]


def test_columns_count_characters_not_bytes() -> None:
    """乘 before it is 3 bytes and one column."""
    at = CHINESE.data.index(b"y")
    assert (CHINESE.line(at), CHINESE.column(at)) == (2, 19)


def test_bytes_that_are_no_utf8_have_a_column() -> None:
    assert Source("x.pto", b"\xff\xffa").column(2) == 3


def test_empty_file_has_a_first_line() -> None:
    source = Source("empty.pto", b"")
    assert (source.line(0), source.column(0), source.line_text(1)) == (1, 1, "")


def test_error_shows_where_what_and_what_to_do() -> None:
    assert str(InputError("no such op", CRLF, Span(7, 10), "use three")) == (
        "crlf.pto:2:3: error: no such op\n    2 |   two\n      |   ^^^\n   help: use three"
    )


def test_error_marks_the_first_line_of_a_longer_piece() -> None:
    assert str(InputError("too long", CRLF, Span(7, 17))).splitlines()[-1] == "      |   ^^^"


def test_error_in_text_that_is_not_ascii() -> None:
    start = CHINESE.data.index(b"%a")
    assert str(InputError("bad", CHINESE, Span(start, start + 2))) == (
        "zh.pto:2:3: error: bad\n    2 |   %a = pto.x // 乘 y\n      |   ^^"
    )


def test_error_about_a_whole_file() -> None:
    assert str(InputError("no kernel", CRLF)) == "crlf.pto:1:1: error: no kernel"


def test_error_about_no_file() -> None:
    assert str(InputError("no core 30", help="use 0 to 23")) == "error: no core 30\n   help: use 0 to 23"


def test_error_is_placed_once() -> None:
    error = InputError("bad").at(CRLF, Span(7, 10)).at(CHINESE, Span(0, 1))
    assert (error.source, error.span) == (CRLF, Span(7, 10))


def test_error_stays_unplaced_without_a_file_or_a_span() -> None:
    assert InputError("bad").at(None, Span(0, 1)).span is None
    assert InputError("bad").at(CRLF, NO_SPAN).source is None


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("k.pto", Language.PTO),
        ("k.mlir", Language.PTO),
        ("cpp", Language.PTO),
        ("a.cpp/k", Language.PTO),
        ("a.b/k.cpp", Language.CPP),
        ("K.CPP", Language.CPP),
        ("k.h", Language.CPP),
    ],
)
def test_suffix_tells_the_language(path: str, language: Language) -> None:
    assert Source(path, b"").language is language
