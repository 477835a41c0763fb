"""Ops in destination-passing form: `pto.NAME ins(...) outs(...) {attributes}`, whatever their name."""

from dataclasses import dataclass, field

from syncopt.frontend._pto.context import OpReader
from syncopt.frontend._pto.lexer import Kind
from syncopt.ir.kernel import Op, TileOp, Value


@dataclass(slots=True)
class _Group:
    """What stands in `ins(...)` or `outs(...)`."""

    values: list[Value] = field(default_factory=list[Value])
    attributes: list[str] = field(default_factory=list[str])


def read_tile_op(op: OpReader) -> Op:
    """Reads `pto.NAME ins(...) outs(...)`."""
    if op.has_results:
        op.fail(f"{op.name} with a result is not modelled")
    ins = _group(op, "ins")
    outs = _group(op, "outs")
    attributes = [*ins.attributes, *outs.attributes]
    if op.sees("{"):
        attributes.append(op.balanced("{", "}"))
    op.done()
    return TileOp(op.uid, op.span, op.name, tuple(ins.values), tuple(outs.values), " ".join(attributes))


def _group(op: OpReader, name: str) -> _Group:
    op.take(name)
    op.take("(")
    group = _Group()
    while not op.sees(")"):
        _entry(op, group)
    op.take(")")
    return group


def _entry(op: OpReader, group: _Group) -> None:
    """A value, a list of types behind `:`, an attribute, or a word that says what the next value is for."""
    token = op.peek()
    if token is None:
        op.unexpected("`)`")
    if token.kind is Kind.VALUE:
        group.values.append(op.any_value())
        op.take_if(",")
    elif op.take_if(":"):
        _skip_types(op)
    elif token.text == "{" and token.kind is Kind.PUNCTUATION:
        group.attributes.append(op.balanced("{", "}"))
    elif token.kind in (Kind.STRING, Kind.WORD, Kind.ATTRIBUTE):
        group.attributes.append(op.next("an attribute").text)
        op.take_if(",")
    else:
        op.unexpected("a value or an attribute")


def _skip_types(op: OpReader) -> None:
    """Operand types repeat the types of the values; old text leaves out `!pto.tile_buf` before the `<`."""
    _skip_type(op)
    while op.take_if(","):
        if op.sees_kind(Kind.VALUE, Kind.STRING):
            return
        _skip_type(op)


def _skip_type(op: OpReader) -> None:
    if op.sees("<"):
        op.balanced("<", ">")
    elif op.sees_kind(Kind.TYPE, Kind.WORD):
        op.next("a type")
    else:
        op.unexpected("a type")
