"""The values of options: durations, argument lists, settings."""

import math
import re
from collections.abc import Sequence

from syncopt.api import Cycles, InputError

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)")
_SECONDS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}

ALL = "all"
"""What `--core` takes for every core, and `--timeline` for the full run."""

WINDOW = "window"
"""What `--timeline` takes for a few iterations of every loop."""

_CYCLES = re.compile(r"(\d*):(\d*)")


def duration(text: str, option: str = "--budget") -> float:
    """Seconds of a duration such as `60s`, `1.5m`, `500ms` or `60`."""
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None or match[2] not in _SECONDS:
        raise InputError(f"{option} {text!r} is not a duration", help="for example 60s, 1.5m, 500ms or 60 (seconds)")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if not math.isfinite(seconds):
        raise InputError(f"{option} {text!r} is too long", help="for example 60s, 1.5m, 500ms or 60 (seconds)")
    return seconds


def finite(number: float | None, option: str) -> float | None:
    """A number that was given, or None."""
    if number is not None and not math.isfinite(number):
        raise InputError(f"{option} {number} is not a finite number")
    return number


def integers(text: str, option: str = "--args") -> tuple[int, ...]:
    """Integers with commas between them."""
    if not text.strip():
        return ()
    return tuple(_integer(part, f"{option} {text!r}", "for example 2176,8192,8192") for part in text.split(","))


def settings(texts: Sequence[str], option: str = "--set") -> dict[str, int]:
    """`NAME=INT` each; later ones win."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        name = name.removeprefix("%")
        if not equals or not name:
            raise InputError(f"{option} {text!r} is not NAME=INT", help=f"for example {option} K=8192")
        found[name] = _integer(value, f"{option} {text!r}", f"for example {option} K=8192")
    return found


def core(text: str) -> int | None:
    """The number of a core, None for all of them."""
    return None if text.strip().lower() == ALL else _integer(text, f"--core {text!r}", "a number, or all")


def part(text: str, option: str = "--timeline") -> Cycles | None:
    """What of a run timelines show; None for the window."""
    word = text.strip().lower()
    if word == WINDOW:
        return None
    if word == ALL:
        return Cycles()
    match = _CYCLES.fullmatch(word)
    cycles = Cycles(int(match[1] or 0), int(match[2]) if match[2] else None) if match else None
    if cycles is None or (cycles.last is not None and cycles.last < cycles.first):
        raise InputError(f"{option} {text!r} is no part of a run", help="window, all, or cycles such as 0:20000")
    return cycles


def _integer(text: str, what: str, help: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise InputError(f"{what}: {text.strip()!r} is not an integer", help=help) from None
