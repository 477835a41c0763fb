"""What is called proven holds for far trip counts, of values that loops carry and hand out.

As in `tests.check.test_proof_random`, but what decides is made of what a loop before has counted (%r), of what the loop
carries (%h) and hands out (%end), and of what branches hand out, too. Behind the loop a second condition decides. No
count that is called right may ever set the flags that nobody waits for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from hypothesis import event, given, settings
from hypothesis import strategies as st

from syncopt.check import Verdict, check_kernel
from syncopt.ir.kernel import Kernel, SetFlag
from syncopt.ir.source import InputError
from syncopt.ir.trace import Tracer
from tests.check.kernels import setting, vector_kernel
from tests.check.test_proof_random import FAR, MACHINE, Answers

OPS = ("addi", "addi", "subi", "muli", "remsi", "divsi", "minsi", "maxsi", "choose", "choose")
BEFORE = ("%k0", "%k1", "%n", "%c0", "%c0")
INSIDE = ("%h", "%h", "%h", "%i", "%i", "%k0", "%k1", "%c1", "%n", "%r", "made", "made", "made")
BEHIND = ("%end", "%r", "%n", "%k0")
Step = tuple[str, str, str]


@dataclass(frozen=True)
class Program:
    """How both loops start, what the first adds up and the second computes and carries on, and the two conditions."""

    constants: tuple[int, int]
    starts: tuple[str, str]
    added: str
    ops: tuple[Step, ...]
    carried: str
    inside: tuple[Step, int]
    behind: tuple[Step, int]

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of the comparisons."""
        chosen = (f"%q{number}" for number, (op, _, _) in enumerate(self.ops) if op == "choose")
        return (*chosen, "%inside", "%behind")

    def text(self) -> str:
        """The lines of the kernel."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from (f"%k{number} = arith.constant {constant} : index" for number, constant in enumerate(self.constants))
        yield f"%r = scf.for %j = %c0 to %n step %c1 iter_args(%s = {self.starts[0]}) -> (index) {{"
        yield f"%sum = arith.addi %s, {self.added} : index\nscf.yield %sum : index\n}}"
        yield f"%end = scf.for %i = %c0 to %n step %c1 iter_args(%h = {self.starts[1]}) -> (index) {{"
        latest = "%h"
        for number, step in enumerate(self.ops):
            op, a, b = (latest if name == "made" else name for name in step)
            made = f"%w{number}"
            if op == "choose":
                yield f"%q{number} = arith.cmpi slt, {a}, {b} : index\n{made} = scf.if %q{number} -> (index) {{"
                yield f"scf.yield {a} : index\n}} else {{\nscf.yield {latest} : index\n}}"
            else:
                yield f"{made} = arith.{op} {a}, {b} : index"
            latest = made
        yield from _fault("inside", self.inside, latest)
        yield f"scf.yield {latest if self.carried == 'made' else self.carried} : index\n}}"
        yield from _fault("behind", self.behind, "%end")
        yield "barrier ALL"


def _fault(name: str, condition: tuple[Step, int], latest: str) -> Iterator[str]:
    """A set where a value is, or is not, what a constant is."""
    (predicate, value, _), number = condition
    yield f"%{name}_ = arith.constant {number} : index"
    yield f"%{name} = arith.cmpi {predicate}, {latest if value == 'made' else value}, %{name}_ : index"
    yield f"scf.if %{name} {{\nset V MTE2 7\n}}"


def steps(names: tuple[str, ...], values: tuple[str, ...]) -> st.SearchStrategy[Step]:
    return st.tuples(st.sampled_from(names), st.sampled_from(values), st.sampled_from(values))


LATE = ("eq", "eq", "eq", "sgt")
PROGRAMS = st.builds(
    Program,
    constants=st.tuples(st.integers(1, 4), st.integers(0, 12)),
    starts=st.tuples(st.sampled_from(BEFORE), st.sampled_from(BEFORE)),
    added=st.sampled_from(("%c1", "%k0", "%j", "%s")),
    ops=st.lists(steps(OPS, INSIDE), min_size=1, max_size=4).map(tuple),
    carried=st.sampled_from(("made", "made", "%i", "%h", "%k1")),
    inside=st.tuples(steps(LATE, INSIDE), st.integers(5, 30)),
    behind=st.tuples(steps(LATE, BEHIND), st.integers(5, 30)),
)


def traces(program: Program, kernel: Kernel, rounds: int) -> Iterator[Tracer]:
    """All that comparisons without a value can make of a number of rounds."""
    names = program.compared
    for answers in product((0, 1), repeat=len(names)):
        yield Tracer(kernel, setting(n=rounds), Answers(dict(zip(names, answers, strict=True))))


def fails(program: Program, kernel: Kernel, rounds: int) -> bool:
    """Whether a flag is set for a number of rounds."""
    try:
        return any(isinstance(instance.op, SetFlag) for instance in Tracer(kernel, setting(n=rounds)))
    except InputError:
        return any(isinstance(i.op, SetFlag) for trace in traces(program, kernel, rounds) for i in trace)


@given(PROGRAMS)
@settings(max_examples=150, deadline=None)
def test_clean_for_all_counts_is_clean_for_many(program: Program) -> None:
    kernel = vector_kernel(program.text())
    report = check_kernel(kernel, setting(n=4), MACHINE)
    event(f"{report.verdict}, {'not proven' if report.unproven else 'proven'}")
    if report.verdict is Verdict.CLEAN and not report.unproven:
        assert not any(fails(program, kernel, rounds) for rounds in range(FAR))
