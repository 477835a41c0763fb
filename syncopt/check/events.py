"""Flags while a trace runs, what waits for them, and sets that may come too early."""

from collections import deque
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from syncopt.check.clocks import NOTHING, Clock
from syncopt.check.memories import Cell
from syncopt.ir.pipes import PipePair
from syncopt.ir.trace import Instance


class EventScope(Enum):
    """What tells two flags apart: source, target and id, as the hardware has it; or, to be careful, source and id."""

    PAIR = "pair"
    SOURCE = "source"


class Reuse(Enum):
    """Why a set that nothing orders behind the wait before it on its flag may still be right.

    `EAGER`: it comes only after everything that wait waits for, so a wait that fires as soon as it can has fired.
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


class Event:
    """A flag while a trace runs.

    `payloads` are the clocks of sets that no wait has taken yet, with the sets; `last_wait` the index of the last wait
    on the target pipe (-1: none), `fires` what that wait waited for.
    """

    __slots__ = ("fires", "last_wait", "payloads")

    def __init__(self) -> None:
        self.payloads: deque[tuple[Clock, Instance]] = deque()
        self.last_wait = -1
        self.fires: Clock = NOTHING


class Waiting(NamedTuple):
    """An instruction behind a wait that no set has answered yet.

    `scalar` is what was known when it was dispatched, `place` its number in the program.
    """

    instance: Instance
    scalar: Clock
    place: int


class State(NamedTuple):
    """What a pass over a trace holds at one point of it."""

    cells: Iterable[Cell]
    events: dict[tuple[PipePair, int], Event]
    clocks: list[Clock]
    scalar: Clock
    pending: list[deque[Waiting]]
    worked: list[int]
    awaited: list[Clock]
