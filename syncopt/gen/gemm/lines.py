"""Lines of kernel text with the indentation of their blocks."""

from collections.abc import Callable, Generator
from contextlib import contextmanager


class Lines:
    """Text written from top to bottom; the constants that it names are gathered in one place."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self._constants: set[int] = set()
        self._constants_at = 0, 0

    def text(self) -> str:
        """Everything that was written, constants included."""
        place, depth = self._constants_at
        constants = ["  " * depth + f"%c{value} = arith.constant {value} : index" for value in sorted(self._constants)]
        return "\n".join([*self._lines[:place], *constants, *self._lines[place:]]) + "\n"

    def constants_here(self) -> None:
        """The place for the definitions of all constants."""
        self._constants_at = len(self._lines), self._depth

    def constant(self, value: int) -> str:
        """The name of a constant."""
        self._constants.add(value)
        return f"%c{value}"

    def line(self, text: str) -> None:
        """A line."""
        self._lines.append("  " * self._depth + text)

    def note(self, text: str) -> None:
        """A comment."""
        self.line(f"// {text}")

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        """Braces around what is written meanwhile."""
        self.line(head + " {")
        self._depth += 1
        yield
        self._depth -= 1
        self.line("}")

    def if_else(self, condition: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Two branches."""
        with self.block(f"scf.if {condition}"):
            then()
            self._depth -= 1
            self.line("} else {")
            self._depth += 1
            otherwise()

    def index(self, name: str, op: str, *operands: str) -> str:
        """Arithmetic on index values; the name of the result."""
        self.line(f"%{name} = arith.{op} {', '.join(operands)} : index")
        return f"%{name}"

    def compare(self, name: str, predicate: str, left: str, right: str) -> str:
        """A comparison; the name of the result."""
        self.line(f"%{name} = arith.cmpi {predicate}, {left}, {right} : index")
        return f"%{name}"
