"""What an op costs, from the figures of a machine: one function per family of ops, one row per transfer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from syncopt.hwmodel.figures import VECTOR_FAMILIES
from syncopt.ir.optable import Family, OpRow, lookup
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.source import InputError
from syncopt.ir.types import DType, Layout
from syncopt.ir.work import Operand, Work

Value = Callable[[str], Fraction]
"""The value of a figure by its key."""

FRACTAL = 16
"""Rows and columns of a fractal of the accumulator, 16 x 16 x 4 bytes [O]."""
FRACTAL_ROW_BYTES = 32
"""Bytes of an operand's fractal, 16 x 32 bytes, in its inner dimension [O]."""
REPEAT_BYTES = 256
"""Bytes that a vector op works on per repeat [O]."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one pipe instruction costs on a machine.

    Parameters
    ----------
    occupancy : int
        Cycles for which the pipe takes no further instruction (on the scalar pipe: cycles of its clock).
    latency : int
        Cycles from the end of occupancy to completion; overlaps later instructions of the same pipe.
    entries : int
        Queue entries taken at dispatch, at least 1.

    Raises
    ------
    ValueError
        If a figure is negative or `entries` is below 1.
    """

    occupancy: int
    latency: int = 0
    entries: int = 1

    def __post_init__(self) -> None:
        if min(self.occupancy, self.latency) < 0 or self.entries < 1:
            raise ValueError(f"impossible cost: {self}")


class UnmodelledWork(InputError):  # noqa: N818 - it says what the work is
    """A form of an op for which no cost is known.

    Parameters
    ----------
    work : Work
        What cannot be costed.
    reason : str
        Why, as the end of a sentence.
    """

    def __init__(self, work: Work, reason: str) -> None:
        super().__init__(f"{form_of(work)} {reason}", help="syncopt check judges by order alone and needs no costs")
        self.work = work


def form_of(work: Work) -> str:
    """An op with the memories it works on, for messages."""
    ins = ", ".join(str(operand.memory) for operand in work.ins)
    outs = ", ".join(str(operand.memory) for operand in work.outs)
    return f"{work.name} ({ins or 'nothing'} -> {outs or 'nothing'})"


def cost_of(work: Work, value: Value) -> Cost:
    """The cost of an op instance.

    Parameters
    ----------
    work : Work
        The op and the shapes it works on.
    value : callable
        The figures of the machine.

    Raises
    ------
    UnmodelledWork
        If the op, or this form of it, has no cost rule.
    """
    row = lookup(work.name)
    if row is None:
        raise UnmodelledWork(work, "is not an op that the machine model knows")
    if row.pipe(_memories(work.ins), _memories(work.outs)) is not work.pipe:
        raise UnmodelledWork(work, f"is not a form that runs on {work.pipe}")
    if work.pipe is Pipe.V:
        return _vector(row, work, value)
    if work.pipe is Pipe.M:
        return _matmul(work, value)
    if work.pipe is Pipe.S:
        return _scalar(row, work, value)
    return _transfer(row, work, value)


def repeats(row: OpRow, work: Work) -> int:
    """Repeats of a vector op: its largest operand decides; scratch does not count.

    The row counts scalars in the positions of scratch, `work.ins` does not hold any: in priced ops none stands before.
    """
    sizes = [operand.bytes for position, operand in enumerate(work.ins) if position not in row.scratch]
    sizes += [operand.bytes for operand in work.outs]
    return ceil(Fraction(max(sizes), REPEAT_BYTES))


def acc_fractals(operand: Operand) -> int:
    """Fractals of an accumulator tile."""
    return _fractals(operand.rows) * _fractals(operand.cols)


def _memories(operands: tuple[Operand, ...]) -> tuple[Memory, ...]:
    return tuple(operand.memory for operand in operands)


