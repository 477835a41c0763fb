"""Slots of rotating tiles, and how the text chooses one."""

from collections.abc import Iterable
from typing import NamedTuple

from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Access


class Slot(NamedTuple):
    """Bytes `start` (inclusive) to `end` (exclusive) of a memory: slot `number` of the rotating tile with a uid."""

    tile: int
    number: int
    memory: Memory
    start: int
    end: int

    def is_used(self, accesses: Iterable[Access]) -> bool:
        """Whether one of the accesses is to this slot."""
        return any(a.footprint.space is self.memory and self.start <= a.footprint.start < self.end for a in accesses)


class Either(NamedTuple):
    """What a condition decides."""

    condition: Value
    then: "Chosen"
    orelse: "Chosen"


Chosen = int | Value | Either
"""The slot that an op uses: always the same, as a value says, or as a condition decides."""
