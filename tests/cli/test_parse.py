"""Values of options."""

import pytest

from syncopt.api import InputError
from syncopt.cli import _parse


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60s", 60), ("1.5m", 90), ("500ms", 0.5), ("60", 60), ("2 min", 120), ("1h", 3600), (".5", 0.5), ("0", 0)],
)
def test_duration(text: str, seconds: float) -> None:
    assert _parse.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "s", "1 day", "1e3", "-1", "inf", "nan", "9" * 400])
def test_no_duration(text: str) -> None:
    with pytest.raises(InputError):
        _parse.duration(text)


def test_integers() -> None:
    assert _parse.integers("2176, 8192,-1") == (2176, 8192, -1)
    assert _parse.integers("") == ()


@pytest.mark.parametrize("text", ["1,", "1;2", "1.5", "a"])
def test_no_integers(text: str) -> None:
    with pytest.raises(InputError):
        _parse.integers(text)


def test_later_settings_win() -> None:
    assert _parse.settings(["%K=1", "M = 2", "K=3"]) == {"K": 3, "M": 2}
