"""Rotating tiles: which slot an instruction uses, in the text and in a trace.

A flag for each slot of a rotating tile lets a pipe run ahead by as many iterations as there are slots: one flag for all
of them would make it wait for the slot before. In the text the flags of all slots are one, whose event id follows from
the slot at run time.

Tiles of one type between which a condition chooses (`ping ? a : b` in C++, an `arith.select` of two addresses) rotate
as the slots of a `pto.alloc_multi_tile` do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syncopt.ir.kernel import AllocMultiTile, AllocTile, Kernel, MultiTileGet, SubView, TileOp, Value, walk
from syncopt.ir.trace import Setting
from syncopt.ir.types import MultiTileType
from syncopt.model.addresses import fixed_addresses
from syncopt.model.alternatives import Alternatives
from syncopt.model.slots import Chosen, Slot


@dataclass(frozen=True)
class Rotations:
    """The rotating tiles of a kernel whose slots are chosen at run time.

    Parameters
    ----------
    slots : mapping of uid to tuple of Slot
        By the uid of the allocation.
    chosen : mapping of uid to mapping of uid to Chosen
        See `chosen_slots`.
    """

    slots: Mapping[int, tuple[Slot, ...]]
    chosen: Mapping[int, Mapping[int, Chosen]]

    def shared(self, uids: Sequence[int]) -> tuple[Slot, ...]:
        """Slots of the one rotating tile that all of some tile ops use; none if there is no such tile, or another."""
        shared = [tile for tile in self.slots if all(tile in self.chosen.get(uid, {}) for uid in uids)]
        return self.slots[shared[0]] if len(shared) == 1 else ()


def rotations(kernel: Kernel, setting: Setting) -> Rotations:
    """The rotating tiles of a kernel.

    Parameters
    ----------
    kernel : Kernel
        With or without flags.
    setting : Setting
        With the addresses of the tiles that have none in the text.
    """
    fixed = {**fixed_addresses(kernel), **setting.addresses}
    slots = {
        op.uid: _slots(op, address, setting)
        for op in walk(kernel.body)
        if isinstance(op, AllocMultiTile) and isinstance(address := fixed.get(op.uid), int)
    }
    slots |= {group.tile: group.slots for group in Alternatives(kernel).groups}
    return Rotations(slots, chosen_slots(kernel))


def most_slots(kernel: Kernel) -> int:
    """The most slots that a rotating tile of the kernel has; 0 if there is none."""
    tiles = (op.result.type for op in walk(kernel.body) if isinstance(op, AllocMultiTile))
    counts = [tile.count for tile in tiles if isinstance(tile, MultiTileType)]
    return max([*counts, *(len(group.slots) for group in Alternatives(kernel).groups)], default=0)


def chosen_slots(kernel: Kernel) -> Mapping[int, Mapping[int, Chosen]]:
    """Per tile op, by uid, the slot that it uses of a rotating tile, by the uid of the allocation; only of allocations
    of which it uses one slot."""
    alternatives = Alternatives(kernel)
    allocations: dict[Value, int] = {}
    taken: dict[Value, tuple[int, Chosen]] = {}
    chosen: dict[int, Mapping[int, Chosen]] = {}
    for op in walk(kernel.body):
        match op:
            case AllocMultiTile():
                allocations[op.result] = op.uid
            case AllocTile() if (found := alternatives.slot_of(op)) is not None:
                taken[op.result] = found
            case MultiTileGet():
                taken[op.result] = (allocations[op.source], op.slot)
            case SubView() if op.source in taken:
                taken[op.result] = taken[op.source]
            case TileOp():
                used = {alternatives.key(taken[value]): taken[value] for value in (*op.ins, *op.outs) if value in taken}
                tiles = [tile for tile, _ in used.values()]
                chosen[op.uid] = {tile: slot for tile, slot in used.values() if tiles.count(tile) == 1}
            case _:
                pass
    return chosen


def _slots(op: AllocMultiTile, address: int, setting: Setting) -> tuple[Slot, ...]:
    multi = op.result.type
    assert isinstance(multi, MultiTileType)
    size, alignment = multi.tile.size, setting.alignment.get(multi.tile.memory, 1)
    step = -(-size // alignment) * alignment
    starts = [address + number * step for number in range(multi.count)]
    return tuple(Slot(op.uid, n, multi.tile.memory, start, start + size) for n, start in enumerate(starts))
