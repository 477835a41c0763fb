"""Programs for a toy machine, instruction by instruction, and what a replay tells of each.

On the toy machine an instruction takes 1 cycle to issue, a flag 8 to arrive, a barrier 20 on M, 0 on V, 5 elsewhere.
`load`, `extract`, `matmul`, `store` and `add` occupy their pipes for the given cycles; loads have no latency unless the
machine is given one, vector ops one of 24 cycles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import NO_SPAN, Barrier, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import Memory, Pipe, PipePair
from syncopt.ir.trace import Instance
from syncopt.ir.types import DType, Layout
from syncopt.ir.work import Operand, Work
from syncopt.sim import Replay, Timing, replay

_TOY = {
    "dispatch.issue": 1,
    "flag.hop": 8,
    "gm_to_mat.base": 0,
    "gm_to_mat.bytes_per_cycle": 1,
    "gm_to_mat.latency": 0,
    "mat_to_left.base": 0,
    "mat_to_left.bytes_per_cycle": 1,
    "mat_to_right.base": 0,
    "mat_to_right.bytes_per_cycle": 512,
    "mat_to_right.per_extra_entry": 0,
    "acc_to_gm.base": 0,
    "acc_to_gm.bytes_per_cycle": 1,
    "matmul.base": 0,
    "scalar.access": 7,
    "vector.binary.head": 10,
    "vector.binary.slope": 1,
    "vector.binary.tail": 14,
}


def toy(**figures: int) -> Machine:
    """The toy machine, with other figures if any: `load_latency`, `scalar_op`, or a pipe name for its queue depth."""
    names = {"load_latency": "gm_to_mat.latency", "scalar_op": "dispatch.scalar_op"}
    changed = {names.get(name, f"queue.{name}"): value for name, value in figures.items()}
    return load_machine("910b2").with_figures({key: Fraction(value) for key, value in (_TOY | changed).items()})


@dataclass(frozen=True)
class Run:
    """A replay, and the times of every instruction by its position in the program."""

    replay: Replay
    times: dict[int, Timing]

    def start(self, position: int) -> int:
        """When an instruction started."""
        return self.times[position].start

    def span(self, position: int) -> tuple[int, int]:
        """When an instruction started, and when its pipe took the next one."""
        return self.times[position].start, self.times[position].end


def run(machine: Machine, program: Sequence[Instance]) -> Run:
    """Replay a program."""
    positions = {id(instance): position for position, instance in enumerate(program)}
    times: dict[int, Timing] = {}

    def note(timing: Timing) -> None:
        times[positions[id(timing.instance)]] = timing

    return Run(replay(program, machine, note), times)


def load(cycles: int, scalars: int = 0) -> Instance:
    """A load to L1, with scalar steps before it."""
    return _tile_op("pto.tload", Pipe.MTE2, (_bytes(Memory.GM, cycles),), _bytes(Memory.MAT, cycles), scalars)


def extract(cycles: int) -> Instance:
    """A move from L1 to L0A."""
    return _tile_op("pto.textract", Pipe.MTE1, (_bytes(Memory.MAT, cycles),), _bytes(Memory.LEFT, cycles))


def extract_right(entries: int) -> Instance:
    """A move from L1 to L0B that takes several queue entries and their square in cycles."""
    source = Operand(Memory.MAT, DType.I8, 512, 512, Layout.ROW_MAJOR, Layout.COL_MAJOR)
    target = Operand(Memory.RIGHT, DType.I8, 32 * entries, 16 * entries)
    return _tile_op("pto.textract", Pipe.MTE1, (source,), target)


def matmul(cycles: int) -> Instance:
    """A product of `cycles` fractals."""
    left, right = Operand(Memory.LEFT, DType.I8, 16 * cycles, 32), Operand(Memory.RIGHT, DType.I8, 32, 16)
    return _tile_op("pto.tmatmul", Pipe.M, (left, right), Operand(Memory.ACC, DType.I32, 16 * cycles, 16))


def store(cycles: int) -> Instance:
    """A store of an accumulator."""
    return _tile_op("pto.tstore", Pipe.FIX, (_bytes(Memory.ACC, cycles),), _bytes(Memory.GM, cycles))


def add(cycles: int) -> Instance:
    """A sum of `cycles` repeats."""
    operand = Operand(Memory.VEC, DType.F32, cycles, 64)
    return _tile_op("pto.tadd", Pipe.V, (operand, operand), operand)


def get_value() -> Instance:
    """A scalar read of a tile, 7 cycles of the scalar unit."""
    work = Work("pto.tgetval", Pipe.S, (_bytes(Memory.VEC, 32),), ())
    return Instance(TileOp(0, NO_SPAN, "pto.tgetval", (), ()), Pipe.S, (), 0, work)


def set_flag(source: Pipe, target: Pipe, event: int = 0) -> Instance:
    """A set in the queue of `source`."""
    return Instance(SetFlag(0, NO_SPAN, PipePair(source, target), event), source, (), 0, event=event)


def wait_flag(source: Pipe, target: Pipe, event: int = 0) -> Instance:
    """A wait in the queue of `target`."""
    return Instance(WaitFlag(0, NO_SPAN, PipePair(source, target), event), target, (), 0, event=event)


def barrier(pipe: Pipe) -> Instance:
    """A barrier on a pipe or on all."""
    return Instance(Barrier(0, NO_SPAN, pipe), pipe, (), 0)


def _bytes(memory: Memory, size: int) -> Operand:
    return Operand(memory, DType.I8, 1, size)


def _tile_op(name: str, pipe: Pipe, ins: tuple[Operand, ...], out: Operand, scalars: int = 0) -> Instance:
    return Instance(TileOp(0, NO_SPAN, name, (), ()), pipe, (), scalars, Work(name, pipe, ins, (out,)))
