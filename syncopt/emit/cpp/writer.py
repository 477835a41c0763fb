"""What all parts of a kernel's C++ share: its lines, its identifiers, what is known of its values."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn

from syncopt.emit.cpp.names import Names
from syncopt.ir.kernel import Block, For, If, Kernel, Op, Scalar, Value, Yield, walk
from syncopt.ir.scalars import CASTS, evaluate
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting
from syncopt.ir.types import MultiTileType, ScalarType, ViewType
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
        self._origins = _origins(kernel)
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

    def origin(self, value: Value) -> Value:
        """The view or rotating tile that a loop or branch hands on as it is; any other value itself."""
        return _end(self._origins, value)

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


def yielded_by(block: Block | None) -> tuple[Value, ...]:
    """What a region hands to its loop or branch."""
    last = block.ops[-1] if block is not None and block.ops else None
    return last.operands if isinstance(last, Yield) else ()


def _origins(kernel: Kernel) -> dict[Value, Value]:
    """The views and rotating tiles that are another one: both branches hand that out, or no round changes it."""
    origins: dict[Value, Value] = {}
    for op in reversed([*walk(kernel.body)]):  # what stands inside comes first
        handed_on = {*_handed_on(op, origins)}
        origins |= {value: origin for value, origin in handed_on if isinstance(value.type, ViewType | MultiTileType)}
    return origins


def _handed_on(op: Op, origins: Mapping[Value, Value]) -> Iterator[tuple[Value, Value]]:
    if isinstance(op, If):
        for result, one, other in zip(op.results, yielded_by(op.then), yielded_by(op.orelse), strict=True):
            if _end(origins, one) is _end(origins, other):
                yield result, one
    elif isinstance(op, For):
        for carried, result, init, last in zip(op.carried, op.results, op.inits, yielded_by(op.body), strict=True):
            if _end(origins, last) in (carried, _end(origins, init)):
                yield carried, init
                yield result, init


def _end(origins: Mapping[Value, Value], value: Value) -> Value:
    """The end of a chain."""
    while value in origins:
        value = origins[value]
    return value
