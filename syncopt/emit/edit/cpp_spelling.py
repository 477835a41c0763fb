"""How ops that stand in no file are written in C++ text, and which names they use."""

import re
from collections.abc import Iterable, Sequence

from syncopt.emit.edit.blocktext import branch
from syncopt.ir.kernel import Barrier, Block, Flag, If, Op, Scalar, SetFlag, Value
from syncopt.ir.types import ScalarType
from syncopt.ir.values import operands_of, primary, results_of

_NAME = re.compile(r"[A-Za-z_]\w*")
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def spell_cpp(op: Op) -> list[str]:
    """The lines of an added op, without indentation and line ends.

    Raises
    ------
    ValueError
        If it is no flag, no barrier, no op whose result is called by its expression, no `arith.constant` or
        `arith.cmpi` of integers, and no `scf.if` without results that holds nothing but these.
    """
    match op:
        case Flag(event=event):
            name = "set_flag" if isinstance(op, SetFlag) else "wait_flag"
            number = f"EVENT_ID{event}" if isinstance(event, int) else _name(event)
            return [f"{name}(PIPE_{op.pair.source}, PIPE_{op.pair.target}, {number});"]
        case Barrier():
            return [f"pipe_barrier(PIPE_{op.pipe});"]
        case Scalar() if is_expression(op):
            return []
        case Scalar():
            return [_scalar(op)]
        case If(results=()):
            return branch(f"if ({_name(op.condition)})", op, spell_cpp)
        case _:
            raise ValueError(f"no text for an added {type(op).__name__}")


def is_expression(op: Op) -> bool:
    """Whether an added op has no text of its own: what uses its result, which has no name, spells it."""
    return isinstance(op, Scalar) and op.results != () and not op.results[0].name.startswith("%")


def address_line(tile: Value, address: Value) -> str:
    """The statement that gives a tile an address."""
    return f"TASSIGN({tile.name}, {_name(address)});"


def names_read(op: Op) -> frozenset[str]:
    """Names that the text of an added op uses and does not make itself."""
    return frozenset(_names(operands_of(op))).union(*(_names_inside(region) for region in _blocks(op)))


def names_made(op: Op) -> frozenset[str]:
    """Names that the text of an added op declares."""
    return frozenset() if is_expression(op) else frozenset(_name(value) for value in results_of(op))


def _blocks(op: Op) -> Sequence[Block]:
    return [block for block in (op.then, op.orelse) if block is not None] if isinstance(op, If) else ()


def _names_inside(block: Block) -> frozenset[str]:
    return frozenset(name for op in block.ops for name in names_read(op))


def _names(values: Iterable[Value]) -> Iterable[str]:
    """Every name in an expression; those of types are never assigned, so that they do no harm."""
    return (name for value in values for name in _NAME.findall(_name(value)))


def _name(value: Value) -> str:
    """Added values have names as in `.pto`."""
    return value.name.removeprefix("%")


def _scalar(op: Scalar) -> str:
    match op:
        case Scalar(name="arith.constant", operands=(), results=(result,), attribute=int(number)):
            return f"const {_integer_type(result, 's')} {_name(result)} = {number};"
        case Scalar(name="arith.cmpi", operands=(left, right), results=(result,), attribute=str(predicate)):
            # An expression for a value has the bits of the value, but may have another sign.
            sign = predicate[0] if predicate not in ("eq", "ne") else "s"
            sides = [f"({_integer_type(side, sign)}) {primary(_name(side))}" for side in (left, right)]
            return f"const bool {_name(result)} = {sides[0]} {_COMPARE[predicate.removeprefix(sign)]} {sides[1]};"
        case _:
            raise ValueError(f"no text for an added {op.name}")


def _integer_type(value: Value, sign: str) -> str:
    bits = {"index": 64, "i64": 64, "i32": 32}.get(value.type.name) if isinstance(value.type, ScalarType) else None
    if bits is None:
        raise ValueError(f"no text for an added scalar op on {value.name}: {value.type}")
    return f"{'u' if sign == 'u' else ''}int{bits}_t"
