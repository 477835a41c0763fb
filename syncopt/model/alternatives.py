"""Tiles between which conditions choose: they rotate as the slots of one tile do.

In C++ it is `ping ? a : b`, in `.pto` an `arith.select` of two addresses.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import networkx as nx

from syncopt.ir.kernel import AllocTile, Kernel, Value, walk
from syncopt.ir.numbering import Definitions
from syncopt.ir.pipes import Memory
from syncopt.ir.scalars import ScalarValue
from syncopt.ir.types import TileType
from syncopt.model.addresses import known_scalars
from syncopt.model.slots import Chosen, Either, Slot


class Group(NamedTuple):
    """Tiles of one size between which conditions choose, called after the first allocation that is such a choice."""

    tile: int
    slots: tuple[Slot, ...]


class Alternatives:
    """The tiles of a kernel between which conditions choose by their addresses."""

    def __init__(self, kernel: Kernel) -> None:
        self._definitions = Definitions(kernel)
        self._known: Mapping[Value, ScalarValue] = known_scalars(kernel)
        self._addresses: dict[int, Chosen] = {}
        for op in walk(kernel.body):
            if isinstance(op, AllocTile) and op.address is not None:
                address = self._chosen_address(op.address)
                if address is not None:
                    self._addresses[op.uid] = address
        self.groups = tuple(self._groups(kernel))
        self._slots = {(slot.memory, slot.start, slot.end): slot for group in self.groups for slot in group.slots}

    def slot_of(self, op: AllocTile) -> tuple[int, Chosen] | None:
        """The group that an allocation belongs to, and the slot of it."""
        if op.uid not in self._addresses:
            return None
        kind, address = _kind(op), self._addresses[op.uid]
        slots = {start: self._slots.get((*kind[:1], start, start + kind[1])) for start in _leaves(address)}
        tiles = {None if slot is None else slot.tile for slot in slots.values()}
        tile = tiles.pop()
        if tile is None or tiles:
            return None
        numbers = {start: slot.number for start, slot in slots.items() if slot is not None}
        return tile, _numbered(address, numbers)

    def key(self, taken: tuple[int, Chosen]) -> tuple[int, object]:
        """Equal for slots of one tile that are chosen in the same way."""
        return taken[0], self._key(taken[1])

    def _key(self, chosen: Chosen) -> object:
        if isinstance(chosen, Either):
            return self._definitions.numbers[chosen.condition], self._key(chosen.then), self._key(chosen.orelse)
        return self._definitions.numbers[chosen] if isinstance(chosen, Value) else (chosen,)

    def _chosen_address(self, value: Value) -> Chosen | None:
        """The constants between which conditions choose."""
        known = self._known.get(value)
        if isinstance(known, int):
            return known
        op = self._definitions.scalar(self._definitions.behind_casts(value))
        if op is None or op.name != "arith.select":
            return None
        condition, *sides = op.operands
        then, orelse = (self._chosen_address(side) for side in sides)
        return None if then is None or orelse is None else Either(condition, then, orelse)

    def _groups(self, kernel: Kernel) -> Iterator[Group]:
        meeting: nx.Graph[tuple[Memory, int, int]] = nx.Graph()
        first: dict[tuple[Memory, int, int], int] = {}
        for op in walk(kernel.body):
            if isinstance(op, AllocTile) and isinstance(address := self._addresses.get(op.uid), Either):
                places = [(*_kind(op), start) for start in _leaves(address)]
                meeting.add_edges_from(pairwise(places))
                first |= {place: op.uid for place in places if place not in first}
        for places in nx.connected_components(meeting):
            tile = min(first[place] for place in places)
            starts = sorted(places)
            yield Group(
                tile, tuple(Slot(tile, n, memory, at, at + size) for n, (memory, size, at) in enumerate(starts))
            )


def _kind(op: AllocTile) -> tuple[Memory, int]:
    """Memory and bytes of a tile."""
    tile = op.result.type
    assert isinstance(tile, TileType)
    return tile.memory, tile.size


def _leaves(address: Chosen) -> Iterator[int]:
    if isinstance(address, Either):
        yield from _leaves(address.then)
        yield from _leaves(address.orelse)
    else:
        assert isinstance(address, int)
        yield address


def _numbered(address: Chosen, numbers: Mapping[int, int]) -> Chosen:
    """The same choice between slots in place of addresses."""
    if isinstance(address, Either):
        return Either(address.condition, _numbered(address.then, numbers), _numbered(address.orelse, numbers))
    assert isinstance(address, int)
    return numbers[address]
