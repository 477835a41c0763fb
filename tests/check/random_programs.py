"""Random short kernels: wild ones, and right ones with one flag per dependence of which some lines are then changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, combinations_with_replacement, count

from hypothesis import strategies as st

from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.trace import Instance, Tracer
from tests.check.changes import changed
from tests.check.queues import conflict
from tests.check.short_kernels import Pipeline, short_kernel
from tests.check.statements import (
    BARRIERS,
    FLAGS,
    OF_ARGUMENTS,
    OF_LOOPS,
    PAIRS,
    QUIET,
    Condition,
    Loop,
    Program,
    arguments,
    chains,
    ops,
)

_STEPS = (("%c0", "%c1"), ("%c0", "%c2"), ("%c1", "%c1"))
"""Lower bound and step of loops."""
_PARTS = st.sampled_from([0, None, 0, 1])
_ENDS = st.sampled_from([("barrier ALL",), ("barrier ALL",), ()])


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which programs are drawn.

    Parameters
    ----------
    bounds : tuple of str
        What the upper bounds of loops can be.
    size : int
        The most statements of a wild program, those inside others left out.
    in_loops : tuple of Condition
        What an `if` in a loop can ask.
    in_turn : Condition
        What a loop asks that takes two bodies.
    """

    bounds: tuple[str, ...] = ("%c2", "%n", "%m", "%c1", "%c3")
    size: int = 7
    in_loops: tuple[Condition, ...] = OF_LOOPS
    in_turn: Condition = Condition.PARITY


def programs(kinds: Kinds) -> st.SearchStrategy[Program]:
    """Short kernels: right ones, the same with one or two changes, and wild ones."""
    right, wild = _flagged(kinds), _wild(kinds)
    once = right.flatmap(changed)
    return st.one_of(right, once, once, once.flatmap(changed), wild, wild)


@st.composite
def _wild(draw: st.DrawFn, kinds: Kinds) -> Program:
    """Ops of all kinds or such that share nothing, with flags of all pairs or of few."""
    pipeline = draw(st.sampled_from(Pipeline))
    pairs = draw(st.sampled_from([PAIRS[pipeline], *combinations(PAIRS[pipeline], 2)]))
    flags = st.sampled_from([f"{pair} {event}" for event in range(2) for pair in pairs])
    some = draw(st.sampled_from([ops(pipeline, 0), ops(pipeline), st.sampled_from(QUIET[pipeline])]))
    lines = _Wild(draw, kinds, some, flags, st.sampled_from(BARRIERS[pipeline])).block(kinds.size, None)
    return Program(pipeline, (*lines, *draw(_ENDS)))


