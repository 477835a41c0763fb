"""Attributes of tile ops as names and bare values."""

from collections.abc import Mapping

import pytest

from syncopt.emit.cpp.attributes import read_attributes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("{}", {}),
        ("{cmpMode = #pto<cmp gt>}", {"cmpMode": "gt"}),
        ("{ maskPattern = #pto.mask_pattern<P0101> }", {"maskPattern": "P0101"}),
        ("{rmode = #pto<round_mode ROUND>, sat = true}", {"rmode": "ROUND", "sat": "true"}),
        ("{rounds = 7 : i32} {x = -1}", {"rounds": "7", "x": "-1"}),
        ("{unit}", None),
        ("{a = #alias}", None),
        ("{a = [1, 2]}", None),
        ("{a = {b = 1}}", None),
        ("{a = 1, a = 2}", None),
        ('{a = "text"}', None),
        ("word", None),
        ("{a = 1} word", None),
    ],
)
def test_read(text: str, expected: Mapping[str, str] | None) -> None:
    assert read_attributes(text) == expected
