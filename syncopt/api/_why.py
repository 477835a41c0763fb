"""Why one version is slower than another: their critical paths, step by step."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from syncopt.api._compare import Compared
from syncopt.api._counterparts import NamesInBoth, OpKey, Place, names_in_both, place_of
from syncopt.api._standing import Standing, standing
from syncopt.api._versions import Version
from syncopt.ir.kernel import Flag, Op
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Instance, Tracer
from syncopt.sim import Cause, Stretch, critical_path

WORK = "work"
"""The cause of cycles for which an op on the path occupies its pipe; all other causes are those of `sim`."""

_ALONG_PIPE = (Cause.ORDER, Cause.END)


@dataclass(frozen=True)
class PathStep:
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
    steps : tuple of PathStep
        Everything that is on one of the paths, what the slower one spends most on first. `slow` of all adds up to the
        cycles of the slower version, `best` to those of the faster one, `more` to their difference.
    standing : Standing or None
        What the busiest pipe of the faster version spends both runs on; None if all of its work is on S.
    """

    slow: Version
    best: Version
    steps: tuple[PathStep, ...]
    standing: Standing | None

    @property
    def difference(self) -> int:
        """Cycles between the two versions."""
        return self.slow.cycles - self.best.cycles

    @property
    def stalls(self) -> tuple[PathStep, ...]:
        """The steps that wait: for a flag, a barrier, a full queue, dispatch, the sets of a pipe, or a completion."""
        return tuple(step for step in self.steps if step.cause != WORK)

    @property
    def work(self) -> tuple[PathStep, ...]:
        """The steps for which an op occupies its pipe."""
        return tuple(step for step in self.steps if step.cause == WORK)

    @property
    def totals(self) -> tuple[Total, ...]:
        """The steps by the pipe of the work or by their cause, what the slower version spends most on first."""
        slow, best = Counter[str](), Counter[str]()
        for step in self.steps:
            name = f"work on {step.behind.pipe}" if step.cause == WORK and step.behind is not None else step.cause
            slow[name] += step.slow
            best[name] += step.best
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
    names = names_in_both(slow.kernel, best.kernel)
    return Explanation(slow, best, _steps(slow, best, names), standing(slow, best, names))


class _Key(NamedTuple):
    cause: str
    behind: OpKey | None
    op: OpKey | None
    resource: str


@dataclass(frozen=True)
class _Segment:
    """Cycles of one path that are spent in one way, as `PathStep` has them."""

    key: _Key
    cycles: int
    link: Cause
    op: Place | None
    behind: Place | None
    via: tuple[Place, ...]


def _steps(slow: Version, best: Version, names: NamesInBoth) -> tuple[PathStep, ...]:
    found: dict[_Key, tuple[list[_Segment], list[_Segment]]] = {}
    for place, segments in enumerate((_segments(slow, names[0]), _segments(best, names[1]))):
        for segment in segments:
            found.setdefault(segment.key, ([], []))[place].append(segment)
    steps = (_step(key, *segments) for key, segments in found.items())
    return tuple(sorted(steps, key=lambda step: (-step.more, -step.slow, *_lines(step))))


def _step(key: _Key, slow: list[_Segment], best: list[_Segment]) -> PathStep:
    shown = max(slow or best, key=lambda segment: (segment.link not in _ALONG_PIPE, segment.cycles))
    works = key.cause == WORK
    op = None if works and shown.link in _ALONG_PIPE else shown.op
    places = (segment.behind if works else segment.op for segment in slow or best)
    lines = {place.line for place in places if place is not None and place.line}
    here = shown.behind if works else shown.op
    also = lines - ({here.line} if here is not None else set())
    cycles = (sum(segment.cycles for segment in segments) for segments in (slow, best))
    link = Cause.ORDER if works and op is None else shown.link
    return PathStep(key.cause, str(link), op, shown.behind, shown.via, tuple(sorted(also)), *cycles)


def _lines(step: PathStep) -> tuple[int, ...]:
    return tuple(0 if place is None else place.line for place in (step.behind, step.op))


def _segments(version: Version, names: Mapping[Op, OpKey]) -> Iterator[_Segment]:
    """The critical path of a version: of every stretch its work, then what comes on top of it."""
    pipes: dict[Op, Pipe] = {}
    source = version.kernel.source
    trace = _noting(Tracer(version.kernel, version.subject.setting), pipes)
    path = critical_path(trace, version.job.machine, source)
    assert path.replay.cycles == version.cycles, "one kernel on one machine takes the same cycles every time"

    def place(op: Op | None) -> Place | None:
        return None if op is None else place_of(op, pipes[op], version.kernel)

    for stretch in path.stretches:
        ends = place(stretch.target), place(stretch.source)
        via = tuple(place_of(op, pipes[op], version.kernel) for op in stretch.via)
        for key, cycles in _keys(stretch, names, pipes):
            yield _Segment(key, cycles, stretch.cause, *ends, via)


def _keys(stretch: Stretch, names: Mapping[Op, OpKey], pipes: Mapping[Op, Pipe]) -> Iterator[tuple[_Key, int]]:
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
