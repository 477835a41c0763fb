"""Random short kernels: wild ones, and right ones with one flag per dependence of which some lines are then changed."""

from dataclasses import dataclass
from itertools import combinations, count

from hypothesis import strategies as st

from tests.check.changes import changed
from tests.check.flagged import Ids, Unit
from tests.check.short_kernels import Pipeline
from tests.check.statements import (
    BARRIERS,
    FLAGS,
    OF_ARGUMENTS,
    OF_LOOPS,
    PAIRS,
    QUIET,
    ROTATED,
    Condition,
    Loop,
    Program,
    Turn,
    chains,
    ops,
)

_STEPS = (("%c0", "%c1"), ("%c0", "%c2"), ("%c1", "%c1"))
"""Lower bound and step of loops."""
_PARTS = st.sampled_from([0, None, 0, 1])
_ENDS = st.sampled_from([("barrier ALL",), ("barrier ALL",), ()])
_TURNS = st.sampled_from([None, None, *Turn])
_MOVES = st.sampled_from(["32", "64"])
_SHAPES = ("straight", "loop", "turns", "slots", "nest", "row")


@dataclass(frozen=True, slots=True)
class Kinds:
    """Which programs are drawn.

    Parameters
    ----------
    bounds : tuple of str
        What the upper bounds of loops can be.
    size : int
        The most statements of a wild program, those inside others left out.
    depth : int
        How many loops and branches of a wild program stand inside each other at most.
    in_loops : tuple of Condition
        What an `if` in a loop can ask.
    in_turn : Condition
        What a loop asks that takes two bodies.
    """

    bounds: tuple[str, ...] = ("%c2", "%n", "%m", "%c1", "%n")
    size: int = 7
    depth: int = 2
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
    lines = _Wild(draw, kinds, some, flags, st.sampled_from(BARRIERS[pipeline])).block(kinds.size, kinds.depth, None)
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

    def block(self, size: int, depth: int, loop: Loop | None) -> list[str]:
        """Some statements, those in a loop included."""
        kinds = ("signal", "op", "flag", "signal", "op", "barrier", *(("for", "if", "for", "if") * (depth > 0)))
        lines: list[str] = []
        for kind in self._draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=size)):
            lines += self._statement(kind, max(2, size // 2), depth - 1, loop)
        return lines

    def _statement(self, kind: str, size: int, depth: int, loop: Loop | None) -> list[str]:
        match kind:
            case "op":
                return [self._rotated(self._draw(self._ops), loop)]
            case "signal":
                flag = self._moved(self._draw(self._flags), loop)
                return [f"set {flag}", f"wait {flag}"]
            case "flag":
                return [f"{self._draw(st.sampled_from(FLAGS))}{self._moved(self._draw(self._flags), loop)}"]
            case "barrier":
                return [self._draw(self._barriers)]
            case "for":
                bound = self._draw(st.sampled_from(self._kinds.bounds))
                inner = Loop(f"%i{next(self._names)}", bound, self._draw(_TURNS), loop, self._draw(_MOVES))
                start, step = self._draw(st.sampled_from(_STEPS))
                return inner.around(self.block(size, depth, inner), start, step)
            case _:
                then, orelse = self.block(size, depth, loop), self.block(size, depth, loop)
                conditions = OF_ARGUMENTS if loop is None else self._kinds.in_loops
                return self._draw(st.sampled_from(conditions)).around(then, orelse, loop, next(self._names))

    def _turning(self, loop: Loop | None) -> Loop | None:
        """A loop that takes turns, sometimes."""
        turning = loop and loop.turning
        return turning if turning is not None and turning.turn and self._draw(st.booleans()) else None

    def _moved(self, flag: str, loop: Loop | None) -> str:
        """The flag, sometimes with an id that a loop moves."""
        turning = self._turning(loop)
        return flag if turning is None else f"{flag.rsplit(' ', 1)[0]} {turning.slot}"

    def _rotated(self, op: str, loop: Loop | None) -> str:
        """The op, sometimes on a slot or a view that a loop moves."""
        turning = self._turning(loop)
        if turning is None:
            return op
        name = self._draw(st.sampled_from(op.split()[1:]))
        new = rotated_name(name, turning)
        return op if new is None else " ".join(new if word == name else word for word in op.split())


def rotated_name(name: str, loop: Loop) -> str | None:
    """The slot or the view that takes the place of a tile or a view; None if none can."""
    if name in ROTATED:
        return loop.tile
    return loop.view if name in "xyzw" else None


@st.composite
def _flagged(draw: st.DrawFn, kinds: Kinds) -> Program:
    """One flag per dependence, in straight code or in one or two loops; see `_SHAPES`."""
    pipeline, shape = draw(st.sampled_from(Pipeline)), draw(st.sampled_from(_SHAPES))
    if shape == "straight":
        lines = Unit(pipeline, draw(chains(pipeline, draw(_PARTS), 5)), Ids()).body()
    else:
        lines = draw(_looped(kinds, pipeline, shape))
    return Program(pipeline, (*lines, *draw(_ENDS)))


@st.composite
def _looped(draw: st.DrawFn, kinds: Kinds, pipeline: Pipeline, shape: str) -> list[str]:
    """A loop with its flags, those included that must be up before it.

    It takes two bodies or two slots in turn, or stands in a loop, or before another one.
    """
    turn = draw(st.sampled_from(Turn)) if shape == "slots" else None
    loop = Loop("%i", draw(st.sampled_from(kinds.bounds)), turn, None, draw(_MOVES))
    bounds, ids = draw(st.sampled_from(_STEPS if turn is None else _STEPS[:1])), Ids()
    parts = range(2) if shape in ("turns", "row") else (draw(_PARTS),)
    bodies = [draw(chains(pipeline, part, 3 if len(parts) == 1 else 2)) for part in parts]
    units = [Unit(pipeline, draw(_rotated(ops, loop)) if turn else ops, ids, loop) for ops in bodies]
    before, after = ([line for unit in units for line in unit.tokens(what)] for what in FLAGS)
    if shape == "turns":
        lines = loop.around(kinds.in_turn.around(units[0].body(), units[1].body(), loop, 0), *bounds)
    else:
        lines = loop.around(units[0].body(), *bounds)
    if shape == "row":
        lines += Loop("%k", draw(st.sampled_from(kinds.bounds))).around(units[1].body())
    if shape != "nest":
        return [*before, *lines, *after]
    outer = Loop("%j", draw(st.sampled_from(kinds.bounds)))
    each_time = outer.around([*before, *lines, *after])
    return draw(st.sampled_from([[*before, *outer.around(lines), *after], each_time]))


@st.composite
def _rotated(draw: st.DrawFn, lines: list[str], loop: Loop) -> list[str]:
    """The same ops with some tiles and views replaced by those that the loop moves, each wherever it stands."""
    names = {word for line in lines for word in line.split()[1:]}
    chosen = [name for name in sorted(names) if rotated_name(name, loop) is not None and draw(st.booleans())]
    new = {name: rotated_name(name, loop) or name for name in chosen}
    return [" ".join(new.get(word, word) for word in line.split()) for line in lines]
