"""What decides what a loop executes: conditions, ids, slots, bounds and offsets, and how its global accesses move."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from syncopt.ir.kernel import (
    AddPtr,
    AllocMultiTile,
    AllocTile,
    Block,
    Flag,
    For,
    If,
    Kernel,
    MultiTileGet,
    Op,
    PartitionView,
    SubView,
    TensorView,
    TileOp,
    Value,
    walk,
)
from syncopt.ir.pipes import Memory
from syncopt.ir.pointers import Roots
from syncopt.ir.recurrence import Motion
from syncopt.ir.shapes import Shape, aligned, constant, plus, times
from syncopt.ir.types import MultiTileType, PointerType, TileType, ViewType
from syncopt.ir.values import results_of

_SIZED = frozenset({Memory.LEFT, Memory.RIGHT, Memory.ACC})
"""Memories in which the sizes of tiles decide whether matmuls need a barrier between them."""


@dataclass(frozen=True, slots=True)
class Control:
    """A value that decides what is executed, and what it is; `loop` is the uid of the loop whose upper bound it is."""

    value: Value
    what: str
    loop: int | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    """Every `period` iterations the accesses of a pointer move by `bytes`."""

    period: int
    bytes: int

    def after(self, ordinal: int) -> int:
        """Bytes moved when `ordinal` iterations are behind."""
        return self.bytes * (ordinal // self.period)


class Controls:
    """The controls of a kernel.

    Parameters
    ----------
    kernel : Kernel
        Whose controls.
    shared : frozenset of Value
        Pointers through which accesses can conflict.
    """

    def __init__(self, kernel: Kernel, shared: frozenset[Value]) -> None:
        self._makers = {value: op for op in walk(kernel.body) for value in results_of(op)}
        self._arguments = frozenset(kernel.arguments)
        self._roots = Roots(kernel)
        self._body = kernel.body
        self._shared = shared
        self._known: dict[Block, tuple[Control, ...]] = {}
        self._accesses: dict[Block, tuple[Value, ...]] = {}

    def of(self, block: Block) -> tuple[Control, ...]:
        """The controls of the ops below a block."""
        found = self._known.get(block)
        if found is None:
            found = self._known[block] = tuple(control for op in walk(block) for control in _controls(op))
        return found

    def drifts(self, block: Block, motion: Motion) -> dict[Value, Drift]:
        """How the accesses below a block move along a loop, by pointer; what does not move as one is a problem."""
        found: dict[Value, set[tuple[int, int, Fraction]]] = {}
        for view in self._views(block):
            root = self._roots.of(view)
            shape = self._offset(view, motion)
            if shape is None or shape.is_bent or root not in self._shared:
                motion.refuse(view, f"accesses through {view.name} do not move evenly")
                continue
            found.setdefault(root, set()).add((shape.period if shape.drift else 1, shape.drift, shape.bound))
        for root, moves in found.items():
            if len(moves) > 1:
                motion.refuse(root, f"accesses of {root.name} move apart")
        moves = {root: next(iter(moves)) for root, moves in found.items() if len(moves) == 1}
        return {root: Drift(period, drift) for root, (period, drift, _) in moves.items()}

    def is_confined(self, pointer: Value, block: Block) -> bool:
        """Whether a pointer is accessed below a block and nowhere else."""
        return self._accessing(pointer, block) == self._accessing(pointer, self._body)

    def _accessing(self, pointer: Value, block: Block) -> int:
        """The number of operands below a block that are views of a pointer, or of an unknown one."""
        return sum(
            self._roots.of(view) is pointer or self._roots.of(view) not in self._arguments
            for op in walk(block)
            if isinstance(op, TileOp)
            for view in (*op.ins, *op.outs)
            if isinstance(view.type, ViewType | PointerType)
        )

    def _views(self, block: Block) -> tuple[Value, ...]:
        """The views of shared pointers, or of unknown ones, that ops below a block access."""
        found = self._accesses.get(block)
        if found is None:
            views = (
                value
                for op in walk(block)
                if isinstance(op, TileOp)
                for value in (*op.ins, *op.outs)
                if isinstance(value.type, ViewType | PointerType)
            )
            found = tuple(dict.fromkeys(view for view in views if self._is_followed(view)))
            self._accesses[block] = found
        return found

    def _is_followed(self, view: Value) -> bool:
        root = self._roots.of(view)
        return root in self._shared or (root not in self._arguments and bool(self._shared))

    def _offset(self, view: Value, motion: Motion) -> Shape | None:
        """How the first byte of a view moves; None if that, or its size, is not followed."""
        match self._makers.get(view):
            case PartitionView() as op:
                return self._partition(op, motion)
            case TensorView() as op:
                sizes = [motion.of(value) for value in (*op.shape, *op.strides)]
                known = all(_is_fixed(shape) for shape in sizes)
                return self._offset(op.pointer, motion) if known else None
            case AddPtr() as op:
                assert isinstance(op.pointer.type, PointerType)
                base, step = self._offset(op.pointer, motion), motion.of(op.offset)
                moved = None if step is None else times(step, constant(op.pointer.type.dtype.size))
                return None if base is None or moved is None else plus(*aligned(base, moved))
            case _:
                return constant(0) if view in self._arguments else None

    def _partition(self, op: PartitionView, motion: Motion) -> Shape | None:
        base = self._offset(op.source, motion)
        view = self._makers.get(op.source)
        if base is None or not isinstance(view, TensorView) or not isinstance(op.result.type, ViewType):
            return None
        sizes = [motion.of(value) for value in op.sizes]
        if not all(_is_fixed(size) for size in sizes):
            return None
        for offset, stride in zip(op.offsets, view.strides, strict=True):
            step, width = motion.of(offset), motion.of(stride)
            moved = None if step is None or width is None else times(step, width)
            scaled = None if moved is None else times(moved, constant(op.result.type.dtype.size))
            if scaled is None:
                return None
            base = plus(*aligned(base, scaled))
        return base


def _is_fixed(shape: Shape | None) -> bool:
    """Whether a size comes back, and is the same for another trip count."""
    return shape is not None and shape.is_still and not shape.follows_bound


def _controls(op: Op) -> Iterator[Control]:
    match op:
        case If():
            yield Control(op.condition, "condition")
        case For():
            yield Control(op.lower, "lower bound")
            yield Control(op.upper, "upper bound", op.uid)
            yield Control(op.step, "step")
        case Flag() if isinstance(op.event, Value):
            yield Control(op.event, "event id")
        case MultiTileGet():
            yield Control(op.slot, "slot")
        case AllocTile() | AllocMultiTile():
            if op.address is not None:
                yield Control(op.address, "address")
            yield from _sizes(op.result, (op.valid_row, op.valid_col))
        case SubView():
            for value in op.offsets:
                yield Control(value, "offset")
            yield from _sizes(op.result, op.valid)
        case _:
            pass


def _sizes(tile: Value, sizes: tuple[Value | None, ...]) -> Iterator[Control]:
    kind = tile.type.tile if isinstance(tile.type, MultiTileType) else tile.type
    if isinstance(kind, TileType) and kind.memory in _SIZED:
        yield from (Control(value, "valid size") for value in sizes if value is not None)
