"""What one pipe spends the runs of two versions on: work, and whatever it stands still for."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from syncopt.api._counterparts import NamesInBoth, OpKey, Place, place_of
from syncopt.api._versions import Version
from syncopt.emit.timeline import Slice, SliceKind, slices
from syncopt.ir.kernel import Op
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Tracer


class PauseKind(Enum):
    """What a pipe that does not work is at."""

    FLAG = "flag"
    BARRIER = "barrier"
    DISPATCH = "dispatch"
    SETS = "sets"
    END = "end"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Pause:
    """Cycles for which a pipe does not work in two runs, before one op.

    Parameters
    ----------
    kind : PauseKind
        At a wait whose flag is not up, at a barrier, before an op that is not dispatched yet, at sets, or through with
        all of its ops.
    cause : str
        The flag (`MTE1->MTE2`), or what held up dispatch longest (`queue of MTE1 full`); empty if neither.
    op : Place or None
        The op that comes next on the pipe, of the slower version if it pauses there; None behind the last one.
    lines : tuple of int
        Of a flag its set and its wait, of a barrier its own; those at which the slower version pauses longest.
    slow, best : int
        Cycles of each version.
    """

    kind: PauseKind
    cause: str
    op: Place | None
    lines: tuple[int, ...]
    slow: int
    best: int

    @property
    def more(self) -> int:
        """Cycles that the slower version spends more."""
        return self.slow - self.best


@dataclass(frozen=True)
class Standing:
    """What one pipe spends two runs on.

    Parameters
    ----------
    pipe : Pipe
        The pipe.
    slow, best : int
        Cycles of its work in each version.
    pauses : tuple of Pause
        All other cycles, what the slower version spends most more on first: with the work they add up to the cycles of
        each version.
    """

    pipe: Pipe
    slow: int
    best: int
    pauses: tuple[Pause, ...]


def standing(slow: Version, best: Version, names: NamesInBoth) -> Standing | None:
    """What the pipe that works most in the faster version does in both; None if there is none in a queue."""
    busy = {pipe: cycles for pipe, cycles in best.replay.busy.items() if pipe is not Pipe.S}
    if not busy:
        return None
    pipe = max(busy, key=lambda pipe: busy[pipe])
    ours, theirs = _Lane.of(slow, pipe, names[0]), _Lane.of(best, pipe, names[1])
    keys = dict.fromkeys((*ours.cycles, *theirs.cycles))
    pauses = [_pause(key, ours, theirs) for key in keys if ours.cycles[key] or theirs.cycles[key]]
    pauses.sort(key=lambda pause: (-pause.more, -pause.slow, 0 if pause.op is None else pause.op.line))
    return Standing(pipe, slow.replay.busy.get(pipe, 0), busy[pipe], tuple(pauses))


class _Key(NamedTuple):
    kind: PauseKind
    cause: str
    op: OpKey | None


def _pause(key: _Key, slow: "_Lane", best: "_Lane") -> Pause:
    shown = slow if slow.cycles[key] else best
    op, lines = shown.where(key)
    return Pause(key.kind, key.cause, op, lines, slow.cycles[key], best.cycles[key])


@dataclass
class _Lane:
    """What a pipe does in a run: cycles of its pauses by what they are, and of those again by where they are."""

    version: Version
    pipe: Pipe
    names: Mapping[Op, OpKey]
    cycles: Counter[_Key] = field(default_factory=Counter[_Key])
    places: dict[_Key, Counter[tuple[Op | None, tuple[int, ...]]]] = field(
        default_factory=dict[_Key, Counter[tuple[Op | None, tuple[int, ...]]]]
    )
    at: int = 0
    worked_until: int = 0
    before: list[tuple[PauseKind, str, tuple[int, ...], int]] = field(
        default_factory=list[tuple[PauseKind, str, tuple[int, ...], int]]
    )

    @classmethod
    def of(cls, version: Version, pipe: Pipe, names: Mapping[Op, OpKey]) -> "_Lane":
        """The pipe in the run of a version."""
        lane = cls(version, pipe, names)
        trace = Tracer(version.kernel, version.subject.setting)
        run, _ = slices(trace, version.job.machine, version.kernel.source, lane.take)
        assert run.cycles == version.cycles, "one kernel on one machine takes the same cycles every time"
        lane.before = [(PauseKind.END, "", (), run.cycles - lane.worked_until)]
        lane._settle(None)
        assert sum(lane.cycles.values()) + run.busy.get(pipe, 0) == run.cycles, "a pipe works or stands still"
        return lane

    def take(self, piece: Slice) -> None:
        """Take the next instruction of any pipe."""
        if piece.lane is not self.pipe:
            return
        if piece.start > self.at:
            [idle, *_] = piece.stalls
            held = idle.cause.removeprefix("dispatch").strip(" ()")
            self.before.append((PauseKind.DISPATCH, held, (), piece.start - self.at))
        self.at = piece.end
        if piece.kind is SliceKind.OP:
            self._settle(piece.instance.op)
            self.worked_until = piece.end
        else:
            self.before.append((*_held(piece), piece.end - piece.start))

    def where(self, key: _Key) -> tuple[Place | None, tuple[int, ...]]:
        """Where most cycles of a pause are."""
        [((op, lines), _)] = self.places[key].most_common(1)
        return None if op is None else place_of(op, self.pipe, self.version.kernel), lines

    def _settle(self, op: Op | None) -> None:
        """All that came since the op before came before `op`."""
        for kind, cause, lines, cycles in self.before:
            key = _Key(kind, cause, None if op is None else self.names[op])
            self.cycles[key] += cycles
            self.places.setdefault(key, Counter())[op, lines] += cycles
        self.before.clear()


def _held(piece: Slice) -> tuple[PauseKind, str, tuple[int, ...]]:
    line = () if piece.line is None else (piece.line,)
    match piece.kind:
        case SliceKind.WAIT:
            assert piece.flag is not None
            set_line = () if piece.flag.set_line is None else (piece.flag.set_line,)
            return PauseKind.FLAG, str(piece.flag.pair), (*set_line, *line)
        case SliceKind.SET:
            return PauseKind.SETS, "", ()
        case _:
            return PauseKind.BARRIER, "", line
