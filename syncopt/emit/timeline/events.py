"""Events of a trace file, as both kinds of file hold them."""

import json
from collections.abc import Mapping

Event = dict[str, object]
"""An object of the array `traceEvents`."""


def in_json(record: Mapping[str, object]) -> str:
    """One object without blanks."""
    return json.dumps(record, separators=(",", ":"))
