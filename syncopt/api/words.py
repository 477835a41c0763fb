"""How figures are written."""

from collections.abc import Mapping

from syncopt.solve.bounds import BUFFERS


def count(number: int) -> str:
    """An integer with separators."""
    return f"{number:,}"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 wait`, `2 waits`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def percent(fraction: float, digits: int = 1) -> str:
    """A fraction in percent."""
    return f"{100 * fraction:.{digits}f} %"


def share(part: int, whole: int) -> float:
    """A fraction, 0 of nothing."""
    return part / whole if whole else 0.0


def times(factor: float) -> str:
    """A factor."""
    return f"{factor:.3f}"


def binding(bound_by: str) -> str:
    """What sets a lower bound, in words."""
    return "the hazards between tiles (buffers)" if bound_by == BUFFERS else f"pipe {bound_by}"


def arguments(values: Mapping[str, int] | Mapping[str, str]) -> str:
    """`M=2176, N=8192`."""
    return ", ".join(f"{name}={value}" for name, value in values.items())
