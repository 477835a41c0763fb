"""What keeps two sets of a flag apart whatever ops take, if every wait ends as soon as it can.

By the rules of the machine a set rises a hop after its start, or after the last completion among the tile ops before it
on its pipe if that is later. A wait ends when it starts, or when its set rises if that is later. A set that rises no
later than the wait before it ends is double. So a set that no flag orders behind that wait is still right if it rises

- later than the wait can start: what the wait stands behind, the last tile op or barrier of its pipe and the sets of
  the waits since, is known to the set to be over, which takes a hop at least.
- later than the sets of its own pipe that the wait needs: the one before it on its flag, and those of the waits just
  ahead. Sets behind the same last completion rise in the same cycle. The set must start later than those completions,
  or an op between must be complete later: on MTE2 ops complete in their order, on the other pipes in any.

A tile op takes a cycle at least, a barrier what the machine says. The scalar unit raises flags by its clock, which its
own sets do not move on. The cycle for which a set takes its pipe counts between two sets of a pipe, but not before a
wait: an op or a hop is longer than the sets in a row there.
"""

from syncopt.check.clocks import LANE, NOTHING, SCALAR, Clock, covers, join, with_lane
from syncopt.check.events import Event, Raised
from syncopt.hwmodel import Machine
from syncopt.ir.pipes import PIPES, Pipe

_IN_ORDER = LANE[Pipe.MTE2]
"""The pipe whose ops complete in the order in which they start."""


class Spacing:
    """What waits and sets stand behind, pipe by pipe, while a trace runs.

    Parameters
    ----------
    machine : Machine
        For the cycles of flags and barriers.

    Attributes
    ----------
    worked : list of int
        Index of the last tile op or barrier.
    awaited : list of Clock
        What the waits behind the last tile op or barrier have waited for.
    behind : list of Clock
        By pipe, the last tile op or barrier before the sets that those waits have taken.
    settled : list of int
        Up to which index the tile ops are complete before, by a cycle, any further set of their pipe rises.
    """

    __slots__ = ("_slow", "awaited", "behind", "settled", "worked")

    def __init__(self, machine: Machine) -> None:
        self._slow = [pipe is not Pipe.S and machine.barrier_cost(pipe) > 0 for pipe in PIPES]
        self.settled = [-1] * len(PIPES)
        self.all_done()

    def all_done(self) -> None:
        """Everything is complete, and every pipe empty."""
        self.worked = [-1] * len(PIPES)
        self.awaited = [NOTHING] * len(PIPES)
        self.behind = [NOTHING] * len(PIPES)

    def clock_moves(self, last: int) -> None:
        """The scalar unit passes something else than a set of its own; `last` is the index of its last instruction."""
        self.settled[SCALAR] = last

    def knows(self, lane: int, clock: Clock) -> None:
        """What comes on a lane starts at least a hop, or a full barrier, behind what a clock knows."""
        if lane != SCALAR and clock[lane] > self.settled[lane]:
            self.settled[lane] = clock[lane]

    def tile_op(self, lane: int, index: int, clock: Clock) -> None:
        """A tile op starts."""
        self.knows(lane, clock)
        if lane == _IN_ORDER:
            self.settled[lane] = index - 1
        self._work(lane, index)

    def barrier(self, lane: int, index: int) -> None:
        """A barrier of one pipe ends."""
        if self._slow[lane]:
            self.settled[lane] = index
        self._work(lane, index)

    def _work(self, lane: int, index: int) -> None:
        self.worked[lane] = index
        if self.awaited[lane] is not NOTHING:
            self.awaited[lane] = self.behind[lane] = NOTHING

    def set_flag(self, lane: int, index: int, clock: Clock) -> int:
        """A set starts: what it stands behind on its own pipe, as `settled` counts it."""
        if lane == SCALAR:
            return index
        self.knows(lane, clock)
        return self.worked[lane]

    def wait_flag(self, lane: int, raised: Raised, event: Event) -> None:
        """A wait takes a set: note with its flag what the next set must come behind."""
        self.knows(lane, raised.clock)
        awaited = self.awaited[lane] = join(self.awaited[lane], raised.clock)
        behind, source = self.behind[lane], raised.lane
        if raised.behind > behind[source]:
            behind = self.behind[lane] = with_lane(behind, source, raised.behind)
        event.fires = with_lane(awaited, lane, max(self.worked[lane], awaited[lane]))
        event.behind = behind[source]

    def keeps_apart(self, lane: int, payload: Clock, event: Event) -> bool:
        """Whether a set on a lane comes behind the last wait of a flag, though nothing says that it has ended."""
        return self.settled[lane] >= event.behind and covers(payload, event.fires)
