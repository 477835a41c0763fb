"""The paths to all times of a replay that still matter, as a tree of starts that is folded while it grows."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from syncopt.ir.kernel import Op


class Cause(Enum):
    """What an instruction had to wait for last before it could start."""

    ORDER = "order"
    FLAG = "flag"
    BARRIER = "barrier"
    QUEUE = "queue"
    DISPATCH = "dispatch"
    END = "end"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Stretch:
    """All steps of a critical path that lead from the start of one op to the start of another in the same way.

    Parameters
    ----------
    source : Op or None
        The op whose start begins them; None for the beginning of the run.
    target : Op or None
        The op whose start ends them; None for the end of the run. Mostly tile ops; flags and barriers where one thing
        that is waited for follows upon another.
    cause : Cause
        What `target` waited for: its pipe being free, a flag, a barrier, dispatch (behind a full queue that `source`
        left, or just of what stands before it in the program) or, at the end of the run, the completion of `source`.
    via : tuple of Op
        The set and the wait of a flag, the barrier, or the instruction that stood before a full queue.
    work : int
        Cycles for which `source` occupied its pipe.
    wait : int
        All other cycles: latency, the way of a flag, the cost of a barrier, dispatch.
    times : int
        How many steps.
    """

    source: Op | None
    target: Op | None
    cause: Cause
    via: tuple[Op, ...]
    work: int
    wait: int
    times: int

    @property
    def cycles(self) -> int:
        """Cycles of the run that these steps account for."""
        return self.work + self.wait


class _Key(NamedTuple):
    source: Op | None
    target: Op | None
    cause: Cause
    via: tuple[Op, ...]


class _Amount(NamedTuple):
    work: int
    wait: int
    times: int


_Steps = tuple[tuple[_Key, _Amount], ...]


class Start:
    """The start of an op at a time, and the steps that lead there from the start `parent`."""

    __slots__ = ("at", "op", "parent", "steps")

    def __init__(self, op: Op | None, at: int, parent: "Start | None", steps: _Steps) -> None:
        self.op = op
        self.at = at
        self.parent = parent
        self.steps = steps


class Moment(NamedTuple):
    """A time `at` that follows from a start: how, and for how many cycles of the way the op occupied its pipe."""

    at: int
    start: Start
    cause: Cause = Cause.ORDER
    via: tuple[Op, ...] = ()
    worked: int = 0

    def later(self, cycles: int) -> "Moment":
        """So many cycles on."""
        return self._replace(at=self.at + cycles)


class PathTree:
    """Grows starts; `fold` joins what no later step can part again, so that its size follows from what is still live.

    Parameters
    ----------
    limit : int
        Starts between two foldings.
    """

    def __init__(self, limit: int) -> None:
        self.root = Start(None, 0, None, ())
        self._limit = limit
        self._new = 0

    @property
    def is_due(self) -> bool:
        """Whether it is time to fold."""
        return self._new >= self._limit

    def start(self, op: Op | None, moment: Moment) -> Start:
        """The start of an op at a moment."""
        before = moment.start
        key = _Key(before.op, op, moment.cause, moment.via)
        self._new += 1
        steps = ((key, _Amount(moment.worked, moment.at - before.at - moment.worked, 1)),)
        return Start(op, moment.at, before, steps)

    def held(self, moment: Moment, op: Op, cause: Cause, via: Op) -> Moment:
        """The same moment with a cause of its own for what follows: a start of `op` if it has one already."""
        if moment.cause is Cause.ORDER:
            return moment._replace(cause=cause, via=(via,))
        return Moment(moment.at, self.start(op, moment), cause, (via,))

    def fold(self, live: Iterable[Start]) -> None:
        """Join the steps between the starts from which more than one path of the `live` ones goes on."""
        kept = set(live)
        seen: set[Start] = set()
        for start in tuple(kept):
            node: Start | None = start
            while node is not None and node not in seen:
                seen.add(node)
                node = node.parent
                if node in seen:
                    kept.add(node)
        for start in kept:
            steps, parent = [start.steps], start.parent
            while parent is not None and parent not in kept:
                steps.append(parent.steps)
                parent = parent.parent
            start.steps, start.parent = _joined(steps), parent
        self._new = 0

    def path(self, end: Moment) -> tuple[Stretch, ...]:
        """The path to a moment, longest stretches first, those of one length from the end backwards.

        Their cycles add up to its time.
        """
        node: Start | None = self.start(None, end._replace(cause=Cause.END))
        steps: list[_Steps] = []
        while node is not None:
            steps.append(node.steps)
            node = node.parent
        stretches = (
            Stretch(*key, work=amount.work, wait=amount.wait, times=amount.times) for key, amount in _joined(steps)
        )
        return tuple(sorted((s for s in stretches if s.cycles), key=lambda stretch: -stretch.cycles))


def _joined(steps: Iterable[_Steps]) -> _Steps:
    found: dict[_Key, _Amount] = {}
    for part in steps:
        for key, amount in part:
            known = found.get(key)
            found[key] = amount if known is None else _Amount(*(a + b for a, b in zip(known, amount, strict=True)))
    return tuple(found.items())
