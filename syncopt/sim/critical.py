"""The critical path of a replay: what every cycle of it was spent on.

The path leads backwards from the last completion: an op started when the last of the things it needed was there, and
that thing is followed further. Since each step ends where the next one begins, the steps of a path add up to the cycles
of the run. Where two things are there at the same time, the path goes along the pipe, then along the flag.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syncopt.hwmodel import Machine, UnmodelledWork
from syncopt.ir.kernel import Barrier, Op, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import PIPES, Pipe, PipePair
from syncopt.ir.source import Source
from syncopt.ir.trace import Instance
from syncopt.sim.paths import Cause, Moment, PathTree, Start, Stretch
from syncopt.sim.replay import replay
from syncopt.sim.timing import Replay, Timing


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """A replay, and what its cycles were spent on.

    Parameters
    ----------
    replay : Replay
        The run.
    stretches : tuple of Stretch
        The path, longest stretches first; their cycles add up to those of the run.
    """

    replay: Replay
    stretches: tuple[Stretch, ...]


FOLD = 1 << 12
"""Starts after which a path is folded."""


def critical_path(
    trace: Iterable[Instance], machine: Machine, source: Source | None = None, fold: int = FOLD
) -> CriticalPath:
    """Time every instruction of a trace and follow what determined the end of the run.

    What is held depends on the machine and on the text of the kernel, not on the length of the trace.

    Parameters
    ----------
    trace : iterable of Instance
        Pipe instructions in program order.
    machine : Machine
        Queue depths, costs and flag rules.
    source : Source, optional
        The file of the kernel, so that errors say where their op stands.
    fold : int
        Starts after which what is held is folded; changes nothing else.

    Raises
    ------
    UnmodelledWork
        If an op has no known cost.
    InputError
        If an op takes more queue entries than the queue holds, or a flag or barrier does not exist.
    """
    recorder = _Recorder(machine, source, PathTree(fold))
    run = replay(recorder.watched(trace), machine, recorder.note, source)
    stretches = recorder.path()
    assert sum(stretch.cycles for stretch in stretches) == run.cycles, "the path is as long as the run"
    return CriticalPath(run, stretches)


class _Track:
    """One pipe: when its latest instruction ended, its latest completion, what left its queue, what is still in it."""

    __slots__ = ("depth", "done", "end", "leaves", "pending", "pending_entries")

    def __init__(self, depth: int, root: Start) -> None:
        self.depth = depth
        self.end = self.done = Moment(0, root)
        self.leaves: deque[tuple[Moment, Op | None]] = deque([(self.end, None)] * depth, maxlen=depth)
        self.pending: deque[tuple[Moment, int]] = deque()
        self.pending_entries = 0


class _Recorder:
    """Follows a replay from both sides: instructions as they are dispatched, and their times as they become known.

    Dispatch is followed by the rules of docs/model.md and must come to the times of the replay.
    """

    def __init__(self, machine: Machine, source: Source | None, tree: PathTree) -> None:
        self._machine = machine
        self._source = source
        self._tree = tree
        queued = (pipe for pipe in PIPES if pipe is not Pipe.S)
        self._tracks = {pipe: _Track(machine.queue_depth(pipe), tree.root) for pipe in queued}
        self._clock = Moment(0, self._tree.root, Cause.DISPATCH)
        self._scalar_done = Moment(0, self._tree.root)
        self._rises: dict[tuple[PipePair, int], deque[Moment]] = {}

    def watched(self, trace: Iterable[Instance]) -> Iterator[Instance]:
        """The trace, every instruction seen before the replay takes it."""
        for instance in trace:
            self._dispatch(instance)
            yield instance

    def path(self) -> tuple[Stretch, ...]:
        """The path to the end of the run."""
        ends = [self._scalar_done, *(track.done for track in self._tracks.values())]
        return self._tree.path(max(ends, key=lambda moment: moment.at))

    def _dispatch(self, instance: Instance) -> None:
        if scalars := instance.scalars * self._machine.scalar_op:
            self._clock = self._clock.later(scalars)
        track = self._tracks.get(instance.pipe)
        if track is None:
            return
        entries = self._entries(instance)
        back = track.depth - track.pending_entries
        if back < entries:
            return  # the replay ends here, as a deadlock or an error
        for entry in range(back, back - entries, -1):
            self._clock = self._clock.later(self._machine.issue)
            left, op = track.leaves[-entry]
            if left.at > self._clock.at:
                assert op is not None, "something left the queue at this time"
                self._clock = self._tree.held(left, op, Cause.QUEUE, instance.op)
        track.pending.append((self._clock, entries))
        track.pending_entries += entries

    def _entries(self, instance: Instance) -> int:
        if instance.work is None:
            return 1
        try:
            return self._machine.cost(instance.work).entries
        except UnmodelledWork as error:
            raise error.at(self._source, instance.op.span) from None

    def note(self, timing: Timing) -> None:
        """Take the times of an instruction."""
        track = self._tracks.get(timing.instance.pipe)
        if track is None:
            self._scalar(timing)
        else:
            self._piped(track, timing)
        if self._tree.is_due:
            self._tree.fold(self._live())

    def _live(self) -> Iterator[Start]:
        """Starts that later steps can begin at."""
        yield from (self._clock.start, self._scalar_done.start)
        for track in self._tracks.values():
            yield from (track.end.start, track.done.start)
            yield from (moment.start for moment, _ in track.leaves)
            yield from (moment.start for moment, _ in track.pending)
        for rises in self._rises.values():
            yield from (moment.start for moment in rises)

    # -- instructions in the queues of pipes -----------------------------------------------------------------------

    def _piped(self, track: _Track, timing: Timing) -> None:
        op = timing.instance.op
        ready, entries = track.pending.popleft()
        track.pending_entries -= entries
        start = ready if ready.at > track.end.at else track.end
        assert (ready.at, start.at) == (timing.ready, timing.start), "the path follows the replay"
        left = None
        match op:
            case TileOp():
                left = self._tile_op(track, start, timing)
            case SetFlag():
                self._set_flag(track, start, timing)
            case WaitFlag():
                track.end = self._flag_or(start, timing)
            case Barrier():
                self._barrier(track, start, op)
        assert track.end.at == timing.end, "the path follows the replay"
        track.leaves.extend([(left or track.end, op)] * entries)

    def _tile_op(self, track: _Track, start: Moment, timing: Timing) -> Moment:
        node = self._tree.start(timing.instance.op, start)
        track.end = Moment(timing.end, node, worked=timing.end - timing.start)
        if timing.done >= track.done.at:
            track.done = track.end._replace(at=timing.done)
        return Moment(timing.start, node)

    def _set_flag(self, track: _Track, start: Moment, timing: Timing) -> None:
        last = track.done if track.done.at >= start.at else start
        self._raise(last, timing)
        track.end = start.later(1)

    def _barrier(self, track: _Track, start: Moment, op: Barrier) -> None:
        cost = self._machine.barrier_cost(op.pipe)
        last = track.done if track.done.at > start.at else start
        if last is start and not cost:
            track.end = start
        else:
            track.end = self._tree.held(last, op, Cause.BARRIER, op).later(cost)

    # -- flags -----------------------------------------------------------------------------------------------------

    def _raise(self, last: Moment, timing: Timing) -> None:
        op = timing.instance.op
        assert isinstance(op, SetFlag)
        rise = self._tree.held(last, op, Cause.FLAG, op).later(self._machine.hop)
        assert rise.at == timing.done, "the path follows the replay"
        self._rises.setdefault((op.pair, timing.instance.event), deque()).append(rise)

    def _flag_or(self, other: Moment, timing: Timing) -> Moment:
        """The moment at which a wait ends: when its flag rises, or an `other` one if that is no earlier."""
        op = timing.instance.op
        assert isinstance(op, WaitFlag)
        rise = self._rises[op.pair, timing.instance.event].popleft()
        return other if rise.at <= other.at else rise._replace(via=(*rise.via, op))

    # -- what no queue takes ---------------------------------------------------------------------------------------

    def _scalar(self, timing: Timing) -> None:
        op, clock = timing.instance.op, self._clock
        assert clock.at == timing.start, "the path follows the replay"
        match op:
            case TileOp():
                node = self._tree.start(op, clock)
                self._clock = Moment(timing.end, node, Cause.DISPATCH, worked=timing.end - timing.start)
                self._scalar_done = self._clock._replace(cause=Cause.ORDER)
            case SetFlag():
                self._raise(clock, timing)
            case WaitFlag():
                self._clock = self._flag_or(clock.later(self._machine.issue), timing)
            case Barrier():
                self._barrier_all(op)
        assert self._clock.at == timing.end, "the path follows the replay"

    def _barrier_all(self, op: Barrier) -> None:
        issued = self._clock.later(self._machine.issue)
        ends = (moment for track in self._tracks.values() for moment in (track.done, track.end))
        last = max((issued, *ends), key=lambda moment: moment.at)
        cost = self._machine.barrier_cost(Pipe.ALL)
        holds = cost or last is not issued
        self._clock = self._tree.held(last, op, Cause.BARRIER, op).later(cost) if holds else issued