def _fractals(size: int) -> int:
    return -(-size // FRACTAL)


def _no_figure(work: Work) -> UnmodelledWork:
    return UnmodelledWork(work, "has no published cost")


def _vector(row: OpRow, work: Work, value: Value) -> Cost:
    """slope * repeats; head and tail show only where a later op waits for this one."""
    family = Family.UNARY if row.family is Family.MOVE else row.family
    if family not in VECTOR_FAMILIES or (family is Family.GATHER and len(work.ins) > 1):
        raise _no_figure(work)
    occupancy = value(f"vector.{family}.slope") * repeats(row, work)
    return Cost(ceil(occupancy), ceil(value(f"vector.{family}.head") + value(f"vector.{family}.tail")))


def _matmul(work: Work, value: Value) -> Cost:
    """base + factor * fractals of m, k and n, with m, k from the left tile and n from the right."""
    left = next(operand for operand in work.ins if operand.memory is Memory.LEFT)
    right = next(operand for operand in work.ins if operand.memory is Memory.RIGHT)
    inner = -(-left.cols * left.dtype.size // FRACTAL_ROW_BYTES)
    factor = value("matmul.fp32_factor") if left.dtype is DType.F32 else 1
    return Cost(ceil(value("matmul.base") + factor * _fractals(left.rows) * inner * _fractals(right.cols)))


def _scalar(row: OpRow, work: Work, value: Value) -> Cost:
    """A fixed cost per access; for a loop, a cost per element that it writes."""
    if row.family is Family.SCALAR:
        return Cost(ceil(value("scalar.access")))
    elements = max(operand.rows * operand.cols for operand in work.outs)
    return Cost(ceil(value("scalar.element") * elements))


def _transfer(row: OpRow, work: Work, value: Value) -> Cost:
    """base + bytes / rate, with a latency for loads and several queue entries for some extracts."""
    source, destination = work.ins[:1], work.outs[0]
    rule = _RULES.get((source[0].memory, destination.memory)) if source else None
    if rule is None or row.family is Family.UNPRICED:
        raise _no_figure(work)
    return rule(row, source[0], destination, value)


def _plain(route: str, moved: int, value: Value) -> Fraction:
    return value(f"{route}.base") + moved / value(f"{route}.bytes_per_cycle")


def _gm_to_mat(_row: OpRow, source: Operand, _destination: Operand, value: Value) -> Cost:
    return Cost(ceil(_plain("gm_to_mat", source.bytes, value)), ceil(value("gm_to_mat.latency")))


def _gm_to_vec(_row: OpRow, source: Operand, _destination: Operand, value: Value) -> Cost:
    return Cost(ceil(_plain("gm_to_vec", source.bytes, value)), ceil(value("gm_to_vec.latency")))


def _mat_to_left(_row: OpRow, _source: Operand, destination: Operand, value: Value) -> Cost:
    return Cost(ceil(_plain("mat_to_left", destination.bytes, value)))


def _mat_to_right(row: OpRow, source: Operand, destination: Operand, value: Value) -> Cost:
    entries = _right_entries(source, destination) if row.name == "pto.textract" else 1
    extra = value("mat_to_right.per_extra_entry") * (entries - 1)
    return Cost(ceil(_plain("mat_to_right", destination.bytes, value) + extra), entries=entries)


def _right_entries(source: Operand, destination: Operand) -> int:
    """min(K*size/32, N/16) queue entries for a K x N tile from a mat tile that was loaded column-major, else 1."""
    if source.blayout is not Layout.ROW_MAJOR or source.slayout is not Layout.COL_MAJOR:
        return 1
    inner = -(-destination.rows * destination.dtype.size // FRACTAL_ROW_BYTES)
    return max(1, min(inner, _fractals(destination.cols)))


def _mat_to_bias(_row: OpRow, source: Operand, destination: Operand, value: Value) -> Cost:
    """The bytes read: what arrives is wider where fp16 becomes fp32 on the way."""
    moved = destination.rows * destination.cols * source.dtype.size
    return Cost(ceil(_plain("mat_to_bias", moved, value)))


def _mat_to_scaling(_row: OpRow, _source: Operand, destination: Operand, value: Value) -> Cost:
    return Cost(ceil(_plain("mat_to_scaling", destination.bytes, value)))


def _acc_to_gm(_row: OpRow, _source: Operand, destination: Operand, value: Value) -> Cost:
    return Cost(ceil(_plain("acc_to_gm", destination.bytes, value)))


def _acc_to_mat(_row: OpRow, source: Operand, destination: Operand, value: Value) -> Cost:
    """The bytes written: an insert fills only a part of its destination."""
    moved = min(source.rows * source.cols * destination.dtype.size, destination.bytes)
    return Cost(ceil(_plain("acc_to_mat", moved, value)))


def _vec_to_gm(_row: OpRow, _source: Operand, destination: Operand, value: Value) -> Cost:
    return Cost(ceil(_plain("vec_to_gm", destination.bytes, value)))


_RULES: Mapping[tuple[Memory, Memory], Callable[[OpRow, Operand, Operand, Value], Cost]] = {
    (Memory.GM, Memory.MAT): _gm_to_mat,
    (Memory.GM, Memory.VEC): _gm_to_vec,
    (Memory.MAT, Memory.LEFT): _mat_to_left,
    (Memory.MAT, Memory.RIGHT): _mat_to_right,
    (Memory.MAT, Memory.BIAS): _mat_to_bias,
    (Memory.MAT, Memory.SCALING): _mat_to_scaling,
    (Memory.ACC, Memory.GM): _acc_to_gm,
    (Memory.ACC, Memory.MAT): _acc_to_mat,
    (Memory.VEC, Memory.GM): _vec_to_gm,
}
