"""The search over issue orders: one model per flag placement, and what they prove together.

A placement is good for some relative orders of the units and not for others (`Planner.classes`). Each placement that is
known is searched over the orders that it is good for; orders that none is good for are searched in the model without
any flags, which bounds every plan from below.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from syncopt.ir.kernel import Barrier, SetFlag, TileOp, WaitFlag, regions, walk
from syncopt.ir.pipes import PipePair
from syncopt.ir.trace import Instance, Iteration
from syncopt.model.flags.channels import Placement, Tops
from syncopt.model.flags.ids import conflicts
from syncopt.model.order import BlockHeads, Order
from syncopt.model.planner import Plan, Planner
from syncopt.model.problem import Decision, Problem, problem_of, refuse_oversized
from syncopt.sim import Timing
from syncopt.solve.bounds import LowerBound, lower_bound
from syncopt.solve.cpsat.ids import event_ids
from syncopt.solve.cpsat.search import Hint, Limits, Search, SearchResult, Step, order_and_decisions

_TIE_BREAK_WORK = 4.0
_MOST_CORRECTIONS = 12


@dataclass(frozen=True, slots=True)
class Budget:
    """What a solve may use: wall seconds, deterministic work (None: no limit), threads, random seed."""

    seconds: float
    work: float | None = None
    workers: int = 1
    seed: int = 0


class Clock:
    """What is left of a budget."""

    def __init__(self, budget: Budget) -> None:
        self._start = time.monotonic()
        self._budget = budget
        self._stopped = False

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._start

    @property
    def is_over(self) -> bool:
        """Whether the time is spent or the search was stopped."""
        return self._stopped or self.spent >= self._budget.seconds

    def stop(self) -> None:
        """No more time from here on."""
        self._stopped = True

    def limits(self) -> Limits:
        """Limits of the next search."""
        left = 0.0 if self._stopped else self._budget.seconds - self.spent
        return Limits(left, self._budget.work, self._budget.workers, self._budget.seed)

    def note(self, result: SearchResult) -> None:
        """Take note of how a search ended: one that stopped with time left and no other limit was interrupted."""
        if not result.complete and self._budget.work is None:
            self.stop()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proven plan with its ids, and its makespan of the window in cycles, by replay."""

    plan: Plan
    makespan: int


def with_ids(planner: Planner, plan: Plan) -> Plan | None:
    """The plan with an id for every channel; None if a pair needs more than there are."""
    found = conflicts(planner.family(plan.order), plan.placement)
    ids = event_ids(plan.placement, found, planner.machine.event_ids)
    return None if ids is None else replace(plan, ids=ids)


def replayed(planner: Planner, plan: Plan) -> Iterator[Candidate]:
    """A proven plan as a candidate; none if the slots of rotating tiles do not get ids in a row."""
    complete = with_ids(planner, plan)
    if complete is not None:
        yield Candidate(complete, planner.in_window(complete).cycles)


def shortest(planner: Planner, candidates: Sequence[Candidate]) -> Candidate:
    """The candidate that is shortest on the full shape, the first of equal ones."""
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda candidate: planner.in_full(candidate.plan).cycles)


