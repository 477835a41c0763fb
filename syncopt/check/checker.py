"""The check of a kernel over all trip counts and branches, and the judgement of one execution."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from syncopt.check.arms import Deciding
from syncopt.check.execution import AS_GIVEN, Branches, Execution, ExecutionTrips
from syncopt.check.executions import Executions
from syncopt.check.faults import Fault, Grading
from syncopt.check.findings import SEVERITIES, Finding, FindingKind, Judgement, Report, Severity, errors_of
from syncopt.check.inspection import Inspector, Rules, Watched
from syncopt.check.proof import Proof, Proven, Recording, Unproven
from syncopt.check.starts import Start, other_starts, words_of
from syncopt.check.wording import line_of
from syncopt.hwmodel import Machine
from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import NO_ASSUMPTIONS, Assumptions
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.ir.types import PointerType

LIMIT = 5
"""The largest trip count that is forced in any case."""

RULES = Rules()
_ONE_EXECUTION = Rules(Grading(undrained=Severity.WARNING))

_HIGHER_LIMITS = (6, 7, 8, 10, 12, 16, 20, 27)
"""Up to which trip counts a repeat is looked for."""

_MOST_WAYS = 200
"""How many runs of one execution are made, for all that conditions on data can decide in it."""


def check_kernel(
    kernel: Kernel,
    setting: Setting,
    machine: Machine,
    assumptions: Assumptions = NO_ASSUMPTIONS,
    limit: int = LIMIT,
    rules: Rules = RULES,
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
        Every loop whose count depends on arguments is run 0 to `limit` times at least.
    rules : Rules
        How strictly.

    Raises
    ------
    InputError
        If no execution at all can be traced, or an op is not modelled.
    """
    executions = Executions(TripCounts(kernel), assumptions, limit)
    return _Check(kernel, setting, executions, Inspector(kernel, machine, rules)).report(assumptions)


def judge(kernel: Kernel, setting: Setting, machine: Machine) -> Judgement:
    """Judge the one execution that the given arguments make: its hang, double sets, flags left up and races.

    A store that may not be complete at its end is only a warning here.
    """
    inspector = Inspector(kernel, machine, _ONE_EXECUTION)
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
        """Keep the faults of an execution that are new, that are worse in it, or that it shows in fewer steps."""
        for fault in faults:
            key = (fault.kind, *fault.ops)
            known = self._found.get(key)
            if known is None or _is_better(fault, execution, known):
                line = line_of(self._kernel, fault.ops[-1])
                uids = tuple(op.uid for op in fault.ops)
                self._found[key] = Finding(
                    fault.kind, fault.severity, uids, line, fault.message, execution, fault.iteration, fault.hint
                )

    def findings(self) -> tuple[Finding, ...]:
        """By line; of a flag that is set twice nothing more is said."""
        twice = {finding.ops for finding in self._found.values() if finding.kind is FindingKind.DOUBLE_SET}
        found = (
            finding
            for finding in self._found.values()
            if finding.kind is not FindingKind.ID_REUSE or finding.ops not in twice
        )
        return tuple(sorted(found, key=lambda finding: (finding.line, finding.ops, str(finding.kind))))


def _is_better(fault: Fault, execution: Execution | None, known: Finding) -> bool:
    """Whether a fault says more than what is known of the same ops."""
    if fault.severity is not known.severity:
        return SEVERITIES.index(fault.severity) < SEVERITIES.index(known.severity)
    return execution is not None and known.execution is not None and execution.size() < known.execution.size()


def _doubtful(faults: Iterable[Fault], where: str) -> Iterator[Fault]:
    """The faults as warnings: what is executed is not known to be."""
    for fault in faults:
        is_error = fault.severity is Severity.ERROR
        yield fault._replace(severity=Severity.WARNING, message=f"{where}: {fault.message}") if is_error else fault


