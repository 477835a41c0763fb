"""Which values an op uses and makes."""

from syncopt.ir.kernel import (
    AddPtr,
    AllocMultiTile,
    AllocTile,
    Flag,
    For,
    If,
    MultiTileGet,
    Op,
    PartitionView,
    Scalar,
    SubView,
    TensorView,
    TileOp,
    Value,
    Yield,
)

_View = AllocTile | AllocMultiTile | MultiTileGet | SubView | AddPtr | TensorView | PartitionView


def primary(text: str) -> str:
    """A C++ expression as an operand of any operator."""
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


def is_pure(op: Op) -> bool:
    """Whether an op only makes a value: scalars, allocations and views."""
    return isinstance(op, Scalar | _View)


def results_of(op: Op) -> tuple[Value, ...]:
    """The values an op makes for the block it stands in."""
    match op:
        case Scalar() | For() | If():
            return op.results
        case AllocTile() | AllocMultiTile() | MultiTileGet() | SubView() | AddPtr() | TensorView() | PartitionView():
            return (op.result,)
        case _:
            return ()


def operands_of(op: Op) -> tuple[Value, ...]:
    """The values an op itself uses, without those of the ops inside it."""
    match op:
        case Scalar() | Yield():
            return op.operands
        case TileOp():
            return (*op.ins, *op.outs)
        case For():
            return (op.lower, op.upper, op.step, *op.inits)
        case If():
            return (op.condition,)
        case Flag():
            return (op.event,) if isinstance(op.event, Value) else ()
        case AllocTile() | AllocMultiTile() | MultiTileGet() | SubView() | AddPtr() | TensorView() | PartitionView():
            return _view_operands(op)
        case _:
            return ()


def _view_operands(op: _View) -> tuple[Value, ...]:
    match op:
        case AllocTile() | AllocMultiTile():
            return tuple(value for value in (op.address, op.valid_row, op.valid_col) if value is not None)
        case MultiTileGet():
            return (op.source, op.slot)
        case SubView():
            return (op.source, *op.offsets, *op.valid)
        case AddPtr():
            return (op.pointer, op.offset)
        case TensorView():
            return (op.pointer, *op.shape, *op.strides)
        case PartitionView():
            return (op.source, *op.offsets, *op.sizes)
