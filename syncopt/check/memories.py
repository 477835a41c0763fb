"""The last accesses of every footprint, by pipe."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from syncopt.check.clocks import LANE, Clock, with_lane
from syncopt.ir.footprint import Access, Footprint
from syncopt.ir.kernel import Op, Value
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Instance


class HazardKind(Enum):
    """Read after write, write after read, write after write."""

    RAW = "RAW"
    WAR = "WAR"
    WAW = "WAW"


class Record(NamedTuple):
    """A tile op instance that touched bytes: number on its pipe, place in the trace, its pipe's clock at its start."""

    number: int
    place: int
    instance: Instance
    clock: Clock

    @property
    def completion(self) -> Clock:
        """What is known once this instance, and all before it on its pipe, are complete."""
        lane = LANE[self.instance.pipe]
        return with_lane(self.clock, lane, max(self.number, self.clock[lane]))


@dataclass(slots=True, eq=False)
class Cell:
    """The last accesses of one footprint per pipe, and the footprints it meets (itself included)."""

    footprint: Footprint
    meets: list["Cell"]
    writes: dict[int, Record] = field(default_factory=dict[int, Record])
    reads: dict[int, Record] = field(default_factory=dict[int, Record])


class Memories:
    """Last accesses by footprint.

    Parameters
    ----------
    shared : frozenset of Value
        Pointer arguments whose accesses can conflict (see `shared_pointers`); others are not followed.
    """

    def __init__(self, shared: frozenset[Value]) -> None:
        self._shared = shared
        self._cells: dict[Footprint, Cell] = {}
        self._by_space: dict[Memory | Value, list[Cell]] = {}
        self._last: dict[Op, tuple[tuple[Access, ...], tuple[tuple[Cell, bool], ...]]] = {}

    def cells(self, instance: Instance) -> tuple[tuple[Cell, bool], ...]:
        """The cell of each access of an instance and whether it is written."""
        # An op whose operands stay where they are has one tuple of accesses for all its instances.
        last = self._last.get(instance.op)
        if last is not None and last[0] is instance.accesses:
            return last[1]
        found = tuple(
            (self._cell(access.footprint), access.writes)
            for access in instance.accesses
            if isinstance(access.footprint.space, Memory) or access.footprint.space in self._shared
        )
        self._last[instance.op] = (instance.accesses, found)
        return found

    def conflict(self, earlier: Instance, later: Instance) -> HazardKind | None:
        """How two instances conflict, if they do."""
        found: set[HazardKind] = set()
        for before, wrote in self.cells(earlier):
            for behind, writes in self.cells(later):
                if (wrote or writes) and behind in before.meets:
                    found.add(HazardKind.RAW if not writes else HazardKind.WAW if wrote else HazardKind.WAR)
        return next((kind for kind in HazardKind if kind in found), None)

    def all(self) -> Iterable[Cell]:
        """Every cell that was touched."""
        return self._cells.values()

    def _cell(self, footprint: Footprint) -> Cell:
        cell = self._cells.get(footprint)
        if cell is None:
            neighbours = self._by_space.setdefault(footprint.space, [])
            cell = Cell(footprint, [other for other in neighbours if other.footprint.meets(footprint)])
            for other in cell.meets:
                other.meets.append(cell)
            cell.meets.append(cell)
            neighbours.append(cell)
            self._cells[footprint] = cell
        return cell
