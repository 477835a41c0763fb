"""Small vector kernels out of short lines: `load t0`, `add t1 t0`, `store t1`, `set MTE2 V 0`, `wait ...`, `barrier V`.

Every other line stands in the kernel as it is. Tiles %t0 to %t3 are 64x64xf32 and disjoint; loads read %x and stores
write %y unless the line names another pointer (`load t0 y`). `%n` and `%m` are index arguments, `%flag` is an i1.
A flag whose id is a value (`set MTE2 V %id`) has it at run time.
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
        case ["set" | "wait" as what, source, target, event] if event.startswith("%"):
            return f"pto.{what}_flag_dyn[<PIPE_{source}>, <PIPE_{target}>, {event}]"
        case ["set" | "wait" as what, source, target, event]:
            return f"pto.{what}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"
        case ["barrier", pipe]:
            return f"pto.barrier <PIPE_{pipe}>"
        case _:
            return line


_CUBE_HEAD = """\
func.func @cube(%a: !pto.ptr<f16>, %c: !pto.ptr<f32>, %n: index) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c64 = arith.constant 64 : index
%c128 = arith.constant 128 : index
"""
_CUBE = {
    "a0": ("mat", "128x64xf16", "blayout=col_major, slayout=row_major", 0),
    "a1": ("mat", "128x64xf16", "blayout=col_major, slayout=row_major", 16384),
    "b0": ("mat", "64x128xf16", "blayout=col_major, slayout=row_major", 32768),
    "b1": ("mat", "64x128xf16", "blayout=col_major, slayout=row_major", 49152),
    "l0": ("left", "128x64xf16", "blayout=row_major, slayout=row_major", 0),
    "l1": ("left", "128x64xf16", "blayout=row_major, slayout=row_major", 16384),
    "r0": ("right", "64x128xf16", "blayout=row_major, slayout=col_major", 0),
    "r1": ("right", "64x128xf16", "blayout=row_major, slayout=col_major", 16384),
    "acc": ("acc", "128x128xf32", "blayout=col_major, slayout=row_major, fractal=1024", 0),
}
_CUBE_VIEWS = """\
%av = pto.make_tensor_view %a, shape = [%c128, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf16>
%ap = pto.partition_view %av, offsets = [%c0, %c0], sizes = [%c128, %c64] : !pto.tensor_view<?x?xf16> ->\
 !pto.partition_tensor_view<128x64xf16>
%bv = pto.make_tensor_view %a, shape = [%c64, %c128], strides = [%c128, %c1] : !pto.tensor_view<?x?xf16>
%bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c64, %c128] : !pto.tensor_view<?x?xf16> ->\
 !pto.partition_tensor_view<64x128xf16>
%cv = pto.make_tensor_view %c, shape = [%c128, %c128], strides = [%c128, %c1] : !pto.tensor_view<?x?xf32>
%cp = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c128, %c128] : !pto.tensor_view<?x?xf32> ->\
 !pto.partition_tensor_view<128x128xf32>
"""


def cube_kernel(body: str) -> Kernel:
    """As `vector_kernel`: `load a0`, `left l0 a0`, `right r0 b0`, `mul l0 r0`, `acc l0 r0` (adds up), `store acc`.

    L1 tiles a0, a1 (128x64) and b0, b1 (64x128), L0 tiles l0, l1, r0, r1, one accumulator; f16 and f32.
    """
    lines = [
        f"%{name}_at = arith.constant {address} : i64\n%{name} = pto.alloc_tile addr = %{name}_at : {_cube_type(name)}"
        for name, (_, _, _, address) in _CUBE.items()
    ]
    text = _CUBE_HEAD + "\n".join(lines) + "\n" + _CUBE_VIEWS + "pto.section.cube {\n"
    text += "\n".join(_cube_line(line.split(), line) for line in body.strip("\n").splitlines())
    return parse_module(Source("cube.pto", f"{text}\n}}\nreturn\n}}\n".encode())).kernel()


def _cube_type(name: str) -> str:
    memory, shape, layout, _ = _CUBE[name]
    return f"!pto.tile_buf<{memory}, {shape}, {layout}>"


def _cube_line(words: list[str], line: str) -> str:
    match words:
        case ["load", tile]:
            view = f"!pto.partition_tensor_view<{_CUBE[tile][1]}>"
            return f"pto.tload ins(%{tile[0]}p : {view}) outs(%{tile} : {_cube_type(tile)})"
        case ["left" | "right", to, of]:
            types = f"{_cube_type(of)}, index, index"
            return f"pto.textract ins(%{of}, %c0, %c0 : {types}) outs(%{to} : {_cube_type(to)})"
        case ["mul", left, right]:
            types = f"{_cube_type(left)}, {_cube_type(right)}"
            return f"pto.tmatmul ins(%{left}, %{right} : {types}) outs(%acc : {_cube_type('acc')})"
        case ["acc", left, right]:
            types = f"{_cube_type('acc')}, {_cube_type(left)}, {_cube_type(right)}"
            return f"pto.tmatmul.acc ins(%acc, %{left}, %{right} : {types}) outs(%acc : {_cube_type('acc')})"
        case ["store", "acc"]:
            view = "!pto.partition_tensor_view<128x128xf32>"
            return f"pto.tstore ins(%acc : {_cube_type('acc')}) outs(%cp : {view})"
        case _:
            return _line(words, line)
