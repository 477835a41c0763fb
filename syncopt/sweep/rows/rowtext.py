"""Rows as JSON: one line each, keys in a fixed order."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from syncopt.sweep.asked import Asked
from syncopt.sweep.rows.row import Figures, OnMachine, Outcome, Row
from syncopt.sweep.versions import Versions

BEGIN = b'{"key":"'
"""What every line begins with."""


def document(row: Row) -> dict[str, object]:
    """A row as JSON takes it; what can be told from other entries is there as well, for readers."""
    asked = {"key": row.key} | asdict(row.asked)
    told: dict[str, object] = {"status": row.outcome.value, "error": row.error, "seconds": round(row.seconds, 3)}
    figures = row.figures
    if figures is None:
        return asked | told
    worth = asdict(figures) | {"search_seconds": round(figures.search_seconds, 3)}
    return asked | told | worth | _derived(figures)


def _derived(figures: Figures) -> dict[str, object]:
    """What follows from other entries."""
    speedups = None if figures.speedups is None else list(figures.speedups)
    return {"gap": figures.gap, "speedup": figures.speedup, "speedup_range": speedups}


def written(row: Row) -> str:
    """A row as one line, without the end of line."""
    return json.dumps(document(row), allow_nan=False, separators=(",", ":"))


def reread(line: str) -> Row:
    """The row of a line.

    Raises
    ------
    ValueError
        If the line does not hold one, or its key is not its own.
    """
    try:
        entries = json.loads(line)
        if not isinstance(entries, dict):
            raise TypeError("no JSON object")
        row = _row(cast(Mapping[str, Any], entries))
    except KeyError as error:
        raise ValueError(f"not a row of this version of syncopt: it has no {error}") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise ValueError(f"not a row: {error}") from error
    if entries["key"] != row.key:
        raise ValueError(f"not a row: its key {entries['key']} does not fit what it says")
    return row


def _row(entries: Mapping[str, Any]) -> Row:
    asked = {name: entries[name] for name in Asked.__dataclass_fields__}
    asked |= {"assume": tuple(asked["assume"]), "versions": Versions(**asked["versions"])}
    outcome = Outcome(entries["status"])
    figures = _figures(entries) if outcome.solved else None
    return Row(Asked(**asked), outcome, float(entries["seconds"]), figures, str(entries["error"]))


def _figures(entries: Mapping[str, Any]) -> Figures:
    worth = {name: entries[name] for name in Figures.__dataclass_fields__}
    worth["sensitivity"] = tuple(OnMachine(**row) for row in worth["sensitivity"])
    worth["busy"] = dict(worth["busy"])
    worth["tflops"] = None if worth["tflops"] is None else float(worth["tflops"])
    figures = Figures(**worth)
    for name, value in _derived(figures).items():
        if entries[name] != value:
            raise ValueError(f"its {name} does not follow from the rest")
    return figures