class _Wild:
    """Draws the lines of a wild program."""

    def __init__(
        self,
        draw: st.DrawFn,
        kinds: Kinds,
        ops: st.SearchStrategy[str],
        flags: st.SearchStrategy[str],
        barriers: st.SearchStrategy[str],
    ) -> None:
        self._draw = draw
        self._kinds = kinds
        self._ops = ops
        self._flags = flags
        self._barriers = barriers
        self._names = count()

    def block(self, size: int, loop: Loop | None) -> list[str]:
        """Some statements, those in a loop included."""
        kinds = ("signal", "op", "flag", "signal", "op", "barrier", *(("for", "if") * (size > 2)))
        lines: list[str] = []
        for kind in self._draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=size)):
            lines += self._statement(kind, size, loop)
        return lines

    def _statement(self, kind: str, size: int, loop: Loop | None) -> list[str]:
        match kind:
            case "op":
                return [self._draw(self._ops)]
            case "signal":
                flag = self._draw(self._flags)
                return [f"set {flag}", f"wait {flag}"]
            case "flag":
                return [f"{self._draw(st.sampled_from(FLAGS))}{self._draw(self._flags)}"]
            case "barrier":
                return [self._draw(self._barriers)]
            case "for":
                inner = Loop(f"%i{next(self._names)}", self._draw(st.sampled_from(self._kinds.bounds)))
                start, step = self._draw(st.sampled_from(_STEPS))
                return inner.around(self.block(size // 2, inner), start, step)
            case _:
                then, orelse = self.block(size // 2, loop), self.block(size // 2, loop)
                conditions = OF_ARGUMENTS if loop is None else self._kinds.in_loops
                return self._draw(st.sampled_from(conditions)).around(then, orelse, loop, next(self._names))


@st.composite
def _flagged(draw: st.DrawFn, kinds: Kinds) -> Program:
    """One flag per dependence, in straight code, in a loop, or in a loop that takes two bodies in turn."""
    pipeline, ids = draw(st.sampled_from(Pipeline)), _Ids()
    shape = draw(st.sampled_from(["straight", "loop", "turns"]))
    if shape == "straight":
        unit = _Unit(pipeline, draw(chains(pipeline, draw(_PARTS), 5)), ids)
        return Program(pipeline, (*unit.body(), *draw(_ENDS)))
    loop = Loop("%i", draw(st.sampled_from(kinds.bounds)))
    if shape == "loop":
        units = [_Unit(pipeline, draw(chains(pipeline, draw(_PARTS), 3)), ids).repeated()]
        body = units[0].body()
    else:
        units = [_Unit(pipeline, draw(chains(pipeline, n, 2)), ids).repeated() for n in range(2)]
        body = kinds.in_turn.around(units[0].body(), units[1].body(), loop, 0)
    before, after = ([line for unit in units for line in unit.tokens(what)] for what in FLAGS)
    return Program(pipeline, (*before, *loop.around(body), *after, *draw(_ENDS)))


class _Ids:
    """Hands out ids, counted per pair of pipes."""

    def __init__(self) -> None:
        self._used: dict[PipePair, Iterator[int]] = {}

    def flag(self, pair: PipePair) -> str:
        """A flag that nothing uses yet; beyond the last id they are used again."""
        number = next(self._used.setdefault(pair, count())) % 8
        return f"{pair.source} {pair.target} {number}"


@lru_cache(maxsize=1024)
def _made(pipeline: Pipeline, ops: tuple[str, ...]) -> tuple[Instance, ...]:
    """What ops execute."""
    return tuple(Tracer(short_kernel("\n".join(ops), pipeline), arguments()))


class _Unit:
    """Ops with a flag or barrier per dependence.

    Parameters
    ----------
    pipeline : Pipeline
        Whose ops.
    ops : list of str
        In order.
    ids : _Ids
        Where flags come from.
    """

    def __init__(self, pipeline: Pipeline, ops: list[str], ids: _Ids) -> None:
        self._ops = ops
        self._before: list[list[str]] = [[] for _ in ops]
        self._after: list[list[str]] = [[] for _ in ops]
        self._tokens: list[str] = []
        self._ids = ids
        self._made = _made(pipeline, tuple(ops))
        for earlier, later in combinations(range(len(ops)), 2):
            self._order(earlier, later)

    def repeated(self) -> "_Unit":
        """The same ops, ordered behind those of the round before as well."""
        for later, earlier in combinations_with_replacement(range(len(self._ops)), 2):
            self._order(earlier, later)
        return self

    def _order(self, earlier: int, later: int) -> None:
        """Let one op wait for another, of the round before if it does not stand ahead."""
        before, behind = self._made[earlier], self._made[later]
        if not conflict(before, behind):
            return
        if before.pipe is behind.pipe:
            self._before[later].append(f"barrier {behind.pipe}")
        elif before.pipe is not Pipe.S:
            flag = self._ids.flag(PipePair(before.pipe, behind.pipe))
            self._before[later].append(f"wait {flag}")
            self._after[earlier].append(f"set {flag}")
            if later <= earlier:
                self._tokens.append(flag)

    def body(self) -> list[str]:
        """The ops with their flags and barriers."""
        groups = zip(self._before, self._ops, self._after, strict=True)
        return [line for before, op, after in groups for line in (*dict.fromkeys(before), op, *after)]

    def tokens(self, what: str) -> list[str]:
        """The sets before the loop, or the waits behind it."""
        return [f"{what}{flag}" for flag in self._tokens]
