"""Why one version is slower than another: their critical paths, step by step."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from syncopt.api._compare import Compared
from syncopt.api._versions import Version
from syncopt.ir.kernel import NO_SPAN, Barrier, Flag, Kernel, Op, SetFlag, TileOp, walk
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.trace import Instance, Tracer
from syncopt.ir.types import MultiTileType, TileType, ValueType, ViewType
from syncopt.sim import Cause, Stretch, critical_path

WORK = "work"
"""The cause of cycles for which an op on the path occupies its pipe; all other causes are those of `sim`."""

_ALONG_PIPE = (Cause.ORDER, Cause.END)


@dataclass(frozen=True)
class Place:
    """An op in a version: its name (of a flag with its pipes), its pipe, its line in the file, 0 if it has none."""

    name: str
    pipe: Pipe
    line: int


@dataclass(frozen=True)
class Stall:
    """What the critical path of the slower version spends on one thing, beside what that of the faster one does.

    Parameters
    ----------
    cause : str
        "work": `behind` occupies its pipe. Else why `op` does not start yet when the work of `behind` is done: "order"
        (its pipe is not free), "flag", "barrier", "queue" (dispatch stands before the full queue that `behind` is in),
        "dispatch", or "end" (the run ends when `behind` is complete).
    link : str
        The same; for "work" how most of it goes on, "order" if always along the pipe.
    op : Place or None
        What starts next on the path; None for the end of the run, and for "work" that always goes on along the pipe.
    behind : Place or None
        What it waits for; None for the beginning of the run.
    via : tuple of Place
        The set and the wait of a flag, the barrier, or the instruction that stands before the full queue.
    also_lines : tuple of int
        Lines of further ops that are counted here, because they do not correspond one to one: of those that occupy
        their pipe for "work", else of those that wait.
    slow, best : int
        Cycles on the path of each version.
    """

    cause: str
    link: str
    op: Place | None
    behind: Place | None
    via: tuple[Place, ...]
    also_lines: tuple[int, ...]
    slow: int
    best: int

    @property
    def more(self) -> int:
        """Cycles that the slower version spends more."""
        return self.slow - self.best


@dataclass(frozen=True)
class Total:
    """What two critical paths spend on the work of one pipe, or on one other cause."""

    name: str
    slow: int
    best: int


@dataclass(frozen=True)
class Explanation:
    """Two versions by their critical paths.

    Parameters
    ----------
    slow, best : Version
        The slowest version that ends, and the one it is compared with.
    stalls : tuple of Stall
        Everything that is on one of the paths, what the slower one spends most on first. `slow` of all adds up to the
        cycles of the slower version, `best` to those of the faster one, `more` to their difference.
    """

    slow: Version
    best: Version
    stalls: tuple[Stall, ...]

    @property
    def difference(self) -> int:
        """Cycles between the two versions."""
        return self.slow.cycles - self.best.cycles

    @property
    def totals(self) -> tuple[Total, ...]:
        """The stalls by the pipe of the work or by their cause, what the slower version spends most on first."""
        slow, best = Counter[str](), Counter[str]()
        for stall in self.stalls:
            name = f"work on {stall.behind.pipe}" if stall.cause == WORK and stall.behind is not None else stall.cause
            slow[name] += stall.slow
            best[name] += stall.best
        totals = (Total(name, slow[name], best[name]) for name in slow)
        return tuple(sorted(totals, key=lambda total: total.best - total.slow))


def explain(compared: Compared) -> Explanation | None:
    """Why the slowest version that ends is slower than the best one (the fastest that ends, if none is right).

    None where no version that ends is slower than that.
    """
    ending = [version for version in compared.versions if not version.hangs]
    if not ending:
        return None
    slow = max(ending, key=lambda version: version.cycles)
    best = compared.best or min(ending, key=lambda version: version.cycles)
    if slow.cycles == best.cycles:
        return None
    return Explanation(slow, best, _stalls(slow, best))


class _OpKey(NamedTuple):
    """What an op is called in both versions: `detail` tells ops of one name apart, then `rank` in text order."""

    name: str
    detail: tuple[str, ...]
    rank: int = 0


class _Key(NamedTuple):
    cause: str
    behind: _OpKey | None
    op: _OpKey | None
    resource: str


@dataclass(frozen=True)
class _Segment:
    """Cycles of one path that are spent in one way, as `Stall` has them."""

    key: _Key
    cycles: int
    link: Cause
    op: Place | None
    behind: Place | None
    via: tuple[Place, ...]


def _stalls(slow: Version, best: Version) -> tuple[Stall, ...]:
    ours, theirs = _names_in_both(slow.kernel, best.kernel)
    found: dict[_Key, tuple[list[_Segment], list[_Segment]]] = {}
    for place, segments in enumerate((_segments(slow, ours), _segments(best, theirs))):
        for segment in segments:
            found.setdefault(segment.key, ([], []))[place].append(segment)
    stalls = (_stall(key, *segments) for key, segments in found.items())
    return tuple(sorted(stalls, key=lambda stall: (-stall.more, -stall.slow, *_lines(stall))))


def _stall(key: _Key, slow: list[_Segment], best: list[_Segment]) -> Stall:
    shown = max(slow or best, key=lambda segment: (segment.link not in _ALONG_PIPE, segment.cycles))
    works = key.cause == WORK
    op = None if works and shown.link in _ALONG_PIPE else shown.op
    places = (segment.behind if works else segment.op for segment in slow or best)
    lines = {place.line for place in places if place is not None and place.line}
    here = shown.behind if works else shown.op
    also = lines - ({here.line} if here is not None else set())
    cycles = (sum(segment.cycles for segment in segments) for segments in (slow, best))
    link = Cause.ORDER if works and op is None else shown.link
    return Stall(key.cause, str(link), op, shown.behind, shown.via, tuple(sorted(also)), *cycles)


def _lines(stall: Stall) -> tuple[int, ...]:
    return tuple(0 if place is None else place.line for place in (stall.behind, stall.op))


def _segments(version: Version, names: Mapping[Op, _OpKey]) -> Iterator[_Segment]:
    """The critical path of a version: of every stretch its work, then what comes on top of it."""
    pipes: dict[Op, Pipe] = {}
    source = version.kernel.source
    trace = _noting(Tracer(version.kernel, version.subject.setting), pipes)
    path = critical_path(trace, version.job.machine, source)
    assert path.replay.cycles == version.cycles, "one kernel on one machine takes the same cycles every time"

    def place(op: Op | None) -> Place | None:
        return None if op is None else _place(op, pipes[op], version.kernel)

    for stretch in path.stretches:
        ends = place(stretch.target), place(stretch.source)
        via = tuple(_place(op, pipes[op], version.kernel) for op in stretch.via)
        for key, cycles in _keys(stretch, names, pipes):
            yield _Segment(key, cycles, stretch.cause, *ends, via)


def _keys(stretch: Stretch, names: Mapping[Op, _OpKey], pipes: Mapping[Op, Pipe]) -> Iterator[tuple[_Key, int]]:
    behind = None if stretch.source is None else names[stretch.source]
    op = None if stretch.target is None else names[stretch.target]
    if stretch.work:
        yield _Key(WORK, behind, None, ""), stretch.work
    if stretch.wait:
        yield _Key(str(stretch.cause), behind, op, _resource(stretch, pipes)), stretch.wait


def _resource(stretch: Stretch, pipes: Mapping[Op, Pipe]) -> str:
    """What is waited for besides an op: a pair of pipes, a barrier, a queue."""
    if not stretch.via:
        return ""
    first = stretch.via[0]
    return str(first.pair) if stretch.cause is Cause.FLAG and isinstance(first, Flag) else str(pipes[first])


def _noting(trace: Iterable[Instance], pipes: dict[Op, Pipe]) -> Iterator[Instance]:
    """A trace, the pipe of every op noted."""
    for instance in trace:
        pipes[instance.op] = instance.pipe
        yield instance


def _place(op: Op, pipe: Pipe, kernel: Kernel) -> Place:
    line = 0 if op.span == NO_SPAN else kernel.source.line(op.span.start)
    match op:
        case TileOp():
            return Place(op.name, pipe, line)
        case Flag():
            return Place(f"{'set_flag' if isinstance(op, SetFlag) else 'wait_flag'} {op.pair}", pipe, line)
        case _:
            return Place(f"barrier {pipe}", pipe, line)


# -- which op of one version is which of the other ---------------------------------------------------------------------


_Spelling = Callable[[TileOp], _OpKey]


def _names_in_both(one: Kernel, other: Kernel) -> tuple[dict[Op, _OpKey], dict[Op, _OpKey]]:
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


def _names(kernel: Kernel, spelling: _Spelling, ranked: frozenset[_OpKey]) -> dict[Op, _OpKey]:
    names: dict[Op, _OpKey] = {}
    seen = Counter[_OpKey]()
    for op in walk(kernel.body):
        match op:
            case TileOp():
                name = spelling(op)
                names[op] = name._replace(rank=seen[name]) if name in ranked else name
                seen[name] += 1
            case Flag():
                names[op] = _OpKey(type(op).__name__, (str(op.pair),))
            case Barrier():
                names[op] = _OpKey("Barrier", (str(op.pipe),))
            case _:
                pass
    return names


def _with_operands(op: TileOp) -> _OpKey:
    return _OpKey(op.name, (*(value.name for value in op.ins), "->", *(value.name for value in op.outs)))


def _with_memories(op: TileOp) -> _OpKey:
    memories = (*(_memory(value.type) for value in op.ins), "->", *(_memory(value.type) for value in op.outs))
    return _OpKey(op.name, memories)


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
