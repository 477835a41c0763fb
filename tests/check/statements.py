"""What random kernels are made of: short lines, conditions and loops."""

from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import cycle, islice, product

from hypothesis import strategies as st

from syncopt.ir.kernel import Kernel
from syncopt.ir.trace import Setting
from tests.check.short_kernels import Pipeline, short_kernel

FLAGS = ("set ", "wait ")
OPS = ("load ", "store ", "add ", "put ", "extract ", "matmul ")
PAIRS = {
    Pipeline.VECTOR: ("MTE2 V", "V MTE2", "V MTE3", "MTE3 V", "MTE3 MTE2", "MTE2 MTE3", "S V", "V S", "MTE3 S"),
    Pipeline.CUBE: (
        *("MTE2 MTE1", "MTE1 MTE2", "MTE1 M", "M MTE1", "M FIX", "FIX M", "FIX MTE2", "MTE2 FIX", "M S", "FIX S"),
    ),
}
BARRIERS = {
    Pipeline.VECTOR: ("barrier V", "barrier ALL", "barrier MTE2", "barrier MTE3"),
    Pipeline.CUBE: ("barrier M", "barrier ALL", "barrier MTE1", "barrier FIX"),
}
QUIET = {
    Pipeline.VECTOR: ("load t3 x", "add t1 t1", "store t2 y"),
    Pipeline.CUBE: ("load a0 x", "extract l0 b0", "matmul d0 l1 r0", "store d2 y"),
}
"""Ops of different pipes that share nothing."""
ROTATED = ("t0", "t1", "t2", "t3", "a0", "a1", "b0")
"""Tiles in whose place a slot of the rotating tile can stand."""


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel in short lines."""

    pipeline: Pipeline
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((self.pipeline.name, *self.lines))

    @property
    def has_loop(self) -> bool:
        """Whether it has a loop."""
        return any("scf.for " in line for line in self.lines)

    def kernel(self) -> Kernel:
        """The kernel itself."""
        return short_kernel("\n".join(self.lines), self.pipeline)


def arguments(n: int = 0, m: int = 0, flag: int = 0) -> Setting:
    """Block 0 of 4 with the arguments of a short kernel."""
    return Setting({"n": n, "m": m, "flag": flag}, 0, 4)


_FORMS = {
    Pipeline.VECTOR: ("load tile from", "add tile tile", "store tile to", "put tile"),
    Pipeline.CUBE: ("load mat from", "extract operand mat", "matmul acc left right", "store acc to"),
}
_NAMES = {
    Pipeline.VECTOR: (
        {"tile": "t0 t1", "from": "x", "to": "y"},
        {"tile": "t2 t3", "from": "x", "to": "w"},
        {"tile": "t0 t1 t2 t3 p0 p1", "from": "x y z w", "to": "y z w"},
    ),
    Pipeline.CUBE: (
        {"mat": "a0 a1", "operand": "l0", "left": "l0", "right": "r0", "acc": "d0 d1", "from": "x", "to": "y"},
        {"mat": "b0", "operand": "l1", "left": "l1", "right": "r0", "acc": "d2", "from": "x", "to": "w"},
        {
            "mat": "a0 a1 b0",
            "operand": "l0 l1 r0",
            "left": "l0 l1",
            "right": "r0",
            "acc": "d0 d1 d2",
            "from": "x y z w",
            "to": "y z w",
        },
    ),
}
"""What the operands of the forms can be: in part 0, in part 1, in all."""
_STAGES = {
    Pipeline.VECTOR: (("load", "add", "store"), ("load", "put", "add", "store")),
    Pipeline.CUBE: (("load", "extract", "matmul", "store"),),
}


@st.composite
def chains(draw: st.DrawFn, pipeline: Pipeline, part: int | None, most: int) -> list[str]:
    """Ops one behind the other: of the stages of the pipeline in their order, or of any."""
    length, stages = draw(st.integers(2, most)), draw(st.sampled_from(_STAGES[pipeline]))
    first = draw(st.integers(-1, len(stages) - 1))
    kinds = [stages[(first + step) % len(stages)] if first >= 0 else None for step in range(length)]
    return [draw(ops(pipeline, part, kind)) for kind in kinds]


@cache
def ops(pipeline: Pipeline, part: int | None = None, kind: str | None = None) -> st.SearchStrategy[str]:
    """Tile ops, of one kind or each kind as often as another; those of the parts 0 and 1 share no bytes."""
    names = _NAMES[pipeline][2 if part is None else part]
    lines: dict[str, list[str]] = {}
    for form in _FORMS[pipeline]:
        name, *operands = form.split()
        lines[name] = [" ".join((name, *chosen)) for chosen in product(*(names[what].split() for what in operands))]
    if kind is not None:
        return st.sampled_from(lines[kind])
    most = max(map(len, lines.values()))
    return st.sampled_from([line for same in lines.values() for line in islice(cycle(same), most)])


class Condition(Enum):
    """What an `if` asks: the lines that give it, of the loop variable i, the bound n and a number k for its names.

    `DATA` divides by zero: what comes out is as little known as what is loaded from memory.
    """

    FLAG = ""
    PARITY = "%q{k} = arith.remsi {i}, %c2 : index\n%e{k} = arith.cmpi eq, %q{k}, %c0 : index"
    FIRST = "%e{k} = arith.cmpi eq, {i}, %c0 : index"
    FOURTH = "%e{k} = arith.cmpi eq, {i}, %c3 : index"
    DATA = "%q{k} = arith.divsi {i}, %c0 : index\n%e{k} = arith.cmpi eq, %q{k}, %c0 : index"
    MORE = "%q{k} = arith.addi {i}, %c1 : index\n%e{k} = arith.cmpi slt, %q{k}, {n} : index"
    SOME = "%e{k} = arith.cmpi sgt, %m, %c0 : index"
    MANY = "%e{k} = arith.cmpi sgt, %n, %c1 : index"
    BOTH = "%q{k} = arith.cmpi sgt, %m, %c0 : index\n%e{k} = arith.andi %flag, %q{k} : i1"

    def around(self, then: list[str], orelse: list[str], loop: "Loop | None", name: int) -> list[str]:
        """The `if` with its arms."""
        text = self.value.format(k=name, i=loop and loop.variable, n=loop and loop.bound)
        condition = "%flag" if self is Condition.FLAG else f"%e{name}"
        other = ["} else {", *orelse] if orelse else []
        return [*text.splitlines(), f"scf.if {condition} {{", *then, *other, "}"]


OF_ARGUMENTS = (Condition.FLAG, Condition.SOME, Condition.MANY, Condition.BOTH)
OF_LOOPS = (*OF_ARGUMENTS, Condition.PARITY, Condition.FIRST, Condition.FOURTH, Condition.MORE)


class Turn(Enum):
    """What two slots, or two ids, are taken in turn by: the round's number, or a value that the loop carries."""

    REMAINDER = "remainder"
    CARRIED = "carried"


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop by its variable and its upper bound.

    With a turn it has a value of 0 and 1 in turn (`slot`), the slot of the rotating tile that this says (`tile`), and
    a view that moves from round to round (`view`).

    Parameters
    ----------
    variable : str
        `%i` and a number.
    bound : str
        The upper bound.
    turn : Turn or None
        How it takes turns, if it does.
    outer : Loop or None
        The loop around it.
    moves : str
        By how many rows the view moves.
    """

    variable: str
    bound: str
    turn: Turn | None = None
    outer: "Loop | None" = None
    moves: str = "32"

    @property
    def turning(self) -> "Loop | None":
        """The innermost loop with a turn."""
        return self if self.turn is not None or self.outer is None else self.outer.turning

    @property
    def slot(self) -> str:
        """The value that is 0 and 1 in turn."""
        return self.variable.replace("%i", "%s")

    @property
    def tile(self) -> str:
        """The slot of the rotating tile."""
        return self.variable.replace("%i", "u")

    @property
    def view(self) -> str:
        """The view that moves."""
        return self.variable.replace("%i", "v")

    def around(self, body: list[str], start: str = "%c0", step: str = "%c1") -> list[str]:
        """The loop with its body."""
        head = f"scf.for {self.variable} = {start} to {self.bound} step {step}"
        words = {word for line in body for word in line.split()}
        names = [f"slot {self.tile} {self.slot}"] if self.tile in words else []
        names += [f"rows {self.view} y {self.variable} {self.moves}"] if self.view in words else []
        match self.turn:
            case None:
                return [f"{head} {{", *body, "}"]
            case Turn.REMAINDER:
                return [f"{head} {{", f"{self.slot} = arith.remsi {self.variable}, %c2 : index", *names, *body, "}"]
            case Turn.CARRIED:
                result, other = (self.variable.replace("%i", name) for name in ("%end", "%o"))
                last = [f"{other} = arith.subi %c1, {self.slot} : index", f"scf.yield {other} : index", "}"]
                first = f"{result} = {head} iter_args({self.slot} = %c0) -> (index) {{"
                return [first, *names, *body, *last]
