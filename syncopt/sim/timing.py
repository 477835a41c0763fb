"""What a replay tells."""

from dataclasses import dataclass
from typing import NamedTuple

from syncopt.ir.kernel import Op
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.trace import Instance, Iteration


class Timing(NamedTuple):
    """Times of one instruction, in cycles.

    `ready` is the dispatch clock after its last queue entry, `start` and `end` bound the time for which it holds its
    pipe (a set: its own cycle), `done` is its completion (a set: the rise of its flag).
    """

    instance: Instance
    ready: int
    start: int
    end: int
    done: int


@dataclass(frozen=True, slots=True)
class Deadlock:
    """Nothing can advance: dispatch stands before `op`, and `blocked` are the waits at the heads of their pipes."""

    op: Op
    iteration: Iteration
    blocked: tuple[Instance, ...]


@dataclass(frozen=True, slots=True)
class DoubleSet:
    """A set whose flag rose before the wait for the set before it had ended: `count` times, first in `iteration`."""

    op: Op
    iteration: Iteration
    count: int


@dataclass(frozen=True, slots=True)
class FlagLeft:
    """A flag that is still up at the end of the kernel."""

    pair: PipePair
    event: int
    op: Op
    iteration: Iteration


@dataclass(frozen=True, slots=True)
class Replay:
    """Cycles of a run and where they went.

    Parameters
    ----------
    cycles : int
        Latest completion of a tile op.
    busy : dict of Pipe to int
        Cycles for which each pipe was occupied by tile ops; pipes without any are left out.
    stalls : dict of str to int
        Cycles by cause, largest first: a flag pair ("MTE2->MTE1": the target pipe held by a wait), "dispatch" (a pipe
        idle because its next op was not dispatched yet), "queue P" (dispatch held up by the full queue of P),
        "barrier P".
    tile_ops, sets, waits, barriers : int
        Instructions executed.
    ids : dict of PipePair to int
        Number of distinct event ids used per pair.
    deadlock : Deadlock or None
        Where the kernel hangs.
    double_sets : tuple of DoubleSet
        Sets that came too early, one entry per op.
    flags_left : tuple of FlagLeft
        Flags up at the end.
    """

    cycles: int
    busy: dict[Pipe, int]
    stalls: dict[str, int]
    tile_ops: int
    sets: int
    waits: int
    barriers: int
    ids: dict[PipePair, int]
    deadlock: Deadlock | None
    double_sets: tuple[DoubleSet, ...]
    flags_left: tuple[FlagLeft, ...]
