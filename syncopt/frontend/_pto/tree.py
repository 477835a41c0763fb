"""What tree-sitter-mlir is asked for: functions, regions, where op names stand, and syntax errors.

Its operation nodes are not used: they swallow the results of the next op, and generic ops can vanish into the op before
them (the ops are split here, at the op names). Its tokens are not used either: `lexer` has the raw text.
"""

from bisect import bisect_left
from dataclasses import dataclass

import tree_sitter
import tree_sitter_mlir

from syncopt.frontend._pto.lexer import Kind, Token, tokens
from syncopt.ir.source import InputError, Source, Span

_LANGUAGE = tree_sitter.Language(tree_sitter_mlir.language())
_CLOSED_NODES = frozenset({"type", "attribute", "value_use", "comment", "dictionary_attribute"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True, slots=True)
class RawOp:
    """An op cut out of its block: result tokens (without `=`), the token of its name, the tokens behind it."""

    results: tuple[Token, ...]
    name: Token
    rest: tuple[Token, ...]

    @property
    def span(self) -> Span:
        """From the first result or the name to the last token."""
        first = self.results[0] if self.results else self.name
        last = self.rest[-1] if self.rest else self.name
        return Span(first.span.start, last.span.end)


@dataclass(frozen=True, eq=False)
class Tree:
    """Where things stand in a file.

    Parameters
    ----------
    source : Source
        The file.
    functions : tuple of Span
        Every `func.func`, its body included.
    aliases : tuple of Span
        Every definition `#x = ...` or `!x = ...`.
    regions : tuple of Span
        Every region from brace to brace, in text order.
    op_names : frozenset of int
        Start bytes of op names.
    errors : tuple of Span
        Text inside functions that tree-sitter could not read, in text order.
    missing : tuple of (Span, str)
        Where tree-sitter put in a token inside a function to go on, and which, such as `}`.
    """

    source: Source
    functions: tuple[Span, ...]
    aliases: tuple[Span, ...]
    regions: tuple[Span, ...]
    op_names: frozenset[int]
    errors: tuple[Span, ...]
    missing: tuple[tuple[Span, str], ...]

    def tokens(self, span: Span) -> tuple[Token, ...]:
        """The tokens in `span`; regions right below it are one token each."""
        inner: list[Span] = []
        for region in self.regions[bisect_left(self.regions, span.start, key=_start) :]:
            if region.end > span.end:
                break
            if not inner or region.start >= inner[-1].end:
                inner.append(region)
        return tokens(self.source, span.start, span.end, inner)

    def ops(self, span: Span) -> tuple[RawOp, ...]:
        """The ops of a block that fills `span`.

        Raises
        ------
        InputError
            If text before the first op belongs to no op.
        """
        found = self.tokens(span)
        names = _name_positions(found, self.op_names)
        starts = [_results_start(found, name) for name in names]
        if found and (not starts or starts[0] > 0):
            raise InputError("syntax error: expected an operation", self.source, found[0].span)
        ends = [*starts[1:], len(found)] if starts else []
        return tuple(
            RawOp(found[start : max(start, name - 1)], found[name], found[name + 1 : end])
            for start, name, end in zip(starts, names, ends, strict=True)
        )


def parse(source: Source) -> Tree:
    """Parses a file.

    Raises
    ------
    InputError
        If a syntax error stands outside the ops of a function.
    """
    walk = _Walk(source)
    walk.visit(tree_sitter.Parser(_LANGUAGE).parse(source.data).root_node)
    return Tree(
        source=source,
        functions=tuple(walk.functions),
        aliases=tuple(walk.aliases),
        regions=tuple(walk.regions),
        op_names=frozenset(walk.op_names),
        errors=tuple(walk.errors),
        missing=tuple(walk.missing),
    )


class _Walk:
    """Collects what `Tree` holds, in text order."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.functions: list[Span] = []
        self.aliases: list[Span] = []
        self.regions: list[Span] = []
        self.op_names: list[int] = []
        self.errors: list[Span] = []
        self.missing: list[tuple[Span, str]] = []

    def visit(self, root: tree_sitter.Node) -> None:
        stack = [(root, False)]
        while stack:
            node, inside_function = stack.pop()
            self._note(node, inside_function)
            if node.type not in _CLOSED_NODES or node.has_error:
                inside = inside_function or node.type == "func_operation"
                stack.extend((child, inside) for child in reversed(node.children))

    def _note(self, node: tree_sitter.Node, inside_function: bool) -> None:
        span = Span(node.start_byte, node.end_byte)
        if (node.is_missing or node.is_error) and not inside_function:
            what = f": expected `{node.type}`" if node.is_missing else ""
            raise InputError(f"syntax error{what}", self.source, span)
        if node.is_missing:
            self.missing.append((span, node.type))
        match node.type:
            case "ERROR":
                self.errors.append(span)
            case "func_operation":
                self.functions.append(span)
                self.op_names.append(span.start)
            case "module_operation" | "generic_operation" | "custom_op_name":
                self.op_names.append(span.start)
            case "attribute_alias_def" | "type_alias_def":
                self.aliases.append(span)
            case "region":
                self.regions.append(span)
            case _:
                pass


def _start(span: Span) -> int:
    return span.start


def _name_positions(found: tuple[Token, ...], op_names: frozenset[int]) -> list[int]:
    positions: list[int] = []
    depth = 0
    for at, token in enumerate(found):
        if token.kind is Kind.PUNCTUATION:
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
        elif depth == 0 and (token.span.start in op_names or _is_generic_name(found, at)):
            positions.append(at)
    return positions


def _is_generic_name(found: tuple[Token, ...], at: int) -> bool:
    followed = at + 1 < len(found) and found[at + 1].text == "("
    return found[at].kind is Kind.STRING and "." in found[at].text and followed


def _results_start(found: tuple[Token, ...], name: int) -> int:
    """Where the results `%a, %b:2 =` before the op name at `name` begin."""
    if name == 0 or found[name - 1].text != "=":
        return name
    at = name - 1
    while at > 0 and _is_result_part(found, at - 1):
        at -= 1
    return at if at < name - 1 else name


def _is_result_part(found: tuple[Token, ...], at: int) -> bool:
    token = found[at]
    if token.kind is Kind.NUMBER:
        return at > 1 and found[at - 1].text == ":" and found[at - 2].kind is Kind.VALUE
    if token.text == ":":
        return found[at + 1].kind is Kind.NUMBER and at > 0 and found[at - 1].kind is Kind.VALUE
    if token.text == ",":
        return found[at + 1].kind is Kind.VALUE and at > 0 and found[at - 1].kind in (Kind.VALUE, Kind.NUMBER)
    return token.kind is Kind.VALUE and found[at + 1].text in ("=", ",", ":")
