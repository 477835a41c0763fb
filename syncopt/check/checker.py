"""The check of a kernel over all trip counts and branches, and the judgement of one execution."""

from collections.abc import Iterable, Iterator

from syncopt.check.executions import AS_GIVEN, Branches, Execution, Executions
from syncopt.check.findings import Finding, Judgement, Report
from syncopt.check.inspection import Fault, Inspection, Inspector
from syncopt.check.wording import line_of
from syncopt.hwmodel import Machine
from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import NO_ASSUMPTIONS, Assumptions
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance, Overrides, Setting, Tracer
from syncopt.ir.types import PointerType

_NESTED_ARMS = 3
"""How often arms are looked for that nothing has reached: one arm can stand inside another."""

LIMIT = 5
"""The largest trip count that is forced."""


def check_kernel(
    kernel: Kernel,
    setting: Setting,
    machine: Machine,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    limit: int = LIMIT,
) -> Report:
    """Prove that a kernel has no race, no deadlock, no double set and no flag left up, or show how it fails.

    Parameters
    ----------
    kernel : Kernel
        With its flags and barriers.
    setting : Setting
        Gives every value that is not forced, and the addresses of tiles.
    machine : Machine
        Flag rules; its times only grade the reuse of an id.
    assumptions : Assumptions
        Restrict the arguments.
    limit : int
        Every loop whose count depends on arguments is run 0 to `limit` times.

    Raises
    ------
    InputError
        If no execution at all can be traced, or an op is not modelled.
    """
    return _Check(kernel, setting, machine, Executions(TripCounts(kernel), assumptions, limit)).report(assumptions)


def judge(kernel: Kernel, setting: Setting, machine: Machine) -> Judgement:
    """Judge the one execution that the given arguments make: its hang, double sets, flags left up and races."""
    inspector = Inspector(kernel, machine)
    inspection = inspector.inspect(lambda: Tracer(kernel, setting), always_replay=True)
    collected = _Collected(kernel)
    collected.add(inspector.illegal, None)
    collected.add(inspection.faults, Execution({}, {}, Branches.THEN, 0, AS_GIVEN))
    return Judgement(collected.findings(), inspection.replay)


class _Collected:
    """Findings by what they are about, each with its shortest execution."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._found: dict[tuple[object, ...], Finding] = {}

    def add(self, faults: Iterable[Fault], execution: Execution | None) -> None:
        """Keep the faults of an execution that are new, or that it shows in fewer steps."""
        for fault in faults:
            key = (fault.kind, fault.severity, *fault.ops)
            known = self._found.get(key)
            if known is None or _is_shorter(execution, known.execution):
                line = line_of(self._kernel, fault.ops[-1])
                uids = tuple(op.uid for op in fault.ops)
                self._found[key] = Finding(fault.kind, fault.severity, uids, line, fault.message, execution)

    def findings(self) -> tuple[Finding, ...]:
        """By line."""
        return tuple(sorted(self._found.values(), key=lambda finding: (finding.line, finding.ops, str(finding.kind))))


def _is_shorter(execution: Execution | None, known: Execution | None) -> bool:
    return execution is not None and known is not None and execution.size() < known.size()


class _Check:
    def __init__(self, kernel: Kernel, setting: Setting, machine: Machine, executions: Executions) -> None:
        self._kernel = kernel
        self._setting = setting
        self._executions = executions
        self._inspector = Inspector(kernel, machine)
        self._loops = {loop.op.span for loop in executions.trips.loops}
        self._collected = _Collected(kernel)
        self._run = 0
        self._reached: set[int] = set()
        self._open_queues = False
        self._untraced: list[tuple[Execution, InputError]] = []

    def report(self, assumptions: Assumptions) -> Report:
        """Run all executions."""
        self._collected.add(self._inspector.illegal, None)
        self._inspect_all(self._executions)
        for _ in range(_NESTED_ARMS):
            self._inspect_all(list(self._executions.missed(self._reached)))
        if not self._run and self._untraced:
            raise self._untraced[0][1]
        return Report(self._collected.findings(), self._run, self._executions.covers, tuple(self._taken(assumptions)))

    def _inspect_all(self, executions: Iterable[Execution]) -> None:
        """Run executions, and all ways through the conditions on data that they meet."""
        for execution in executions:
            if self._inspect(execution):
                for branches in (Branches.ELSE, Branches.ALTERNATING):
                    self._inspect(self._executions.execution(execution.counts, execution.choices, branches))

    def _trace(self, overrides: Overrides) -> Iterator[Instance]:
        for instance in Tracer(self._kernel, self._setting, overrides):
            self._reached.add(instance.op.uid)
            yield instance

    def _inspect(self, execution: Execution) -> bool:
        """Run one execution; whether a condition on data was met in it."""
        overrides = execution.overrides(self._executions.trips, self._setting)
        try:
            inspection: Inspection = self._inspector.inspect(lambda: self._trace(overrides))
        except InputError as error:
            # Forced counts can leave a bound that is computed from them undefined; anything else is wrong as such.
            if error.span not in self._loops:
                raise
            self._untraced.append((execution, error))
            return False
        self._run += 1
        self._open_queues = self._open_queues or inspection.open_queues
        self._collected.add(inspection.faults, execution)
        return overrides.met_data

    def _taken(self, assumptions: Assumptions) -> Iterator[str]:
        """What the verdict takes for granted, in words."""
        executions, setting = self._executions, self._setting
        yield from assumptions.texts
        yield "block_num >= 1, 0 <= block_idx < block_num"
        if sum(isinstance(argument.type, PointerType) for argument in self._kernel.arguments) > 1:
            yield "different pointer arguments do not alias"
        given = ", ".join(f"{name} = {value}" for name, value in setting.arguments.items())
        where = f"block {setting.block_idx} of {setting.block_num}"
        yield f"what is not forced is computed for {given + ', ' if given else ''}{where}"
        if executions.trips.groups:
            yield f"more than {executions.limit} iterations of a loop show nothing that fewer do not show"
        for loop in executions.trips.fixed:
            if not executions.trips.definitions.is_constant(loop.upper):
                yield f"{loop.induction.name.removeprefix('%')} loop (line {line_of(self._kernel, loop)}) as it comes"
        for text in executions.impossible:
            yield f"impossible and not run: {text}"
        if executions.reduced:
            yield f"fewer trip counts than 0..{executions.wanted_limit} in all combinations: there are too many"
        if executions.unexplored:
            names = ", ".join(executions.name_of(wanted) for wanted in executions.unexplored)
            yield f"conditions only as given, all true and all false: {names}"
        if self._open_queues:
            yield "no queue is full between a wait and its set: an op has no known cost, so that no replay can tell"
        for execution, error in self._untraced:
            yield f"not run: {execution}: {error.message}"
