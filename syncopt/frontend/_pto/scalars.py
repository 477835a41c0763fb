"""Scalar work: `arith` ops and the launch queries of `pto`."""

import struct
from collections.abc import Callable

from syncopt.frontend._pto.context import OpReader
from syncopt.frontend._pto.lexer import Kind, Token
from syncopt.ir.kernel import Op, Scalar, Value
from syncopt.ir.types import ScalarType

_BINARY = (
    "addi subi muli divsi divui ceildivsi ceildivui floordivsi remsi remui minsi minui maxsi maxui "
    "andi ori xori shli shrsi shrui addf subf mulf divf remf minimumf maximumf minnumf maxnumf"
)
_CASTS = "index_cast index_castui extsi extui trunci extf truncf sitofp uitofp fptosi fptoui bitcast"
_LAUNCH = ("pto.get_block_idx", "pto.get_block_num", "pto.get_subblock_idx", "pto.get_subblock_num")
_INT_PREDICATES = frozenset({"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
_FLOAT_PREDICATES = frozenset(
    {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"}
)
_FLAG_WORDS = ("overflow", "fastmath", "exact", "nneg")
_FLOAT_FORMATS = {"f16": ("<H", "<e"), "f32": ("<I", "<f"), "f64": ("<Q", "<d")}
_BOOL = ScalarType("i1")


def _constant(op: OpReader) -> Op:
    if op.sees("true", "false"):
        literal = op.next("a literal")
        type_ = op.type_of(ScalarType) if op.take_if(":") else _BOOL
        number: int | float = int(literal.text == "true")
    else:
        if not op.sees_kind(Kind.NUMBER):
            found = op.peek()
            op.fail(f"{op.name} {found.text if found else ''} is not modelled", found.span if found else None)
        literal = op.next("a number")
        op.take(":")
        type_ = op.type_of(ScalarType)
        number = _number(op, literal, type_)
    op.done()
    return Scalar(op.uid, op.span, op.name, (), (op.result(type_),), number)


def _number(op: OpReader, literal: Token, type_: ScalarType) -> int | float:
    is_hex = "0x" in literal.text
    if "f" not in type_.name:
        try:
            return int(literal.text, 16 if is_hex else 10)
        except ValueError:
            op.fail(f"{op.name}: {literal.text} is no number of type {type_.name}", literal.span)
    return _float_of_bits(op, literal, type_) if is_hex else float(literal.text)


def _float_of_bits(op: OpReader, literal: Token, type_: ScalarType) -> float:
    """MLIR writes infinities and NaNs as the bits of the float."""
    bits = int(literal.text, 16)
    if type_.name == "bf16":
        bits, format_ = bits << 16, _FLOAT_FORMATS["f32"]
    else:
        format_ = _FLOAT_FORMATS[type_.name]
    try:
        number: float = struct.unpack(format_[1], struct.pack(format_[0], bits))[0]
    except struct.error:
        op.fail(f"{op.name}: {literal.text} does not fit {type_.name}", literal.span)
    return number


def _operands(op: OpReader, count: int) -> tuple[Value, ...]:
    values = [op.value(ScalarType)]
    for _ in range(count - 1):
        op.take(",")
        values.append(op.value(ScalarType))
    _skip_hints(op)
    return tuple(values)


def _skip_hints(op: OpReader) -> None:
    """Promises to the optimiser (`overflow<nsw>`, `exact`, ...) do not change a result that is defined."""
    while op.take_if(*_FLAG_WORDS):
        if op.sees("<"):
            op.balanced("<", ">")


def _binary(op: OpReader) -> Op:
    operands = _operands(op, 2)
    op.take(":")
    type_ = op.type_of(ScalarType)
    op.done()
    return Scalar(op.uid, op.span, op.name, operands, (op.result(type_),))


def _negate(op: OpReader) -> Op:
    operands = _operands(op, 1)
    op.take(":")
    type_ = op.type_of(ScalarType)
    op.done()
    return Scalar(op.uid, op.span, op.name, operands, (op.result(type_),))


def _cast(op: OpReader) -> Op:
    operands = _operands(op, 1)
    op.take(":")
    op.type_of(ScalarType)
    op.take("to")
    type_ = op.type_of(ScalarType)
    op.done()
    return Scalar(op.uid, op.span, op.name, operands, (op.result(type_),))


def _select(op: OpReader) -> Op:
    operands = _operands(op, 3)
    op.take(":")
    type_ = op.type_of(ScalarType)
    if op.take_if(","):
        type_ = op.type_of(ScalarType)
    op.done()
    return Scalar(op.uid, op.span, op.name, operands, (op.result(type_),))


def _compare(predicates: frozenset[str]) -> Callable[[OpReader], Op]:
    def read(op: OpReader) -> Op:
        predicate = op.next("a predicate")
        if predicate.text not in predicates:
            op.fail(f"{op.name}: no predicate {predicate.text!r}", predicate.span)
        op.take(",")
        operands = _operands(op, 2)
        op.take(":")
        op.type_of(ScalarType)
        op.done()
        return Scalar(op.uid, op.span, op.name, operands, (op.result(_BOOL),), predicate.text)

    return read


def _launch(op: OpReader) -> Op:
    type_ = op.type_of(ScalarType) if op.take_if(":", "->") else ScalarType("i64")
    op.done()
    return Scalar(op.uid, op.span, op.name, (), (op.result(type_),))


READERS: dict[str, Callable[[OpReader], Op]] = {
    "arith.constant": _constant,
    "arith.negf": _negate,
    "arith.select": _select,
    "arith.cmpi": _compare(_INT_PREDICATES),
    "arith.cmpf": _compare(_FLOAT_PREDICATES),
    **{f"arith.{name}": _binary for name in _BINARY.split()},
    **{f"arith.{name}": _cast for name in _CASTS.split()},
    **dict.fromkeys(_LAUNCH, _launch),
}
"""Readers by op name."""