class OrderSearch:
    """Finds the best order for a planner's kernel.

    Parameters
    ----------
    planner : Planner
        Families, placements, replays.
    clock : Clock
        The budget.
    report : callable
        Is told every improvement.
    candidates : sequence of Candidate
        Plans to start from, at least one; their placements are the ones that are searched.
    """

    def __init__(
        self, planner: Planner, clock: Clock, report: Callable[[Step], None], candidates: Sequence[Candidate]
    ) -> None:
        self._planner = planner
        self._clock = clock
        self._report = report
        self._starts: dict[Placement, Candidate] = {}
        for candidate in sorted(candidates, key=lambda c: c.makespan):
            self._starts.setdefault(candidate.plan.placement, candidate)
        self.best = next(iter(self._starts.values()))
        self.least = window_bound(planner).cycles
        self._classes = planner.classes()
        self._all_open = self._classes is None

    def run(self) -> tuple[tuple[Candidate, ...], int]:
        """Plans with the best makespan found, and a lower bound on the makespan of every plan.

        They are, as far as there are such: the order as written, one with the earliest units, and the best plan found.
        """
        left = list(self._classes or ())
        bounds: list[int] = []
        for start in self._starts.values():
            if self._clock.is_over:
                return (self.best,), self.least
            good = [order for order in self._classes or () if self._planner.proves(Plan(order, start.plan.placement))]
            left = [order for order in left if order not in good]
            bounds.append(self._search(start, good))
        if self._all_open or left:
            bounds.append(self._without_flags(None if self._all_open else left))
        bound = min(max(self.least, min(bounds)), self.best.makespan)
        return self._as_good(), bound

    def _search(self, start: Candidate, good: Sequence[Order]) -> int:
        """Search one placement over the orders it is good for; a bound for them."""
        placement = start.plan.placement
        most = self.best.makespan if placement == self.best.plan.placement else self.best.makespan - 1
        if most < self.least:
            return self.best.makespan
        problem = self._problem(placement)
        self._all_open = self._all_open or primes_may_move(self._planner, placement)
        search = Search(problem, self._hint(problem, start.plan), self.least, most)
        self._keep_only(search, problem, good)
        bound = self.least
        for _ in range(_MOST_CORRECTIONS):
            result = self._shortest(search)
            bound = max(bound, result.bound)
            if result.decisions is None:
                break
            found = self._replayed(problem, placement, result.decisions)
            if found is None:
                # Barriers of all pipes or ids make this order differ from the others of its class.
                self._all_open = True
                search.exclude(result.decisions)
            else:
                self.best = min(self.best, found, key=lambda c: c.makespan)
                if found.makespan <= result.makespan:
                    break
                # The replay knows a rule that the model leaves out for this order: say what the order really takes.
                search.correct(result.decisions, found.makespan)
            if self._clock.is_over:
                break
        return bound

    def _shortest(self, search: Search) -> SearchResult:
        result = search.shortest(self._clock.limits(), self._report)
        self._clock.note(result)
        return result

    def _without_flags(self, orders: Sequence[Order] | None) -> int:
        """A bound for the classes of some orders, or for all orders, whatever their flags."""
        most = self.best.makespan - 1
        if most < self.least or self._clock.is_over:
            return self.least
        problem = self._problem(Placement())
        hint = self._hint(problem, Plan(self.best.plan.order if orders is None else orders[0], Placement()))
        search = Search(problem, hint, self.least, most)
        if orders is not None:
            self._keep_only(search, problem, orders)
        return self._shortest(search).bound

    def _keep_only(self, search: Search, problem: Problem, orders: Sequence[Order]) -> None:
        """Leave out the classes of orders that are not among these."""
        kept = [_among_units(problem, order_and_decisions(problem, order)) for order in orders]
        for order in self._classes or ():
            decisions = _among_units(problem, order_and_decisions(problem, order))
            if decisions not in kept:
                search.exclude(decisions)

    def _problem(self, placement: Placement) -> Problem:
        planner = self._planner
        window = planner.window_trace()
        problem = problem_of(planner.kernel, window, placement, planner.mobility, planner.machine, planner.shared)
        refuse_oversized(problem, planner.kernel)
        problem.check()
        return problem

    def _replayed(self, problem: Problem, placement: Placement, decisions: Mapping[Decision, bool]) -> Candidate | None:
        """The plan of some decisions, if there is one."""
        return self._completed(Plan(problem.order_of(dict(decisions)), placement))

    def _completed(self, plan: Plan) -> Candidate | None:
        """A plan with ids, replayed; None if its placement does not prove it, or there are not enough ids for it."""
        if not self._planner.proves(plan):
            return None
        complete = with_ids(self._planner, plan)
        return None if complete is None else Candidate(complete, self._planner.in_window(complete).cycles)

    def _as_good(self) -> tuple[Candidate, ...]:
        """The plans with the best makespan."""
        others = [c for c in (self._as_written(), self._with_earliest_units()) if c is not None]
        return (*others, self.best)

    def _as_written(self) -> Candidate | None:
        """The order as written with the best plan's flags, if it is as good: nothing moves without a gain."""
        found = self._completed(Plan(self._planner.mobility.as_written(), self.best.plan.placement))
        return found if found is not None and found.makespan <= self.best.makespan else None

    def _with_earliest_units(self) -> Candidate | None:
        """A plan as good as the best one with its units as early as possible; none if they stand there already."""
        best = self.best
        if self._clock.is_over or best.plan.order == self._planner.mobility.earliest():
            return None
        problem = self._problem(best.plan.placement)
        search = Search(problem, self._hint(problem, best.plan), self.least, best.makespan)
        limits = self._clock.limits()
        found = search.earliest(best.makespan, replace(limits, work=min(_TIE_BREAK_WORK, limits.work or math.inf)))
        if found.decisions is None:
            return None
        early = self._replayed(problem, best.plan.placement, found.decisions)
        return early if early is not None and early.makespan <= best.makespan else None

    def _hint(self, problem: Problem, plan: Plan) -> Hint:
        """Times of a plan's replay for the items of a problem."""
        timings: list[Timing] = []
        cycles = self._planner.in_window(plan, timings.append).cycles
        by_key: dict[_Key, list[Timing]] = {}
        for timing in timings:
            by_key.setdefault(_key(timing.instance), []).append(timing)
        ready: list[int] = []
        start: list[int] = []
        for item in problem.items:
            timing = by_key[_key(item.instance)].pop(0)
            ready.append(timing.ready)
            start.append(timing.end if isinstance(item.instance.op, WaitFlag | Barrier) else timing.start)
        return Hint(ready, start, order_and_decisions(problem, plan.order), cycles)


