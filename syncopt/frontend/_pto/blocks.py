"""Blocks, loops, branches and sections; which reader an op name belongs to."""

from collections.abc import Callable

from syncopt.frontend._pto import flags, scalars, views
from syncopt.frontend._pto.context import FunctionContext, OpReader, Scope
from syncopt.frontend._pto.lexer import Kind, Token
from syncopt.frontend._pto.tileops import read_tile_op
from syncopt.frontend._pto.tree import RawOp
from syncopt.ir.kernel import Block, For, If, Op, Return, Section, Value, Yield
from syncopt.ir.optable import lookup
from syncopt.ir.pipes import SectionKind
from syncopt.ir.source import Span
from syncopt.ir.types import ScalarType, ValueType

_MAX_DEPTH = 64
_HINTS = {
    "scf.while": "write the loop as scf.for",
    "func.call": "write the body of the called function in its place",
    "pto.sync": "syncopt models one core; give it each core's part by itself",
    "pto.tpush": "syncopt models one core; give it each core's part by itself",
    "pto.tpop": "syncopt models one core; give it each core's part by itself",
    "pto.tfree": "syncopt models one core; give it each core's part by itself",
    "cf.": "write the branches as scf.if and scf.for",
    "memref.": "use pto.alloc_tile and pto.make_tensor_view",
}


def read_block(function: FunctionContext, scope: Scope, span: Span, end: type[Return | Yield] | None) -> Block:
    """Reads the ops that fill `span`; the block's own names go to `scope`.

    `end` is the op that may end the block, and that stands nowhere else.
    """
    if scope.depth > _MAX_DEPTH:
        function.fail(f"regions are nested deeper than {_MAX_DEPTH}", Span(span.start - 1, span.start))
    raws = function.tree.ops(span)
    ops = tuple(_read_op(function, scope, raw) for raw in raws)
    for op, raw in zip(ops, raws, strict=True):
        is_end = end is not None and isinstance(op, end) and op is ops[-1]
        if isinstance(op, (Return, Yield)) and not is_end:
            function.fail(f"{raw.name.text} may not stand here", raw.name.span)
    return Block(ops, span)


def _read_op(function: FunctionContext, scope: Scope, raw: RawOp) -> Op:
    op = OpReader(function, scope, raw, function.next_uid())
    if raw.name.kind is Kind.STRING:
        op.fail(f"{op.name} in generic form is not modelled", hint="write the op in its custom form")
    reader = _READERS.get(op.name)
    if reader is None and _is_tile_op(raw):
        reader = read_tile_op
    if reader is None and lookup(op.name) is not None:
        op.fail(f"{op.name}: expected `ins(...) outs(...)` behind the name")
    if reader is None:
        op.fail(f"{op.name} is not modelled", hint=_hint(op.name))
    return reader(op)


def _is_tile_op(raw: RawOp) -> bool:
    words = [token.text for token in raw.rest if token.kind is Kind.WORD]
    return raw.name.text.startswith("pto.") and words[:1] == ["ins"] and "outs" in words


def _hint(name: str) -> str:
    return next((hint for prefix, hint in _HINTS.items() if name.startswith(prefix)), "")


def _region(op: OpReader, scope: Scope, end: type[Yield] | None) -> Block:
    """Takes a region; tree-sitter sees an empty one as an empty attribute."""
    token = op.peek()
    if token is not None and token.kind is Kind.REGION:
        op.next("a region")
        return read_block(op.function, scope, Span(token.span.start + 1, token.span.end - 1), end)
    opening = op.take("{")
    closing = op.take("}")
    return Block((), Span(opening.span.end, closing.span.start))


def _check_yield(op: OpReader, block: Block, expected: int) -> None:
    """The region's `scf.yield` hands out one value per result."""
    last = block.ops[-1] if block.ops else None
    found = len(last.operands) if isinstance(last, Yield) else 0
    if found != expected:
        at = last.span if isinstance(last, Yield) else op.name_span
        op.fail(f"{op.name}: scf.yield hands out {found} value(s), expected {expected}", at)


def _for(op: OpReader) -> Op:
    scope = Scope(op.scope)
    induction_token = op.take_kind(Kind.VALUE, "the loop variable")
    op.take("=")
    lower = op.value(ScalarType)
    op.take("to")
    upper = op.value(ScalarType)
    op.take("step")
    step = op.value(ScalarType)
    names, inits = _iter_args(op) if op.take_if("iter_args") else ((), ())
    types = op.type_list() if op.take_if("->") else ()
    if len(types) != len(inits):
        op.fail(f"{op.name}: {len(inits)} iter_args but {len(types)} result type(s)")
    index = op.type_of(ScalarType) if op.take_if(":") else ScalarType("index")
    induction = _define(op, scope, induction_token, index)
    carried = tuple(_define(op, scope, name, type_) for name, type_ in zip(names, types, strict=True))
    body = _region(op, scope, Yield)
    _check_yield(op, body, len(carried))
    op.done()
    return For(op.uid, op.span, induction, lower, upper, step, inits, carried, op.results(*types), body)


def _define(op: OpReader, scope: Scope, token: Token, type_: ValueType) -> Value:
    if scope.get(token.text) is not None:
        op.fail(f"{token.text} is defined twice", token.span)
    value = Value(token.text, type_)
    scope.add(token.text, value)
    return value


def _iter_args(op: OpReader) -> tuple[tuple[Token, ...], tuple[Value, ...]]:
    op.take("(")
    names: list[Token] = []
    inits: list[Value] = []
    while not op.sees(")"):
        names.append(op.take_kind(Kind.VALUE, "a loop-carried name"))
        op.take("=")
        inits.append(op.any_value())
        if not op.sees(")"):
            op.take(",")
    op.take(")")
    return tuple(names), tuple(inits)


def _if(op: OpReader) -> Op:
    condition = op.value(ScalarType)
    types = op.type_list() if op.take_if("->") else ()
    then = _region(op, Scope(op.scope), Yield)
    _check_yield(op, then, len(types))
    orelse = _region(op, Scope(op.scope), Yield) if op.take_if("else") else None
    if orelse is not None:
        _check_yield(op, orelse, len(types))
    elif types:
        op.fail(f"{op.name}: results without an else branch")
    op.done()
    return If(op.uid, op.span, condition, op.results(*types), then, orelse)


def _yield(op: OpReader) -> Op:
    operands: list[Value] = []
    while op.sees_kind(Kind.VALUE):
        operands.append(op.any_value())
        op.take_if(",")
    if operands:
        op.take(":")
        for at in range(len(operands)):
            if at:
                op.take(",")
            op.any_type()
    op.done()
    op.results()
    return Yield(op.uid, op.span, tuple(operands))


def _return(op: OpReader) -> Op:
    op.done()
    return Return(op.uid, op.span)


def _section(kind: SectionKind) -> Callable[[OpReader], Op]:
    def read(op: OpReader) -> Op:
        body = _region(op, Scope(op.scope), None)
        op.done()
        op.results()
        return Section(op.uid, op.span, kind, body)

    return read


_READERS: dict[str, Callable[[OpReader], Op]] = {
    **scalars.READERS,
    **views.READERS,
    **flags.READERS,
    "scf.for": _for,
    "scf.if": _if,
    "scf.yield": _yield,
    "return": _return,
    "func.return": _return,
    "pto.section.cube": _section(SectionKind.CUBE),
    "pto.section.vector": _section(SectionKind.VECTOR),
}
