"""The tile ops that syncopt knows: the pipe of every form, operands that are more than they look, the cost family.

One row per op. An op without a row is refused by its name. Three kinds of op have no row on purpose: ops that only
other chips have (`pto.tmatmul.mx`, ...), ops made of several instructions whose cost is not published (`pto.trem`,
`pto.tpow`, `pto.trowexpandexpdif`, `pto.tpartadd`, ...), and exchanges between cores (`pto.tpush`, ...).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from syncopt.ir.kernel import TileOp, Value
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.types import TileType, ViewType


class Family(Enum):
    """Which cost rule an op follows; the value is what messages and tables call it."""

    LOAD = "load"
    STORE = "store"
    MOVE = "move"
    MATMUL = "matmul"
    BINARY = "binary"
    UNARY = "unary"
    EXP = "exp"
    DIV = "div"
    CVT = "cvt"
    ROW_REDUCTION = "row_reduction"
    COLUMN_REDUCTION = "column_reduction"
    GATHER = "gather"
    SCALAR = "scalar"
    SCALAR_LOOP = "scalar_loop"
    UNPRICED = "unpriced"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Form:
    """One combination of memories an op exists for.

    Parameters
    ----------
    sources : tuple of Memory
        Memories of the tiles and views among the ins, scalars left out.
    destination : Memory or None
        Memory of every tile or view among the outs; None when there is none.
    pipe : Pipe
        The pipe that executes this form.
    any_number : bool
        One or more operands of the memories in `sources`, in any order.
    """

    sources: tuple[Memory, ...]
    destination: Memory | None
    pipe: Pipe
    any_number: bool = False

    def matches(self, sources: tuple[Memory, ...], destinations: tuple[Memory, ...]) -> bool:
        """Whether operands in these memories have this form."""
        if set(destinations) != ({self.destination} if self.destination else set()):
            return False
        if self.any_number:
            return bool(sources) and set(sources) <= set(self.sources)
        return sources == self.sources


@dataclass(frozen=True, slots=True)
class OpRow:
    """What is known of an op by its name.

    Parameters
    ----------
    name : str
        Name in the text, `pto.` included.
    family : Family
        The cost rule.
    forms : tuple of Form
        The forms that exist on the 910B.
    scratch : tuple of int
        Positions among the ins as written (scalars counted) that are written too, where the op has that many.
    reads_outs : bool
        What the outs held before matters: the op adds to it or writes only a part of it.
    """

    name: str
    family: Family
    forms: tuple[Form, ...]
    scratch: tuple[int, ...] = field(default=(), kw_only=True)
    reads_outs: bool = field(default=False, kw_only=True)

    @property
    def priced(self) -> bool:
        """Whether there is a cost rule for at least one form."""
        return self.family is not Family.UNPRICED

    def pipe(self, sources: tuple[Memory, ...], destinations: tuple[Memory, ...]) -> Pipe | None:
        """The pipe that executes the op on operands in these memories; None if this form does not exist."""
        return next((form.pipe for form in self.forms if form.matches(sources, destinations)), None)


def lookup(name: str) -> OpRow | None:
    """The row of an op; None if syncopt does not know it."""
    return _TABLE.get(name)


def pipe_of(op: TileOp) -> Pipe | None:
    """The pipe that executes a tile op, by the types of its operands; None if the op or its form is not known."""
    row = lookup(op.name)
    return None if row is None else row.pipe(_memories(op.ins), _memories(op.outs))


def _memories(values: tuple[Value, ...]) -> tuple[Memory, ...]:
    """Where operands are; scalars are nowhere."""
    kinds = [value.type for value in values if isinstance(value.type, TileType | ViewType)]
    return tuple(kind.memory if isinstance(kind, TileType) else Memory.GM for kind in kinds)


def op_names() -> tuple[str, ...]:
    """The names of all known ops, sorted."""
    return tuple(sorted(_TABLE))


_GM, _MAT, _LEFT, _RIGHT = Memory.GM, Memory.MAT, Memory.LEFT, Memory.RIGHT
_ACC, _VEC, _BIAS, _SCALING = Memory.ACC, Memory.VEC, Memory.BIAS, Memory.SCALING

_ON_VEC = Form((_VEC,), _VEC, Pipe.V, any_number=True)
_COPY = Form((_VEC,), _VEC, Pipe.V)
_ACC_TO_MAT = Form((_ACC,), _MAT, Pipe.FIX)
_ACC_TO_MAT_SCALED = Form((_ACC, _SCALING), _MAT, Pipe.FIX)
_MOVES = (
    *(Form((_MAT,), memory, Pipe.MTE1) for memory in (_LEFT, _RIGHT, _BIAS)),
    *(Form((_MAT,), _SCALING, Pipe.FIX), _ACC_TO_MAT, _ACC_TO_MAT_SCALED, _COPY),
)
_PRODUCT = Form((_LEFT, _RIGHT), _ACC, Pipe.M)
_SUM_OF_PRODUCTS = Form((_ACC, _LEFT, _RIGHT), _ACC, Pipe.M)
_PRODUCT_WITH_BIAS = Form((_LEFT, _RIGHT, _BIAS), _ACC, Pipe.M)


def _vector(family: Family, *names: str, scratch: tuple[int, ...] = ()) -> list[OpRow]:
    return [OpRow(f"pto.{name}", family, (_ON_VEC,), scratch=scratch) for name in names]


def _moves() -> Iterable[OpRow]:
    yield OpRow("pto.tload", Family.LOAD, (Form((_GM,), _MAT, Pipe.MTE2), Form((_GM,), _VEC, Pipe.MTE2)))
    yield OpRow(
        "pto.tstore",
        Family.STORE,
        (Form((_VEC,), _GM, Pipe.MTE3), Form((_MAT,), _GM, Pipe.MTE3), Form((_ACC,), _GM, Pipe.FIX)),
    )
    yield OpRow("pto.tstore_fp", Family.STORE, (Form((_ACC, _SCALING), _GM, Pipe.FIX),))
    yield OpRow("pto.tmov", Family.MOVE, _MOVES)
    # The public compiler puts tmov.fp on MTE1; the hardware moves it through the fixpipe.
    yield OpRow("pto.tmov.fp", Family.MOVE, (_ACC_TO_MAT_SCALED,))
    yield OpRow("pto.textract", Family.MOVE, _MOVES)
    yield OpRow("pto.textract_fp", Family.MOVE, (_ACC_TO_MAT_SCALED,))
    yield OpRow("pto.tinsert", Family.MOVE, (_ACC_TO_MAT, _ACC_TO_MAT_SCALED, _COPY), reads_outs=True)
    yield OpRow("pto.tinsert_fp", Family.MOVE, (_ACC_TO_MAT_SCALED,), reads_outs=True)


def _matmuls() -> Iterable[OpRow]:
    for name in ("tmatmul", "tgemv"):
        yield OpRow(f"pto.{name}", Family.MATMUL, (_PRODUCT,))
        yield OpRow(f"pto.{name}.bias", Family.MATMUL, (_PRODUCT_WITH_BIAS,))
        # The accumulator stands in ins and outs; a text that lists it among the outs only still reads it.
        yield OpRow(f"pto.{name}.acc", Family.MATMUL, (_SUM_OF_PRODUCTS, _PRODUCT), reads_outs=True)


def _vectors() -> Iterable[OpRow]:
    yield from _vector(Family.BINARY, "tadd", "tsub", "tmul", "tmax", "tmin", "tand", "tor", "tcmp")
    yield from _vector(Family.BINARY, "tsel", scratch=(3,))
    # One tile is combined with another that has a single column or row: two tile operands, so binary.
    yield from _vector(
        Family.BINARY,
        *("trowexpandadd", "trowexpandsub", "trowexpandmul", "trowexpandmax", "trowexpandmin"),
        scratch=(2,),
    )
    yield from _vector(
        Family.BINARY, "tcolexpandadd", "tcolexpandsub", "tcolexpandmul", "tcolexpandmax", "tcolexpandmin"
    )
    # dst += src * scalar reads two tiles per repeat, as a binary op does.
    yield OpRow("pto.taxpy", Family.BINARY, (_ON_VEC,), reads_outs=True)
    yield from _vector(Family.UNARY, "tadds", "tsubs", "tmuls", "tmaxs", "tmins", "tands", "tors", "tshls", "tshrs")
    yield from _vector(Family.UNARY, "tabs", "tneg", "tnot", "trelu", "tlrelu", "tcmps", "trowexpand", "tcolexpand")
    yield from _vector(Family.UNARY, "tsels", scratch=(2,))
    # A copy that also writes the padding, so that the destination's bytes count. MTE2 fills mat, at no known cost.
    yield OpRow("pto.tfillpad", Family.UNARY, (_COPY, Form((_MAT,), _MAT, Pipe.MTE2)))
    yield OpRow("pto.texpands", Family.UNARY, (Form((), _VEC, Pipe.V), Form((), _MAT, Pipe.MTE2)))
    yield from _vector(Family.EXP, "texp", "tlog", "tsqrt")
    yield from _vector(Family.EXP, "trsqrt", scratch=(1,))
    # A tile by a scalar, a scalar by a tile and 1/x are taken to be divisions.
    yield from _vector(Family.DIV, "tdiv", "tdivs", "trecip", "tcolexpanddiv")
    yield from _vector(Family.DIV, "trowexpanddiv", scratch=(2,))
    yield from _vector(Family.CVT, "tcvt", scratch=(1,))
    yield from _vector(Family.ROW_REDUCTION, "trowsum", "trowmax", "trowmin", "trowprod", scratch=(1,))
    yield from _vector(Family.COLUMN_REDUCTION, "tcolmax", "tcolmin", "tcolprod")
    yield from _vector(Family.COLUMN_REDUCTION, "tcolsum", scratch=(1,))
    # By a mask it has one source, and a cost. By indices it has more; what a row takes is published (46.6 cycles on a
    # 910B3, fp32), but not for how many columns.
    yield from _vector(Family.GATHER, "tgather", scratch=(2,))


def _scalars() -> Iterable[OpRow]:
    on_chip = (_VEC, _MAT)
    yield OpRow("pto.tgetval", Family.SCALAR, tuple(Form((memory,), None, Pipe.S) for memory in on_chip))
    yield OpRow("pto.tsetval", Family.SCALAR, (Form((), _VEC, Pipe.S),), reads_outs=True)
    yield OpRow("pto.treshape", Family.SCALAR, tuple(Form((memory,), memory, Pipe.S) for memory in on_chip))
    # A loop over the elements on the scalar unit; the elements it does not hit keep their value.
    yield OpRow("pto.tscatter", Family.SCALAR_LOOP, (Form((_VEC,), _VEC, Pipe.S, any_number=True),), reads_outs=True)
    # Without a scratch operand the ramp is written by a scalar loop, with one by vector ops of no published cost.
    tci = (Form((), _VEC, Pipe.S), Form((_VEC,), _VEC, Pipe.V))
    yield OpRow("pto.tci", Family.SCALAR_LOOP, tci, scratch=(1,))


def _unpriced() -> Iterable[OpRow]:
    """Ops whose pipe is known and whose cost is not: enough to check a kernel, not to replay it."""
    yield OpRow("pto.tprefetch", Family.UNPRICED, (Form((_GM,), _VEC, Pipe.MTE2), Form((_GM,), _MAT, Pipe.MTE2)))
    gathered = (_GM, _VEC)
    to_mat, to_vec = Form(gathered, _MAT, Pipe.MTE2, any_number=True), Form(gathered, _VEC, Pipe.V, any_number=True)
    yield OpRow("pto.mgather", Family.UNPRICED, (to_mat, to_vec))
    yield from _vector(Family.UNPRICED, "tsort32", scratch=(2,))
    yield from _vector(Family.UNPRICED, "tgatherb")
    # Only the form with one source: the others hold their scratch at a position that varies.
    yield OpRow("pto.tmrgsort", Family.UNPRICED, (_COPY,))


_TABLE = {row.name: row for rows in (_moves(), _matmuls(), _vectors(), _scalars(), _unpriced()) for row in rows}
