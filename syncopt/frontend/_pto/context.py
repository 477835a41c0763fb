"""One op's tokens with a position, and the names that are in scope where it stands."""

from collections.abc import Mapping
from typing import NoReturn, TypeVar

from syncopt.frontend._pto.lexer import Kind, Token
from syncopt.frontend._pto.tree import RawOp, Tree
from syncopt.frontend._pto.types import Types
from syncopt.ir.kernel import Value
from syncopt.ir.source import InputError, Span
from syncopt.ir.types import MultiTileType, PointerType, ScalarType, TileType, ValueType, ViewType

_V = TypeVar("_V", ScalarType, PointerType, TileType, MultiTileType, ViewType)
_LONGEST_FOUND = 40
_MAX_RESULTS = 1000
_KINDS: Mapping[type[ValueType], str] = {
    ScalarType: "a scalar",
    PointerType: "a pointer",
    TileType: "a tile",
    MultiTileType: "a multi-buffered tile",
    ViewType: "a view of global memory",
}


class Scope:
    """SSA names of a region and of the regions around it."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.depth: int = outer.depth + 1 if outer else 0
        self._outer = outer
        self._values: dict[str, Value] = {}

    def get(self, name: str) -> Value | None:
        """The value of a name, None if it has none here."""
        if name in self._values:
            return self._values[name]
        return self._outer.get(name) if self._outer else None

    def add(self, name: str, value: Value) -> None:
        """Gives a name to a value."""
        self._values[name] = value


class FunctionContext:
    """What all ops of a function share: the file, its types and attribute aliases, the numbering of ops."""

    def __init__(self, tree: Tree, types: Types, attributes: Mapping[str, str]) -> None:
        self.tree = tree
        self.source = tree.source
        self.types = types
        self.attributes = attributes
        self._uids = 0

    def next_uid(self) -> int:
        """The number of the next op in text order."""
        self._uids += 1
        return self._uids - 1

    def fail(self, message: str, span: Span, hint: str = "") -> NoReturn:
        """Refuses the input."""
        raise InputError(message, self.source, span, hint)


class OpReader:
    """Reads one op token by token; every reader ends in `done`, so that no token is skipped."""

    def __init__(self, function: FunctionContext, scope: Scope, raw: RawOp, uid: int) -> None:
        self.function = function
        self.scope = scope
        self.name = raw.name.text
        self.name_span = raw.name.span
        self.span = raw.span
        self.uid = uid
        self._results = raw.results
        self._rest = raw.rest
        self._at = 0

    def fail(self, message: str, span: Span | None = None, hint: str = "") -> NoReturn:
        """Refuses the op, at `span` or at its name."""
        self.function.fail(message, span or self.name_span, hint)

    # --- tokens ---

    def peek(self, ahead: int = 0) -> Token | None:
        """A token that is not taken yet."""
        at = self._at + ahead
        return self._rest[at] if at < len(self._rest) else None

    def sees(self, *texts: str) -> bool:
        """Whether the next token has one of the texts (strings and values count by their own spelling)."""
        token = self.peek()
        return token is not None and token.text in texts and token.kind is not Kind.REGION

    def sees_kind(self, *kinds: Kind) -> bool:
        """Whether the next token is of one of the kinds."""
        token = self.peek()
        return token is not None and token.kind in kinds

    def next(self, expected: str) -> Token:
        """Takes the next token."""
        token = self.peek()
        if token is None:
            self._fail_here(expected)
        self._at += 1
        return token

    def take(self, text: str) -> Token:
        """Takes the next token, which must have this text."""
        if not self.sees(text):
            self._fail_here(f"`{text}`")
        return self.next(text)

    def take_if(self, *texts: str) -> bool:
        """Takes the next token if it has one of the texts."""
        if not self.sees(*texts):
            return False
        self._at += 1
        return True

    def take_kind(self, kind: Kind, expected: str) -> Token:
        """Takes the next token, which must be of this kind."""
        if not self.sees_kind(kind):
            self._fail_here(expected)
        return self.next(expected)

    def _fail_here(self, expected: str) -> NoReturn:
        token = self.peek()
        if token is None:
            end = self.span.end
            self.fail(f"{self.name}: expected {expected} at its end", Span(end - 1, end))
        found = token.text if len(token.text) <= _LONGEST_FOUND else f"{token.text[:_LONGEST_FOUND]}..."
        self.fail(f"{self.name}: expected {expected}, found {found!r}", token.span)

    def unexpected(self, expected: str) -> NoReturn:
        """Refuses the next token."""
        self._fail_here(expected)

    def done(self) -> None:
        """The op must end here, apart from `loc(...)`."""
        if self.sees("loc"):
            self.next("loc")
            self.balanced("(", ")")
        if self.peek() is not None:
            self._fail_here("the end of the op")

    def balanced(self, opening: str, closing: str) -> str:
        """Takes a bracket with everything in it; its text as it stands in the file."""
        first = last = self.take(opening)
        depth = 1
        while depth:
            last = self.next(f"`{closing}`")
            if last.kind is Kind.PUNCTUATION:
                depth += (last.text == opening) - (last.text == closing)
        return self.function.source.data[first.span.start : last.span.end].decode()

    # --- values and types ---

    def any_value(self) -> Value:
        """Takes the name of a value."""
        token = self.take_kind(Kind.VALUE, "a value")
        value = self.scope.get(token.text)
        if value is None:
            self.fail(f"{token.text} is not defined here", token.span)
        return value

    def value(self, kind: type[_V]) -> Value:
        """Takes the name of a value whose type is of a given kind."""
        token = self.peek()
        value = self.any_value()
        if token is not None and not isinstance(value.type, kind):
            self.fail(f"{self.name}: {token.text} is {_KINDS[type(value.type)]}, expected {_KINDS[kind]}", token.span)
        return value

    def scalars(self, opening: str = "[", closing: str = "]") -> tuple[Value, ...]:
        """Takes a list of scalars in brackets."""
        self.take(opening)
        values: list[Value] = []
        while not self.sees(closing):
            values.append(self.value(ScalarType))
            if not self.sees(closing):
                self.take(",")
        self.take(closing)
        return tuple(values)

    def any_type(self) -> ValueType:
        """Takes a type."""
        if not self.sees_kind(Kind.TYPE, Kind.WORD):
            self._fail_here("a type")
        return self.function.types.read(self.next("a type"))

    def type_of(self, kind: type[_V]) -> _V:
        """Takes a type of a given kind."""
        token = self.peek()
        found = self.any_type()
        if not isinstance(found, kind):
            self.fail(f"{self.name}: expected the type of {_KINDS[kind]}", token.span if token else None)
        return found

    def type_list(self) -> tuple[ValueType, ...]:
        """Takes `T` or `(T, U)`."""
        if not self.take_if("("):
            return (self.any_type(),)
        found: list[ValueType] = []
        while not self.sees(")"):
            found.append(self.any_type())
            if not self.sees(")"):
                self.take(",")
        self.take(")")
        return tuple(found)

    # --- results ---

    def results(self, *types: ValueType) -> tuple[Value, ...]:
        """Names the results of the op and puts them in scope."""
        slots = self._result_slots()
        if len(slots) != len(types):
            self.fail(f"{self.name} has {len(types)} result(s), the text names {len(slots)}")
        values: list[Value] = []
        for (names, token), type_ in zip(slots, types, strict=True):
            values.append(self.define(names, token, type_))
        return tuple(values)

    def result(self, type_: ValueType) -> Value:
        """Names the only result of the op."""
        return self.results(type_)[0]

    @property
    def has_results(self) -> bool:
        """Whether the text names results."""
        return bool(self._results)

    def define(self, names: tuple[str, ...], token: Token, type_: ValueType) -> Value:
        """Puts a new value in scope under its names, of which the first is the one to show."""
        value = Value(names[0], type_)
        for name in names:
            if self.scope.get(name) is not None:
                self.fail(f"{name} is defined twice", token.span)
            self.scope.add(name, value)
        return value

    def _result_slots(self) -> list[tuple[tuple[str, ...], Token]]:
        """Names per result: `%a` or, for `%a:2`, `%a#0` (also called `%a`) and `%a#1`."""
        slots: list[tuple[tuple[str, ...], Token]] = []
        for at, token in enumerate(self._results):
            if token.kind is not Kind.VALUE:
                continue
            many = at + 1 < len(self._results) and self._results[at + 1].text == ":"
            count = self._result_count(self._results[at + 2]) if many else 1
            slots.extend((_result_names(token.text, slot, many), token) for slot in range(count))
        return slots

    def _result_count(self, token: Token) -> int:
        if not token.text.isdecimal() or len(token.text) > len(str(_MAX_RESULTS)):
            self.fail(f"{self.name}: {token.text} is no number of results", token.span)
        return int(token.text)


def _result_names(name: str, slot: int, many: bool) -> tuple[str, ...]:
    if not many:
        return (name, f"{name}#0")
    return (f"{name}#{slot}", name) if slot == 0 else (f"{name}#{slot}",)
