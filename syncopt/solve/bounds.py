"""Lower bounds on the makespan of a set of ops, for any order that keeps the hazards (docs/model.md, lower bound)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from syncopt.hwmodel import Machine
from syncopt.ir.kernel import TileOp, Value
from syncopt.ir.pipes import PIPES, Pipe
from syncopt.ir.trace import Instance
from syncopt.model.hazards import Hazards, least_hop

BUFFERS = "buffers"
"""What binds when the longest path over the hazards is the bound."""


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No order of the ops takes fewer than `cycles`; `bound_by` is a pipe's name or `BUFFERS`."""

    cycles: int
    bound_by: str


def lower_bound(
    trace: Iterable[Instance], machine: Machine, shared: frozenset[Value], mobile: frozenset[int]
) -> LowerBound:
    """The larger of the pipe bounds and the longest path.

    Parameters
    ----------
    trace : iterable of Instance
        The ops in any legal order.
    machine : Machine
        Costs, `hop` and barriers.
    shared : frozenset of Value
        Pointer arguments whose accesses can conflict.
    mobile : frozenset of int
        Uids of the ops whose order on their pipe is open; the others keep theirs.

    Notes
    -----
    Pipe bound: the least head over the ops of the pipe + the sum of their occupancies + the least tail over them. The
    head of an op is the longest path to its start, its tail the longest path from the end of its occupancy to the end
    of the last op, over hazards (with `least_hop` between pipes) and the order of anchored ops on one pipe.
    """
    ops = [instance for instance in trace if isinstance(instance.op, TileOp)]
    graph = _Graph(ops, machine, shared, mobile)
    heads, tails = graph.heads(), graph.tails()
    through = (h + o + t for h, o, t in zip(heads, graph.occupancy, tails, strict=True))
    best = LowerBound(max(through, default=0), BUFFERS)
    for pipe in PIPES:
        members = [number for number, instance in enumerate(ops) if instance.pipe is pipe]
        if not members or pipe is Pipe.S:
            continue
        total = sum(graph.occupancy[n] for n in members)
        cycles = min(heads[n] for n in members) + total + min(tails[n] for n in members)
        if cycles >= best.cycles:
            best = LowerBound(cycles, pipe.value)
    return best


class _Graph:
    """Precedences between the ops of a trace, each with the least distance from start to start."""

    def __init__(
        self, ops: Sequence[Instance], machine: Machine, shared: frozenset[Value], mobile: frozenset[int]
    ) -> None:
        costs = [machine.cost(instance.work) for instance in ops if instance.work is not None]
        self.occupancy = [cost.occupancy for cost in costs]
        self._latency = [cost.latency for cost in costs]
        self._before: list[list[tuple[int, int]]] = [[] for _ in ops]
        hazards = Hazards(shared)
        last: dict[Pipe, int] = {}
        for number, instance in enumerate(ops):
            for earlier in hazards.earlier(number, instance.accesses):
                self._precede(earlier, number, self._hazard_distance(ops[earlier], instance, earlier, machine))
            if instance.op.uid in mobile:
                continue
            if instance.pipe in last:
                self._precede(last[instance.pipe], number, self.occupancy[last[instance.pipe]])
            last[instance.pipe] = number

    def _hazard_distance(self, a: Instance, b: Instance, earlier: int, machine: Machine) -> int:
        if a.pipe is not b.pipe:
            # Nothing has to tell other pipes what the scalar pipe has done: they are dispatched behind it.
            hop = 0 if Pipe.S in (a.pipe, b.pipe) else least_hop(machine)
            return self.occupancy[earlier] + self._latency[earlier] + hop
        assert a.work is not None and b.work is not None
        waits = machine.same_pipe_barrier_needed(a.work, b.work)
        return self.occupancy[earlier] + (self._latency[earlier] if waits else 0)

    def _precede(self, earlier: int, later: int, distance: int) -> None:
        self._before[later].append((earlier, distance))

    def heads(self) -> list[int]:
        """Longest path to the start of each op."""
        heads: list[int] = []
        for before in self._before:
            heads.append(max((heads[earlier] + distance for earlier, distance in before), default=0))
        return heads

    def tails(self) -> list[int]:
        """Longest path from the end of each op's occupancy to the completion of all."""
        tails = list(self._latency)
        for later in range(len(tails) - 1, -1, -1):
            through = self.occupancy[later] + tails[later]
            for earlier, distance in self._before[later]:
                tails[earlier] = max(tails[earlier], distance - self.occupancy[earlier] + through)
        return tails
