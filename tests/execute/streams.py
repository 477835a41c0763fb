"""A stream through two tiles, y = 2 * x block by block, with its flags; kernels with some of them missing."""

from collections.abc import Collection

from syncopt.execute import (
    Difference,
    Program,
    Schedule,
    constraints_of,
    differences,
    execute,
    order_of,
    read_program,
    schedules_of,
)
from syncopt.frontend import parse_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting

MACHINE = load_machine("910b2")
_TILE = "!pto.tile_buf<vec, 8x64xf32>"
_VIEW = "!pto.partition_tensor_view<8x64xf32>"
_HEAD = """\
func.func @stream(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c8 = arith.constant 8 : index
%c64 = arith.constant 64 : index
%rows = arith.muli %n, %c8 : index
%a0 = arith.constant 0 : i64
%a1 = arith.constant 2048 : i64
%a2 = arith.constant 4096 : i64
"""
CHANNELS = ("MTE2 V", "V MTE2", "V MTE3", "MTE3 V")
"""The flags that the stream needs, each for one hazard: RAW and WAR of the first tile, RAW and WAR of the second."""
STREAM = """\
set V MTE2
set MTE3 V
scf.for %i = %c0 to %n step %c1 {
rows %i
wait V MTE2
load t0
set MTE2 V
wait MTE2 V
wait MTE3 V
add t1 t0
set V MTE2
set V MTE3
wait V MTE3
store t1
set MTE3 V
}
wait V MTE2
wait MTE3 V
barrier ALL
"""


def stream(missing: Collection[str] = (), body: str = STREAM) -> Kernel:
    """A kernel of short lines, all flags of some channels left out."""
    kept = [line for line in body.splitlines() if line.partition(" ")[2] not in missing]
    views = "".join(
        f"%{name}v = pto.make_tensor_view %{name}, shape = [%rows, %c64], strides = [%c64, %c1]"
        " : !pto.tensor_view<?x?xf32>\n"
        for name in "xy"
    )
    tiles = "".join(f"%t{i} = pto.alloc_tile addr = %a{i} : {_TILE}\n" for i in range(3))
    lines = "\n".join(_line(line.split(), line) for line in kept)
    text = f"{_HEAD}{views}{tiles}pto.section.vector {{\n{lines}\n}}\nreturn\n}}\n"
    return parse_module(Source("stream.pto", text.encode())).kernel()


def _line(words: list[str], line: str) -> str:
    match words:
        case ["rows", index, *suffix]:
            return f"%r{''.join(suffix)} = arith.muli {index}, %c8 : index\n" + "\n".join(
                f"%{name}p{''.join(suffix)} = pto.partition_view %{name}v, offsets = [%r{''.join(suffix)}, %c0]"
                ", sizes = [%c8, %c64]"
                f" : !pto.tensor_view<?x?xf32> -> {_VIEW}"
                for name in "xy"
            )
        case ["load", tile, *pointer]:
            return f"pto.tload ins(%{(*pointer, 'x')[0]}p : {_VIEW}) outs(%{tile} : {_TILE})"
        case ["store", tile, *suffix]:
            return f"pto.tstore ins(%{tile} : {_TILE}) outs(%yp{''.join(suffix)} : {_VIEW})"
        case ["add", to, of]:
            return f"pto.tadd ins(%{of}, %{of} : {_TILE}, {_TILE}) outs(%{to} : {_TILE})"
        case ["set" | "wait" as what, source, target]:
            return f"pto.{what}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID0>]"
        case ["barrier", pipe]:
            return f"pto.barrier <PIPE_{pipe}>"
        case _:
            return line


def setting(blocks: int = 4) -> Setting:
    """So many blocks, on block 0 of 1."""
    return Setting({"n": blocks}, 0, 1)


def program_of(kernel: Kernel, blocks: int = 4, seed: int = 0) -> Program:
    """The kernel on so many blocks."""
    return read_program(kernel, setting(blocks), MACHINE, seed)


def wrong(program: Program, random_orders: int = 3) -> dict[Schedule, tuple[Difference, ...]]:
    """The orders with wrong numbers."""
    constraints = constraints_of(program)
    first, *others = (order_of(constraints, schedule) for schedule in schedules_of(program.instances, random_orders))
    expected = execute(program, first)
    found = {order.schedule: differences(program, expected, execute(program, order)) for order in others}
    return {schedule: there for schedule, there in found.items() if there}
