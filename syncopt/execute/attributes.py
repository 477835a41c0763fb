"""The attributes of a tile op: `{cmpMode = #pto<cmp lt>, ...}` and the words among its operands."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from syncopt.ir.source import InputError

_ENTRY = re.compile(r"([\w.]+)\s*=\s*([^,{}\[\]]+)")
_NAMED = re.compile(r"#pto(?:\.\w+<|<\s*\w+\s+)\s*(\w+)\s*>")
_BRACES = re.compile(r"\{([^{}]*)\}")

_E = TypeVar("_E", bound=Enum)

WITHOUT_EFFECT = frozenset(
    {"accPhase", "stPhase", "layout", "isBinary", "precisionType", "highPrecision", "src1Col", "src0eqdst"}
)
"""Attributes that change nothing here: hints for the unit, the last bit of a result, what types say already."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """What an op says besides its operands.

    Parameters
    ----------
    values : tuple of (str, str)
        Keys and the bare names of their values: `("cmpMode", "lt")`.
    words : tuple of str
        Words outside braces.
    """

    values: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()

    def get(self, key: str, default: str) -> str:
        """The bare name of a value."""
        return dict(self.values).get(key, default)

    def choice(self, key: str, kind: type[_E], default: _E) -> _E:
        """A value that names a member of an enum, by the member's value; case does not matter.

        Raises
        ------
        InputError
            If there is no such member.
        """
        name = self.get(key, str(default.value)).upper()
        for member in kind:
            if str(member.value).upper() == name:
                return member
        raise InputError(f"{key} = {name.lower()} has no meaning here")

    def require(self, *keys: str, words: tuple[str, ...] = ()) -> None:
        """Refuse attributes and words other than these.

        Raises
        ------
        InputError
            If there is one.
        """
        strange = [key for key, _ in self.values if key not in keys and key not in WITHOUT_EFFECT]
        strange += [word for word in self.words if word not in words]
        if strange:
            raise InputError(f"{strange[0]} has no meaning here")


NO_ATTRIBUTES = Attributes()
"""What an op without attributes says."""


def parse_attributes(text: str) -> Attributes:
    """Read the text of a tile op's attributes.

    Raises
    ------
    InputError
        If a part of it is not understood.
    """
    outside = _BRACES.sub(" ", text)
    if "{" in outside or "}" in outside:
        raise InputError(f"attributes {text} are not understood")
    values = [entry for inside in _BRACES.findall(text) for entry in _entries(inside)]
    return Attributes(tuple(values), tuple(outside.replace('"', " ").split()))


def _entries(inside: str) -> Iterator[tuple[str, str]]:
    rest = _ENTRY.sub("", inside).replace(",", " ").split()
    if rest:
        raise InputError(f"attribute {rest[0]} is not understood")
    for key, text in _ENTRY.findall(inside):
        named = _NAMED.fullmatch(text.strip())
        yield key, named[1] if named else text.split(":")[0].strip()