_Key = tuple[int, Iteration] | tuple[bool, PipePair, int] | str


def _key(instance: Instance) -> _Key:
    """What an instance is called by in every order; equal ones keep their order."""
    if isinstance(instance.op, TileOp):
        return (instance.op.uid, instance.iteration)
    if isinstance(instance.op, Barrier):
        return str(instance.op.pipe)
    return (isinstance(instance.op, SetFlag), instance.op.pair, instance.event)


def _among_units(problem: Problem, decisions: Mapping[Decision, bool]) -> dict[Decision, bool]:
    """The decisions between two units: they make the class of an order."""
    units = {(block.key, unit) for block in problem.mobility.blocks for unit in block.units}
    return {d: holds for d, holds in decisions.items() if (d[0], d[2]) in units}


def primes_may_move(planner: Planner, placement: Placement) -> bool:
    """Whether in some order another op than as written is the one at which a primed channel is primed or drained.

    The model moves priming sets and draining waits with the ops as written.
    """
    blocks = {uid: block for block in planner.mobility.blocks for uid in block.heads}
    tops = Tops(planner.kernel)
    for channel in placement.channels:
        if not channel.primed:
            continue
        primed = [uid for uid in tops.held_back(channel, placement.priming) if uid in blocks]
        drained = [uid for uid in tops.of(channel) if uid in blocks][::-1]
        for edge, others in ((held[0], held[1:]) for held in (primed, drained) if held):
            if any(_is_open(blocks[edge], edge, other) for other in others):
                return True
    return False


def _is_open(block: BlockHeads, a: int, b: int) -> bool:
    """Whether both orders of two heads are possible."""
    return (a in block.units or b in block.units) and (a, b) not in block.before and (b, a) not in block.before


def movable_ops(planner: Planner) -> frozenset[int]:
    """Uids of the tile ops in mobile units."""
    units = {unit for block in planner.mobility.blocks for unit in block.units}
    found: set[int] = set()
    for op in walk(planner.kernel.body):
        if op.uid in units:
            inner = [op, *(o for region in regions(op) for o in walk(region))]
            found.update(o.uid for o in inner if isinstance(o, TileOp))
    return frozenset(found)


def window_bound(planner: Planner) -> LowerBound:
    """Lower bound of the window for any order of its ops."""
    trace = planner.window_trace().instances
    return lower_bound(trace, planner.machine, planner.shared, movable_ops(planner))
