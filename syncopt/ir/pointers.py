"""Pointer arguments through which accesses of different pipes can meet in global memory."""

from collections.abc import Iterable, Mapping

from syncopt.ir import optable
from syncopt.ir.kernel import AddPtr, Kernel, PartitionView, TensorView, TileOp, Value, walk
from syncopt.ir.pipes import PIPES, Memory, Pipe
from syncopt.ir.types import MultiTileType, PointerType, TileType, ViewType

Space = Memory | Value
"""An on-chip memory, or the pointer argument that global memory is reached through."""


def shared_pointers(kernel: Kernel) -> frozenset[Value]:
    """Pointer arguments that some tile op writes and that at least two pipes touch.

    A view whose pointer comes out of a branch or a loop may belong to any argument: then all of them count.
    """
    pointers = _pointers(kernel)
    roots = Roots(kernel)
    pipes: dict[Value, set[Pipe | None]] = {}
    written: set[Value] = set()
    for op in walk(kernel.body):
        if not isinstance(op, TileOp):
            continue
        for value in (*op.ins, *op.outs):
            if not isinstance(value.type, ViewType | PointerType):
                continue
            root = roots.of(value)
            if root not in pointers:
                return pointers
            pipes.setdefault(root, set()).add(_pipe(op))
            written.update({root} if value in op.outs else ())
    return frozenset(root for root in written if len(pipes[root]) > 1 or None in pipes[root])


def pipes_by_space(kernel: Kernel) -> Mapping[Space, frozenset[Pipe]]:
    """The pipes whose tile ops touch each memory, and the global memory of each pointer argument."""
    pointers, roots = _pointers(kernel), Roots(kernel)
    found: dict[Space, set[Pipe]] = {}
    for op in walk(kernel.body):
        if not isinstance(op, TileOp):
            continue
        pipe = _pipe(op)
        pipes = set(PIPES) if pipe is None else {pipe}
        for value in (*op.ins, *op.outs):
            memory = _memory(value)
            root = roots.of(value)
            spaces: Iterable[Space] = () if memory is None else (memory,)
            if memory is Memory.GM:
                spaces = (root,) if root in pointers else pointers
            for space in spaces:
                found.setdefault(space, set()).update(pipes)
    return {space: frozenset(pipes) for space, pipes in found.items()}


def _pointers(kernel: Kernel) -> frozenset[Value]:
    return frozenset(value for value in kernel.arguments if isinstance(value.type, PointerType))


class Roots:
    """The pointer that a view or a moved pointer is made from, as far as that stands in the text.

    Parameters
    ----------
    kernel : Kernel
        Where the values are.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._bases = _bases(kernel)

    def of(self, value: Value) -> Value:
        """The argument, or the result of a branch or a loop, at the start of the chain."""
        while value in self._bases:
            value = self._bases[value]
        return value


def _bases(kernel: Kernel) -> Mapping[Value, Value]:
    """For every view and moved pointer the one that it is made from."""
    bases: dict[Value, Value] = {}
    for op in walk(kernel.body):
        match op:
            case AddPtr() | TensorView():
                bases[op.result] = op.pointer
            case PartitionView():
                bases[op.result] = op.source
            case _:
                pass
    return bases


def _pipe(op: TileOp) -> Pipe | None:
    """The pipe of an op, None if it has no row or the row no such form."""
    row = optable.lookup(op.name)
    return None if row is None else row.pipe(_memories(op.ins), _memories(op.outs))


def _memories(values: tuple[Value, ...]) -> tuple[Memory, ...]:
    found = tuple(_memory(value) for value in values)
    return tuple(memory for memory in found if memory is not None)


def _memory(value: Value) -> Memory | None:
    match value.type:
        case TileType():
            return value.type.memory
        case MultiTileType():
            return value.type.tile.memory
        case ViewType() | PointerType():
            return Memory.GM
        case _:
            return None
