"""Functions of a file: their headers, and the kernel of one of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from syncopt.frontend._pto.blocks import read_block
from syncopt.frontend._pto.context import FunctionContext, OpReader, Scope
from syncopt.frontend._pto.lexer import Kind, Token
from syncopt.frontend._pto.tree import RawOp, Tree
from syncopt.frontend._pto.types import Types
from syncopt.ir.kernel import Kernel, Return, Value
from syncopt.ir.source import InputError, Source, Span
from syncopt.ir.types import PointerType, ScalarType

_SECTIONS = ("pto.section.cube", "pto.section.vector")


@dataclass(frozen=True, eq=False, slots=True)
class FunctionText:
    """A `func.func` before it is converted.

    `body` is what stands between its braces, None for a declaration. `is_kernel`: it holds tile ops or sections.
    """

    name: str
    raw: RawOp
    body: Span | None
    is_kernel: bool


def functions_of(tree: Tree) -> tuple[FunctionText, ...]:
    """All functions of a file, in text order."""
    return tuple(_function(tree, span) for span in tree.functions)


def _function(tree: Tree, span: Span) -> FunctionText:
    found = tree.tokens(span)
    end = next((at for at, token in enumerate(found) if token.kind is Kind.REGION), len(found) - 1) + 1
    name = next((token for token in found if token.kind is Kind.SYMBOL), None)
    if name is None:
        raise InputError("syntax error: a function without a name", tree.source, found[0].span)
    last = found[end - 1]
    body = _inside(last) if last.kind is Kind.REGION else None
    raw = RawOp((), found[0], found[1:end])
    is_kernel = body is not None and _holds_tile_op(tree, body)
    return FunctionText(name.text[1:].strip('"'), raw, body, is_kernel)


def _holds_tile_op(tree: Tree, body: Span) -> bool:
    """Whether a section or a `pto.` op with `outs` stands anywhere in a body; text that is broken holds none."""
    blocks = [body]
    while blocks:
        try:
            ops = tree.ops(blocks.pop())
        except InputError:
            continue
        if any(_is_tile_op(op) for op in ops):
            return True
        blocks.extend(_inside(token) for op in ops for token in op.rest if token.kind is Kind.REGION)
    return False


def _is_tile_op(op: RawOp) -> bool:
    name = op.name.text
    return name in _SECTIONS or (name.startswith("pto.") and any(token.text == "outs" for token in op.rest))


def _inside(region: Token) -> Span:
    return Span(region.span.start + 1, region.span.end - 1)


def read_kernel(tree: Tree, function: FunctionText) -> Kernel:
    """Converts one function.

    The readers of ops take text that tree-sitter cannot read, such as old operand types, if they know every token of
    it. Where they do not, its syntax error counts if it comes first. Where tree-sitter made up a token, regions may end
    anywhere, so that nothing can be read.
    """
    span = function.raw.span
    missing = _first_within((place for place, _ in tree.missing), span)
    if missing is not None:
        raise InputError(f"syntax error: expected `{dict(tree.missing)[missing]}`", tree.source, missing)
    try:
        return _convert(tree, function)
    except InputError as refusal:
        first = _first_within(tree.errors, span)
        if first is None or refusal.span is None or refusal.span.start <= first.start:
            raise
        raise InputError("syntax error", tree.source, first) from refusal


def _first_within(spans: Iterable[Span], whole: Span) -> Span | None:
    return min((span for span in spans if whole.start <= span.start <= whole.end), key=_start, default=None)


def _start(span: Span) -> int:
    return span.start


def _convert(tree: Tree, function: FunctionText) -> Kernel:
    types, attributes = _aliases(tree)
    context = FunctionContext(tree, Types(tree.source, types), attributes)
    scope = Scope()
    header = OpReader(context, scope, function.raw, -1)
    arguments = _header(header)
    if function.body is None:
        header.fail(f"@{function.name} has no body")
    header.take_kind(Kind.REGION, "the body of the function")
    header.done()
    body = read_block(context, scope, function.body, Return)
    return Kernel(function.name, arguments, body, tree.source, function.raw.span)


def _header(op: OpReader) -> tuple[Value, ...]:
    """`func.func public @name(arguments) attributes {...}`: the arguments."""
    op.take_if("public", "private", "nested")
    op.take_kind(Kind.SYMBOL, "the name of the function")
    op.take("(")
    arguments: list[Value] = []
    while not op.sees(")"):
        arguments.append(_argument(op))
        if not op.sees(")"):
            op.take(",")
    op.take(")")
    if op.sees("->"):
        arrow = op.next("`->`")
        if op.type_list():
            op.fail("a kernel that returns values is not modelled", arrow.span)
    if op.take_if("attributes"):
        op.balanced("{", "}")
    return tuple(arguments)


def _argument(op: OpReader) -> Value:
    name = op.take_kind(Kind.VALUE, "an argument")
    op.take(":")
    type_token = op.peek()
    type_ = op.any_type()
    if not isinstance(type_, (ScalarType, PointerType)) and type_token is not None:
        op.fail(f"an argument of type {type_token.text} is not modelled", type_token.span, "pass a pointer or a scalar")
    if op.sees("{"):
        op.balanced("{", "}")
    if op.take_if("loc"):
        op.balanced("(", ")")
    return op.define((name.text,), name, type_)


def _aliases(tree: Tree) -> tuple[dict[str, str], dict[str, str]]:
    """Texts of `!name = ...` and of `#name = ...`."""
    types: dict[str, str] = {}
    attributes: dict[str, str] = {}
    for span in tree.aliases:
        name, text = _alias(tree.source, span)
        (types if name.startswith("!") else attributes)[name] = text
    return types, attributes


def _alias(source: Source, span: Span) -> tuple[str, str]:
    name, _, text = source.data[span.start : span.end].decode().partition("=")
    return name.strip(), text.strip()
