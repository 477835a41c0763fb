"""Ops with a flag or a barrier per dependence, within a round and from round to round."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count, product

from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.trace import Instance, Tracer
from tests.check.queues import conflict
from tests.check.short_kernels import Pipeline, short_kernel
from tests.check.statements import FLAGS, Loop, arguments

_ROUNDS = 3
"""What lies further apart than two rounds conflicts closer by, too."""


class Ids:
    """Hands out ids, counted per pair of pipes."""

    def __init__(self) -> None:
        self._used: dict[PipePair, Iterator[int]] = {}

    def flag(self, pair: PipePair) -> str:
        """A flag that nothing uses yet; beyond the last id they are used again."""
        return f"{pair.source} {pair.target} {self._next(pair)}"

    def two_flags(self, pair: PipePair) -> tuple[int, tuple[str, str]]:
        """Two flags of successive ids, and the first of these."""
        first = self._next(pair)
        return first, (f"{pair.source} {pair.target} {first}", f"{pair.source} {pair.target} {self._next(pair)}")

    def _next(self, pair: PipePair) -> int:
        return next(self._used.setdefault(pair, count())) % 8


@lru_cache(maxsize=1024)
def _rounds(pipeline: Pipeline, ops: tuple[str, ...], loop: Loop | None) -> tuple[tuple[Instance, ...], ...]:
    """What ops execute, round by round; once if there is no loop."""
    lines = list(ops) if loop is None else loop.around(list(ops))
    trace = tuple(Tracer(short_kernel("\n".join(lines), pipeline), arguments(_ROUNDS, _ROUNDS)))
    return tuple(trace[at : at + len(ops)] for at in range(0, len(trace), len(ops)))


class Unit:
    """Ops with a flag or a barrier per dependence.

    What meets two rounds later, but not in the next one, has an id for each of the two.

    Parameters
    ----------
    pipeline : Pipeline
        Whose ops.
    ops : list of str
        In order.
    ids : Ids
        Where flags come from.
    loop : Loop or None
        Over which they are repeated.
    """

    def __init__(self, pipeline: Pipeline, ops: list[str], ids: Ids, loop: Loop | None = None) -> None:
        self._ops = ops
        self._before: list[list[str]] = [[] for _ in ops]
        self._after: list[list[str]] = [[] for _ in ops]
        self._names: list[str] = []
        self._tokens: list[str] = []
        self._ids = ids
        self._loop = loop
        ordered = set[tuple[int, int]]()
        endless = None if loop is None else Loop(loop.variable, "%n", loop.turn, None, loop.moves)
        rounds = _rounds(pipeline, tuple(ops), endless)
        for distance, (earlier, later) in product(range(len(rounds)), product(range(len(ops)), repeat=2)):
            # What is in order with another op is so in all rounds behind that, too.
            is_open = (earlier, later) not in ordered and (distance or earlier < later)
            if is_open and conflict(rounds[0][earlier], rounds[distance][later]):
                ordered.add((earlier, later))
                self._order(earlier, later, PipePair(rounds[0][earlier].pipe, rounds[distance][later].pipe), distance)

    def _order(self, earlier: int, later: int, pair: PipePair, distance: int) -> None:
        """Let one op wait for another, of some rounds before."""
        if pair.source is pair.target:
            self._before[later].append(f"barrier {pair.source}")
        elif pair.source is not Pipe.S:
            flag = self._rotating(pair) if distance > 1 else self._ids.flag(pair)
            self._before[later].append(f"wait {flag}")
            self._after[earlier].append(f"set {flag}")
            if distance == 1:
                self._tokens.append(flag)

    def _rotating(self, pair: PipePair) -> str:
        """A flag whose id moves with the slot."""
        assert self._loop is not None
        first, flags = self._ids.two_flags(pair)
        self._tokens += flags
        name = self._loop.slot
        if first:
            name = f"%d{pair.source}{pair.target}{first}"
            base = "%c2" if first == 2 else "%c1"
            self._names.append(f"{name} = arith.addi {self._loop.slot}, {base} : index")
        return f"{pair.source} {pair.target} {name}"

    def body(self) -> list[str]:
        """The ops with their flags and barriers."""
        groups = zip(self._before, self._ops, self._after, strict=True)
        return [*self._names, *(line for before, op, after in groups for line in (*dict.fromkeys(before), op, *after))]

    def tokens(self, what: str) -> list[str]:
        """The sets before the loop, or the waits behind it."""
        assert what in FLAGS
        return [f"{what}{flag}" for flag in self._tokens]
