"""Legal orders of the starts and completions of a program's tile ops.

`PROGRAM` takes one op after the other and no flag into account. All others keep to the constraints: `REPLAY` as the
machine model times it, `RANDOM` with arbitrary durations, `LATE_RESULTS` and `LATE_READS` as badly for one pipe as the
flags allow: none of its ops completes before something else has to wait for it, so that whoever does not wait comes too
early. With late results they read at their start, so that others read old bytes and are overwritten late; with late
reads they read at their completion, so that others overwrite what they still need.
"""

import heapq
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from syncopt.execute.constraints import Constraints, Event, completion_of, start_of
from syncopt.ir.kernel import SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import PIPES, Pipe
from syncopt.ir.trace import Instance
from syncopt.sim import Timing, replay

_LONGEST = 12.0
"""Logarithm (to base 2) of the longest random duration."""


class ScheduleKind(Enum):
    """How an order is chosen; the value is its name."""

    PROGRAM = "program order"
    REPLAY = "replay"
    RANDOM = "random"
    LATE_RESULTS = "late results"
    LATE_READS = "late reads"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Schedule:
    """One order.

    Parameters
    ----------
    kind : ScheduleKind
        How it is chosen.
    seed : int
        Of a random order.
    pipe : Pipe
        Whose ops are late, `Pipe.ALL` for every pipe.
    """

    kind: ScheduleKind
    seed: int = 0
    pipe: Pipe = Pipe.ALL

    def __str__(self) -> str:
        match self.kind:
            case ScheduleKind.RANDOM:
                return f"{self.kind} {self.seed}"
            case ScheduleKind.LATE_RESULTS | ScheduleKind.LATE_READS:
                return f"{self.kind} of {'every pipe' if self.pipe is Pipe.ALL else self.pipe}"
            case _:
                return str(self.kind)

    def reads_late(self, pipe: Pipe) -> bool:
        """Whether ops of a pipe read at their completion."""
        return self.kind is ScheduleKind.LATE_READS and self.pipe in (pipe, Pipe.ALL)


@dataclass(frozen=True, eq=False, slots=True)
class Order:
    """An order of events.

    Parameters
    ----------
    schedule : Schedule
        How it came about.
    events : tuple of Event
        Starts and completions of tile ops, first to last.
    blocked : tuple of Instance
        The waits that hold their pipes for ever; empty unless the kernel hangs.
    """

    schedule: Schedule
    events: tuple[Event, ...]
    blocked: tuple[Instance, ...] = ()


def schedules_of(instances: tuple[Instance, ...], random_orders: int, seed: int = 0) -> tuple[Schedule, ...]:
    """Program order, then everything to compare with it: the replay, random orders, the late ones of the pipes used."""
    used = {instance.pipe for instance in instances if isinstance(instance.op, TileOp)}
    pipes = [Pipe.ALL, *(pipe for pipe in PIPES if pipe in used and pipe is not Pipe.S)]
    return (
        Schedule(ScheduleKind.PROGRAM),
        Schedule(ScheduleKind.REPLAY),
        *(Schedule(ScheduleKind.RANDOM, seed + number) for number in range(random_orders)),
        *(Schedule(kind, pipe=pipe) for kind in (ScheduleKind.LATE_RESULTS, ScheduleKind.LATE_READS) for pipe in pipes),
    )


def order_of(constraints: Constraints, schedule: Schedule) -> Order:
    """The order that a schedule gives.

    Raises
    ------
    UnmodelledWork
        If the replay is asked for and an op has no known cost.
    """
    match schedule.kind:
        case ScheduleKind.PROGRAM:
            return _in_program_order(constraints, schedule)
        case ScheduleKind.REPLAY:
            return _replayed(constraints, schedule)
        case ScheduleKind.RANDOM:
            return _at_random(constraints, schedule)
        case _:
            return _late(constraints, schedule)


def _in_program_order(constraints: Constraints, schedule: Schedule) -> Order:
    places = [place for place, i in enumerate(constraints.program.instances) if isinstance(i.op, TileOp)]
    return Order(schedule, tuple(event for place in places for event in (start_of(place), completion_of(place))))


