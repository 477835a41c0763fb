"""A short trace by the queues of its pipes, and which of its ops conflict.

Sets of places in the trace are bits of an integer.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from syncopt.ir.kernel import SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.trace import Instance


def places(bits: int) -> Iterator[int]:
    """The places that an integer holds."""
    return (place for place in range(bits.bit_length()) if bits >> place & 1)


class Rise(NamedTuple):
    """A set: its place and flag, how many other instructions its pipe has before it, and which tile ops (as bits)."""

    place: int
    flag: int
    ahead: int
    ops: int


class Queue:
    """What the trace gives to one pipe; the scalar unit has sets only.

    Parameters
    ----------
    steps : list of int
        Places of its tile ops, waits and barriers.
    started : list of int
        The tile ops, as bits, among the first 0, 1, 2, ... steps.
    rises : list of Rise
        Its sets.
    """

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.started: list[int] = [0]
        self.rises: list[Rise] = []

    def take(self, place: int, instance: Instance, flag: int) -> None:
        """Take the next instruction."""
        if isinstance(instance.op, SetFlag):
            self.rises.append(Rise(place, flag, len(self.steps), self.started[-1]))
            return
        self.steps.append(place)
        self.started.append(self.started[-1] | (isinstance(instance.op, TileOp) << place))


class ShortTrace:
    """A trace by queues and flags, with its conflicts.

    Parameters
    ----------
    trace : sequence of Instance
        The instructions in program order.
    """

    def __init__(self, trace: Sequence[Instance]) -> None:
        self.trace = trace
        self.length = len(trace)
        # per place: the number of its flag
        keys = [(i.op.pair, i.event) if isinstance(i.op, SetFlag | WaitFlag) else None for i in trace]
        flags = list(dict.fromkeys(key for key in keys if key is not None))
        self.flags = [-1 if key is None else flags.index(key) for key in keys]
        self.number_of_flags = len(flags)
        queues: dict[Pipe, Queue] = {}
        for place, instance in enumerate(trace):
            if instance.pipe not in (Pipe.S, Pipe.ALL) or isinstance(instance.op, SetFlag):
                queues.setdefault(instance.pipe, Queue()).take(place, instance, self.flags[place])
        self.queues = tuple(queues.values())
        # per place: the ops before and behind it that it conflicts with
        self.clashes_before = [0] * self.length
        self.clashes_behind = [0] * self.length
        for earlier, later in combinations(range(self.length), 2):
            if conflict(trace[earlier], trace[later]):
                self.clashes_before[later] |= 1 << earlier
                self.clashes_behind[earlier] |= 1 << later
        # per place: the stores of other pipes that it loads from
        self.stored = [self._stored(place) for place in range(self.length)]
        self.stores = sum(_is_store(instance) << place for place, instance in enumerate(trace))
        self.loads_ahead = [self._loads_ahead(place) for place in range(self.length)]

    def _stored(self, place: int) -> int:
        return sum(_loads_from(self.trace[at], self.trace[place]) << at for at in range(place))

    def sets_of(self, flag: int) -> list[int]:
        """The places of the sets of a flag."""
        return [at for at in range(self.length) if self.flags[at] == flag and isinstance(self.trace[at].op, SetFlag)]

    def _loads_ahead(self, place: int) -> int:
        """The tile ops that complete before one does: those before it on MTE2."""
        if self.trace[place].pipe is not Pipe.MTE2:
            return 0
        return sum(1 << at for at in range(place) if self.trace[at].pipe is Pipe.MTE2 and self.trace[at].work)


def conflict(earlier: Instance, later: Instance) -> bool:
    """Whether one op must be complete before a later one starts: they meet in bytes of which one of them writes some.

    On one pipe the order of the starts is enough, except between vector ops, and between matmuls if one of the
    accumulators has fewer than ten fractals of 16 x 16.
    """
    pairs = product(earlier.accesses, later.accesses)
    if not any((a.writes or b.writes) and a.footprint.meets(b.footprint) for a, b in pairs):
        return False
    return earlier.pipe is not later.pipe or earlier.pipe is Pipe.V or _is_small(earlier) or _is_small(later)


def _loads_from(earlier: Instance, later: Instance) -> bool:
    """Whether an op reads global memory that one of another pipe has written."""
    return earlier.pipe is not later.pipe and any(
        a.writes and not b.writes and not isinstance(a.footprint.space, Memory) and a.footprint.meets(b.footprint)
        for a, b in product(earlier.accesses, later.accesses)
    )


def _is_small(instance: Instance) -> bool:
    """Whether an op is a matmul whose accumulator is so small that the next one comes too early."""
    if instance.pipe is not Pipe.M or instance.work is None:
        return False
    return any(-(-tile.rows // 16) * -(-tile.cols // 16) < 10 for tile in instance.work.outs)


def _is_store(instance: Instance) -> bool:
    return instance.work is not None and any(tile.memory is Memory.GM for tile in instance.work.outs)
