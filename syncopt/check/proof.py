"""Why the trip counts that were run stand for all: states at the heads of loops that repeat.

In a run in which a loop goes round n times, let the states at the heads of iterations j and j + p be equal, and let the
iterations between them be of those that repeat every p ones (`syncopt.ir.recurrence`). Then p more iterations, put in
at j, change nothing: the run with n + p iterations finds what the run with n found, and leaves the loop in the same
state. If this holds for p successive counts, in every run of the loops of the group, all larger counts are covered; and
since the runs with larger counts repeat the same states, it holds for several groups of loops at a time.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from syncopt.check.execution import Decided, Execution
from syncopt.check.happens_before import HappensBefore
from syncopt.check.memories import Record
from syncopt.check.state import Canonical
from syncopt.ir.controls import Controls, Drift
from syncopt.ir.forcing import TripCounts
from syncopt.ir.kernel import For, Kernel, Value
from syncopt.ir.motions import CountMotion, LoopMotion
from syncopt.ir.pointers import pipes_by_space, shared_pointers
from syncopt.ir.recurrence import Problem
from syncopt.ir.runtime import Environment, MultiTileRef, RuntimeValue, TileRef, number
from syncopt.ir.trace import Iteration

_States = list[set[Hashable]]

_FEWEST = 3
"""Runs with fewer iterations of a loop are not looked at: they seldom repeat."""

_FARTHEST = 64
"""Iterations within which states have to repeat; for every rest of the count by that many there would be a run."""


class Proven(NamedTuple):
    """All counts of a group from those that were run on are covered: behaviour repeats every `period` iterations."""

    group: int
    period: int


class Unproven(NamedTuple):
    """Nothing is known of counts beyond those that were run, and why."""

    group: int
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Visit:
    """All runs of a loop at one place of an execution, whatever conditions on data decided before."""

    loop: For
    count: int
    step: int
    period: int
    settle: int
    tail: int
    drifts: Mapping[Value, Drift]
    problems: list[Problem]
    states: _States

    def add(self, motion: LoopMotion) -> None:
        """Take what another run says of its iterations."""
        self.period = math.lcm(self.period, motion.period)
        self.settle = max(self.settle, motion.settle)
        self.tail = max(self.tail, motion.tail)
        self.problems.extend(problem for problem in motion.problems if problem not in self.problems)

    def repeats(self) -> frozenset[int]:
        """Distances, in units of the upper bound, after which the states repeat."""
        settle, last = max(0, self.settle), self.count - max(0, self.tail)
        return frozenset(
            period * self.step
            for period in range(self.period, min(last, _FARTHEST) + 1, self.period)
            if any(self.states[j] == self.states[j + period] for j in range(settle, last - period + 1))
        )


@dataclass(slots=True)
class _Counts:
    """What the runs with one count of a group have in common."""

    repeats: frozenset[int] | None = None
    loops: set[int] = field(default_factory=set[int])

    def add(self, visit: _Visit) -> None:
        """Take another run of a loop of the group."""
        found = visit.repeats()
        self.repeats = found if self.repeats is None else self.repeats & found
        self.loops.add(visit.loop.uid)


class Proof:
    """Collects the states of all runs of a kernel and says what they prove.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    trips : TripCounts
        Its loops.

    Attributes
    ----------
    periods : dict of group index to int
        Iterations after which what the loops of a group do repeats, flags aside.
    """

    def __init__(self, kernel: Kernel, trips: TripCounts) -> None:
        self.trips = trips
        self.controls = Controls(kernel, shared_pointers(kernel))
        self.canonical = Canonical(pipes_by_space(kernel))
        self._kernel = kernel
        self._counts: dict[tuple[int, int], _Counts] = {}
        self._problems: dict[int, list[Problem]] = {}
        self.periods: dict[int, int] = {}
        self._lone: dict[int, list[CountMotion]] = {}
        self._ran: dict[tuple[int, frozenset[tuple[int, bool]]], set[int]] = {}

    def start(self, execution: Execution) -> "Recording":
        """A recording of an execution, over all that conditions on data can decide in it."""
        return Recording(self, execution)

    def add(self, execution: Execution, visits: Sequence[_Visit], env: Environment, data: Set[int]) -> None:
        """Take what the runs of an execution have shown.

        Parameters
        ----------
        execution : Execution
            Which one.
        visits : sequence of _Visit
            Its loops.
        env : Environment
            What its values were at the end.
        data : set of int
            Numbers of the values that data decided: those need not repeat.
        """
        for visit in visits:
            visit.problems = self._without(visit.problems, data)
            group = self.trips.group_of(visit.loop)
            if group is None:
                continue
            self.periods[group] = math.lcm(self.periods.get(group, 1), visit.period)
            if execution.counts[group] >= _FEWEST:
                self._counts.setdefault((group, execution.counts[group]), _Counts()).add(visit)
                self._note(group, visit.problems)
        for group, count in execution.counts.items():
            self._ran.setdefault((group, frozenset(execution.choices.items())), set()).add(count)
            loops = self.trips.groups[group].loops
            motion = CountMotion(self.trips, self.trips.groups[group], count, lambda value: number(value, env))
            for control in self.controls.of(self._kernel.body):
                if control.value in env and control.loop not in loops:
                    motion.keep_still(control.value, control.what)
            self.controls.drifts(self._kernel.body, motion)
            self._lone.setdefault(group, []).append(motion)
            self._note(group, self._without(motion.problems, data))

    def cut_short(self, problem: str) -> None:
        """Not everything was run."""
        for index, group in enumerate(self.trips.groups):
            self._note(index, [Problem(group.bound, problem)])

    def of(self, group: int, limit: int) -> Proven | Unproven:
        """What is proven of the counts of a group beyond `limit`, up to which all were run."""
        if self._problems.get(group):
            return Unproven(group, tuple(problem.text for problem in self._problems[group]))
        if limit < _FEWEST:
            return Unproven(group, (f"fewer than {_FEWEST} trips do not show whether the states repeat",))
        loops = frozenset(self.trips.groups[group].loops)
        last = self._counts.get((group, limit))
        if last is None or not loops <= last.loops:
            return Unproven(group, ("a loop of this count is reached only by special arguments",))
        motions = self._lone[group]
        step = motions[0].stride
        period = math.lcm(*(motion.period for motion in motions))
        settle = max(motion.settle for motion in motions)
        for distance in range(period, limit - max(0, settle) + 1, period):
            # What goes on beyond the limit does so for each way in which conditions on arguments are chosen.
            if all(self._covers(group, ran, distance, step) for ran in self._going_on(group, limit)):
                return Proven(group, distance)
        return Unproven(group, ())

    def _going_on(self, group: int, limit: int) -> list[set[int]]:
        """The counts that were run with the same conditions, where that was done up to a limit."""
        return [ran for (index, _), ran in self._ran.items() if index == group and max(ran) >= limit]

    def _covers(self, group: int, ran: Set[int], distance: int, step: int) -> bool:
        """Whether the last `distance` counts were run, and repeat at that distance."""
        last = range(max(ran) - distance + 1, max(ran) + 1)
        return all(n in ran and self._repeats(group, n, distance * step) for n in last)

    def _repeats(self, group: int, count: int, distance: int) -> bool:
        found = self._counts.get((group, count))
        if found is None:
            return count >= _FEWEST
        return found.repeats is None or distance in found.repeats

    def _without(self, problems: Sequence[Problem], data: Set[int]) -> list[Problem]:
        return [problem for problem in problems if self.trips.numbers[problem.value] not in data]

    def _note(self, group: int, problems: Sequence[Problem]) -> None:
        known = self._problems.setdefault(group, [])
        known.extend(problem for problem in problems if problem not in known)


class Recording:
    """The states at the heads of loops in the runs of one execution (see `Heads`).

    Parameters
    ----------
    proof : Proof
        Whom to tell.
    execution : Execution
        With no decisions.
    """

    def __init__(self, proof: Proof, execution: Execution) -> None:
        self.merged_at: int | None = None
        self._proof = proof
        self._execution = execution
        self._visits: dict[tuple[int, Iteration], _Visit] = {}
        self._fresh: dict[tuple[int, Iteration], tuple[LoopMotion, Mapping[Value, Drift]]] = {}
        self._seen: set[Hashable] = set()
        self._pass: HappensBefore | None = None
        self._stores: Mapping[int, Record] = {}
        self._decided = 0
        self._env: Environment = {}
        self._data: set[int] = set()

    def attach(self, happens_before: HappensBefore, stores: Mapping[int, Record], decided: int) -> None:
        """Look at one run; what is decided on data in advance is new, all behind it may merge with another run."""
        self._pass, self._stores, self._decided = happens_before, stores, decided
        self.merged_at = None
        self._fresh.clear()

    def detach(self) -> None:
        """The run is over."""
        self._pass = None

    def decided_by_data(self, numbers: Iterable[int]) -> None:
        """Take the numbers of the values that data decided in a run."""
        self._data.update(numbers)

    def finish(self) -> None:
        """All runs are over."""
        self._proof.add(self._execution, tuple(self._visits.values()), self._env, self._data)

    def head(
        self, loop: For, iteration: Iteration, carried: Sequence[RuntimeValue], env: Environment, decided: Decided
    ) -> None:
        """Keep the state at the head of an iteration."""
        if self._pass is None:
            return
        self._env = env
        group = self._proof.trips.group_of(loop)
        if not decided.number and (group is None or self._execution.counts[group] < _FEWEST):
            return
        ordinal = iteration[-1]
        key = loop.uid, iteration[:-1]
        if key not in self._fresh:
            self._fresh[key] = self._motion(loop, group, env)
            self._visit(key, loop, *self._fresh[key])
        motion, drifts = self._fresh[key]
        visit = self._visits[key]
        state = self._state(loop, motion, drifts, ordinal, carried), decided.still_open
        if ordinal == motion.count:
            self._end(visit, drifts)
        visit.states[ordinal].add(state)
        if decided.number >= self._decided and self.merged_at is None and (key, ordinal, state) in self._seen:
            self.merged_at = decided.number
        self._seen.add((key, ordinal, state))

    def _visit(self, key: tuple[int, Iteration], loop: For, motion: LoopMotion, drifts: Mapping[Value, Drift]) -> None:
        visit = self._visits.get(key)
        if visit is None:
            count = motion.count
            states: _States = [set() for _ in range(count + 1)]
            visit = self._visits[key] = _Visit(loop, count, motion.step, 1, 0, 0, drifts, [], states)
        if visit.drifts != drifts:
            motion.refuse(loop.induction, "accesses move in several ways")
        visit.add(motion)

    def _motion(self, loop: For, index: int | None, env: Environment) -> tuple[LoopMotion, Mapping[Value, Drift]]:
        trips, controls = self._proof.trips, self._proof.controls
        group = None if index is None else trips.groups[index]
        motion = LoopMotion(trips, loop, group, lambda value: number(value, env))
        if index is None:
            return motion, {}
        for control in controls.of(loop.body):
            motion.keep_still(control.value, control.what)
        drifts = controls.drifts(loop.body, motion)
        for value in loop.carried:
            motion.of(value)
        return motion, drifts

    def _state(
        self,
        loop: For,
        motion: LoopMotion,
        drifts: Mapping[Value, Drift],
        ordinal: int,
        carried: Sequence[RuntimeValue],
    ) -> Hashable:
        assert self._pass is not None

        def shift(pointer: Value) -> int:
            return drifts[pointer].after(ordinal) if pointer in drifts else 0

        held = tuple(
            _held(now) for value, now in zip(loop.carried, carried, strict=True) if value not in motion.counters
        )
        return self._proof.canonical.of(self._pass.state(), self._stores, shift), held

    def _end(self, visit: _Visit, drifts: Mapping[Value, Drift]) -> None:
        """An access that what comes behind the loop can meet must not depend on how often the loop went round."""
        assert self._pass is not None
        controls, is_nested = self._proof.controls, self._proof.trips.depth_of(visit.loop.induction) > 1
        for pointer in self._proof.canonical.open_pointers(self._pass.state(), self._stores):
            if not is_nested and controls.is_confined(pointer, visit.loop.body):
                continue
            if pointer in drifts and drifts[pointer].bytes:
                problem = Problem(pointer, f"accesses of {pointer.name} stay open behind the loop")
                visit.problems.extend([] if problem in visit.problems else [problem])


def _held(value: RuntimeValue) -> Hashable:
    """A carried value as part of a state."""
    match value:
        case TileRef():
            return value.type, value.address, value.footprint
        case MultiTileRef():
            return value.type, value.address
        case _:
            return value