class _Progress:
    """Which events have come, and which may come next."""

    def __init__(self, constraints: Constraints) -> None:
        self.before = constraints.before
        self.after = constraints.after()
        self._open = [len(events) for events in constraints.before]
        self._instances = constraints.program.instances
        for place in constraints.unanswered:
            self._open[start_of(place)] += 1
        self.come = [False] * len(self._open)
        self.order: list[Event] = []

    def first(self) -> list[Event]:
        """Events that nothing comes before."""
        return [event for event, open_ in enumerate(self._open) if not open_]

    def take(self, event: Event) -> Iterator[Event]:
        """Let an event come; which ones may come now that could not before."""
        self.come[event] = True
        if isinstance(self._instances[event // 2].op, TileOp):
            self.order.append(event)
        for other in self.after[event]:
            self._open[other] -= 1
            if not self._open[other]:
                yield other

    def result(self, schedule: Schedule) -> Order:
        """The order so far, and what hangs if it is not all."""
        heads: dict[Pipe, int] = {}
        for place, instance in enumerate(self._instances):
            if not self.come[start_of(place)]:
                heads.setdefault(instance.pipe, place)
        blocked = tuple(self._instances[place] for place in heads.values() if self._waits_in_vain(place))
        return Order(schedule, tuple(self.order), blocked)

    def _waits_in_vain(self, place: int) -> bool:
        """Whether a wait lacks nothing but its set."""
        missing = [event // 2 for event in self.before[start_of(place)] if not self.come[event]]
        is_wait = isinstance(self._instances[place].op, WaitFlag)
        return is_wait and all(isinstance(self._instances[other].op, SetFlag) for other in missing)


# -- arbitrary durations -------------------------------------------------------------------------------------------


def _at_random(constraints: Constraints, schedule: Schedule) -> Order:
    """Every event comes some time after what it must come after: at once, or after a duration of any magnitude."""
    generator = random.Random(schedule.seed)
    longest = {pipe: generator.uniform(0, _LONGEST) for pipe in PIPES}
    progress = _Progress(constraints)
    instances = constraints.program.instances

    def delay(event: Event) -> float:
        instance = instances[event // 2]
        if not isinstance(instance.op, TileOp) and generator.random() < 0.75:
            return 0.0
        if event == start_of(event // 2) and generator.random() < 0.75:
            return 0.0
        return 2.0 ** generator.uniform(0, longest.get(instance.pipe, 1.0))

    coming = [(delay(event), event) for event in progress.first()]
    heapq.heapify(coming)
    while coming:
        now, event = heapq.heappop(coming)
        for other in progress.take(event):
            heapq.heappush(coming, (now + delay(other), other))
    return progress.result(schedule)


# -- as late as it may be ------------------------------------------------------------------------------------------


def _late(constraints: Constraints, schedule: Schedule) -> Order:
    """Everything comes at once, but completions of the late pipe only when nothing else can come."""
    progress, held, ready = _Progress(constraints), set[Event](), list[Event]()
    instances = constraints.program.instances

    def admit(events: Iterable[Event]) -> None:
        for event in events:
            instance = instances[event // 2]
            is_completion = event == completion_of(event // 2) and isinstance(instance.op, TileOp)
            if is_completion and schedule.pipe in (instance.pipe, Pipe.ALL):
                held.add(event)
            else:
                heapq.heappush(ready, event)

    admit(progress.first())
    while ready or held:
        if ready:
            admit(progress.take(heapq.heappop(ready)))
            continue
        # The last one first: then an op that overtakes another one shows.
        for event in reversed(_demanded(progress, held)):
            held.remove(event)
            admit(progress.take(event))
    return progress.result(schedule)


def _demanded(progress: _Progress, held: set[Event]) -> list[Event]:
    """The completions that have to come before something else can come: as few of the last ones as possible."""
    best: tuple[int, int, list[Event]] | None = None
    for event in sorted(held):
        if best is not None and event > best[0]:
            break
        for other in progress.after[event]:
            missing = [earlier for earlier in progress.before[other] if not progress.come[earlier]]
            if all(earlier in held for earlier in missing):
                key = (max(missing), len(missing), sorted(missing))
                best = key if best is None else min(best, key)
    return sorted(held) if best is None else best[2]


# -- as the machine model times it ---------------------------------------------------------------------------------


def _replayed(constraints: Constraints, schedule: Schedule) -> Order:
    """By the times of a replay; completions before starts at the same time."""
    program = constraints.program
    places = {id(instance): place for place, instance in enumerate(program.instances)}
    timings: list[Timing] = []
    found = replay(program.instances, program.machine, timings.append, program.kernel.source)
    times: list[tuple[int, bool, Event]] = []
    for timing in timings:
        if isinstance(timing.instance.op, TileOp):
            place = places[id(timing.instance)]
            times += [(timing.start, True, start_of(place)), (timing.done, False, completion_of(place))]
    order = _Sequence(constraints)
    for _, _, event in sorted(times):
        order.add(event)
    hang = found.deadlock
    if hang is None:
        return Order(schedule, tuple(order.events))
    # Where the scalar unit itself hangs, no pipe need be waiting.
    stopped = (i for i in program.instances if i.op is hang.op and i.iteration == hang.iteration)
    return Order(schedule, tuple(order.events), hang.blocked or tuple(stopped)[:1])


class _Sequence:
    """Events by time, each behind what it needs on its own pipe: its own start, and what conflicts with it there."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        self._instances = constraints.program.instances
        self._come: set[Event] = set()
        self.events: list[Event] = []

    def add(self, event: Event) -> None:
        """The next event."""
        if event in self._come:
            return
        self._come.add(event)
        place = event // 2
        if event == completion_of(place):
            self.add(start_of(place))
        else:
            for earlier in self._constraints.before[event]:
                if earlier == completion_of(earlier // 2) and self._is_conflict(earlier // 2, place):
                    self.add(earlier)
        self.events.append(event)

    def _is_conflict(self, earlier: int, later: int) -> bool:
        before, now = self._instances[earlier], self._instances[later]
        return isinstance(before.op, TileOp) and before.pipe is now.pipe
