"""A kernel as PTO-ISA C++, op by op in the order of the tree."""

from collections.abc import Sequence

from syncopt.emit.cpp.attributes import read_attributes
from syncopt.emit.cpp.calls import Operands, call_of
from syncopt.emit.cpp.names import function_name
from syncopt.emit.cpp.scalars import expression
from syncopt.emit.cpp.spelling import pointer_type, scalar_type
from syncopt.emit.cpp.tiles import Tiles
from syncopt.emit.cpp.views import Views
from syncopt.emit.cpp.writer import Writer, yielded_by
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
from syncopt.ir.pipes import SectionKind
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting
from syncopt.ir.types import PointerType, ScalarType, TileType, ViewType

_HEADER = ('#include "pto/pto-inst.hpp"', "using namespace pto;", "")
_SECTIONS = {
    SectionKind.CUBE: ("__DAV_CUBE__", ()),
    SectionKind.VECTOR: ("__DAV_VEC__", ("set_mask_norm();", "set_vector_mask(-1, -1);")),
}
"""The macro of the cores that run a section, and what makes their vector ops take all elements."""


def cpp_text(kernel: Kernel, setting: Setting) -> str:
    """The PTO-ISA C++ of a kernel: the same ops, flags and addresses, with identifiers after its SSA names.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    setting : Setting
        Its `addresses` serve the allocations that carry none, its `alignment` the slots of rotating tiles.

    Raises
    ------
    InputError
        If an op, a type or a value has no C++ form that is known to mean the same; it says where.
    """
    return _Text(kernel, setting).text()


