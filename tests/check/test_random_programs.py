"""Which kinds of kernels random programs are: what is never drawn is never compared with the brute force."""

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.check.random_programs import Kinds, programs
from tests.check.short_kernels import Pipeline
from tests.check.statements import FLAGS, Program
from tests.check.test_against_brute_force import ON_ARGUMENTS, ON_DATA, ON_ONE_BOUND

MARKS = {
    "slot ": "rotating tile",
    "rows ": "view that moves",
    "iter_args": "value that is carried",
    "step %c2": "loop by twos",
    "= %c1 to": "loop from 1",
    "arith.remsi": "remainder",
    "} else {": "else",
}
KINDS = {
    *MARKS.values(),
    *("id at run time", "barrier of a pipe", "no barrier at the end", "several loops", "vector", "cube"),
    *(f"{inner} in {outer}" for inner in ("for", "if") for outer in ("for", "if")),
    *("set before the loop", "set before a loop in a loop"),
}


def lines_in(program: Program) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The lines, and the loops and branches around each."""
    around: list[str] = []
    for line in program.lines:
        if line.startswith("}"):
            around.pop()
        yield line, tuple(around)
        if line.endswith("{"):
            around.append("for" if "scf.for" in line else "if")


def kinds_of(program: Program) -> Iterator[str]:
    """What a program has."""
    before: set[str] = set()
    loops = 0
    yield "cube" if program.pipeline is Pipeline.CUBE else "vector"
    for line, around in lines_in(program):
        yield from (name for mark, name in MARKS.items() if mark in line)
        yield from (f"{what} in {outer}" for what in ("for", "if") if f"scf.{what} " in line for outer in around)
        loops += "scf.for" in line and not around
        if line.startswith("barrier") and line != "barrier ALL":
            yield "barrier of a pipe"
        if line.startswith(FLAGS):
            what, flag = line.split(" ", 1)
            if "%" in flag:
                yield "id at run time"
            if what == "set" and not around:
                before.add(flag)
            elif what == "wait" and flag in before and "for" in around:
                yield "set before a loop in a loop" if around.count("for") > 1 else "set before the loop"
    if loops > 1:
        yield "several loops"
    if program.lines[-1:] != ("barrier ALL",):
        yield "no barrier at the end"


@pytest.mark.parametrize(
    "kinds",
    [Kinds(), ON_ARGUMENTS, ON_DATA, ON_ONE_BOUND],
    ids=["one execution", "arguments", "data", "one bound"],
)
def test_all_kinds_of_programs_are_drawn(kinds: Kinds):
    tally = Counter[str]()

    @settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    @given(st.data())
    def draw(data: st.DataObject):
        tally.update(set(kinds_of(data.draw(programs(kinds)))))

    draw()
    assert {name for name in KINDS if tally[name] < 2} == set(), tally
