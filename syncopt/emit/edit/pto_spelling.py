"""How ops that stand in no file are written in `.pto` text."""

from syncopt.emit.edit.blocktext import branch
from syncopt.ir.kernel import Barrier, Flag, If, Op, Scalar, SetFlag, Value
from syncopt.ir.types import ScalarType


def spell(op: Op) -> list[str]:
    """The lines of an added op, without indentation and line ends.

    Raises
    ------
    ValueError
        If it is no flag, no barrier, no `arith.constant`, `arith.addi`, `arith.select` or `arith.cmpi` of integers, and
        no `scf.if` without results that holds nothing but these.
    """
    match op:
        case Flag():
            return [_flag(op)]
        case Barrier():
            return [f"pto.barrier #pto.pipe<PIPE_{op.pipe}>"]
        case Scalar():
            return [_scalar(op)]
        case If(results=()):
            return branch(f"scf.if {op.condition.name}", op, spell)
        case _:
            raise ValueError(f"no text for an added {type(op).__name__}")


def _flag(op: Flag) -> str:
    name = "pto.set_flag" if isinstance(op, SetFlag) else "pto.wait_flag"
    pipes = f"<PIPE_{op.pair.source}>, <PIPE_{op.pair.target}>"
    if isinstance(op.event, Value):
        return f"{name}_dyn[{pipes}, {op.event.name}]"
    return f"{name}[{pipes}, <EVENT_ID{op.event}>]"


def _scalar(op: Scalar) -> str:
    match op:
        case Scalar(name="arith.constant", operands=(), results=(result,), attribute=int(number)):
            return f"{result.name} = arith.constant {number} : {_integer_type(result)}"
        case Scalar(name="arith.addi", operands=(left, right), results=(result,)):
            return f"{result.name} = arith.addi {left.name}, {right.name} : {_integer_type(result)}"
        case Scalar(name="arith.select", operands=(_, _, _) as operands, results=(result,)):
            sides = ", ".join(operand.name for operand in operands)
            return f"{result.name} = arith.select {sides} : {_integer_type(result)}"
        case Scalar(name="arith.cmpi", operands=(left, right), results=(result,), attribute=str(predicate)):
            return f"{result.name} = arith.cmpi {predicate}, {left.name}, {right.name} : {_integer_type(left)}"
        case _:
            raise ValueError(f"no text for an added {op.name}")


def _integer_type(value: Value) -> str:
    if not isinstance(value.type, ScalarType) or value.type.name not in ("index", "i64", "i32"):
        raise ValueError(f"no text for an added scalar op on {value.name}: {value.type}")
    return value.type.name
