"""What is called proven holds for trip counts far beyond those that were run.

In a loop that is right, a flag is set that nobody waits for, under a condition made of the loop variable, the trip
count and constants. If the check calls the kernel clean for all trip counts, no trip count up to 40 may ever set that
flag; if it calls it wrong, one of them does, unless the condition was not followed. A comparison without a value (of a
quotient by 0) can go either way.
"""

from dataclasses import dataclass
from itertools import product

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from syncopt.check import Verdict, check_kernel
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel, SetFlag, Value
from syncopt.ir.runtime import Environment, RuntimeValue
from syncopt.ir.scalars import UNKNOWN
from syncopt.ir.trace import Overrides, Tracer
from tests.check.kernels import setting, vector_kernel

MACHINE = load_machine("910b2")
FAR = 40
BODY = """
set V MTE2 0
scf.for %i = %c0 to %n step %c1 {{
wait V MTE2 0
load t0
set MTE2 V 0
wait MTE2 V 0
add t1 t0
set V MTE2 0
barrier V
{condition}
scf.if %v{last} {{
set MTE2 V 7
}}
}}
wait V MTE2 0
barrier ALL
"""
ARITHMETIC = ("addi", "subi", "muli", "divsi", "remsi", "minsi", "maxsi", "floordivsi", "ceildivsi", "xori", "shli")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")


@dataclass(frozen=True)
class Chain:
    """Ops, each on two earlier values: %i, %n, constants, then the results in order; the last is compared."""

    constants: tuple[int, ...]
    ops: tuple[tuple[str, int, int], ...]
    comparisons: tuple[tuple[str, int, int], ...]
    joined: str

    def text(self) -> str:
        """The lines, of which the last makes the condition %v<number>."""
        names = ["%i", "%n"]
        lines: list[str] = []
        for number, constant in enumerate(self.constants):
            lines.append(f"%k{number} = arith.constant {constant} : index")
            names.append(f"%k{number}")
        for number, (op, a, b) in enumerate(self.ops):
            lines.append(f"%v{number} = arith.{op} {names[a % len(names)]}, {names[b % len(names)]} : index")
            names.append(f"%v{number}")
        conditions: list[str] = []
        for number, (predicate, a, b) in enumerate(self.comparisons, len(self.ops)):
            left, right = names[a % len(names)], names[b % len(names)]
            lines.append(f"%v{number} = arith.cmpi {predicate}, {left}, {right} : index")
            conditions.append(f"%v{number}")
        lines.append(f"%v{self.last} = arith.{self.joined} {conditions[0]}, {conditions[-1]} : i1")
        return "\n".join(lines)

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of the comparisons."""
        return tuple(f"%v{number}" for number, _ in enumerate(self.comparisons, len(self.ops)))

    @property
    def last(self) -> int:
        """Number of the condition."""
        return len(self.ops) + len(self.comparisons)


@dataclass(frozen=True)
class Answers(Overrides):
    """What comparisons without a value give."""

    given: dict[str, int]

    def value(self, value: Value, computed: RuntimeValue, env: Environment) -> RuntimeValue:
        """As computed, if it was."""
        del env
        return self.given.get(value.name, computed) if computed is UNKNOWN else computed


def steps(names: tuple[str, ...]) -> st.SearchStrategy[tuple[str, int, int]]:
    return st.tuples(st.sampled_from(names), st.integers(0, 9), st.integers(0, 9))


CHAINS = st.builds(
    Chain,
    constants=st.lists(st.integers(0, 12), min_size=2, max_size=3).map(tuple),
    ops=st.lists(steps(ARITHMETIC), max_size=4).map(tuple),
    comparisons=st.lists(steps(PREDICATES), min_size=1, max_size=2).map(tuple),
    joined=st.sampled_from(("andi", "ori")),
)


def kernel_of(chain: Chain) -> Kernel:
    return vector_kernel(BODY.format(condition=chain.text(), last=chain.last))


def fails(chain: Chain, kernel: Kernel, rounds: int) -> bool:
    """Whether the flag is set for a number of rounds."""
    names = chain.compared
    answers = (Answers(dict(zip(names, given, strict=True))) for given in product((0, 1), repeat=len(names)))
    traces = (Tracer(kernel, setting(n=rounds), answer) for answer in answers)
    return any(isinstance(instance.op, SetFlag) and instance.event == 7 for trace in traces for instance in trace)


@given(CHAINS)
@example(Chain((0, 0), (("divsi", 2, 2),), (("eq", 0, 1), ("eq", 2, 4)), "andi")).via("0 / 0 and what never holds")
@example(Chain((0, 0), (("divsi", 0, 0),), (("eq", 0, 1), ("eq", 0, 4)), "andi")).via("i / i and what never holds")
@settings(max_examples=80, deadline=None)
def test_clean_for_all_counts_is_clean_for_many(chain: Chain) -> None:
    kernel = kernel_of(chain)
    report = check_kernel(kernel, setting(n=4), MACHINE)
    wrong = any(fails(chain, kernel, rounds) for rounds in range(FAR))
    event(f"{report.verdict}, {'proven' if not report.unproven else 'not proven'}, {'wrong' if wrong else 'right'}")
    if report.verdict is Verdict.CLEAN and not report.unproven:
        assert not wrong
    if report.verdict is not Verdict.CLEAN and not report.unproven:
        assert wrong
