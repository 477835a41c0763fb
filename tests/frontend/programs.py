"""Random kernels of scalar code: declarations, assignments, branches, loops, blocks, returns, and flags whose ids show
what came out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from random import Random

TYPES = ("bool", "unsigned char", "int8_t", "uint8_t", "int16_t", "uint16_t", "int", "uint32_t", "long", "uint64_t")
UNSIGNED = ("uint32_t", "size_t")
COUNTERS = ("int", "uint32_t", "int64_t", "size_t")
LITERALS = ("0", "1", "2", "7", "-1", "255", "1u", "65535", "2147483647", "0xFFFFFFFF", "5000000000")
OPERATORS = ("+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
ASSIGNMENTS = ("=", "+=", "-=", "*=", "^=", "|=", "&=")
FUNCTIONS = """template <typename T> AICORE T least(T a, T b) {
  if (a < b) return a;
  return b;
}
template <int N, typename T, typename U> AICORE void change(T &a, U b, int steps = 2) {
  if (b > N) return;
  for (int i = steps; i > 0; --i) {
    if (i == b) continue;
    a += b + i;
  }
  set_flag(PIPE_V, PIPE_S, (int) (a & 7));
}
"""
"""What programs call."""
_DEEPEST_EXPRESSION, _DEEPEST_BLOCK = 4, 3


class Jump(Enum):
    """What may end the statements of a block."""

    RETURN = "return;"
    CONTINUE = "continue;"


@dataclass(frozen=True)
class Place:
    """Where statements stand.

    Parameters
    ----------
    names, variables : tuple of str
        What they can use, and change.
    depth : int
        Number of blocks around them.
    jump : Jump or None
        What their end comes to.
    """

    names: tuple[str, ...]
    variables: tuple[str, ...]
    depth: int
    jump: Jump | None

    def inside(self, *names: str, jump: Jump | None = None) -> "Place":
        """A block in here that knows further names, which it cannot change."""
        return Place((*self.names, *names), self.variables, self.depth + 1, jump)

    def with_variable(self, name: str) -> "Place":
        """The same place behind a declaration."""
        return replace(self, names=(*self.names, name), variables=(*self.variables, name))

    def with_name(self, name: str) -> "Place":
        """The same place behind the declaration of a constant."""
        return replace(self, names=(*self.names, name))


class Program:
    """The statements of a kernel, all of it defined in C++ where signed integers wrap around.

    Parameters
    ----------
    random : Random
        Where it comes from.
    names : sequence of str
        Integer arguments.
    """

    def __init__(self, random: Random, names: Sequence[str]) -> None:
        self._random = random
        self._number = 0
        self._lines: list[str] = []
        self._block(Place(tuple(names), tuple(names), 1, Jump.RETURN))

    @property
    def text(self) -> str:
        """The lines."""
        return "\n".join(self._lines)

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("  " * depth + text)

    def _name(self, stem: str) -> str:
        self._number += 1
        return f"{stem}{self._number}"

    def _expression(self, names: Sequence[str], depth: int = 0) -> str:
        random = self._random
        if depth == _DEEPEST_EXPRESSION or random.random() < 0.3:
            return random.choice(names) if random.random() < 0.7 else random.choice(LITERALS)
        a, b, c = (self._expression(names, depth + 1) for _ in range(3))
        forms = (
            *(f"({a} {random.choice(OPERATORS)} {b})",) * 4,
            f"({a} {random.choice('/%')} (({b} & 6) {random.choice(('+ 1', '- 9'))}))",
            f"((uint32_t) ({a}) {random.choice(('<<', '>>'))} ({b} & 15))",
            f"(({random.choice(TYPES)}) ({a}))",
            f"static_cast<{random.choice(TYPES)}>({a})",
            f"({a} ? {b} : {c})",
            f"least<{random.choice(COUNTERS)}>({a}, {b})",
            f"{random.choice('-~!+')}({a})",
        )
        return random.choice(forms)

    def _block(self, place: Place) -> None:
        """Statements of which the last one shows what the names hold; in between they may end."""
        for _ in range(self._random.randint(1, 4)):
            place = self._statement(place)
            if place.jump is not None and self._random.random() < 0.15:
                self._ending(place, place.jump)
        self._show(place)
        if place.jump is not None and self._random.random() < 0.2:
            self._line(place.depth, place.jump.value)

    def _statement(self, place: Place) -> Place:
        """A statement; the place behind it."""
        kind, expression = self._random.random(), self._expression(place.names)
        if kind < 0.3:
            return self._declare(place, expression)
        if kind < 0.5:
            target, sign = self._random.choice(place.variables), self._random.choice(ASSIGNMENTS)
            self._line(place.depth, f"{target} {sign} {expression};")
        elif kind < 0.55:
            steps = self._random.choice(("", ", 1", f", 3 & {self._expression(place.names)}"))
            self._line(place.depth, f"change<3>({self._random.choice(place.variables)}, {expression}{steps});")
        elif place.depth > _DEEPEST_BLOCK:
            pass
        elif kind < 0.7:
            self._branch(place, expression)
        elif kind < 0.78:
            self._braces(place)
        elif kind < 0.88:
            self._loop(place)
        else:
            self._down_loop(place)
        return place

    def _show(self, place: Place) -> None:
        self._line(place.depth, f"set_flag(PIPE_V, PIPE_S, (int) (7 & {self._expression(place.names)}));")

    def _declare(self, place: Place, expression: str) -> Place:
        name, type_ = self._name("x"), self._random.choice((*TYPES, "auto"))
        is_fixed = self._random.random() < 0.3
        self._line(place.depth, f"{'const ' if is_fixed else ''}{type_} {name} = {expression};")
        return place.with_name(name) if is_fixed else place.with_variable(name)

    def _branch(self, place: Place, expression: str) -> None:
        self._line(place.depth, f"if ({expression}) {{")
        self._block(place.inside())
        for chance, head in ((0.3, f"}} else if ({self._expression(place.names)}) {{"), (0.5, "} else {")):
            if self._random.random() < chance:
                self._line(place.depth, head)
                self._block(place.inside())
        self._line(place.depth, "}")

    def _ending(self, place: Place, jump: Jump) -> None:
        """A branch that jumps, in front of more."""
        asked = self._expression(place.names)
        if self._random.random() < 0.5:
            self._line(place.depth, f"if ({asked}) {jump.value}")
            return
        self._line(place.depth, f"if ({asked}) {{")
        self._block(place.inside())
        self._line(place.depth + 1, jump.value)
        self._line(place.depth, "}")

    def _braces(self, place: Place) -> None:
        """A block that may hide a name of those around it."""
        self._line(place.depth, "{")
        hidden = self._random.choice(place.variables)
        if self._random.random() < 0.5:
            others = tuple(name for name in place.names if name != hidden)
            self._line(place.depth + 1, f"{self._random.choice(TYPES)} {hidden} = {self._expression(others)};")
        self._block(place.inside())
        self._line(place.depth, "}")

    def _loop(self, place: Place) -> None:
        """At most 8 rounds upwards, from and to numbers that depend on the arguments."""
        counter, bound, type_ = self._name("i"), self._name("n"), self._random.choice(COUNTERS)
        by = self._random.choice((1, 1, 2, 3))
        steps = (f"{counter} += {by}", f"{counter} = {counter} + {by}", f"{counter} = {by} + {counter}")
        step = self._random.choice((f"{counter}++", f"++{counter}") if by == 1 else steps)
        asked = self._random.choice((f"{counter} < {bound}", f"{bound} >= {counter}", f"{counter} <= {bound}"))
        first = f"3 & {self._expression(place.names)}"
        if by == 1 and type_ in UNSIGNED and self._random.random() < 0.3:
            first, asked = "0", f"{counter} != {bound}"
        self._line(place.depth, f"const {type_} {bound} = 7 & {self._expression(place.names)};")
        self._counted(place, (type_, counter, first), asked, step)

    def _down_loop(self, place: Place) -> None:
        """At most 8 rounds downwards, to a number from -4 up; an unsigned variable stops in front of 0."""
        counter, bound, type_ = self._name("i"), self._name("n"), self._random.choice(COUNTERS)
        is_unsigned, by = type_ in UNSIGNED, self._random.choice((1, 1, 2, 3))
        step = self._random.choice((f"{counter}--", f"--{counter}") if by == 1 else (f"{counter} -= {by}",))
        asked = self._random.choice((f"{counter} > {bound}", f"{bound} < {counter}", f"{counter} >= {bound}"))
        end = f"(3 & {self._expression(place.names)}){'' if is_unsigned else ' - 4'}"
        if is_unsigned:
            # What the reader has to know is that the last step stays above 0.
            end, asked = (end, f"{counter} > {bound}") if by == 1 else (str(by), asked)
        self._line(place.depth, f"const {type_} {bound} = {end};")
        self._counted(place, (type_, counter, f"3 & {self._expression(place.names)}"), asked, step)

    def _counted(self, place: Place, start: tuple[str, str, str], asked: str, step: str) -> None:
        """A loop in one of its forms; a variable that is there behind it is shown."""
        (type_, counter, first), kind = start, self._random.random()
        if kind < 0.6:
            self._line(place.depth, f"for ({type_} {counter} = {first}; {asked}; {step}) {{")
            self._block(place.inside(counter, jump=Jump.CONTINUE))
            self._line(place.depth, "}")
            return
        self._line(place.depth, f"{type_} {counter} = {'0' if kind < 0.7 else first};")
        if kind < 0.8:
            self._line(place.depth, f"for ({counter + ' = ' + first if kind < 0.7 else ''}; {asked}; {step}) {{")
            self._block(place.inside(counter, jump=Jump.CONTINUE))
        else:
            self._line(place.depth, f"while ({asked}) {{")
            self._block(place.inside(counter))
            self._line(place.depth + 1, f"{step};")
        self._line(place.depth, "}")
        self._show(place.with_name(counter))
