"""Bodies of a function, what they execute, and what is said of those that cannot be executed."""

import pytest

from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Instance, Setting, Tracer

TILE = "!pto.tile_buf<vec, 64x64xf32>"
HEAD = """\
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %m: i32, %flag: i1, %scale: f32) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c16 = arith.constant 16 : index
%c64 = arith.constant 64 : index
%a0 = arith.constant 4096 : i64
%a1 = arith.constant 65536 : i64
"""
LINE = 9
"""Line of the first line of a body."""
VIEW = "%v = pto.make_tensor_view %x, shape = [%c64, %c64], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>\n"
PART = "!pto.partition_tensor_view<16x64xf32>"
LOAD = f"%t = pto.alloc_tile addr = %a0 : TILE\npto.tload ins(%p : {PART}) outs(%t : TILE)"
UNKNOWN_INDEX = "%u = arith.fptosi %scale : f32 to i32\n%w = arith.index_cast %u : i32 to index\n"


def kernel_of(body: str) -> Kernel:
    """The function of a body, with `TILE` and `barrier` for what is long."""
    text = f"{HEAD}{body}\nreturn\n}}\n".replace("TILE", TILE).replace("\nbarrier", "\npto.barrier <PIPE_V>")
    return parse_module(Source("f.pto", text.encode())).kernel()


def setting(**arguments: int) -> Setting:
    """Block 3 of 8, with %n = 4 and %m = 0 unless given."""
    return Setting({"n": 4, "m": 0, "flag": 0, **arguments}, 3, 8, alignment={Memory.VEC: 32})


def trace(body: str, **arguments: int) -> list[Instance]:
    """What a body executes."""
    return list(Tracer(kernel_of(body), setting(**arguments)))


def refusal(body: str, **arguments: int) -> str:
    """The first line of what is said of a body that cannot be executed."""
    with pytest.raises(InputError) as error:
        trace(body, **arguments)
    return str(error.value).splitlines()[0]


def part(row: str, view: str = "%v") -> str:
    """Sixteen rows of 64 from a row on, beginning with column 2."""
    return (
        f"%p = pto.partition_view {view}, offsets = [{row}, %c2], sizes = [%c16, %c64]"
        f" : !pto.tensor_view<?x?xf32> -> {PART}\n"
    )
