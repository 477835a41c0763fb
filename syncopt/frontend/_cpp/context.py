"""What reading a function carries along: names in scope, what they stand for, the ops and statements read so far."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NoReturn

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Array, Bound, Constant, Operand, Variable, Word
from syncopt.frontend._cpp.jumps import Jump
from syncopt.frontend._cpp.text import Tree
from syncopt.frontend._cpp.types import CppType, Number
from syncopt.ir.kernel import AddPtr, AllocTile, Block, Op, Scalar, Statement, TensorView, Value
from syncopt.ir.scalars import UNKNOWN, Unknown, evaluate
from syncopt.ir.source import InputError, Span
from syncopt.ir.types import ScalarType
from syncopt.ir.values import primary


@dataclass(frozen=True, eq=False, slots=True)
class Refused:
    """A name of the file whose meaning is not modelled; the error tells why."""

    error: InputError


Entry = Variable | Array | Constant | Word | CppType | Refused
"""What a name is: a variable, several of them, a number, an enumerator, a type, or nothing that is modelled."""


@dataclass(frozen=True, eq=False, slots=True)
class Callee:
    """A function of the file.

    Parameters
    ----------
    node : Node
        Its definition.
    fault : str
        Why calls of it cannot be read, empty if they can.
    template : Node or None
        The parameters in front of it, if it is a template.
    """

    node: Node
    fault: str = ""
    template: Node | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call whose function is being read."""

    name: str
    node: Node


_DEEPEST = 96
_NO_FUNCTIONS: Mapping[str, Callee] = MappingProxyType({})


