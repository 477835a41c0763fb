"""What ops touch: the ground on which two ops may change places."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from syncopt.ir.footprint import whole
from syncopt.ir.kernel import (
    AllocMultiTile,
    AllocTile,
    For,
    If,
    Kernel,
    MultiTileGet,
    Op,
    Scalar,
    SubView,
    TileOp,
    Value,
    Yield,
    regions,
    walk,
)
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.trace import Access, Instance
from syncopt.ir.types import MultiTileType, TileType


class Part(NamedTuple):
    """A part of an allocated tile (uid): whether it is written, whether its offset is known at run time only."""

    allocation: int
    writes: bool
    moving: bool


@dataclass(frozen=True, slots=True)
class Touched:
    """What the instances below an op touched in the traces that were looked at.

    Parameters
    ----------
    accesses : frozenset of Access
        Their bytes; of global memory all that a pointer leads to.
    parts : frozenset of Part
        The allocations behind them.
    pipes : frozenset of Pipe
        Where they ran.
    """

    accesses: frozenset[Access]
    parts: frozenset[Part]
    pipes: frozenset[Pipe]

    def conflicts(self, other: "Touched") -> bool:
        """Whether the two cannot change places: bytes that both touch and one writes, or one global pointer.

        Traces show only some offsets of a part at a run-time offset, so all of its tile counts.
        """
        return any(
            (a.writes or b.writes) and a.footprint.meets(b.footprint) for a in self.accesses for b in other.accesses
        ) or any(
            a.allocation == b.allocation and (a.writes or b.writes) and (a.moving or b.moving)
            for a in self.parts
            for b in other.parts
        )


def _place(access: Access) -> Access:
    # Global footprints change from one iteration to the next, so one pointer counts as one place here.
    space = access.footprint.space
    return access if isinstance(space, Memory) else Access(whole(space), access.writes)


class Touches:
    """Collects what ops touch while traces go by.

    Parameters
    ----------
    kernel : Kernel
        Whose traces.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._accesses: dict[Op, dict[int, tuple[Access, ...]]] = {}
        self._pipes: dict[Op, Pipe] = {}

    def watch(self, trace: Iterable[Instance]) -> Iterator[Instance]:
        """The trace, noted as it goes by."""
        for instance in trace:
            # Equal operands share one tuple of accesses, which stays alive here, so its identity is a faithful key.
            self._accesses.setdefault(instance.op, {})[id(instance.accesses)] = instance.accesses
            self._pipes[instance.op] = instance.pipe
            yield instance

    def found(self) -> dict[int, Touched]:
        """What each op, with all that stands inside it, touched; ops of which a part was never reached are left out."""
        parts = _Parts(self._kernel)
        found: dict[int, Touched] = {}
        for op in self._accesses:
            accesses = frozenset(_place(access) for group in self._accesses[op].values() for access in group)
            assert isinstance(op, TileOp)
            found[op.uid] = Touched(accesses, parts.of(op), frozenset((self._pipes[op],)))
        for op in reversed(list(walk(self._kernel.body))):
            inner = [o for region in regions(op) for o in walk(region) if isinstance(o, TileOp)]
            if inner and all(o.uid in found for o in inner):
                found[op.uid] = _together([found[o.uid] for o in inner])
        return found


def _together(touched: Iterable[Touched]) -> Touched:
    accesses, parts, pipes = set[Access](), set[Part](), set[Pipe]()
    for each in touched:
        accesses |= each.accesses
        parts |= each.parts
        pipes |= each.pipes
    return Touched(frozenset(accesses), frozenset(parts), frozenset(pipes))


class _Parts:
    """The allocations behind the tiles of a kernel, and which parts of them are at run-time offsets."""

    def __init__(self, kernel: Kernel) -> None:
        self._behind: dict[Value, set[tuple[int, bool]]] = {}
        self._constants: set[Value] = set()
        ops = list(walk(kernel.body))
        sources: list[tuple[Value, Value, bool]] = []
        for op in ops:
            if isinstance(op, Scalar) and op.name == "arith.constant":
                self._constants.update(op.results)
            elif isinstance(op, AllocTile | AllocMultiTile):
                self._behind[op.result] = {(op.uid, False)}
            sources.extend(self._sources(op))
        while sum(self._flow(*source) for source in sources):
            continue

    def _sources(self, op: Op) -> Iterator[tuple[Value, Value, bool]]:
        """(value, what it is a part of or can be, whether at a run-time offset)."""
        match op:
            case SubView():
                yield op.result, op.source, not all(offset in self._constants for offset in op.offsets)
            case MultiTileGet():
                yield op.result, op.source, False
            case For():
                yield from (
                    (a, b, False) for pair in (op.carried, op.results) for a, b in zip(pair, op.inits, strict=True)
                )
                yield from ((a, b, False) for pair in (op.carried, op.results) for a, b in _yielded(op, pair))
            case If():
                yield from ((a, b, False) for a, b in _yielded(op, op.results))
            case _:
                return

    def _flow(self, value: Value, source: Value, moving: bool) -> bool:
        """Pass what is behind the source on to the value; whether that was news."""
        if not isinstance(value.type, TileType | MultiTileType):
            return False
        known = self._behind.setdefault(value, set())
        before = len(known)
        known.update((uid, moving or already) for uid, already in self._behind.get(source, ()))
        return len(known) > before

    def of(self, op: TileOp) -> frozenset[Part]:
        """The parts that an op reads and writes."""
        reads = (Part(uid, False, moving) for value in op.ins for uid, moving in self._behind.get(value, ()))
        writes = (Part(uid, True, moving) for value in op.outs for uid, moving in self._behind.get(value, ()))
        return frozenset((*reads, *writes))


def _yielded(op: For | If, values: tuple[Value, ...]) -> Iterator[tuple[Value, Value]]:
    for region in regions(op):
        last = region.ops[-1] if region.ops else None
        if isinstance(last, Yield):
            yield from zip(values, last.operands, strict=False)
