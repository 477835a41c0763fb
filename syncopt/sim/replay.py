"""Event-driven replay of a trace: the execution rules of the machine, to the cycle.

Dispatch walks the trace in program order. Pipes are in order, so an instruction is timed as soon as it is dispatched,
unless a wait ahead of it on its pipe has not met its set yet; then it stays pending until that set is timed. What is
held is bounded by the queue depths, not by the length of the trace.
"""

from collections.abc import Callable, Iterable

from syncopt.hwmodel import Cost, Machine, UnmodelledWork
from syncopt.ir.kernel import Barrier, Op, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import PIPES, Pipe, PipePair
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Instance
from syncopt.ir.work import Work
from syncopt.sim.lanes import FlagState, Lane
from syncopt.sim.timing import Deadlock, DoubleSet, FlagLeft, Replay, Timing

Listener = Callable[[Timing], None]
Pricing = Callable[[Instance], Cost]
"""What a tile op costs, instead of what the machine says of its work."""

_FLAG_OR_BARRIER = Cost(occupancy=0)


def replay(
    trace: Iterable[Instance],
    machine: Machine,
    listener: Listener | None = None,
    source: Source | None = None,
    pricing: Pricing | None = None,
) -> Replay:
    """Time every instruction of a trace.

    Parameters
    ----------
    trace : iterable of Instance
        Pipe instructions in program order.
    machine : Machine
        Queue depths, costs and flag rules.
    listener : callable, optional
        Called once per instruction with its times, in the order in which they become known.
    source : Source, optional
        The file of the kernel, so that errors say where their op stands.
    pricing : callable, optional
        Costs of tile ops that differ from those of the machine.

    Returns
    -------
    Replay
        Cycles and where they went. After a deadlock the figures cover what was timed before it.

    Raises
    ------
    UnmodelledWork
        If an op has no known cost.
    InputError
        If an op takes more queue entries than the queue holds, or a flag or barrier does not exist.
    """
    run = _Run(machine, listener, source, pricing)
    dispatch = run.dispatch
    for instance in trace:
        if not dispatch(instance):
            break
    return run.finish()


