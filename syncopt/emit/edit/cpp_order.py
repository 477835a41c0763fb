"""The order of C++ statements: as a changed tree wants it, as far as variables keep the values that they had."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from syncopt.emit.edit.blocktext import Item


class Hold(Enum):
    """What may be done about the place of a statement."""

    ORDER = "its place among those of this kind is given"
    NAMES = "it stands where the names that it uses and makes allow it"


@dataclass(frozen=True, eq=False, slots=True)
class Unit:
    """A statement that shall stand in a block.

    Parameters
    ----------
    item : Item
        Its text.
    rank : float
        Its place in the original: what stood before it there made the values of its names.
    hold : Hold
        How far its place is given.
    reads, writes : frozenset of str
        Names that it uses, and that it declares or assigns, for the block it stands in.
    """

    item: Item
    rank: float
    hold: Hold
    reads: frozenset[str]
    writes: frozenset[str]

    def precedes(self, other: "Unit") -> bool:
        """Whether a name of the two would stand for something else if they changed places."""
        if self.rank >= other.rank:
            return False
        return not self.writes.isdisjoint(other.reads | other.writes) or not self.reads.isdisjoint(other.writes)


class OrderConflictError(Exception):
    """A statement that shall stand before another one, which must come first.

    Parameters
    ----------
    moved : Unit
        The statement whose place is given.
    needed : Unit
        The statement itself, or one that makes a name for it.
    before : Unit
        What must come before `needed`.
    """

    def __init__(self, moved: Unit, needed: Unit, before: Unit) -> None:
        super().__init__(moved, needed, before)
        self.moved = moved
        self.needed = needed
        self.before = before

    @property
    def names(self) -> frozenset[str]:
        """Names for which the order matters."""
        needed, before = self.needed, self.before
        return (before.writes & (needed.reads | needed.writes)) | (before.reads & needed.writes)


def arranged(units: Sequence[Unit]) -> list[Unit]:
    """The units in the wanted order, those that only make names moved out of the way where names want it.

    Raises
    ------
    OrderConflictError
        If the names allow no such order.
    """
    return _Arrangement(units).order()


class _Arrangement:
    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units
        self._before = {unit: [other for other in units if other.precedes(unit)] for unit in units}
        self._order: dict[Unit, None] = {}

    def order(self) -> list[Unit]:
        """The units, each behind what must come before it."""
        waiting: list[Unit] = []
        for unit in self._units:
            if unit.hold is Hold.NAMES and self._conflict(unit) is not None:
                waiting.append(unit)
                continue
            self._place(unit)
            for other in waiting:
                if self._conflict(other) is None:
                    self._place(other)
            waiting = [other for other in waiting if other not in self._order]
        for unit in waiting:
            self._place(unit)
        return list(self._order)

    def _conflict(self, unit: Unit) -> OrderConflictError | None:
        """What keeps a unit from being placed: one whose place is given, that must come first and has not come yet."""
        open_units, seen = [unit], {unit}
        while open_units:
            needed = open_units.pop()
            for other in self._before[needed]:
                if other in self._order or other in seen:
                    continue
                if other.hold is Hold.ORDER:
                    return OrderConflictError(unit, needed, other)
                seen.add(other)
                open_units.append(other)
        return None

    def _place(self, unit: Unit) -> None:
        """Puts a unit behind what must come before it."""
        conflict = self._conflict(unit)
        if conflict is not None:
            raise conflict
        for other in self._before[unit]:
            if other not in self._order:
                self._place(other)
        self._order[unit] = None
