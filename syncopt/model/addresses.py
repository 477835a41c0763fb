"""Byte addresses for the tiles that have none, and new names for the values that carry them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from syncopt.hwmodel import Machine, MemoryFacts
from syncopt.ir.kernel import NO_SPAN, AllocMultiTile, AllocTile, Block, Kernel, Op, Scalar, Value, regions, walk
from syncopt.ir.pipes import Memory
from syncopt.ir.scalars import UNKNOWN, ScalarValue, evaluate
from syncopt.ir.source import InputError, Language
from syncopt.ir.types import MultiTileType, ScalarType, TileType
from syncopt.ir.values import results_of
from syncopt.model.rewrite import with_body, with_ops, with_regions

_NAME = re.compile(r"%[\w$.]+(?:-(?!>)[\w$.]*)*")
_CPP_NAME = re.compile(r"[A-Za-z_]\w*")
_ADDRESS_TYPE = ScalarType("i64")
_NAMES_IN_MESSAGES = 4


@dataclass(frozen=True, slots=True)
class _Room:
    """Bytes `start` (inclusive) to `end` (exclusive) of a memory, taken by a tile."""

    start: int
    end: int


def place(kernel: Kernel, machine: Machine) -> dict[int, int]:
    """Byte addresses, by uid, of the allocations that carry none: first fit in program order, all tiles live at once.

    Raises
    ------
    InputError
        If the tiles of a memory do not fit, or if one of them has an address that is not a constant.
    """
    fixed = fixed_addresses(kernel)
    by_memory: dict[Memory, list[AllocTile | AllocMultiTile]] = {}
    for op in _allocations(kernel):
        by_memory.setdefault(_tile_type(op).memory, []).append(op)
    addresses: dict[int, int] = {}
    for memory, ops in by_memory.items():
        if any(op.address is None for op in ops):
            addresses |= _place_in(kernel, machine.memory(memory), ops, fixed)
    return addresses


def with_addresses(kernel: Kernel, addresses: Mapping[int, int]) -> Kernel:
    """The kernel with an address for every allocation in `addresses`, from a constant added right before it.

    Allocations of one block share the constant of an address.
    """
    constants = _Constants(kernel)
    return with_body(kernel, _with_addresses(kernel.body, addresses, constants))


def names_in(kernel: Kernel) -> set[str]:
    """All SSA names, `%` included and `#` with its number left out, in a kernel's file and in what was added to it.

    Words of C++ text count as if they had a `%`, which names of added ops lose when they are written.
    """
    text = kernel.source.data.decode("utf-8", "replace")
    added = (result.name for op in walk(kernel.body) if op.uid < 0 for result in results_of(op))
    if kernel.source.language is Language.CPP:
        return {*(f"%{word}" for word in _CPP_NAME.findall(text)), *added}
    return {*_NAME.findall(text), *added}


def fresh_name(taken: set[str], base: str) -> str:
    """`base`, such as `%addr_0`, with a number behind it if it is taken; the name is taken from then on."""
    name, number = base, 1
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    taken.add(name)
    return name


def fresh_uids(kernel: Kernel) -> Iterator[int]:
    """Uids for ops to add, below all that the kernel has."""
    uid = min((op.uid for op in walk(kernel.body)), default=0)
    uid = min(uid, 0)
    while True:
        uid -= 1
        yield uid


def _allocations(kernel: Kernel) -> Iterator[AllocTile | AllocMultiTile]:
    return (op for op in walk(kernel.body) if isinstance(op, AllocTile | AllocMultiTile))


def _tile_type(op: AllocTile | AllocMultiTile) -> TileType:
    type_ = op.result.type
    tile = type_.tile if isinstance(type_, MultiTileType) else type_
    assert isinstance(tile, TileType)
    return tile


def _size(op: AllocTile | AllocMultiTile, alignment: int) -> int:
    """Bytes of an allocation; the slots of a rotating tile all start at aligned addresses."""
    type_, size = op.result.type, _tile_type(op).size
    return (type_.count - 1) * _aligned(size, alignment) + size if isinstance(type_, MultiTileType) else size


def _aligned(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment


def fixed_addresses(kernel: Kernel) -> dict[int, ScalarValue]:
    """Addresses that the text gives, by uid of the allocation."""
    known = known_scalars(kernel)
    return {op.uid: known.get(op.address, UNKNOWN) for op in _allocations(kernel) if op.address is not None}


def known_scalars(kernel: Kernel) -> dict[Value, ScalarValue]:
    """The scalars that follow from constants of the text; those that do not are unknown."""
    known: dict[Value, ScalarValue] = {}
    for op in walk(kernel.body):
        if isinstance(op, Scalar) and len(op.results) == 1:
            known[op.results[0]] = evaluate(op, tuple(known.get(operand, UNKNOWN) for operand in op.operands))
    return known


def _place_in(
    kernel: Kernel,
    facts: MemoryFacts,
    ops: Sequence[AllocTile | AllocMultiTile],
    fixed: Mapping[int, ScalarValue],
) -> dict[int, int]:
    """Addresses in one memory; `ops` are all its tiles in program order."""
    taken = [_fixed_room(kernel, op, fixed[op.uid], facts) for op in ops if op.address is not None]
    addresses: dict[int, int] = {}
    too_far: AllocTile | AllocMultiTile | None = None
    for op in ops:
        if op.address is None:
            room = _first_fit(taken, _size(op, facts.alignment), facts.alignment)
            taken.append(room)
            addresses[op.uid] = room.start
            too_far = too_far or (op if room.end > facts.bytes else None)
    if too_far is not None:
        raise _does_not_fit(kernel, too_far, ops, max(room.end for room in taken), facts)
    return addresses


def _fixed_room(kernel: Kernel, op: AllocTile | AllocMultiTile, address: ScalarValue, facts: MemoryFacts) -> _Room:
    if not isinstance(address, int):
        name, memory = op.result.name, _tile_type(op).memory
        message = f"the address of {name} is not a constant, so no other tile of {memory} can be placed"
        raise InputError(
            message, kernel.source, op.span, f"give {name} a constant address, or all tiles of {memory} one"
        )
    return _Room(address, address + _size(op, facts.alignment))


def _first_fit(taken: Sequence[_Room], size: int, alignment: int) -> _Room:
    start = 0
    for room in sorted(taken, key=_start):
        if room.start < start + size and start < room.end:
            start = _aligned(room.end, alignment)
    return _Room(start, start + size)


def _start(room: _Room) -> int:
    return room.start


def _does_not_fit(
    kernel: Kernel,
    op: AllocTile | AllocMultiTile,
    ops: Sequence[AllocTile | AllocMultiTile],
    needed: int,
    facts: MemoryFacts,
) -> InputError:
    names = [other.result.name for other in ops]
    verb = "does" if len(names) == 1 else "do"
    sizes = f"{needed:,} of {facts.bytes:,} bytes ({needed - facts.bytes:,} too many)"
    message = f"{_listed(names)} {verb} not fit {_tile_type(op).memory}: {sizes}"
    return InputError(
        message, kernel.source, op.span, "use smaller tiles, fewer tiles, or fewer slots per rotating tile"
    )


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_NAMES_IN_MESSAGES])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return " and ".join([*([", ".join(shown[:-1])] if shown[:-1] else []), shown[-1]])


class _Constants:
    """Makes the address constants of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._taken = names_in(kernel)
        self._uids = fresh_uids(kernel)

    def new(self, address: int) -> Scalar:
        value = Value(fresh_name(self._taken, f"%addr_{address}"), _ADDRESS_TYPE)
        return Scalar(next(self._uids), NO_SPAN, "arith.constant", (), (value,), address)


def _with_addresses(block: Block, addresses: Mapping[int, int], constants: _Constants) -> Block:
    ops: list[Op] = []
    known: dict[int, Value] = {}
    for op in block.ops:
        if isinstance(op, AllocTile | AllocMultiTile) and op.uid in addresses:
            address = addresses[op.uid]
            if address not in known:
                ops.append(constant := constants.new(address))
                known[address] = constant.results[0]
            ops.append(replace(op, address=known[address]))
        else:
            known |= _added_constant(op)
            ops.append(with_regions(op, [_with_addresses(region, addresses, constants) for region in regions(op)]))
    return with_ops(block, ops)


def _added_constant(op: Op) -> dict[int, Value]:
    """The value of an added i64 constant, by its number."""
    match op:
        case Scalar(name="arith.constant", results=(value,), attribute=int(number)):
            return {number: value} if op.uid < 0 and value.type == _ADDRESS_TYPE else {}
        case _:
            return {}
