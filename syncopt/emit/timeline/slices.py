"""A replay as slices: what every instruction did on its pipe, and why it did not do it earlier."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from syncopt.hwmodel import Machine
from syncopt.ir.kernel import Barrier, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.source import Source
from syncopt.ir.trace import Instance, Iteration
from syncopt.sim import Replay, Timing, replay


class SliceKind(Enum):
    """What an instruction is."""

    OP = "op"
    SET = "set"
    WAIT = "wait"
    BARRIER = "barrier"


@dataclass(frozen=True, slots=True)
class Stall:
    """Cycles that a pipe stood still for one cause.

    `cause` is a flag (`MTE2->MTE1 id 0`), a barrier, or `dispatch`, with what held up dispatch in brackets if
    something did.
    """

    cause: str
    cycles: int

    @property
    def unit(self) -> str:
        """`cycle` or `cycles`, as its number asks for."""
        return "cycle" if self.cycles == 1 else "cycles"


@dataclass(frozen=True, slots=True)
class FlagUse:
    """A set, or the wait that takes it.

    Parameters
    ----------
    pair : PipePair
        The pipes.
    event : int
        Their id.
    number : int
        Number of the set among all sets of the run; its wait has the same number.
    set_line : int or None
        Line of the set.
    """

    pair: PipePair
    event: int
    number: int
    set_line: int | None

    def __str__(self) -> str:
        return f"{self.pair} id {self.event}"


@dataclass(frozen=True, slots=True)
class Slice:
    """One instruction on a timeline.

    Parameters
    ----------
    kind : SliceKind
        What it is.
    name : str
        The op without its dialect (`tload`), `set`, `wait` or `barrier`.
    lane : Pipe
        The pipe it holds; a barrier of all pipes holds dispatch and stands on S.
    start, end, done : int
        Cycles, as in `Timing`.
    line : int or None
        Its line in the file; None if it stands in no file.
    instance : Instance
        What was executed.
    stalls : tuple of Stall
        Why it did not start (a wait, a barrier: end) earlier.
    flag : FlagUse or None
        Of a set or a wait.
    """

    kind: SliceKind
    name: str
    lane: Pipe
    start: int
    end: int
    done: int
    line: int | None
    instance: Instance
    stalls: tuple[Stall, ...] = ()
    flag: FlagUse | None = None

    @property
    def iteration(self) -> Iteration:
        """How often each enclosing loop had gone round before, outermost first."""
        return self.instance.iteration


def slices(
    trace: Iterable[Instance], machine: Machine, source: Source, sink: Callable[[Slice], None]
) -> tuple[Replay, int]:
    """Replay a trace and hand its slices, in program order, to `sink`.

    Parameters
    ----------
    trace : iterable of Instance
        Pipe instructions in program order.
    machine : Machine
        What they run on.
    source : Source
        The kernel's file, for line numbers and errors.
    sink : callable
        Takes each slice as soon as it and all slices before it are known.

    Returns
    -------
    (Replay, int)
        The replay, and how many instructions it dispatched but never timed, which is 0 unless the kernel hangs.

    Notes
    -----
    What is held does not grow with the trace: it is bounded by the queues and by the distance from a wait to the set
    that it takes, where that stands later in program order.
    """
    slicer = _Slicer(machine, source, sink)
    result = replay(slicer.watch(trace), machine, slicer.note, source)
    return result, slicer.finish()


@dataclass(slots=True)
class _Entry:
    """An instruction that was dispatched, with its times and its flag once they are known."""

    instance: Instance
    timing: Timing | None = None
    flag: FlagUse | None = None


class _Slicer:
    def __init__(self, machine: Machine, source: Source, sink: Callable[[Slice], None]) -> None:
        self._machine = machine
        self._source = source
        self._sink = sink
        self._order: deque[_Entry] = deque()
        self._open: dict[int, _Entry] = {}
        self._sets: dict[tuple[PipePair, int], deque[FlagUse]] = {}
        self._numbers = 0
        self._lines: dict[int, int | None] = {}
        self._dispatch = _Dispatch(machine)

    def watch(self, trace: Iterable[Instance]) -> Iterator[Instance]:
        """The same trace; remembers its order."""
        for instance in trace:
            entry = _Entry(instance)
            self._order.append(entry)
            self._open[id(instance)] = entry
            yield instance
            self._flush()

    def note(self, timing: Timing) -> None:
        """Take the times of an instruction."""
        entry = self._open.pop(id(timing.instance))
        entry.timing = timing
        entry.flag = self._flag_use(timing)

    def finish(self) -> int:
        """Hand over what is left; the number of instructions that were never timed."""
        left = [entry for entry in self._order if entry.timing is None]
        for entry in self._order:
            if entry.timing is not None:
                self._sink(self._slice(entry, entry.timing))
        self._order.clear()
        return len(left)

    def _flush(self) -> None:
        while self._order and (timing := self._order[0].timing) is not None:
            self._sink(self._slice(self._order.popleft(), timing))

    def _flag_use(self, timing: Timing) -> FlagUse | None:
        """Number of a set, or of the set that a wait takes: the k-th wait takes the k-th set."""
        instance = timing.instance
        op = instance.op
        if isinstance(op, SetFlag):
            use = FlagUse(op.pair, instance.event, self._numbers, self._line(instance))
            self._numbers += 1
            self._sets.setdefault((op.pair, instance.event), deque()).append(use)
            return use
        if isinstance(op, WaitFlag):
            return self._sets[op.pair, instance.event].popleft()
        return None

    def _line(self, instance: Instance) -> int | None:
        uid, span = instance.op.uid, instance.op.span
        if uid not in self._lines:
            self._lines[uid] = self._source.line(span.start) if span.start >= 0 else None
        return self._lines[uid]

    def _slice(self, entry: _Entry, timing: Timing) -> Slice:
        instance = entry.instance
        kind, name = _named(instance)
        lane = Pipe.S if instance.pipe is Pipe.ALL else instance.pipe
        idle = self._dispatch.idle_before(timing, lane)
        held = timing.end - timing.start - (self._machine.issue if lane is Pipe.S else 0)
        stalls = [idle] if idle is not None else []
        if held > 0 and kind in (SliceKind.WAIT, SliceKind.BARRIER):
            stalls.append(Stall(str(entry.flag or name), held))
        return Slice(
            kind=kind,
            name=name,
            lane=lane,
            start=timing.start,
            end=timing.end,
            done=timing.done,
            line=self._line(instance),
            instance=instance,
            stalls=tuple(stalls),
            flag=entry.flag,
        )


def _named(instance: Instance) -> tuple[SliceKind, str]:
    match instance.op:
        case TileOp(name=name):
            return SliceKind.OP, name.removeprefix("pto.")
        case SetFlag():
            return SliceKind.SET, "set"
        case WaitFlag():
            return SliceKind.WAIT, "wait"
        case Barrier(pipe=pipe):
            return SliceKind.BARRIER, f"barrier {pipe}"


@dataclass(slots=True)
class _LaneState:
    """When a pipe was free again, and what had held up dispatch until its latest instruction was dispatched."""

    end: int = 0
    held: dict[str, int] = field(default_factory=dict[str, int])


class _Dispatch:
    """Follows the dispatch clock through the times of a run in program order (docs/model.md, dispatch and queues)."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._clock = 0
        self._held: dict[str, int] = {}
        self._lanes: dict[Pipe, _LaneState] = {}

    def idle_before(self, timing: Timing, lane: Pipe) -> Stall | None:
        """Cycles for which a pipe had nothing to do before an instruction, with what kept that from being dispatched.

        Of several causes the one that held up dispatch longest since the instruction before on that pipe.
        """
        if lane is Pipe.S:
            self._on_scalar(timing)
            return None
        self._on_pipe(timing)
        state = self._lanes.setdefault(lane, _LaneState())
        idle = timing.start - state.end
        stall = Stall(self._cause(state), idle) if idle > 0 else None
        state.end = timing.end
        state.held = dict(self._held)
        return stall

    def _cause(self, state: _LaneState) -> str:
        since = {cause: cycles - state.held.get(cause, 0) for cause, cycles in self._held.items()}
        cause = max(since, key=lambda cause: since[cause], default="")
        return f"dispatch ({cause})" if since.get(cause) else "dispatch"

    def _on_pipe(self, timing: Timing) -> None:
        instance = timing.instance
        entries = 1 if instance.work is None else self._machine.cost(instance.work).entries
        unhindered = self._clock + instance.scalars * self._machine.scalar_op + entries * self._machine.issue
        self._hold(f"queue of {instance.pipe} full", timing.ready - unhindered)
        self._clock = timing.ready

    def _on_scalar(self, timing: Timing) -> None:
        op, spent = timing.instance.op, timing.end - timing.start
        match op:
            case TileOp():
                self._hold("work on S", spent)
            case WaitFlag():
                self._hold(f"wait for {op.pair}", spent - self._machine.issue)
            case Barrier():
                self._hold("barrier ALL", spent - self._machine.issue)
            case SetFlag():
                pass
        self._clock = timing.end

    def _hold(self, cause: str, cycles: int) -> None:
        if cycles > 0:
            self._held[cause] = self._held.get(cause, 0) + cycles
