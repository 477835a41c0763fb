"""Small vector kernels out of short lines: `load t0`, `add t1 t0`, `store t1`, `set MTE2 V 0`, `wait ...`, `barrier V`.

Every other line stands in the kernel as it is. Tiles %t0 to %t3 are 64x64xf32 and disjoint; loads read %x and stores
write %y unless the line names another pointer (`load t0 y`). `%n` and `%m` are index arguments, `%flag` is an i1.
"""

from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting

_TILE = "!pto.tile_buf<vec, 64x64xf32>"
_VIEW = "!pto.partition_tensor_view<64x64xf32>"
_HEAD = """\
func.func @vector(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %m: index, %flag: i1) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c64 = arith.constant 64 : index
%a0 = arith.constant 0 : i64
%a1 = arith.constant 16384 : i64
%a2 = arith.constant 32768 : i64
%a3 = arith.constant 49152 : i64
"""
HEAD_LINES = 18
"""Lines of the text before the first one of a body."""


def vector_kernel(body: str) -> Kernel:
    """The kernel with a body of short lines; the first one is line `HEAD_LINES` + 1."""
    tiles = "".join(f"%t{i} = pto.alloc_tile addr = %a{i} : {_TILE}\n" for i in range(4))
    lines = [_line(line.split(), line) for line in body.strip("\n").splitlines()]
    text = f"{_HEAD}{tiles}{_views('x')}{_views('y')}pto.section.vector {{\n" + "\n".join(lines)
    return parse_module(Source("vector.pto", f"{text}\n}}\nreturn\n}}\n".encode())).kernel()


def setting(**arguments: int) -> Setting:
    """Block 0 of 4, with `n` and `m` 4 and the flag false unless given."""
    return Setting({"n": 4, "m": 4, "flag": 0, **arguments}, 0, 4)


def _views(pointer: str) -> str:
    return (
        f"%{pointer}v = pto.make_tensor_view %{pointer}, shape = [%c64, %c64], strides = [%c64, %c1]"
        f" : !pto.tensor_view<?x?xf32>\n"
        f"%{pointer}p = pto.partition_view %{pointer}v, offsets = [%c0, %c0], sizes = [%c64, %c64]"
        f" : !pto.tensor_view<?x?xf32> -> {_VIEW}\n"
    )


def _line(words: list[str], line: str) -> str:
    match words:
        case ["load", tile, *pointer]:
            return f"pto.tload ins(%{(*pointer, 'x')[0]}p : {_VIEW}) outs(%{tile} : {_TILE})"
        case ["store", tile, *pointer]:
            return f"pto.tstore ins(%{tile} : {_TILE}) outs(%{(*pointer, 'y')[0]}p : {_VIEW})"
        case ["add", to, of]:
            return f"pto.tadd ins(%{of}, %{of} : {_TILE}, {_TILE}) outs(%{to} : {_TILE})"
        case ["set" | "wait" as what, source, target, event]:
            return f"pto.{what}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"
        case ["barrier", pipe]:
            return f"pto.barrier <PIPE_{pipe}>"
        case _:
            return line
