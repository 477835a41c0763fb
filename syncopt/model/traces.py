"""The traces that flags are derived from and proven on: small trip counts, all ways through branches."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from syncopt.check import Branches, Execution
from syncopt.check.arms import Deciding
from syncopt.check.executions import Executions
from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import NO_ASSUMPTIONS
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting
from syncopt.model.rotation import most_slots
from syncopt.model.skeleton import Marked, Skeleton

_INNER_COUNTS = (1, 2, 3, 4)
_OUTER_COUNT = 2
_MOST_SLOTS = 16


def _reached(traces: Iterable[Skeleton]) -> frozenset[int]:
    """Uids of the ops that ran."""
    return frozenset(instance.op.uid for trace in traces for instance in trace.instances)


class Traces:
    """Makes the traces of one kernel without flags, in the order as written.

    Parameters
    ----------
    kernel : Kernel
        Without flags.
    setting : Setting
        Gives every value that is not forced.
    """

    def __init__(self, kernel: Kernel, setting: Setting) -> None:
        self._kernel = kernel
        self._setting = setting
        self._marked = Marked(kernel)
        self._trips = TripCounts(kernel)
        self._executions = Executions(self._trips, NO_ASSUMPTIONS, _OUTER_COUNT)
        self._added: list[Execution] = []

    def forced(self, failing: Sequence[Execution]) -> tuple[Skeleton, ...]:
        """One trace per execution, those left out in which forced counts leave the bound of a loop undefined."""
        found: list[Skeleton] = []
        self._add((*self._planned(), *failing), found)
        unforced = reached = _reached(found)
        known = None
        while reached != known:
            self._add(list(self._executions.led_into(reached, unforced)), found)
            self._add(list(self._executions.missed(reached, unforced, *Deciding)), found)
            known, reached = reached, _reached(found)
        return tuple(found)

    def _add(self, executions: Iterable[Execution], found: list[Skeleton]) -> None:
        for execution in executions:
            if execution in self._added:
                continue
            self._added.append(execution)
            trace, met_data = self._traced(execution)
            if trace is None:
                continue
            found.append(trace)
            if met_data and execution.branches is Branches.THEN:
                for branches in (Branches.ELSE, Branches.ALTERNATING):
                    other, _ = self._traced(self._execution(execution.counts, execution.choices, branches))
                    found.extend([other] if other is not None else [])

    def _planned(self) -> Iterator[Execution]:
        """Every trip count for the first way through the conditions on arguments, some for the other ways."""
        for number, choices in enumerate(self._choices()):
            for counts in trip_counts(self._trips, most_slots(self._kernel)) if number == 0 else self._some_counts():
                yield self._execution(counts, choices, Branches.THEN)
            for short in self._executions.shortfalls[1:]:
                for counts in self._some_counts():
                    yield self._executions.execution(counts, choices, Branches.THEN, short)

    def _choices(self) -> list[Mapping[int, bool]]:
        found: dict[tuple[tuple[int, bool], ...], Mapping[int, bool]] = {}
        for execution in self._executions:
            found.setdefault(tuple(sorted(execution.choices.items())), execution.choices)
        return list(found.values()) or [{}]

    def _some_counts(self) -> Iterator[dict[int, int]]:
        for count in (1, 2, 3):
            yield {number: count for number, _ in enumerate(self._trips.groups)}

    def _execution(self, counts: Mapping[int, int], choices: Mapping[int, bool], branches: Branches) -> Execution:
        return self._executions.execution(counts, choices, branches)

    def _traced(self, execution: Execution) -> tuple[Skeleton | None, bool]:
        """The trace of an execution, and whether it met a condition on data."""
        setting = execution.setting(self._setting)
        overrides = execution.overrides(self._trips, setting)
        try:
            trace = self._marked.skeleton(setting, overrides)
        except InputError as error:
            if error.span not in {loop.op.span for loop in self._trips.loops}:
                raise
            return None, False
        return trace, overrides.met_data


def trip_counts(trips: TripCounts, slots: int) -> Iterator[dict[int, int]]:
    """Trip counts to derive flags from.

    Two rounds outside with every small count inside, with two full rotations of the largest rotating tile, and loops
    that do not go round.

    Parameters
    ----------
    trips : TripCounts
        The loops by groups.
    slots : int
        The most slots of a rotating tile.
    """
    groups = range(len(trips.groups))
    if not trips.groups:
        yield {}
        return
    nested = any(group.depth for group in trips.groups)
    rotating = (2 * min(slots, _MOST_SLOTS) + 1,) if slots > 1 else ()
    for inner in (*_INNER_COUNTS, *rotating):
        yield {g: _OUTER_COUNT if nested and not trips.groups[g].depth else inner for g in groups}
    yield dict.fromkeys(groups, 3)
    for missing in groups:
        for others in (2, 1):
            yield {g: 0 if g == missing else others for g in groups}
