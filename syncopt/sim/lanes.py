"""What a replay holds of a pipe and of a flag while it runs."""

from collections import deque
from dataclasses import dataclass, field

from syncopt.hwmodel import Cost
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.trace import Instance


class Lane:
    """One pipe.

    `end` and `done` are the end of its latest instruction and the latest completion of its tile ops, `leaves` the times
    at which the last `depth` entries that are timed left its queue, `pending` the instructions behind a wait whose set
    is not timed yet (with the time they were ready and their cost), that wait first. The rest counts cycles.
    """

    __slots__ = (
        *("barrier_cost", "barriers", "depth", "done", "end", "leaves", "pending", "pending_entries", "pipe"),
        *("busy", "held_by_barriers", "queue_full", "undispatched"),
    )

    def __init__(self, pipe: Pipe, depth: int, barrier_cost: int) -> None:
        self.pipe = pipe
        self.depth = depth
        self.barrier_cost = barrier_cost
        self.end = 0
        self.done = 0
        self.leaves: deque[int] = deque([0] * depth, maxlen=depth)
        self.pending: deque[tuple[Instance, int, Cost]] = deque()
        self.pending_entries = 0
        self.barriers = 0
        self.busy = 0
        self.held_by_barriers = 0
        self.queue_full = 0
        self.undispatched = 0


@dataclass(slots=True, eq=False)
class FlagState:
    """One id of a pair of pipes.

    Parameters
    ----------
    pair : PipePair
        Its pipes.
    event : int
        Its id.
    target : Lane or None
        The pipe that its waits hold; None for the scalar pipe.
    rises : deque of (int, Instance)
        Sets that no wait has taken yet, and when they raise the flag.
    last_wait_end : int
        End of the last wait, -1 before the first.
    sets, waits : int
        How many were timed.
    held : int
        Cycles for which its waits held their pipe.
    """

    pair: PipePair
    event: int
    target: Lane | None
    rises: deque[tuple[int, Instance]] = field(default_factory=deque[tuple[int, Instance]])
    last_wait_end: int = -1
    sets: int = 0
    waits: int = 0
    held: int = 0
