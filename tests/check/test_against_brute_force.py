"""The check against the brute force, on random programs.

Of one execution both must say the same (with the exceptions of `tests.check.comparison`). Over trip counts the check
must find what the brute force finds in any execution of up to `LIMIT` rounds, and nothing else; what only shows in
executions in which a condition other than `%flag` was given a value may be more, since whether arguments can give it is
not always known to the check.

`pytest --hypothesis-profile=long` runs thousands of programs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncopt.check import Finding, check_kernel, judge
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import If, Kernel
from syncopt.ir.trace import Instance, Iteration, Overrides, Tracer
from tests.check.brute_force import Outcome, TooManyStatesError, Waits, explore, id_reuse
from tests.check.comparison import Faults, disagreements, known, loads, told, wrong_grades
from tests.check.random_programs import Kinds, programs
from tests.check.statements import Condition, Program, arguments

MACHINE = load_machine("910b2")
LONG = settings.get_current_profile_name() == "long"
TIMES = 20 if LONG else 1
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
MOST_STATES = 4000
LIMIT = 2
"""Trip counts that `check_kernel` is asked to force."""


def labels(lazy: Outcome, eager: Outcome) -> Iterator[str]:
    """What kinds of trace one is."""
    kinds = {"race": lazy.races, "deadlock": lazy.deadlock, "left": lazy.left, "undrained": lazy.undrained}
    shown = [name for name, is_shown in kinds.items() if is_shown]
    yield from shown
    yield f"id {id_reuse(lazy, eager).value}"
    if not shown and not lazy.doubles:
        yield "clean"


@pytest.mark.parametrize("examples", [400 * TIMES])
def test_one_execution(examples: int):
    """Every finding is known to the brute force, and the other way round; all kinds of trace are frequent."""
    tally = Counter[str]()

    @settings(max_examples=examples, deadline=None, derandomize=not LONG, suppress_health_check=SLOW)
    @given(programs(Kinds()), st.sampled_from([2, 1, 3, 0]), st.sampled_from([1, 2, 0]), st.integers(0, 1))
    def compare(program: Program, n: int, m: int, flag: int):
        kernel, where = program.kernel(), arguments(n, m, flag)
        trace = list(Tracer(kernel, where))
        try:
            lazy, eager = (explore(trace, waits, MOST_STATES) for waits in Waits)
        except TooManyStatesError:
            tally["too long"] += 1
            return
        tally.update(("all", *labels(lazy, eager)))
        findings = judge(kernel, where, MACHINE).findings
        brute = known(trace, lazy)
        assert not list(disagreements(told(kernel, findings), brute)), program
        assert brute.races or not list(wrong_grades(findings, trace, lazy, eager)), program

    compare()
    assert tally["too long"] < tally["all"] / 10
    least = {"clean": 0.3, "race": 0.08, "deadlock": 0.04, "left": 0.05, "undrained": 0.05}
    least |= {"id eager": 0.02, "id timed": 0.02, "id certain": 0.005}
    assert {name for name, share in least.items() if tally[name] < share * tally["all"]} == set(), tally


class Decisions(Overrides):
    """The first conditions on data go as told, the others hold.

    In random programs such a condition depends on the variable of the innermost loop alone: ifs that ask for the same
    in the same round go the same way.
    """

    def __init__(self, program: Program, first: tuple[bool, ...]) -> None:
        asked = (re.match(r"%q(\d+) = arith.divsi (%i\d*)", line) for line in program.lines)
        self._variables = {f"%e{found[1]}": found[2] for found in asked if found}
        self._first = first
        self._known: dict[tuple[str, Iteration], bool] = {}

    def others(self) -> Iterator[tuple[bool, ...]]:
        """Which ways to go next, so that in the end all were gone once."""
        taken = tuple(self._known.values())
        return ((*taken[:at], not taken[at]) for at in range(len(self._first), len(taken)))

    def unknown_branch(self, op: If, iteration: Iteration) -> bool:
        """As told."""
        key = self._variables[op.condition.name], iteration
        if key not in self._known:
            at = len(self._known)
            self._known[key] = self._first[at] if at < len(self._first) else True
        return self._known[key]


def executions(program: Program, kernel: Kernel, rounds: range) -> Iterator[tuple[int, int, list[Instance]]]:
    """The traces for all arguments of which `%n` and `%m` are in a range, with these two.

    Each in all ways that conditions on data can go.
    """
    text = "\n".join(program.lines)
    choices = (rounds if "%n" in text else (1,), rounds if "%m" in text else (1,), (0, 1) if "%flag" in text else (0,))
    for n, m, flag in product(*choices):
        waiting: list[tuple[bool, ...]] = [()]
        while waiting:
            decisions = Decisions(program, waiting.pop())
            yield n, m, list(Tracer(kernel, arguments(n, m, flag), decisions))
            waiting += decisions.others()


def is_long(trace: Iterable[Instance]) -> bool:
    """Whether a loop goes round more than `LIMIT` times."""
    return any(ordinal >= LIMIT for instance in trace for ordinal in instance.iteration)


ON_ARGUMENTS = Kinds(bounds=("%n", "%n", "%m"), size=5)
ON_DATA = Kinds(
    bounds=("%n", "%c1"), size=4, in_loops=(Condition.DATA, Condition.DATA, Condition.MORE), in_turn=Condition.DATA
)

ON_ONE_BOUND = Kinds(bounds=("%n",), size=4)


@pytest.mark.parametrize(
    ("kinds", "examples"),
    [(ON_ARGUMENTS, 200 * TIMES), (ON_DATA, 120 * TIMES)],
    ids=["conditions on arguments", "conditions on data"],
)
def test_all_trip_counts(kinds: Kinds, examples: int):
    """The check finds what any of the executions shows, and nothing that none shows."""
    tally = Counter[str]()

    @settings(max_examples=examples, deadline=None, derandomize=not LONG, suppress_health_check=SLOW)
    @given(programs(kinds))
    def compare(program: Program):
        kernel = program.kernel()
        findings = check_kernel(kernel, arguments(2, 1), MACHINE, limit=LIMIT).findings
        check, possible = told(kernel, findings), Faults()
        for n, m, trace in executions(program, kernel, range(2 * LIMIT + 1)):
            if is_long(trace):
                continue
            try:
                brute = known(trace, explore(trace, Waits.LAZY, MOST_STATES))
            except TooManyStatesError:
                tally["too long"] += 1
                return
            possible |= brute.most
            if max(n, m) <= LIMIT:
                assert not brute.sure_races or brute.sure_races & check.races, program
                assert brute.races or loads(brute.unfenced) <= loads(check.unfenced), program
                assert check | brute.firm == check, program
        tally.update(("all", *(name for name in vars(possible) if getattr(possible, name))))
        tally["clean"] += possible == Faults()
        assert told(kernel, filter(is_of_arguments, findings)) | possible == possible, program

    compare()
    assert tally["too long"] < tally["all"] / 10
    least = {"clean": 0.2} | dict.fromkeys(("deadlock", "races", "left", "undrained", "early"), 0.02)
    assert {name for name, share in least.items() if tally[name] < share * tally["all"]} == set(), tally


def is_of_arguments(finding: Finding) -> bool:
    """Whether arguments give the execution that shows a finding, and no loop goes round more than `LIMIT` times."""
    execution = finding.execution
    if execution is None:
        return True
    return "%e" not in str(execution) and max(execution.counts.values(), default=0) <= LIMIT


@pytest.mark.parametrize("examples", [100 * TIMES])
def test_proven_trip_counts(examples: int):
    """Where few rounds are said to stand for any number, up to six show nothing else."""
    tally = Counter[str]()

    @settings(max_examples=examples, deadline=None, derandomize=not LONG, suppress_health_check=SLOW)
    @given(programs(ON_ONE_BOUND).filter(lambda program: program.has_loop))
    def compare(program: Program):
        kernel = program.kernel()
        report = check_kernel(kernel, arguments(2, 1), MACHINE, limit=LIMIT + 1)
        tally["all"] += 1
        if report.errors or report.unproven:
            return
        tally["proven"] += bool(report.proven)
        check = told(kernel, report.findings)
        for _, _, trace in executions(program, kernel, range(LIMIT + 2, 7)):
            tally["compared"] += 1
            try:
                brute = known(trace, explore(trace, Waits.LAZY, MOST_STATES // 2))
            except TooManyStatesError:
                tally["too long"] += 1
                continue
            assert not brute.races, program
            assert loads(brute.unfenced) <= loads(check.unfenced), program
            assert check | brute.firm == check, program

    compare()
    assert tally["proven"] > tally["all"] / 4
    assert tally["too long"] < tally["compared"] / 2
