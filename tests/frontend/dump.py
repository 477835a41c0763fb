"""A kernel as lines of text, one per op, for tests that compare the whole tree."""

from collections.abc import Iterable, Iterator

from syncopt.ir.kernel import (
    AddPtr,
    AllocMultiTile,
    AllocTile,
    Barrier,
    Block,
    Flag,
    For,
    If,
    Kernel,
    MultiTileGet,
    Op,
    PartitionView,
    Return,
    Scalar,
    Section,
    SetFlag,
    SubView,
    TensorView,
    TileOp,
    Value,
    Yield,
)
from syncopt.ir.types import (
    Compact,
    MultiTileType,
    Pad,
    PointerType,
    ScalarType,
    TileType,
    ValueType,
    ViewType,
)


def dump(kernel: Kernel) -> str:
    """The kernel as text: uid, what the op is, and how the file spells its first word and its last two characters."""
    head = f"kernel {kernel.name}({', '.join(map(_typed, kernel.arguments))})"
    return "\n".join([head, *_block(kernel, kernel.body, "  ")]) + "\n"


def _block(kernel: Kernel, block: Block, indent: str) -> Iterator[str]:
    for op in block.ops:
        text = kernel.source.data[op.span.start : op.span.end].decode().strip()
        yield (
            f"{indent}{op.uid}: {_op(op)}   <{text.split()[0]}..{text[-2:]}>"
            if text
            else f"{indent}{op.uid}: {_op(op)}"
        )
        match op:
            case For() | Section():
                yield from _block(kernel, op.body, indent + "  ")
            case If():
                yield from _block(kernel, op.then, indent + "  ")
                if op.orelse is not None:
                    yield f"{indent}else"
                    yield from _block(kernel, op.orelse, indent + "  ")
            case _:
                pass


def _op(op: Op) -> str:
    return _control(op) or _view(op) or _work(op)


def _work(op: Op) -> str:
    match op:
        case Scalar():
            attribute = "" if op.attribute is None else f" {op.attribute!r}"
            return f"{_all(op.results)} = {op.name}{attribute}({_names(op.operands)})"
        case TileOp():
            return f"{op.name} ({_names(op.ins)}) -> ({_names(op.outs)}) {op.attributes}".rstrip()
        case Flag():
            return f"{'set' if isinstance(op, SetFlag) else 'wait'} {op.pair} {op.event}"
        case Barrier():
            return f"barrier {op.pipe}"
        case _:
            raise AssertionError(op)


def _view(op: Op) -> str:
    match op:
        case AllocTile() | AllocMultiTile():
            return f"{_typed(op.result)} = alloc addr={op.address} valid={op.valid_row},{op.valid_col}"
        case MultiTileGet():
            return f"{_typed(op.result)} = slot {op.slot} of {op.source}"
        case SubView():
            valid = f" valid ({_names(op.valid)})" if op.valid else ""
            return f"{_typed(op.result)} = part {list(op.sizes)} of {op.source} at ({_names(op.offsets)}){valid}"
        case AddPtr():
            return f"{_typed(op.result)} = {op.pointer} + {op.offset}"
        case TensorView():
            shape, strides = _names(op.shape), _names(op.strides)
            return f"{_typed(op.result)} = view of {op.pointer} shape ({shape}) strides ({strides}) {op.layout}"
        case PartitionView():
            return f"{_typed(op.result)} = box ({_names(op.sizes)}) of {op.source} at ({_names(op.offsets)})"
        case _:
            return ""


def _control(op: Op) -> str:
    match op:
        case For():
            carried = ", ".join(f"{_typed(value)} = {init}" for value, init in zip(op.carried, op.inits, strict=True))
            bounds = f"{op.lower}..{op.upper} by {op.step}"
            return f"[{_all(op.results)}] = for {_typed(op.induction)} in {bounds} carry [{carried}]"
        case If():
            return f"[{_all(op.results)}] = if {op.condition}"
        case Yield():
            return f"yield ({_names(op.operands)})"
        case Return():
            return "return"
        case Section():
            return f"section {op.kind.value}"
        case _:
            return ""


def _names(values: Iterable[Value]) -> str:
    return ", ".join(value.name for value in values)


def _all(values: Iterable[Value]) -> str:
    return ", ".join(_typed(value) for value in values)


def _typed(value: Value) -> str:
    return f"{value.name}: {_type(value.type)}"


def _type(type_: ValueType) -> str:
    match type_:
        case ScalarType():
            return type_.name
        case PointerType():
            return f"ptr {type_.dtype.spelling}"
        case ViewType():
            return f"view {'x'.join(map(_size, type_.shape))} {type_.dtype.spelling}"
        case MultiTileType():
            return f"{type_.count} x {_type(type_.tile)}"
        case TileType():
            shape = f"{type_.rows}x{type_.cols}({_size(type_.valid_rows)}x{_size(type_.valid_cols)})"
            layout = f"{type_.blayout.value}/{type_.slayout.value}"
            return f"{type_.memory} {shape} {type_.dtype.spelling} {layout}{_config(type_)}"


def _config(type_: TileType) -> str:
    """What differs from the usual fractal, padding and packing."""
    fractal = f" fractal {type_.fractal}" if type_.fractal != 512 else ""
    pad = f" pad {type_.pad.name.lower()}" if type_.pad is not Pad.NULL else ""
    compact = f" compact {type_.compact.name.lower()}" if type_.compact is not Compact.NULL else ""
    return fractal + pad + compact


def _size(size: int | None) -> str:
    return "?" if size is None else str(size)
