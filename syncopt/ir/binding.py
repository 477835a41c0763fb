"""Pipe, work and bytes of a tile op on the operands that it has at a point of a run."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple, cast

from syncopt.ir import optable
from syncopt.ir.footprint import Access, Footprint
from syncopt.ir.kernel import TileOp, Value
from syncopt.ir.optable import Family, OpRow
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.runtime import SCALAR, Environment, RuntimeValue, TileRef, ViewRef, view_operand
from syncopt.ir.scalars import ScalarValue
from syncopt.ir.source import InputError, Source
from syncopt.ir.types import ViewType
from syncopt.ir.work import Operand, Work

_MEMORY = (TileRef, ViewRef)
"""What has bytes; other operands are scalars."""
_FITTING = "choose arguments for which it fits"


class Bound(NamedTuple):
    """A tile op on given operands: `work` is the same object for equal ones, `numbers` are its scalar operands."""

    pipe: Pipe
    work: Work
    accesses: tuple[Access, ...]
    numbers: tuple[ScalarValue, ...] = ()


class Binder:
    """Binds the tile ops of a kernel to their operands.

    Parameters
    ----------
    source : Source
        The kernel's file, for errors.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._works: dict[Work, Work] = {}

    def bound(self, op: TileOp) -> Callable[[Environment], Bound]:
        """A function that says what `op` does at a point of a run; cheap where its operands are those of last time."""
        operands = cast(Callable[[Environment], object], itemgetter(*op.ins, *op.outs)) if op.ins or op.outs else _none
        before: object = None
        last: Bound | None = None

        def bound(env: Environment) -> Bound:
            nonlocal before, last
            now = operands(env)
            if last is None or now != before:
                last = self._bind(op, env, last)
                before = now
            return last

        return bound

    def _bind(self, op: TileOp, env: Environment, last: Bound | None) -> Bound:
        row = optable.lookup(op.name)
        if row is None:
            raise self._refusal(
                op, f"op {op.name} is not modelled", "its pipe and cost are not known; see docs/plan.md"
            )
        ins, outs = [env[value] for value in op.ins], [env[value] for value in op.outs]
        accesses = _accesses(row, ins, outs)
        numbers = tuple([value for value in ins if isinstance(value, SCALAR)])
        read = tuple([self._operand(op, v, t) for v, t in zip(ins, op.ins, strict=True) if isinstance(v, _MEMORY)])
        written = tuple([self._operand(op, v, t) for v, t in zip(outs, op.outs, strict=True)])
        if last is not None and last.work.ins == read and last.work.outs == written:
            return Bound(last.pipe, last.work, accesses, numbers)
        work = Work(op.name, self._pipe(op, row, read, written), read, written)
        if row.family in (Family.LOAD, Family.STORE):
            self._check_transfer(op, [*ins, *outs], (*read, *written))
        work = self._works.setdefault(work, work)
        return Bound(work.pipe, work, accesses, numbers)

    def _check_transfer(self, op: TileOp, values: Sequence[RuntimeValue], operands: tuple[Operand, ...]) -> None:
        """Refuse to move more elements than a tile has."""
        tile = next(value.type for value in values if isinstance(value, TileRef))
        moved = next(operand for operand in operands if operand.memory is Memory.GM)
        if moved.rows * moved.cols > tile.rows * tile.cols:
            view, whole = f"{moved.rows} x {moved.cols}", f"{tile.rows} x {tile.cols}"
            raise self._refusal(op, f"{op.name} moves {view} elements, its tile has {whole}", _FITTING)

    def _pipe(self, op: TileOp, row: OpRow, read: tuple[Operand, ...], written: tuple[Operand, ...]) -> Pipe:
        sources = tuple(operand.memory for operand in read)
        destinations = tuple(operand.memory for operand in written)
        pipe = row.pipe(sources, destinations)
        if pipe is None:
            form = (
                f"from {', '.join(map(str, sources)) or 'nothing'} to {', '.join(map(str, destinations)) or 'nothing'}"
            )
            raise self._refusal(op, f"op {op.name} {form} is not modelled")
        return pipe

    def _operand(self, op: TileOp, value: RuntimeValue, name: Value) -> Operand:
        if isinstance(value, TileRef):
            tile, operand = value.type, value.operand
            if operand.rows > tile.rows or operand.cols > tile.cols:
                valid, whole = f"{operand.rows} x {operand.cols}", f"{tile.rows} x {tile.cols}"
                raise self._refusal(op, f"{valid} elements of {name} are valid, a tile of {whole}", _FITTING)
            return operand
        if not isinstance(value, ViewRef):
            raise self._refusal(op, f"{name} of {op.name} is neither a tile nor a view")
        static = name.type.shape if isinstance(name.type, ViewType) else ()
        operand = view_operand(value.dtype, value.shape, static)
        if operand is None:
            raise self._refusal(op, f"the size of {name} is not known from the arguments")
        if min(operand.rows, operand.cols) < 0:
            raise self._refusal(op, f"{name} has {operand.rows} x {operand.cols} elements with these arguments")
        return operand

    def _refusal(self, op: TileOp, message: str, help: str = "") -> InputError:
        return InputError(message, self._source, op.span, help)


def _none(_env: Environment) -> tuple[()]:
    """The operands of an op without any."""
    return ()


def _accesses(row: OpRow, ins: list[RuntimeValue], outs: list[RuntimeValue]) -> tuple[Access, ...]:
    """Bytes read, then bytes written; scalars have none, a scalar that stands in a scratch position neither."""
    sources = [_footprint(value) for value in ins]
    results = [found for value in outs if (found := _footprint(value)) is not None]
    scratch = [sources[position] for position in row.scratch if position < len(sources)]
    accesses = [Access(found, False) for found in sources if found is not None]
    accesses += [Access(found, True) for found in scratch if found is not None]
    if row.reads_outs:
        accesses += [Access(found, False) for found in results]
    accesses += [Access(found, True) for found in results]
    return tuple(accesses)


def _footprint(value: RuntimeValue) -> Footprint | None:
    if isinstance(value, TileRef):
        return value.footprint
    return value.footprint() if isinstance(value, ViewRef) else None
