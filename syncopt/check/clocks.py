"""What a pipe knows to be complete, as a vector of instruction indices."""

from syncopt.ir.pipes import PIPES, Pipe

Clock = tuple[int, ...]
"""Per pipe, in the order of `PIPES`, the index up to which its instructions are known complete (-1: none)."""

LANE = {pipe: number for number, pipe in enumerate(PIPES)}
NOTHING: Clock = (-1,) * len(PIPES)
SCALAR = LANE[Pipe.S]


def join(a: Clock, b: Clock) -> Clock:
    """The knowledge of both."""
    return tuple(map(max, a, b))


def with_lane(clock: Clock, lane: int, index: int) -> Clock:
    """The same knowledge, but `index` for one pipe."""
    return (*clock[:lane], index, *clock[lane + 1 :])


def covers(a: Clock, b: Clock) -> bool:
    """Whether all that `b` knows is known to `a` too."""
    return all(map(int.__ge__, a, b))
