"""Constraints of the CP-SAT model: one method per rule of the machine."""

from collections.abc import Iterable
from itertools import pairwise

from ortools.sat.python import cp_model

from syncopt.ir.pipes import PIPES, Pipe, PipePair
from syncopt.model.problem import Item, Problem, pair_of
from syncopt.solve.cpsat.chains import Chains, Link, Places
from syncopt.solve.cpsat.variables import (
    Literal,
    Variables,
    done_after,
    end,
    enforce,
    is_barrier,
    is_set,
    is_tile_op,
    is_wait,
    leave,
    queued,
)


class Constraints:
    """Adds the rules of a problem to a model, all as lower bounds on times: the least times are those of the replay.

    Parameters
    ----------
    model : CpModel
        Is added to.
    problem : Problem
        What is solved.
    variables : Variables
        Its variables.
    """

    def __init__(self, model: cp_model.CpModel, problem: Problem, variables: Variables) -> None:
        self._model = model
        self._problem = problem
        self._items = problem.items
        self._vars = variables
        self._machine = problem.machine
        self._chains = Chains(problem)
        self._pipes = {
            pipe: [n for n, item in enumerate(self._items) if item.pipe is pipe and queued(item)] for pipe in PIPES
        }
        self._moving = self._moving_pipes()

    def add_all(self) -> None:
        """Every rule."""
        self._one_order_per_block()
        self._dispatch_in_order()
        self._start_after_ready()
        self._pipe_in_order()
        self._hazards()
        self._wait_for_its_set()
        self._set_after_the_wait_before()
        self._queue_depth()
        self._barriers()
        self._scalar_pipe()
        self._makespan()

    def _moving_pipes(self) -> frozenset[Pipe]:
        """Pipes on which the order of two items is open."""
        return frozenset(
            pipe
            for pipe, members in self._pipes.items()
            if any(link.decision is not None for link in self._links(set(members)))
        )

    def _links(self, members: set[int]) -> list[Link]:
        return self._chains.links(members.__contains__)

    def _enforced(self, constraint: cp_model.Constraint, link: Link) -> None:
        if link.decision is not None:
            literal = self._vars.after[link.decision]
            enforce(constraint, literal if link.holds else literal.negated())

    def _one_order_per_block(self) -> None:
        """Decisions of a block are those of one order of its heads."""
        for block in self._problem.mobility.blocks:
            anchored = block.anchored
            for unit in block.units:
                after = [self._after(block.key, unit, head) for head in anchored]
                for earlier, later in pairwise(after):
                    self._model.add_implication(later, earlier)
            for unit in block.units:
                for other in block.units:
                    if unit != other:
                        self._transitive(block.key, unit, other, [h for h in block.heads if h not in (unit, other)])

    def _transitive(self, key: tuple[int, int], unit: int, other: int, heads: Iterable[int]) -> None:
        """A unit behind a head that is behind another unit is behind that unit."""
        behind = self._after(key, unit, other)
        for head in heads:
            self._model.add_bool_or(
                [self._after(key, unit, head).negated(), self._after(key, other, head), behind],
            )

    def _after(self, key: tuple[int, int], unit: int, other: int) -> Literal:
        if (key, unit, other) in self._vars.after:
            return self._vars.after[key, unit, other]
        if (key, other, unit) in self._vars.after:
            return self._vars.after[key, other, unit].negated()
        return self._model.new_constant(1 if self._chains.fixed(key, unit, other) else 0)

    def _dispatch_in_order(self) -> None:
        """Every queue entry costs `issue` cycles of the dispatch clock, which goes through the program in order."""
        ready = self._vars.ready
        for link in self._links(set(range(len(self._items)))):
            cost = self._dispatch_cost(link.later)
            self._enforced(self._model.add(ready[link.later] >= ready[link.earlier] + cost), link)
        for number, _ in enumerate(self._items):
            self._model.add(ready[number] >= self._dispatch_cost(number))

    def _dispatch_cost(self, number: int) -> int:
        item = self._items[number]
        if item.pipe is Pipe.ALL:
            return self._machine.issue + self._machine.barrier_cost(Pipe.ALL)
        if item.pipe is Pipe.S and not is_wait(item):
            return item.occupancy + item.latency
        return item.entries * self._machine.issue

    def _start_after_ready(self) -> None:
        """An instruction starts when it is dispatched, at the earliest."""
        for number, item in enumerate(self._items):
            self._model.add(self._vars.start[number] >= self._vars.ready[number] + self._own_cost(item))

    def _own_cost(self, item: Item) -> int:
        """Cycles that a barrier itself takes; its start variable stands for its end."""
        return self._machine.barrier_cost(item.pipe) if is_barrier(item) and queued(item) else 0

    def _pipe_in_order(self) -> None:
        """An instruction starts when the one before it on its pipe has ended, at the earliest."""
        start = self._vars.start
        for members in self._pipes.values():
            for link in self._links(set(members)):
                distance = end(self._items[link.earlier]) + self._own_cost(self._items[link.later])
                self._enforced(self._model.add(start[link.later] >= start[link.earlier] + distance), link)

    def _hazards(self) -> None:
        """Of two conflicting ops on different pipes the later one starts a hop after the earlier one has completed."""
        for earlier, later in self._problem.hazards:
            a, b = self._items[earlier], self._items[later]
            if a.pipe is not b.pipe and queued(a) and queued(b):
                distance = a.occupancy + a.latency + self._problem.hop
                self._model.add(self._vars.start[later] >= self._vars.start[earlier] + distance)

    def _matches(self) -> list[tuple[int, int, int | None]]:
        """(set, wait, next set) of every channel, the k-th wait taking the k-th set."""
        sets: dict[tuple[PipePair, int], list[int]] = {}
        waits: dict[tuple[PipePair, int], list[int]] = {}
        for number, item in enumerate(self._items):
            if is_set(item) or is_wait(item):
                kind = sets if is_set(item) else waits
                kind.setdefault((pair_of(item), item.instance.event), []).append(number)
        found: list[tuple[int, int, int | None]] = []
        for key, rises in sets.items():
            following = (*rises[1:], None)
            found.extend(zip(rises, waits.get(key, ()), following, strict=False))
        return found

    def _wait_for_its_set(self) -> None:
        """A wait ends a hop after everything before its set on the set's pipe has completed."""
        start, hop = self._vars.start, self._machine.hop
        for raised, wait, _ in self._matches():
            if self._items[raised].pipe is Pipe.S:
                self._model.add(start[wait] >= self._vars.ready[raised] + hop)
                continue
            self._model.add(start[wait] >= start[raised] + hop)
            for op in self._completing_before(raised):
                item = self._items[op]
                self._model.add(start[wait] >= start[op] + item.occupancy + item.latency + hop)

    def _completing_before(self, number: int) -> list[int]:
        """Tile ops of the same pipe that surely come before an item and may complete last of those."""
        item = self._items[number]
        if item.pipe in self._moving:
            return self._own_ops(number)
        undominated: list[int] = []
        lead = 0
        for other in reversed([n for n in self._pipes[item.pipe] if n < number]):
            op = self._items[other]
            if not is_tile_op(op):
                continue
            if not undominated or op.latency > lead:
                undominated.append(other)
            lead = max(lead, op.latency) + op.occupancy
            if lead > self._longest_latency(item.pipe):
                break
        return undominated

    def _longest_latency(self, pipe: Pipe) -> int:
        return max((self._items[n].latency for n in self._pipes[pipe]), default=0)

    def _own_ops(self, number: int) -> list[int]:
        """The tile op right before a set, where it is surely before it."""
        at = number - 1
        while at >= 0 and is_set(self._items[at]):
            at -= 1
        item = self._items[number]
        if at < 0 or self._items[at].pipe is not item.pipe or not is_tile_op(self._items[at]):
            return []
        return [at] if self._chains.surely_before(at, number) else []

    def _set_after_the_wait_before(self) -> None:
        """Set k+1 of a channel rises after wait k has ended: the token of an event id is taken before it comes back."""
        for _, wait, following in self._matches():
            if following is not None and queued(self._items[following]) and queued(self._items[wait]):
                latest = self._machine.hop + self._slack(following)
                self._model.add(self._vars.start[following] + latest >= self._vars.start[wait] + 1)

    def _slack(self, number: int) -> int:
        """Cycles by which a set may rise later than a hop after its start: the completion that it waits for."""
        return self._longest_latency(self._items[number].pipe)

    def _queue_depth(self) -> None:
        """Entry j of a pipe is issued only after entry j - depth has left its queue."""
        for pipe, members in self._pipes.items():
            if not members:
                continue
            depth, issue = self._machine.queue_depth(pipe), self._machine.issue
            places = Places(self._problem, self._chains, set(members).__contains__)
            for number in members:
                item = self._items[number]
                for entry in range(item.entries):
                    freed = places.holder(places.least[number] + entry - depth)
                    if freed is not None:
                        behind = (item.entries - 1 - entry) * issue
                        left = self._vars.start[freed] + leave(self._items[freed])
                        self._model.add(self._vars.ready[number] >= left + behind)

    def _barriers(self) -> None:
        """A barrier waits for all that its pipe, or every pipe, has before it."""
        for number, item in enumerate(self._items):
            if not is_barrier(item):
                continue
            cost = self._machine.barrier_cost(item.pipe)
            for other in self._pipes[item.pipe] if queued(item) else range(number):
                if self._chains.surely_before(other, number):
                    done = self._vars.start[other] + done_after(self._items[other])
                    self._model.add(self._vars.start[number] >= done + cost)
            if item.pipe is Pipe.ALL:
                self._model.add(self._vars.ready[number] >= self._vars.start[number])

    def _scalar_pipe(self) -> None:
        """What the scalar unit waits for holds up dispatch."""
        for number, item in enumerate(self._items):
            if item.pipe is Pipe.S:
                self._model.add(self._vars.ready[number] >= self._vars.start[number])

    def _makespan(self) -> None:
        """The makespan is the latest completion of a tile op."""
        for number, item in enumerate(self._items):
            if is_tile_op(item):
                self._model.add(self._vars.makespan >= self._vars.start[number] + done_after(item))
