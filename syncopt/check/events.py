"""Flags while a trace runs, what waits for them, and sets that may come too early."""

from collections import deque
from enum import Enum
from typing import NamedTuple

from syncopt.check.clocks import NOTHING, Clock
from syncopt.ir.pipes import PipePair
from syncopt.ir.trace import Instance


class EventScope(Enum):
    """What tells two flags apart: source, target and id, as the hardware has it; or, to be careful, source and id."""

    PAIR = "pair"
    SOURCE = "source"


class Reuse(Enum):
    """Why a set that nothing orders behind the wait before it on its flag may still be right.

    `EAGER`: whatever ops take, it comes after a wait that ends as soon as it can (see `syncopt.check.spacing`).
    `TIMED`: only durations can tell.
    """

    EAGER = "eager"
    TIMED = "timed"


class EarlySet(NamedTuple):
    """A set that nothing orders behind the wait before it on its flag.

    `other` is the pair of that wait: the set's own, or one with the same source where flags are told apart by source
    and id alone.
    """

    pair: PipePair
    event: int
    set: Instance
    reuse: Reuse
    other: PipePair


class Raised(NamedTuple):
    """A set of a lane: what is known when it rises, and what it stands behind there (see `syncopt.check.spacing`)."""

    clock: Clock
    set: Instance
    lane: int
    behind: int


class Event:
    """A flag while a trace runs.

    `payloads` are the sets that no wait has taken yet. `last_wait` is the index of the last wait on the target pipe
    (-1: none), `fires` what that wait waited for, `behind` the last op before the sets of the source pipe among that.
    """

    __slots__ = ("behind", "fires", "last_wait", "payloads")

    def __init__(self) -> None:
        self.payloads: deque[Raised] = deque()
        self.last_wait = -1
        self.fires: Clock = NOTHING
        self.behind = -1


class Dispatched(NamedTuple):
    """An instruction for a pipe, what the scalar unit knew when it passed it, and its number in the program."""

    instance: Instance
    scalar: Clock
    place: int
