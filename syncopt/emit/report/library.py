"""The chart library that a report carries."""

from syncopt.ir.source import InputError


def chart_library() -> str:
    """The text of plotly.js, with its licence in front.

    Raises
    ------
    InputError
        If the package that ships it is not installed.
    """
    try:
        # Slow, and an extra: so only here. Plotly ships no types.
        from plotly.offline import get_plotlyjs  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise InputError(
            "a report needs the package plotly, which is not installed", help="pip install 'syncopt[report]'"
        ) from None
    return get_plotlyjs()
