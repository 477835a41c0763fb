"""What allocations and views are at a point of a run."""

from collections.abc import Callable, Mapping

from syncopt.ir.kernel import (
    AddPtr,
    AllocMultiTile,
    AllocTile,
    MultiTileGet,
    Op,
    PartitionView,
    SubView,
    TensorView,
)
from syncopt.ir.pipes import Memory
from syncopt.ir.runtime import (
    Environment,
    MultiTileRef,
    PointerRef,
    TileRef,
    ViewRef,
    number,
    numbers,
    plus,
    sub_tile,
    tile_ref,
    times,
    valid_left,
)
from syncopt.ir.scalars import UNKNOWN, ScalarValue, Unknown
from syncopt.ir.source import InputError, Source
from syncopt.ir.types import MultiTileType, PointerType, TileType, ViewType


class Views:
    """Evaluates the ops that make tiles, views and pointers.

    Parameters
    ----------
    source : Source
        The kernel's file, for errors.
    addresses : mapping of uid to int
        Byte address of every allocation that carries none in the text.
    alignment : mapping of Memory to int
        Multiple, in bytes, of the slots of rotating tiles; 1 where a memory is left out.
    """

    def __init__(self, source: Source, addresses: Mapping[int, int], alignment: Mapping[Memory, int]) -> None:
        self._source = source
        self._addresses = addresses
        self._alignment = alignment
        self.rules: Mapping[type[Op], Callable[[Op, Environment], None]] = {
            AllocTile: self._alloc_tile,
            AllocMultiTile: self._alloc_multi_tile,
            MultiTileGet: self._multi_tile_get,
            SubView: self._sub_view,
            AddPtr: self._add_ptr,
            TensorView: self._tensor_view,
            PartitionView: self._partition_view,
        }

    def _refusal(self, op: Op, message: str, help: str = "") -> InputError:
        return InputError(message, self._source, op.span, help)

    def _address(self, op: AllocTile | AllocMultiTile, env: Environment) -> int:
        if op.address is None:
            if op.uid not in self._addresses:
                raise self._refusal(op, f"{op.result} has no address")
            return self._addresses[op.uid]
        address = number(op.address, env)
        if isinstance(address, Unknown):
            raise self._refusal(op, f"the address of {op.result} is not known", "give it as an arith.constant")
        return int(address)

    def _valid(self, op: AllocTile | AllocMultiTile, tile: TileType, env: Environment) -> tuple[ScalarValue, ...]:
        static = (tile.valid_rows, tile.valid_cols)
        given = (op.valid_row, op.valid_col)
        return tuple(
            number(value, env) if value is not None else UNKNOWN if size is None else size
            for value, size in zip(given, static, strict=True)
        )

    def _alloc_tile(self, op: Op, env: Environment) -> None:
        assert isinstance(op, AllocTile) and isinstance(op.result.type, TileType)
        tile = op.result.type
        env[op.result] = tile_ref(tile, self._address(op, env), *self._valid(op, tile, env))

    def _alloc_multi_tile(self, op: Op, env: Environment) -> None:
        assert isinstance(op, AllocMultiTile) and isinstance(op.result.type, MultiTileType)
        multi = op.result.type
        env[op.result] = MultiTileRef(multi, self._address(op, env), *self._valid(op, multi.tile, env))

    def _multi_tile_get(self, op: Op, env: Environment) -> None:
        assert isinstance(op, MultiTileGet)
        multi, slot = env[op.source], number(op.slot, env)
        assert isinstance(multi, MultiTileRef)
        count, tile = multi.type.count, multi.type.tile
        if isinstance(slot, Unknown):
            message = f"the slot of {op.source} is not known from the arguments"
            raise self._refusal(op, message, f"it must follow from integer arguments and be one of 0..{count - 1}")
        if not 0 <= slot < count:
            raise self._refusal(op, f"{op.source} has no slot {slot}: it has {count}", f"use slots 0 to {count - 1}")
        alignment = self._alignment.get(tile.memory, 1)
        step = -(-tile.size // alignment) * alignment
        env[op.result] = tile_ref(tile, multi.address + int(slot) * step, multi.rows, multi.cols)

    def _sub_view(self, op: Op, env: Environment) -> None:
        assert isinstance(op, SubView) and isinstance(op.result.type, TileType)
        tile, part = env[op.source], op.result.type
        assert isinstance(tile, TileRef)
        if len(op.offsets) != 2 or len(op.sizes) != 2:
            raise self._refusal(op, "a part of a tile takes two offsets and two sizes")
        offset = numbers(op.offsets, env)
        valid = numbers(op.valid, env) or [
            valid_left(whole, first) if size is None else size
            for size, whole, first in zip(
                (part.valid_rows, part.valid_cols), (tile.operand.rows, tile.operand.cols), offset, strict=True
            )
        ]
        env[op.result] = sub_tile(tile, offset, op.sizes, valid)

    def _add_ptr(self, op: Op, env: Environment) -> None:
        assert isinstance(op, AddPtr) and isinstance(op.pointer.type, PointerType)
        pointer = env[op.pointer]
        assert isinstance(pointer, PointerRef)
        step = times(number(op.offset, env), op.pointer.type.dtype.size)
        env[op.result] = PointerRef(pointer.root, plus(pointer.offset, step))

    def _tensor_view(self, op: Op, env: Environment) -> None:
        assert isinstance(op, TensorView) and isinstance(op.result.type, ViewType)
        pointer, dtype = env[op.pointer], op.result.type.dtype
        assert isinstance(pointer, PointerRef)
        shape = tuple(numbers(op.shape, env))
        strides = tuple([times(stride, dtype.size) for stride in numbers(op.strides, env)])
        env[op.result] = ViewRef(pointer.root, pointer.offset, shape, strides, dtype)

    def _partition_view(self, op: Op, env: Environment) -> None:
        assert isinstance(op, PartitionView)
        view = env[op.source]
        assert isinstance(view, ViewRef)
        offset = view.offset
        for step, stride in zip(numbers(op.offsets, env), view.strides, strict=True):
            offset = plus(offset, times(step, stride))
        shape = tuple(numbers(op.sizes, env))
        env[op.result] = ViewRef(view.root, offset, shape, view.strides, view.dtype)
