"""Random kernels of scalar code: declarations, assignments, branches, loops, and flags whose ids show what came out."""

from collections.abc import Sequence
from random import Random

TYPES = ("bool", "unsigned char", "int8_t", "uint8_t", "int16_t", "uint16_t", "int", "uint32_t", "long", "uint64_t")
COUNTERS = ("int", "uint32_t", "int64_t", "size_t")
LITERALS = ("0", "1", "2", "7", "-1", "255", "1u", "65535", "2147483647", "0xFFFFFFFF", "5000000000")
OPERATORS = ("+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||")
ASSIGNMENTS = ("=", "+=", "-=", "*=", "^=", "|=", "&=")
_DEEPEST_EXPRESSION, _DEEPEST_BLOCK = 4, 3


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
        self._block(list(names), list(names), 1)

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
            f"({a} {random.choice('/%')} ({b} | 1))",
            f"((uint32_t) ({a}) {random.choice(('<<', '>>'))} ({b} & 15))",
            f"(({random.choice(TYPES)}) ({a}))",
            f"static_cast<{random.choice(TYPES)}>({a})",
            f"({a} ? {b} : {c})",
            f"{random.choice('-~!+')}({a})",
        )
        return random.choice(forms)

    def _block(self, names: list[str], variables: list[str], depth: int) -> None:
        """Statements that know some names, of which some are variables; the last one shows what they hold."""
        names, variables = list(names), list(variables)
        for _ in range(self._random.randint(1, 4)):
            kind = self._random.random()
            if kind < 0.3:
                self._declare(names, variables, depth)
            elif kind < 0.55:
                target, sign = self._random.choice(variables), self._random.choice(ASSIGNMENTS)
                self._line(depth, f"{target} {sign} {self._expression(names)};")
            elif kind < 0.8 and depth <= _DEEPEST_BLOCK:
                self._branch(names, variables, depth)
            elif depth <= _DEEPEST_BLOCK:
                self._loop(names, variables, depth)
        self._line(depth, f"set_flag(PIPE_V, PIPE_S, (int) (7 & {self._expression(names)}));")

    def _declare(self, names: list[str], variables: list[str], depth: int) -> None:
        name, type_ = self._name("x"), self._random.choice((*TYPES, "auto"))
        is_fixed = self._random.random() < 0.3
        self._line(depth, f"{'const ' if is_fixed else ''}{type_} {name} = {self._expression(names)};")
        names.append(name)
        variables += [] if is_fixed else [name]

    def _branch(self, names: list[str], variables: list[str], depth: int) -> None:
        self._line(depth, f"if ({self._expression(names)}) {{")
        self._block(names, variables, depth + 1)
        for chance, head in ((0.3, f"}} else if ({self._expression(names)}) {{"), (0.5, "} else {")):
            if self._random.random() < chance:
                self._line(depth, head)
                self._block(names, variables, depth + 1)
        self._line(depth, "}")

    def _loop(self, names: list[str], variables: list[str], depth: int) -> None:
        """At most 7 rounds, from and to numbers that depend on the arguments."""
        counter, bound, type_ = self._name("i"), self._name("n"), self._random.choice(COUNTERS)
        step = self._random.choice((f"{counter}++", f"++{counter}", f"{counter} += 2", f"{counter} += 3"))
        self._line(depth, f"const {type_} {bound} = 7 & {self._expression(names)};")
        start = f"{type_} {counter} = 3 & {self._expression(names)}"
        self._line(depth, f"for ({start}; {counter} < {bound}; {step}) {{")
        self._block([*names, counter], variables, depth + 1)
        self._line(depth, "}")