class Scope:
    """Names of a block and of the blocks around it."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.outer = outer
        self.entries: dict[str, Entry] = {}

    def get(self, name: str) -> Entry | None:
        """What a name is here, None if it is not known."""
        if name in self.entries:
            return self.entries[name]
        return self.outer.get(name) if self.outer else None


@dataclass(frozen=True, slots=True)
class Readers:
    """Readers that others need in turn: an expression, and the statements of a block."""

    expression: "Callable[[Context, Node], Bound]"
    block: "Callable[[Context, Node], Block]"


@dataclass(eq=False, slots=True)
class _Frame:
    """A block that is being read."""

    ops: list[Op] = field(default_factory=list[Op])
    statements: list[Statement] = field(default_factory=list[Statement])


@dataclass(eq=False, slots=True)
class _Record:
    """A statement that is being read."""

    span: Span
    reads: set[str] = field(default_factory=set[str])
    writes: set[str] = field(default_factory=set[str])


class Context:
    """The state of reading one function.

    Parameters
    ----------
    tree : Tree
        The file.
    scope : Scope
        Names of the file.
    readers : Readers
        How to read expressions and blocks.
    functions : mapping of name to Callee
        The functions of the file.
    """

    def __init__(
        self,
        tree: Tree,
        scope: Scope,
        readers: Readers,
        functions: Mapping[str, Callee] = _NO_FUNCTIONS,
    ) -> None:
        self.tree = tree
        self.scope = scope
        self.readers = readers
        self.assigned = frozenset[str]()
        self.functions = functions
        self.bound: dict[Variable, Bound] = {}
        self._numbers: dict[Value, int | float] = {}
        self._named: set[Value] = set()
        self._frames = [_Frame()]
        self._records = [_Record(Span(0, 0))]
        self._uids = 0
        self._depth = 0
        self.jump: Jump | None = Jump.RETURN
        self.calls: tuple[Call, ...] = ()

    def refusal(self, message: str, node: Node, hint: str = "") -> InputError:
        """An error about a node."""
        return self.tree.refusal(message, node, hint)

    def fail(self, message: str, node: Node, hint: str = "") -> NoReturn:
        """Refuses the input."""
        raise self.tree.refusal(message, node, hint)

    # -- ops -------------------------------------------------------------------------------------------------------

    def uid(self) -> int:
        """The number of the next op in text order."""
        self._uids += 1
        return self._uids - 1

    @property
    def span(self) -> Span:
        """The statement that is being read."""
        return self._records[-1].span

    def add(self, op: Op) -> None:
        """Puts an op at the end of the block."""
        self._frames[-1].ops.append(op)

    def scalar(
        self,
        name: str,
        operands: tuple[Value, ...],
        type_: ScalarType,
        text: str,
        attribute: float | str | None = None,
    ) -> Value:
        """Adds a scalar op; `text` is the expression that it computes."""
        value = Value(text, type_)
        op = Scalar(self.uid(), self.span, name, operands, (value,), attribute)
        self.add(op)
        number = evaluate(op, tuple(self._numbers.get(operand, UNKNOWN) for operand in operands))
        if not isinstance(number, Unknown):
            self._numbers[value] = number
        return value

    def number(self, value: Value) -> int | float | None:
        """The number that a value always is, None if that is not known."""
        return self._numbers.get(value)

    def take_literal(self, value: Value) -> int | None:
        """The number of an integer that the op before makes out of nothing; that op is removed."""
        ops = self._frames[-1].ops
        if not ops or value in self._named:
            return None
        match ops[-1]:
            case Scalar(name="arith.constant", results=(result,), attribute=int(number)) if result is value:
                ops.pop()
                self._uids -= 1
                return number
            case _:
                return None

    def constant(self, node: Node) -> int:
        """The integer that an expression always is."""
        number = self.constant_or_none(node)
        if number is None:
            self.fail(f"{self.tree.phrase(node)} is no constant integer", node)
        return number

    def constant_or_none(self, node: Node) -> int | None:
        """The integer that an expression always is, None if it depends on anything; its ops are not kept."""
        uids = self._uids
        self.open_block()
        bound = self.readers.expression(self, node)
        self.close_block(self.span)
        self._uids = uids
        number = self._numbers.get(bound.value) if isinstance(bound, Operand) else None
        return number if isinstance(number, int) else None

    def rename(self, value: Value, name: str) -> Value:
        """The value under the name of a variable, if it was made for it by the op before; else as it is."""
        ops = self._frames[-1].ops
        if not ops or ops[-1].span != self.span or value in self._named:
            return value
        renamed = Value(name, value.type)
        match ops[-1]:
            case Scalar(results=(result,)) if result is value:
                ops[-1] = replace(ops[-1], results=(renamed,))
            case AddPtr(result=result) | TensorView(result=result) | AllocTile(result=result) if result is value:
                ops[-1] = replace(ops[-1], result=renamed)
            case _:
                return value
        self._named.add(renamed)
        if value in self._numbers:
            self._numbers[renamed] = self._numbers[value]
        return renamed

    # -- statements and blocks -------------------------------------------------------------------------------------

    @contextmanager
    def statement(self, span: Span) -> Generator[None]:
        """Reads a statement; ops and names that come up belong to it. In a called function it is none of its own."""
        self._records.append(_Record(self.span if self.calls else span))
        yield
        record = self._records.pop()
        if self.calls:
            return
        statement = Statement(record.span, frozenset(record.reads), frozenset(record.writes))
        self._frames[-1].statements.append(statement)

    @contextmanager
    def deeper(self, node: Node) -> Generator[None]:
        """Reads a part of an expression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self.fail(f"an expression is nested deeper than {_DEEPEST}", node)
        yield
        self._depth -= 1

    @contextmanager
    def textless(self, at: int) -> Generator[None]:
        """Reads what no text of a block stands for."""
        self._records.append(_Record(self.span if self.calls else Span(at, at)))
        yield
        self._records.pop()

    @contextmanager
    def inner_scope(self) -> Generator[None]:
        """Names that come up are forgotten at the end."""
        self.scope = Scope(self.scope)
        yield
        for entry in self.scope.entries.values():
            variables = (entry,) if isinstance(entry, Variable) else entry.elements if isinstance(entry, Array) else ()
            for variable in variables:
                self.bound.pop(variable, None)
        assert self.scope.outer is not None
        self.scope = self.scope.outer

    @contextmanager
    def names_of_the_file(self) -> Generator[Scope]:
        """Reads the body of another function, which sees the names of the file and its own; hands out the latter.

        What it reads by name is nothing that a statement of this one uses.
        """
        here, outermost = self.scope, self.scope
        while outermost.outer is not None:
            outermost = outermost.outer
        self.scope = Scope(outermost)
        self._records.append(_Record(self.span))
        yield self.scope
        self._records.pop()
        self.scope = here

    @contextmanager
    def ended_by(self, jump: Jump | None) -> Generator[None]:
        """Reads statements behind whose end the same comes as behind a jump; None if nothing is known of that."""
        before, self.jump = self.jump, jump
        yield
        self.jump = before

    @property
    def blocks(self) -> int:
        """Number of blocks that are being read."""
        return len(self._frames) - 1

    @contextmanager
    def called(self, call: Call, assigned: frozenset[str]) -> Generator[Scope]:
        """Reads the statements of a called function as parts of the statement that calls it."""
        if any(call.name == other.name for other in self.calls):
            self.fail(f"a call of {call.name} inside itself is not modelled", call.node)
        before = self.assigned, self.calls
        with self.names_of_the_file() as own, self.ended_by(Jump.RETURN):
            self.assigned, self.calls = assigned, (*self.calls, call)
            yield own
        self.assigned, self.calls = before

    def open_block(self) -> None:
        """Begins a block."""
        self._frames.append(_Frame())

    def close_block(self, span: Span) -> Block:
        """Ends the block that was begun last."""
        frame = self._frames.pop()
        return Block(tuple(frame.ops), span, tuple(frame.statements))

    # -- names -----------------------------------------------------------------------------------------------------

    def entry(self, name: str, node: Node) -> Entry:
        """What a name is here."""
        self._records[-1].reads.add(name)
        found = self.scope.get(name)
        if found is None:
            self.fail(f"{name} is not defined here", node)
        if isinstance(found, Refused):
            raise found.error
        return found

    def variables(self, names: Iterable[str]) -> frozenset[Variable]:
        """The variables that some names are here; two names can be one variable where a function takes references."""
        found = [self.scope.get(name) for name in names]
        elements = (entry.elements if isinstance(entry, Array) else (entry,) for entry in found)
        return frozenset(one for entries in elements for one in entries if isinstance(one, Variable))

    def value_of(self, variable: Variable, node: Node) -> Bound:
        """What a variable stands for here."""
        found = self.bound.get(variable)
        if found is None:
            self.fail(f"{variable.name} may have no value here", node, "give it one on every way to here")
        return found

    def declare(self, name: str, entry: Entry, node: Node) -> None:
        """Puts a new name in scope."""
        self._records[-1].writes.add(name)
        if name in self.scope.entries:
            self.fail(f"{name} is defined twice", node)
        self.scope.entries[name] = entry

    def assign(self, variable: Variable, bound: Bound) -> None:
        """Gives a variable another value."""
        self.lend(variable)
        self.bound[variable] = bound

    def lend(self, variable: Variable) -> None:
        """Notes that what is read may give a variable another value."""
        self._records[-1].reads.add(variable.base)
        self._records[-1].writes.add(variable.base)


def integer_text(type_: Number, text: str) -> str:
    """An expression converted to a type."""
    return f"({type_.spelling}) {primary(text)}"