class _Check:
    def __init__(self, kernel: Kernel, setting: Setting, executions: Executions, inspector: Inspector) -> None:
        self._kernel = kernel
        self._setting = setting
        self._executions = executions
        self._inspector = inspector
        self._proof = Proof(kernel, executions.trips)
        self._loops = {loop.op.span for loop in executions.trips.loops}
        self._collected = _Collected(kernel)
        self._run = 0
        self._reached: set[int] = set()
        self._timed = False
        self._starts: list[Start] = []
        self._inspected: list[Execution] = []
        self._unreachable = False
        self._doubted: dict[str, None] = {}
        self._open_queues = False
        self._untraced: list[tuple[Execution, InputError]] = []

    def report(self, assumptions: Assumptions) -> Report:
        """Run executions until they stand for all, or no more can be run."""
        self._collected.add(self._inspector.illegal, None)
        self._inspect_all(self._executions)
        if not self._run:
            raise self._nothing_run()
        if not errors_of(self._collected.findings()):
            self._look_for_repeats()
            self._inspect_other_starts(assumptions)
            self._look_for_repeats()
        self._inspect_missed()
        findings = self._collected.findings()
        proven, unproven = tuple(self._proven()), tuple(self._unproven())
        covers, taken = self._executions.covers, tuple(self._taken(assumptions))
        return Report(findings, self._run, covers, taken, proven, unproven)

    # -- running ---------------------------------------------------------------------------------------------------

    def _inspect_all(self, executions: Iterable[Execution]) -> None:
        for execution in executions:
            self._inspect(execution)

    def _inspect_other_starts(self, assumptions: Assumptions) -> None:
        """Run what other arguments and blocks make of the starts of loops, of ids and of slots."""
        controls = self._proof.controls.of(self._kernel.body)
        chosen = [control.value for control in controls if control.what in ("event id", "slot")]
        trips, periods = self._executions.trips, self._proof.periods
        for start in other_starts(trips, self._setting, assumptions, periods, chosen):
            before = self._run
            self._inspect_all(self._executions.from_start(start))
            if self._run > before:
                self._starts.append(start)

    def _inspect_missed(self) -> None:
        """Run the arms of ifs that nothing has reached.

        Where all trip counts are covered, no arguments lead into an arm that trip counts alone decide about: what is
        wrong there is only doubtful.
        """
        unforced = frozenset(self._reached)
        self._inspect_arms(unforced, Deciding.OTHER_THINGS)
        self._unreachable = not any(self._untold())
        self._inspect_arms(unforced, Deciding.TRIP_COUNTS)

    def _inspect_arms(self, unforced: Set[int], deciding: Deciding) -> None:
        """Run arms, and then those in them, as long as that reaches more."""
        known = -1
        while len(self._reached) > known:
            known = len(self._reached)
            led = list(self._executions.led_into(self._reached, unforced))
            self._inspect_all(execution for execution in led if execution not in self._inspected)
            self._inspect_all(list(self._executions.missed(self._reached, unforced, deciding)))

    def _look_for_repeats(self) -> None:
        """Raise the limits of the loops whose states have not repeated yet."""
        for limit in _HIGHER_LIMITS:
            for group in self._open_groups():
                raised = list(self._executions.raised(group, limit))
                self._inspect_all(raised)
                self._inspect_all(execution.starting(start) for start in self._starts for execution in raised)

    def _open_groups(self) -> list[int]:
        """Groups of loops of which nothing is proven yet, and nothing stands against a proof."""
        found: list[int] = []
        for group, limit in enumerate(self._executions.limits):
            outcome = self._proof.of(group, limit)
            _, most = self._executions.trip_range(group)
            if isinstance(outcome, Unproven) and not outcome.problems and (most is None or most > limit):
                found.append(group)
        return found

    def _inspect(self, execution: Execution) -> None:
        """Run an execution in all ways that conditions on data can decide, up to those that lead to a state that
        another way has led to."""
        self._inspected.append(execution)
        recording = self._proof.start(execution)
        ways: list[tuple[bool, ...]] = [()]
        made = 0
        while ways and made < _MOST_WAYS:
            decisions = ways.pop()
            taken = self._decided(execution.deciding(decisions), recording)
            if taken is None:
                return
            made += 1
            fresh = len(taken) if recording.merged_at is None else recording.merged_at
            ways += [(*taken[:at], not taken[at]) for at in range(len(decisions), fresh)]
        if ways:
            self._proof.cut_short(f"more than {_MOST_WAYS} ways through conditions on data")
            for branches in (Branches.ELSE, Branches.ALTERNATING):
                self._decided(replace(execution, branches=branches), recording)
        recording.finish()

    def _decided(self, execution: Execution, recording: Recording) -> tuple[bool, ...] | None:
        """Run an execution in one way and say what conditions on data decided; None if it cannot be traced."""
        runs: list[ExecutionTrips] = []

        def trace() -> Iterator[Instance]:
            setting = execution.setting(self._setting)
            overrides = execution.overrides(self._executions.trips, setting, recording)
            runs.append(overrides)
            for instance in Tracer(self._kernel, setting, overrides):
                self._reached.add(instance.op.uid)
                yield instance

        try:
            inspection = self._inspector.inspect(trace, Watched(recording, len(execution.decisions)))
        except InputError as error:
            # Forced counts can leave a bound that is computed from them undefined, and other arguments a slot;
            # anything else is wrong as such.
            if error.span not in self._loops and execution.start is None:
                raise
            self._untraced.append((execution, error))
            return None
        self._run += 1
        self._open_queues = self._open_queues or inspection.open_queues
        self._timed = self._timed or inspection.replay is not None
        self._collected.add(self._known(inspection.faults, execution), execution)
        recording.decided_by_data(runs[0].data)
        return tuple(runs[0].taken)

    def _known(self, faults: tuple[Fault, ...], execution: Execution) -> Iterable[Fault]:
        """Faults, as far as it is known that an execution can happen."""
        if self._unreachable:
            return _doubtful(faults, "in a branch that no arguments lead to")
        if any(fault.severity is Severity.ERROR for fault in faults) and self._executions.excludes(execution):
            self._doubted[self._executions.words_of(execution.choices)] = None
            return _doubtful(faults, "where conditions come together as no arguments are known to give them")
        return faults

    def _nothing_run(self) -> InputError:
        """Why no execution at all could be run."""
        if self._untraced:
            return self._untraced[0][1]
        kernel, message = self._kernel, "the trip counts that are assumed make too many instructions to be followed"
        return InputError(
            message, kernel.source, kernel.span, "assume smaller counts: what repeats does so in these, too"
        )

    # -- words -----------------------------------------------------------------------------------------------------

    def _proven(self) -> Iterator[str]:
        """What is proven of all trip counts."""
        executions = self._executions
        for group, limit in enumerate(executions.limits):
            low, most = executions.trip_range(group)
            outcome = self._proof.of(group, limit)
            if most is not None and most <= limit:
                yield f"all trip counts {max(low, 0)}..{most} of the {executions.label(group)}"
            elif isinstance(outcome, Proven):
                yield f"all trip counts >= {max(low, 0)} of the {executions.label(group)}, period {outcome.period}"

    def _unproven(self) -> Iterator[str]:
        """What is not proven, and why."""
        yield from self._untold()
        for words in self._doubted:
            yield f"whether any arguments give {words}: there it would be wrong"

    def _untold(self) -> Iterator[str]:
        """The executions of which nothing is known, and why."""
        executions = self._executions
        for group, limit in enumerate(executions.limits):
            _, most = executions.trip_range(group)
            outcome = self._proof.of(group, limit)
            if isinstance(outcome, Unproven) and (most is None or most > limit):
                why = "; ".join(outcome.problems) or "the states did not repeat"
                yield f"more than {limit} trips of the {executions.label(group)}: {why}"
        for execution, error in self._untraced:
            yield f"not run: {execution}: {error.message}"
        for words in executions.unaffordable:
            yield f"not run: {words}: too many rounds at least"

    def _taken(self, assumptions: Assumptions) -> Iterator[str]:
        """What the verdict takes for granted, in words."""
        executions, setting = self._executions, self._setting
        yield from assumptions.texts
        yield "block_num >= 1, 0 <= block_idx < block_num"
        if sum(isinstance(argument.type, PointerType) for argument in self._kernel.arguments) > 1:
            yield "different pointer arguments do not alias"
        given = ", ".join(f"{name} = {value}" for name, value in setting.arguments.items())
        where = f"block {setting.block_idx} of {setting.block_num}"
        starts = f"; starts of loops, ids and slots for {words_of(self._starts)} too" if self._starts else ""
        yield f"what is not forced is computed for {given + ', ' if given else ''}{where}{starts}"
        if executions.trips.groups:
            yield "loop variables do not overflow"
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
        if self._timed and executions.trips.groups:
            yield "what only times can tell (ids reused, full queues) is told by the executions that were run"