class _Run:
    def __init__(
        self, machine: Machine, listener: Listener | None, source: Source | None, pricing: Pricing | None
    ) -> None:
        self._machine = machine
        self._pricing = pricing
        self._listener = listener
        self._source = source
        self._issue = machine.issue
        self._hop = machine.hop
        self._scalar_op = machine.scalar_op
        self._clock = 0
        self._scalar_done = 0
        self._tile_ops = 0
        self._lanes = {
            pipe: Lane(pipe, machine.queue_depth(pipe), machine.barrier_cost(pipe))
            for pipe in PIPES
            if pipe is not Pipe.S
        }
        self._kinds: dict[type[Op], Callable[[Lane, Instance, int, Cost], bool]] = {
            TileOp: self._tile_op,
            SetFlag: self._set_flag,
            WaitFlag: self._wait_flag,
            Barrier: self._barrier,
        }
        self._woken: list[Lane] = []
        self._flags: dict[tuple[PipePair, int], FlagState] = {}
        self._flag_of: dict[tuple[Op, int], FlagState] = {}
        self._costs: dict[int, Cost] = {}
        self._works: list[Work] = []
        self._scalar_busy = 0
        self._full_barriers = 0
        self._held_by_full_barriers = 0
        self._double_sets: dict[Op, DoubleSet] = {}
        self._deadlock: Deadlock | None = None

    # -- dispatch and queues ---------------------------------------------------------------------------------------

    def dispatch(self, instance: Instance) -> bool:
        """Take one instruction; False when the kernel hangs there."""
        if self._scalar_op:
            self._clock += instance.scalars * self._scalar_op
        lane = self._lanes.get(instance.pipe)
        if lane is None:
            return self._dispatch_scalar(instance) if instance.pipe is Pipe.S else self._barrier_all(instance)
        kind, cost = instance.op.__class__, _FLAG_OR_BARRIER
        if kind is TileOp:
            known = self._costs.get(id(instance.work)) if self._pricing is None else self._pricing(instance)
            cost = known or self._cost(instance)
        clock, entries, back = self._clock, cost.entries, lane.depth - lane.pending_entries
        if back < entries:
            return self._hang(instance)
        while entries:
            clock += self._issue
            freed = lane.leaves[-back]
            if freed > clock:
                lane.queue_full += freed - clock
                clock = freed
            back -= 1
            entries -= 1
        self._clock = clock
        if lane.pending or not self._kinds[kind](lane, instance, clock, cost):
            lane.pending.append((instance, clock, cost))
            lane.pending_entries += cost.entries
        elif self._woken:
            self._settle()
        return True

    def _cost(self, instance: Instance) -> Cost:
        # Equal works of a trace are one object, which is kept so that its identity stays its own.
        work = instance.work
        assert work is not None
        if id(work) in self._costs:
            return self._costs[id(work)]
        try:
            cost = self._machine.cost(work)
        except UnmodelledWork as error:
            raise error.at(self._source, instance.op.span) from None
        if instance.pipe is not Pipe.S and cost.entries > (depth := self._machine.queue_depth(instance.pipe)):
            message = f"{work.name} takes {cost.entries} queue entries, the queue of {instance.pipe} holds {depth}"
            raise self._refusal(instance, message, f"simulate a machine with queue.{instance.pipe} >= {cost.entries}")
        self._works.append(work)
        self._costs[id(work)] = cost
        return cost

    def _refusal(self, instance: Instance, message: str, help: str = "") -> InputError:
        return InputError(message, help=help).at(self._source, instance.op.span)

    def _hang(self, instance: Instance) -> bool:
        self._deadlock = Deadlock(instance.op, instance.iteration, self._blocked_waits())
        return False

    def _blocked_waits(self) -> tuple[Instance, ...]:
        return tuple(lane.pending[0][0] for lane in self._lanes.values() if lane.pending)

    # -- what no queue takes ---------------------------------------------------------------------------------------

    def _dispatch_scalar(self, instance: Instance) -> bool:
        op, start = instance.op, self._clock
        match op:
            case TileOp():
                cost = self._cost(instance)
                self._clock += cost.occupancy + cost.latency
                self._scalar_busy += self._clock - start
                self._tile_ops += 1
                self._scalar_done = self._clock
            case SetFlag():
                self._raise(instance, start + self._hop)
                self._report(instance, start, start, start, start + self._hop)
                self._settle()
                return True
            case WaitFlag():
                flag = self._flag(instance)
                if not flag.rises:
                    return self._hang(instance)
                self._clock = max(start + self._issue, flag.rises[0][0])
                self._take(flag, start + self._issue, self._clock)
            case Barrier():
                raise self._refusal(instance, "the scalar pipe has no barrier")
        self._report(instance, start, start, self._clock, self._clock)
        return True

    def _barrier_all(self, instance: Instance) -> bool:
        if not isinstance(instance.op, Barrier):
            raise self._refusal(instance, "PIPE_ALL has no flags")
        if self._blocked_waits():
            return self._hang(instance)
        start = self._clock
        latest = max(max(lane.end, lane.done) for lane in self._lanes.values())
        self._clock = max(start + self._issue, latest) + self._machine.barrier_cost(Pipe.ALL)
        self._full_barriers += 1
        self._held_by_full_barriers += self._clock - start - self._issue
        self._report(instance, start, start, self._clock, self._clock)
        return True

    # -- pipes -----------------------------------------------------------------------------------------------------

    # Each times an instruction at the head of its pipe that is ready at `ready`; False if it cannot be timed yet.

    def _tile_op(self, lane: Lane, instance: Instance, ready: int, cost: Cost) -> bool:
        start = ready if ready > lane.end else lane.end
        end = start + cost.occupancy
        done = end + cost.latency
        lane.busy += cost.occupancy
        lane.undispatched += start - lane.end
        lane.end = end
        lane.done = max(lane.done, done)
        self._tile_ops += 1
        if cost.entries == 1:
            lane.leaves.append(start)
        else:
            lane.leaves.extend([start] * cost.entries)
        if self._listener is not None:
            self._listener(Timing(instance, ready, start, end, done))
        return True

    def _set_flag(self, lane: Lane, instance: Instance, ready: int, _cost: Cost) -> bool:
        start = ready if ready > lane.end else lane.end
        rise = (start if start > lane.done else lane.done) + self._hop
        lane.end = start + 1
        lane.leaves.append(lane.end)
        self._raise(instance, rise)
        if self._listener is not None:
            self._listener(Timing(instance, ready, start, lane.end, rise))
        return True

    def _wait_flag(self, lane: Lane, instance: Instance, ready: int, _cost: Cost) -> bool:
        flag = self._flag_of.get((instance.op, instance.event)) or self._flag(instance)
        if not flag.rises:
            return False
        start = ready if ready > lane.end else lane.end
        rise = flag.rises[0][0]
        lane.end = rise if rise > start else start
        lane.leaves.append(lane.end)
        self._take(flag, start, lane.end)
        if self._listener is not None:
            self._listener(Timing(instance, ready, start, lane.end, lane.end))
        return True

    def _barrier(self, lane: Lane, instance: Instance, ready: int, _cost: Cost) -> bool:
        start = max(ready, lane.end)
        lane.end = max(start, lane.done) + lane.barrier_cost
        lane.leaves.append(lane.end)
        lane.barriers += 1
        lane.held_by_barriers += lane.end - start
        self._report(instance, ready, start, lane.end, lane.end)
        return True

    def _settle(self) -> None:
        """Time what became possible on the pipes that a set woke."""
        while self._woken:
            lane = self._woken.pop()
            while lane.pending and self._execute(lane, *lane.pending[0]):
                lane.pending_entries -= lane.pending.popleft()[2].entries

    def _execute(self, lane: Lane, instance: Instance, ready: int, cost: Cost) -> bool:
        return self._kinds[instance.op.__class__](lane, instance, ready, cost)

    # -- flags -----------------------------------------------------------------------------------------------------

    def _flag(self, instance: Instance) -> FlagState:
        assert isinstance(instance.op, SetFlag | WaitFlag)
        pair = instance.op.pair
        if Pipe.ALL in pair:
            raise self._refusal(instance, "PIPE_ALL has no flags")
        key = pair, instance.event
        flag = self._flags.get(key)
        if flag is None:
            flag = self._flags[key] = FlagState(*key, self._lanes.get(pair.target))
        self._flag_of[instance.op, instance.event] = flag
        return flag

    def _raise(self, instance: Instance, rise: int) -> None:
        flag = self._flag_of.get((instance.op, instance.event)) or self._flag(instance)
        flag.sets += 1
        if rise <= flag.last_wait_end and not flag.rises:
            self._double_set(instance)
        flag.rises.append((rise, instance))
        if flag.target is not None and flag.target.pending:
            self._woken.append(flag.target)

    def _take(self, flag: FlagState, start: int, end: int) -> None:
        """End a wait that could start at `start`."""
        flag.waits += 1
        flag.held += end - start
        flag.rises.popleft()
        flag.last_wait_end = end
        if flag.rises and flag.rises[0][0] <= end:
            self._double_set(flag.rises[0][1])

    def _double_set(self, instance: Instance) -> None:
        first = self._double_sets.get(instance.op)
        iteration, count = (instance.iteration, 0) if first is None else (first.iteration, first.count)
        self._double_sets[instance.op] = DoubleSet(instance.op, iteration, count + 1)

    # -- the result ------------------------------------------------------------------------------------------------

    def _report(self, instance: Instance, ready: int, start: int, end: int, done: int) -> None:
        if self._listener is not None:
            self._listener(Timing(instance, ready, start, end, done))

    def finish(self) -> Replay:
        """The result, when the trace has ended or the kernel hangs."""
        blocked = self._blocked_waits()
        if self._deadlock is None and blocked:
            self._deadlock = Deadlock(blocked[0].op, blocked[0].iteration, blocked)
        for flag in self._flags.values():
            for _, instance in list(flag.rises)[1:]:
                self._double_set(instance)
        busy = {lane.pipe: lane.busy for lane in self._lanes.values()} | {Pipe.S: self._scalar_busy}
        return Replay(
            cycles=max(self._scalar_done, *(lane.done for lane in self._lanes.values())),
            busy={pipe: busy[pipe] for pipe in PIPES if busy[pipe]},
            stalls=self._stalls(),
            tile_ops=self._tile_ops,
            sets=sum(flag.sets for flag in self._flags.values()),
            waits=sum(flag.waits for flag in self._flags.values()),
            barriers=self._full_barriers + sum(lane.barriers for lane in self._lanes.values()),
            ids=self._ids(),
            deadlock=self._deadlock,
            double_sets=tuple(self._double_sets.values()),
            flags_left=self._flags_left() if self._deadlock is None else (),
        )

    def _stalls(self) -> dict[str, int]:
        """Cycles by cause, largest first."""
        lanes = self._lanes.values()
        stalls = {"dispatch": sum(lane.undispatched for lane in lanes), "barrier ALL": self._held_by_full_barriers}
        stalls |= {f"queue {lane.pipe}": lane.queue_full for lane in lanes}
        stalls |= {f"barrier {lane.pipe}": lane.held_by_barriers for lane in lanes}
        for flag in self._flags.values():
            stalls[str(flag.pair)] = stalls.get(str(flag.pair), 0) + flag.held
        return dict(sorted(((c, n) for c, n in stalls.items() if n > 0), key=lambda item: (-item[1], item[0])))

    def _ids(self) -> dict[PipePair, int]:
        """Number of ids that are set, per pair."""
        pairs = sorted((flag.pair for flag in self._flags.values() if flag.sets), key=str)
        return {pair: pairs.count(pair) for pair in pairs}

    def _flags_left(self) -> tuple[FlagLeft, ...]:
        return tuple(
            FlagLeft(flag.pair, flag.event, instance.op, instance.iteration)
            for flag in self._flags.values()
            for _, instance in flag.rises
        )
