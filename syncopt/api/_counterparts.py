"""Ops of two versions of a kernel: what they are called, where they stand, and which of them correspond."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from syncopt.ir.kernel import NO_SPAN, Barrier, Flag, Kernel, Op, SetFlag, TileOp, walk
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.types import MultiTileType, TileType, ValueType, ViewType


@dataclass(frozen=True)
class Place:
    """An op in a version: its name (of a flag with its pipes), its pipe, its line in the file, 0 if it has none."""

    name: str
    pipe: Pipe
    line: int


class OpKey(NamedTuple):
    """What an op is called in both versions: `detail` tells ops of one name apart, then `rank` in text order."""

    name: str
    detail: tuple[str, ...]
    rank: int = 0


def place_of(op: Op, pipe: Pipe, kernel: Kernel) -> Place:
    """Where an op that runs on a pipe stands."""
    line = 0 if op.span == NO_SPAN else kernel.source.line(op.span.start)
    match op:
        case TileOp():
            return Place(op.name, pipe, line)
        case Flag():
            return Place(f"{'set_flag' if isinstance(op, SetFlag) else 'wait_flag'} {op.pair}", pipe, line)
        case _:
            return Place(f"barrier {pipe}", pipe, line)


NamesInBoth = tuple[dict[Op, OpKey], dict[Op, OpKey]]
"""What the ops of two kernels are called."""
_Spelling = Callable[[TileOp], OpKey]


def names_in_both(one: Kernel, other: Kernel) -> NamesInBoth:
    """What the ops of two kernels are called, so that those which correspond have one name.

    Tile ops correspond by name and operands where both kernels have the same ones, else by name, memories and their
    order in the text. Where one kernel has more of a kind than the other, all of that kind share a name, as flags do.
    """
    ours, theirs = ([op for op in walk(kernel.body) if isinstance(op, TileOp)] for kernel in (one, other))
    same_operands = Counter(map(_with_operands, ours)) == Counter(map(_with_operands, theirs))
    spelling = _with_operands if same_operands else _with_memories
    here, there = Counter(map(spelling, ours)), Counter(map(spelling, theirs))
    ranked = frozenset(name for name in here if here[name] == there[name])
    return _names(one, spelling, ranked), _names(other, spelling, ranked)


def _names(kernel: Kernel, spelling: _Spelling, ranked: frozenset[OpKey]) -> dict[Op, OpKey]:
    names: dict[Op, OpKey] = {}
    seen = Counter[OpKey]()
    for op in walk(kernel.body):
        match op:
            case TileOp():
                name = spelling(op)
                names[op] = name._replace(rank=seen[name]) if name in ranked else name
                seen[name] += 1
            case Flag():
                names[op] = OpKey(type(op).__name__, (str(op.pair),))
            case Barrier():
                names[op] = OpKey("Barrier", (str(op.pipe),))
            case _:
                pass
    return names


def _with_operands(op: TileOp) -> OpKey:
    return OpKey(op.name, (*(value.name for value in op.ins), "->", *(value.name for value in op.outs)))


def _with_memories(op: TileOp) -> OpKey:
    memories = (*(_memory(value.type) for value in op.ins), "->", *(_memory(value.type) for value in op.outs))
    return OpKey(op.name, memories)


def _memory(type_: ValueType) -> str:
    match type_:
        case TileType():
            return str(type_.memory)
        case MultiTileType():
            return str(type_.tile.memory)
        case ViewType():
            return str(Memory.GM)
        case _:
            return "scalar"
