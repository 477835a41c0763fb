"""Attributes of tile ops: `{cmpMode = #pto<cmp gt>, isBinary = true}`."""

import re
from collections.abc import Mapping

_GROUP = re.compile(r"\{([^{}]*)\}")
_ENTRY = re.compile(r"\s*(\w+)\s*=\s*(#pto<[^<>]*>|#pto\.\w+<[^<>]*>|[\w.+-]+(?:\s*:\s*\w+)?)\s*(?:,|$)")
_NAME = re.compile(r"#pto<\s*\w+\s+(\w+)\s*>|#pto\.\w+<\s*(\w+)\s*>|([\w.+-]+)(?:\s*:\s*\w+)?")


def read_attributes(text: str) -> Mapping[str, str] | None:
    """The bare value of every attribute by its name; None if the text is anything else than such attributes.

    >>> read_attributes("{cmpMode = #pto<cmp gt>, rounds = 7 : i32}")
    {'cmpMode': 'gt', 'rounds': '7'}
    """
    found: dict[str, str] = {}
    rest = text
    while rest.strip():
        group = _GROUP.match(rest.lstrip())
        if group is None or not _add_entries(group[1], found):
            return None
        rest = rest.lstrip()[group.end() :]
    return found


def _add_entries(text: str, found: dict[str, str]) -> bool:
    """Adds what stands between two braces; False if a part of it is no attribute."""
    at = 0
    while text[at:].strip():
        entry = _ENTRY.match(text, at)
        name = _NAME.fullmatch(entry[2]) if entry else None
        if entry is None or name is None or entry[1] in found:
            return False
        found[entry[1]] = next(part for part in name.groups() if part)
        at = entry.end()
    return True
