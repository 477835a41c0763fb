"""What all parts of a kernel's C++ share: its lines, its identifiers, what is known of its values."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import NoReturn

from syncopt.emit.cpp.names import Names
from syncopt.ir.kernel import Kernel, Op, Scalar, Value, walk
from syncopt.ir.scalars import CASTS, evaluate
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting
from syncopt.ir.types import ScalarType
from syncopt.ir.values import results_of

_INDENT = "  "


class Writer:
    """Takes the lines of one kernel.

    Parameters
    ----------
    kernel : Kernel
        What is written.
    setting : Setting
        Addresses of allocations that carry none, and alignment of the slots of rotating tiles.
    """

    def __init__(self, kernel: Kernel, setting: Setting) -> None:
        self.kernel = kernel
        self.setting = setting
        self.names = Names()
        self.definitions: dict[Value, Op] = {value: op for op in walk(kernel.body) for value in results_of(op)}
        self._lines: list[str] = []
        self._depth = 0

    @property
    def text(self) -> str:
        """All lines so far."""
        return "".join(f"{line}\n" for line in self._lines)

    def line(self, text: str) -> None:
        """Adds a line at the indentation of the block that is open."""
        self._lines.append(f"{_INDENT * self._depth}{text}" if text else "")

    @contextmanager
    def block(self) -> Generator[None]:
        """Lines and identifiers of what stands between two braces."""
        self._depth += 1
        with self.names.scope():
            yield
        self._depth -= 1

    def fail(self, op: Op, message: str, help: str = "") -> NoReturn:
        """Refuses an op that has no C++ form."""
        raise InputError(f"no C++ for {message}", help=help).at(self.kernel.source, op.span)

    def constant(self, value: Value) -> int | None:
        """The number that a value is whatever the arguments are; None if that does not stand in the text."""
        op = self.definitions.get(value)
        if not isinstance(op, Scalar):
            return None
        if op.name in CASTS:
            inner = self.constant(op.operands[0])
            found = None if inner is None else evaluate(op, (inner,))
        else:
            found = op.attribute if op.name == "arith.constant" else None
        return found if isinstance(found, int) else None

    def number(self, value: Value) -> int | str:
        """A size, stride or offset: the number if it is constant, else an expression of type `int64_t`."""
        found = self.constant(value)
        if found is not None:
            return found
        is_wide = isinstance(value.type, ScalarType) and value.type.name in ("index", "i64")
        return self.names[value] if is_wide else f"(int64_t) {self.names[value]}"
