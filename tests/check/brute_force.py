"""Every interleaving of a short trace, one state after the other: an oracle that knows nothing of clocks.

The scalar unit passes the instructions in program order and hands each to the queue of its pipe; queues have no end.
What a pipe does with them (synchronisation rules of the hardware, restated here):

- A tile op starts when all that stands before it on its pipe has started; it completes at any later time, on MTE2 after
  the ops before it, on other pipes in any order. An op of the scalar unit is passed when it is complete.
- A set rises when everything before it on its pipe is complete, or any time later, after the sets before it. It holds
  nothing back. The scalar unit has passed all before its own sets when it passes them.
- A wait at the head of its pipe ends when its flag is up, and takes it down.
- A barrier on a pipe ends when the tile ops before it are complete, or any time later; a barrier on all holds the
  scalar unit until everything that it has passed is done.

No time is known of anything, but waits may be `Waits.EAGER`: then a wait that can end does so before anything else
happens. The scalar unit may be slow then; with lazy waits that shows nothing new, so it passes instructions at once.
Sets that the completion of one op lets rise can do so at the same moment, and no wait, however eager, comes in between:
those that stand behind the op, and the first instruction behind a barrier on V, which takes no time, if it is a set. A
barrier on another pipe takes its time. The scalar unit raises its flags as it passes their sets, those that stand next
to each other at the same moment.

A flag that is raised again while it is up counts further, as in the replay: the k-th wait takes the k-th set. The
double set itself is told, and what comes behind it stays defined.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import NamedTuple

from syncopt.ir.kernel import Barrier, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import PIPES, Pipe
from syncopt.ir.trace import Instance
from tests.check.queues import Rise, ShortTrace, places

MOST_STATES = 200_000
"""More make a trace too long to be explored, unless told otherwise."""


class Waits(Enum):
    """When a wait ends whose flag is up: at any later time, or before anything else happens."""

    LAZY = "lazy"
    EAGER = "eager"


class IdReuse(Enum):
    """What keeps the sets of an id apart, from the best to the worst.

    `SAFE`: the flags do, whenever waits end. `EAGER`: no set comes early if every wait ends as soon as it can. `TIMED`:
    only durations do, if anything. `CERTAIN`: nothing does, a flag is raised twice in every run.
    """

    SAFE = "safe"
    EAGER = "eager"
    TIMED = "timed"
    CERTAIN = "certain"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What can happen to a trace.

    Parameters
    ----------
    races : frozenset of (int, int)
        Places in the trace of an op and a later one that conflict, of which the later can start before the earlier is
        complete.
    swapped : frozenset of (int, int)
        The races of which the later op is complete before the earlier starts, in every run.
    stuck : frozenset of (int, int)
        The races of which the earlier op never runs, since the trace hangs.
    deadlock : bool
        Whether it hangs.
    doubles : frozenset of int
        Places of sets that can rise while their flag is up.
    left : frozenset of int
        Places of sets whose flag is up at the end; none if it hangs.
    undrained : frozenset of int
        Places of stores that may not be complete when the scalar unit is through; none if it hangs.
    unfenced : frozenset of (int, int)
        Places of a store and a later load of another pipe that is behind it in every run, although the store may not
        be complete when the scalar unit passes the load: flags alone order them.
    apart : bool
        Whether some run has no double set.
    states : int
        How many states were visited.
    """

    races: frozenset[tuple[int, int]]
    swapped: frozenset[tuple[int, int]]
    stuck: frozenset[tuple[int, int]]
    deadlock: bool
    doubles: frozenset[int]
    left: frozenset[int]
    undrained: frozenset[int]
    unfenced: frozenset[tuple[int, int]]
    apart: bool
    states: int


class TooManyStatesError(Exception):
    """A trace has more states than are visited."""


def explore(trace: Sequence[Instance], waits: Waits, most: int = MOST_STATES) -> Outcome:
    """Visit every state of a trace.

    Parameters
    ----------
    trace : sequence of Instance
        The instructions in program order.
    waits : Waits
        When waits end.
    most : int
        How many states are visited at most.

    Raises
    ------
    TooManyStatesError
        If there are more.
    """
    search = _Search(ShortTrace(trace), waits)
    search.run(most)
    return search.outcome()


def id_reuse(lazy: Outcome, eager: Outcome) -> IdReuse:
    """What keeps the sets of a trace apart, of what it does with lazy and with eager waits."""
    if not lazy.apart:
        return IdReuse.CERTAIN
    return max((reuse_at(place, lazy, eager) for place in lazy.doubles), key=list(IdReuse).index, default=IdReuse.SAFE)


def reuse_at(place: int, lazy: Outcome, eager: Outcome) -> IdReuse:
    """What keeps the set at a place apart from the one before it, `TIMED` if nothing does."""
    if place in eager.doubles:
        return IdReuse.TIMED
    return IdReuse.EAGER if place in lazy.doubles else IdReuse.SAFE