class _Text:
    """Writes one kernel."""

    def __init__(self, kernel: Kernel, setting: Setting) -> None:
        self._kernel = kernel
        self._writer = Writer(kernel, setting)
        self._tiles = Tiles(self._writer)
        self._views = Views(self._writer)

    def text(self) -> str:
        """The whole file."""
        for line in _HEADER:
            self._writer.line(line)
        arguments = ", ".join(self._argument(value) for value in self._kernel.arguments)
        self._writer.line(f"__global__ AICORE void {function_name(self._kernel.name)}({arguments}) {{")
        with self._writer.block():
            self._ops(self._kernel.body)
        self._writer.line("}")
        return self._writer.text

    def _argument(self, value: Value) -> str:
        type_ = self._spelled(value)
        if not type_:
            name = value.type.name if isinstance(value.type, ScalarType) else type(value.type).__name__
            raise InputError(f"no C++ for argument {value} : {name}").at(self._kernel.source, self._kernel.span)
        return f"{type_} {self._writer.names.declare(value)}"

    def _ops(self, block: Block) -> None:
        for op in block.ops:
            self._op(op)

    def _op(self, op: Op) -> None:
        match op:
            case Scalar():
                self._scalar(op)
            case TileOp():
                self._tile_op(op)
            case Flag() | Barrier():
                self._synchronisation(op)
            case For() | If() | Section():
                self._structure(op)
            case Return():
                self._writer.line("return;")
            case Yield():
                pass  # the loop or branch around it hands its operands on
            case _:
                self._value(op)

    def _scalar(self, op: Scalar) -> None:
        found = expression(op, self._writer.names) if len(op.results) == 1 else None
        if found is None:
            types = ", ".join(value.type.name for value in op.operands if isinstance(value.type, ScalarType))
            self._writer.fail(op, f"{op.name}" + (f" on {types}" if types else ""))
        [result] = op.results
        const = "const " if op.name == "arith.constant" else ""
        self._writer.line(f"{const}{self._spelled(result)} {self._writer.names.declare(result)} = {found};")

    def _value(self, op: Op) -> None:
        match op:
            case AllocTile():
                self._tiles.alloc_tile(op)
            case AllocMultiTile():
                self._tiles.alloc_multi_tile(op)
            case MultiTileGet():
                self._tiles.multi_tile_get(op)
            case SubView():
                self._tiles.sub_view(op)
            case AddPtr():
                self._views.add_pointer(op)
            case TensorView():
                self._views.tensor_view(op)
            case PartitionView():
                self._views.partition_view(op)
            case _:
                self._writer.fail(op, type(op).__name__)

    # -- instructions ----------------------------------------------------------------------------------------------

    def _synchronisation(self, op: Flag | Barrier) -> None:
        if isinstance(op, Barrier):
            self._writer.line(f"pipe_barrier(PIPE_{op.pipe});")
            return
        name = "set_flag" if isinstance(op, SetFlag) else "wait_flag"
        event = f"EVENT_ID{op.event}" if isinstance(op.event, int) else f"(event_t) {self._writer.names[op.event]}"
        self._writer.line(f"{name}(PIPE_{op.pair.source}, PIPE_{op.pair.target}, {event});")

    def _tile_op(self, op: TileOp) -> None:
        row = call_of(op.name)
        if row is None:
            self._writer.fail(op, op.name)
        operands, attributes = self._operands(op), read_attributes(op.attributes)
        if operands is None or operands.shape not in row.shapes:
            shape = f"{_shape(op.ins)}->{_shape(op.outs)}"
            known = f"known for {' and '.join(row.shapes)}: t is a tile, v a view, s a scalar"
            self._writer.fail(op, f"{op.name} with operands {shape}", known)
        unknown = attributes is None or attributes.keys() - row.attributes
        call = None if attributes is None or unknown else row.build(operands, attributes)
        if call is None:
            self._writer.fail(op, f"{op.name} {op.attributes}".rstrip())
        self._writer.line(f"{call};")

    def _operands(self, op: TileOp) -> Operands | None:
        """Identifiers and types of an op's operands; None if one is no tile, view or scalar, or it has not one out."""
        shape = f"{_shape(op.ins)}->{_shape(op.outs)}"
        if len(op.outs) != 1 or "?" in shape:
            return None
        values = [self._writer.origin(value) for value in (*op.outs, *op.ins)]
        [out, *ins] = [self._writer.names[value] for value in values]
        return Operands(shape, out, tuple(ins), {self._writer.names[value]: self._spelled(value) for value in values})

    def _spelled(self, value: Value) -> str:
        """The C++ type of a value, as far as it is written; nothing if it has none."""
        match value.type:
            case ScalarType():
                return scalar_type(value.type) or ""
            case PointerType():
                return pointer_type(value.type.dtype)
            case TileType():
                return self._tiles.type_of(value)
            case ViewType():
                return self._views.type_of(value)
            case _:
                return ""

    # -- loops, branches, sections ---------------------------------------------------------------------------------

    def _structure(self, op: For | If | Section) -> None:
        match op:
            case For():
                self._for(op)
            case If():
                self._if(op)
            case Section():
                self._section(op)

    def _section(self, op: Section) -> None:
        """A section ends no scope: its names stay."""
        macro, preparation = _SECTIONS[op.kind]
        self._writer.line("")
        self._writer.line(f"#if defined({macro})")
        for line in preparation:
            self._writer.line(line)
        self._ops(op.body)
        self._writer.line(f"#endif // {macro}")
        self._writer.line("")

    def _for(self, op: For) -> None:
        """A loop whose carried values are variables that its results go by as well."""
        names, type_ = self._writer.names, self._spelled(op.induction)
        for carried, init, result in zip(op.carried, op.inits, op.results, strict=True):
            if self._writer.origin(carried) is not carried:
                continue
            self._variable(op, carried, init)
            self._writer.line(f"{self._spelled(carried)} {names.declare(carried)} = {names[init]};")
            self._variable(op, result, carried)
            names.share(result, carried)
        lower, upper, step = (names[value] for value in (op.lower, op.upper, op.step))
        with names.scope():
            i = names.declare(op.induction)
            self._writer.line(f"for ({type_} {i} = {lower}; {i} < {upper}; {i} += {step}) {{")
            self._region(op, op.body, op.carried)
            self._writer.line("}")

    def _if(self, op: If) -> None:
        for result, yielded in zip(op.results, yielded_by(op.then), strict=True):
            if self._writer.origin(result) is not result:
                continue
            self._variable(op, result, yielded)
            self._writer.line(f"{self._spelled(result)} {self._writer.names.declare(result)};")
        self._writer.line(f"if ({self._writer.names[op.condition]}) {{")
        self._region(op, op.then, op.results)
        if op.orelse is not None:
            self._writer.line("} else {")
            self._region(op, op.orelse, op.results)
        self._writer.line("}")

    def _variable(self, op: Op, value: Value, source: Value) -> None:
        """Makes known that a value takes what another one is; only one type can be assigned from both."""
        if isinstance(value.type, TileType):
            if not self._tiles.knows(source):
                self._writer.fail(op, f"{value}: a tile that is made inside the branch it comes out of")
            self._tiles.take_over(value, source)
        elif not self._spelled(value):
            self._writer.fail(op, f"{value}: a view or a rotating tile that comes out of a loop or branch")

    def _region(self, op: Op, block: Block, targets: Sequence[Value]) -> None:
        """The inside of a loop or branch; at its end the variables `targets` take what it yields, all at once."""
        with self._writer.block():
            self._ops(block)
            pairs = [
                (target, value)
                for target, value in zip(targets, yielded_by(block), strict=True)
                if self._writer.origin(target) is target
            ]
            for target, value in pairs:
                if self._spelled(target) != self._spelled(value):
                    self._writer.fail(op, f"{target} and {value}: tiles of two types in one variable")
            self._assign([pair for pair in pairs if pair[0] is not pair[1]])

    def _assign(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        names = self._writer.names
        sources = [names[value] for _, value in pairs]
        if {*sources} & {names[target] for target, _ in pairs}:
            for at, (target, value) in enumerate(pairs):
                sources[at] = names.fresh(f"{names[target]}_next")
                self._writer.line(f"{self._spelled(target)} {sources[at]} = {names[value]};")
        for (target, _), source in zip(pairs, sources, strict=True):
            self._writer.line(f"{names[target]} = {source};")


def _shape(values: Sequence[Value]) -> str:
    return "".join(_kind(value) for value in values)


def _kind(value: Value) -> str:
    match value.type:
        case TileType():
            return "t"
        case ViewType():
            return "v"
        case ScalarType():
            return "s"
        case _:
            return "?"