class _State(NamedTuple):
    """Where a run stands.

    `passed` counts what the scalar unit has passed, `at_wait` tells whether it stands at a wait of its own. Per pipe,
    `heads` counts what has left its queue, sets apart, and `risen` its sets that have risen. `complete` has the bits of
    complete tile ops, `flags` holds how often each flag is up, `doubled` tells whether one has been raised twice.
    """

    passed: int
    at_wait: bool
    heads: tuple[int, ...]
    complete: int
    risen: tuple[int, ...]
    flags: tuple[int, ...]
    doubled: bool


class _Search:
    def __init__(self, short: ShortTrace, waits: Waits) -> None:
        self._short = short
        self._waits = waits
        # Per place, as bits: earlier ops that conflict and can be incomplete at its start, and those that can have
        # started then or start while it runs.
        self._open = [0] * short.length
        self._met = [0] * short.length
        self._unfenced = [0] * short.length
        self._doubles: set[int] = set()
        self._left: set[int] = set()
        self._undrained = 0
        self._ran = 0
        self._hangs = False
        self._apart = False
        self._seen: set[_State] = set()

    def run(self, most: int) -> None:
        """Visit all states, but not more than `most`."""
        queues = self._short.queues
        nothing = (0,) * len(queues)
        start = _State(0, False, nothing, 0, nothing, (0,) * self._short.number_of_flags, doubled=False)
        self._seen.add(start)
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if state.passed == self._short.length:
                self._undrained |= self._short.stores & ~state.complete
            following = self._following(state)
            if not following:
                self._end(state)
            for reached in following:
                if reached not in self._seen:
                    self._seen.add(reached)
                    waiting.append(reached)
            if len(self._seen) > most:
                raise TooManyStatesError(f"more than {most} states")

    def outcome(self) -> Outcome:
        """What was found."""
        races, unfenced = _pairs(self._open), enumerate(self._unfenced)
        return Outcome(
            races=races,
            swapped=_pairs([open_ & ~met & self._ran for open_, met in zip(self._open, self._met, strict=True)]),
            stuck=_pairs([open_ & ~self._ran for open_ in self._open]),
            deadlock=self._hangs,
            doubles=frozenset(self._doubles),
            left=frozenset(self._left),
            undrained=frozenset() if self._hangs else frozenset(places(self._undrained)),
            unfenced=_pairs([stores & self._ran * (self._ran >> load & 1) for load, stores in unfenced]) - races,
            apart=self._apart,
            states=len(self._seen),
        )

    def _following(self, state: _State) -> list[_State]:
        """The states that one event leads to."""
        if self._waits is Waits.LAZY:
            if state.passed < self._short.length and self._short.trace[state.passed].pipe not in (Pipe.S, Pipe.ALL):
                return list(self._passed(state))
        else:
            ended = next(self._ended_waits(state), None)
            if ended is not None:
                return [ended]
        events = (self._passed, self._ended_waits, self._ended_barriers, self._started, self._completed, self._raised)
        return [reached for event in events for reached in event(state)]

    # -- events ----------------------------------------------------------------------------------------------------

    def _passed(self, state: _State) -> Iterator[_State]:
        """The scalar unit passes an instruction, or comes to a wait of its own."""
        if state.passed == self._short.length:
            return
        place, instance = state.passed, self._short.trace[state.passed]
        after = state._replace(passed=place + 1)
        if instance.pipe is Pipe.ALL:
            if self._is_idle(state):
                yield after
        elif instance.pipe is not Pipe.S:
            self._unfenced[place] |= self._short.stored[place] & ~state.complete
            yield after
        elif isinstance(instance.op, SetFlag):
            yield after if self._waits is Waits.LAZY else self._passed_sets(state)
        elif isinstance(instance.op, WaitFlag):
            yield from () if state.at_wait else (state._replace(at_wait=True),)
        elif isinstance(instance.op, TileOp):
            self._start(state, place)
            yield after._replace(complete=state.complete | 1 << place)

    def _passed_sets(self, state: _State) -> _State:
        """The scalar unit has passed and raised the flags of sets of its own that stand next to each other."""
        number = next(
            n for n, queue in enumerate(self._short.queues) if any(r.place == state.passed for r in queue.rises)
        )
        for rise in self._short.queues[number].rises[state.risen[number] :]:
            if rise.place == state.passed:
                state = self._up(state, rise.place)
                state = state._replace(passed=state.passed + 1, risen=_more(state.risen, number))
        return state

    def _ended_waits(self, state: _State) -> Iterator[_State]:
        """A wait ends and takes its flag down."""
        short = self._short
        for number, place in self._heads(state):
            if isinstance(short.trace[place].op, WaitFlag) and state.flags[short.flags[place]]:
                yield self._down(state, place)._replace(heads=_more(state.heads, number))
        if state.at_wait and state.flags[short.flags[state.passed]]:
            yield self._down(state, state.passed)._replace(passed=state.passed + 1, at_wait=False)

    def _ended_barriers(self, state: _State, pipes: Container[Pipe] = PIPES) -> Iterator[_State]:
        """A barrier of one pipe ends."""
        for number, place in self._heads(state):
            started, instance = self._short.queues[number].started[state.heads[number]], self._short.trace[place]
            if isinstance(instance.op, Barrier) and instance.pipe in pipes and not started & ~state.complete:
                yield state._replace(heads=_more(state.heads, number))

    def _started(self, state: _State) -> Iterator[_State]:
        """A tile op starts."""
        for number, place in self._heads(state):
            if isinstance(self._short.trace[place].op, TileOp):
                self._start(state, place)
                yield state._replace(heads=_more(state.heads, number))

    def _completed(self, state: _State) -> Iterator[_State]:
        """A tile op completes."""
        short = self._short
        for queue, head in zip(short.queues, state.heads, strict=True):
            for place in queue.steps[:head]:
                bit = queue.started[head] & 1 << place
                if bit & ~state.complete and not short.loads_ahead[place] & ~state.complete:
                    after = state._replace(complete=state.complete | bit)
                    yield after
                    if self._waits is Waits.EAGER:
                        yield self._raised_together(state, after)

    def _raised(self, state: _State) -> Iterator[_State]:
        """A set raises its flag."""
        for number, queue in enumerate(self._short.queues):
            rises = queue.rises[state.risen[number] :]
            if rises and self._can_rise(state, number, rises[0]):
                yield self._up(state, rises[0].place)._replace(risen=_more(state.risen, number))

    # -- rules -----------------------------------------------------------------------------------------------------

    def _heads(self, state: _State) -> Iterator[tuple[int, int]]:
        """The pipes with an instruction to execute, and the place of it."""
        for number, (queue, head) in enumerate(zip(self._short.queues, state.heads, strict=True)):
            if head < len(queue.steps) and queue.steps[head] < state.passed:
                yield number, queue.steps[head]

    def _can_rise(self, state: _State, number: int, rise: Rise) -> bool:
        return rise.place < state.passed and rise.ahead <= state.heads[number] and not rise.ops & ~state.complete

    def _is_idle(self, state: _State) -> bool:
        """Whether everything that the scalar unit has passed is done."""
        for queue, head, risen in zip(self._short.queues, state.heads, state.risen, strict=True):
            if head < len(queue.steps) and queue.steps[head] < state.passed:
                return False
            if risen < len(queue.rises) and queue.rises[risen].place < state.passed:
                return False
            if queue.started[head] & ~state.complete:
                return False
        return True

    def _up(self, state: _State, place: int) -> _State:
        flag = self._short.flags[place]
        if state.flags[flag]:
            self._doubles.add(place)
            state = state._replace(doubled=True)
        return state._replace(flags=_more(state.flags, flag))

    def _down(self, state: _State, place: int) -> _State:
        return state._replace(flags=_more(state.flags, self._short.flags[place], -1))

    def _raised_together(self, before: _State, after: _State) -> _State:
        """The sets that the completion of an op lets rise have risen at the same moment."""
        settled = self._settled(after)
        raised = settled
        for number, queue in enumerate(self._short.queues):
            for rise in queue.rises[settled.risen[number] :]:
                if self._can_rise(before, number, rise) or not self._can_rise(settled, number, rise):
                    break
                raised = self._up(raised, rise.place)._replace(risen=_more(raised.risen, number))
                if rise.ahead > after.heads[number]:
                    # It takes its pipe a cycle: what stands behind it comes later.
                    break
        return raised

    def _settled(self, state: _State) -> _State:
        """Barriers that take no time have ended, and waits behind them whose flags were up."""
        ended: _State | None = state
        while ended is not None:
            state = ended
            ended = next(chain(self._ended_waits(state), self._ended_barriers(state, (Pipe.V,))), None)
        return state

    def _start(self, state: _State, place: int) -> None:
        """Take note of the ops that conflict with one that starts."""
        short = self._short
        started = state.complete
        for queue, head in zip(short.queues, state.heads, strict=True):
            started |= queue.started[head]
        self._open[place] |= short.clashes_before[place] & ~state.complete
        self._met[place] |= short.clashes_before[place] & started
        for later in places(short.clashes_behind[place] & started & ~state.complete):
            self._met[later] |= 1 << place

    def _end(self, state: _State) -> None:
        """Nothing can happen any more."""
        short = self._short
        self._ran |= state.complete
        self._apart = self._apart or not state.doubled
        if state.passed < short.length or not self._is_idle(state):
            self._hangs = True
            return
        for flag, up in enumerate(state.flags):
            sets = short.sets_of(flag)
            self._left.update(sets[len(sets) - up :])


def _pairs(earlier: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Pairs with the earlier places given as bits per later one."""
    return frozenset((before, behind) for behind, bits in enumerate(earlier) for before in places(bits))


def _more(counts: tuple[int, ...], at: int, by: int = 1) -> tuple[int, ...]:
    return (*counts[:at], counts[at] + by, *counts[at + 1 :])
