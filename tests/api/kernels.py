"""One vector kernel in several versions: b = a + a and d = c + c, each for one block of 64x64 floats.

On `machine()` a load takes 256 cycles and 100 of latency, a sum 64 and 24, a store 256, an instruction 1 to issue, a
flag 8, a barrier of all pipes 5.
"""

from pathlib import Path

from syncopt.api import Job
from syncopt.hwmodel import Machine, load_machine

FIGURES = (
    "dispatch.issue=1",
    "gm_to_vec.bytes_per_cycle=64",
    "gm_to_vec.latency=100",
    "vec_to_gm.base=0",
    "vec_to_gm.bytes_per_cycle=64",
    "vector.binary.slope=1",
)
LOAD_A = "pto.tload ins(%xp : !pto.partition_tensor_view<64x64xf32>) outs(%a : !pto.tile_buf<vec, 64x64xf32>)"
LOAD_C = LOAD_A.replace("%xp", "%zp").replace("%a", "%c")
ADD_B = (
    "pto.tadd ins(%a, %a : !pto.tile_buf<vec, 64x64xf32>, !pto.tile_buf<vec, 64x64xf32>) "
    "outs(%b : !pto.tile_buf<vec, 64x64xf32>)"
)
ADD_D = ADD_B.replace("%a", "%c").replace("%b", "%d")
STORE_B = "pto.tstore ins(%b : !pto.tile_buf<vec, 64x64xf32>) outs(%yp : !pto.partition_tensor_view<64x64xf32>)"
STORE_D = STORE_B.replace("%b", "%d").replace("%yp", "%wp")
ALL = "pto.barrier <PIPE_ALL>"
_HEAD = """\
func.func @twice(%x: !pto.ptr<f32>, %z: !pto.ptr<f32>, %y: !pto.ptr<f32>, %w: !pto.ptr<f32>, %n: index) {
  pto.section.vector {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %a = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
    %b = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
    %c = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
    %d = pto.alloc_tile : !pto.tile_buf<vec, 64x64xf32>
"""
FIRST_LINE = 18
"""Line of the first op that `text` is given."""


def machine() -> Machine:
    """The machine of the hand-worked cycles."""
    return load_machine("910b2", FIGURES)


def flag(name: str, source: str, target: str, event: int) -> str:
    """`set` or `wait` of a flag."""
    return f"pto.{name}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"


def text(*ops: str) -> str:
    """A kernel of these ops."""
    views = "".join(
        f"    %{name}v = pto.make_tensor_view %{name}, shape = [%c64, %c64], strides = [%c64, %c1] "
        ": !pto.tensor_view<?x?xf32>\n"
        f"    %{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c64, %c64] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x64xf32>\n"
        for name in "xzyw"
    )
    return _HEAD + views + "".join(f"    {op}\n" for op in ops) + "  }\n  return\n}\n"


PLAIN = text(LOAD_A, LOAD_C, ADD_B, ADD_D, STORE_B, STORE_D)
BARRIERS = text(LOAD_A, ALL, LOAD_C, ALL, ADD_B, ALL, ADD_D, ALL, STORE_B, ALL, STORE_D, ALL)
"""1431 cycles: each op is ready a cycle after the barrier behind the one before it.

a 1..257, done 357; c 363..619, done 719; b 725..789, done 813; d 819..883, done 907; stores 913..1169 and 1175..1431.
"""
FLAGS = text(
    LOAD_A,
    flag("set", "MTE2", "V", 0),
    LOAD_C,
    flag("set", "MTE2", "V", 1),
    flag("wait", "MTE2", "V", 0),
    ADD_B,
    flag("set", "V", "MTE3", 0),
    flag("wait", "MTE2", "V", 1),
    ADD_D,
    flag("set", "V", "MTE3", 1),
    flag("wait", "V", "MTE3", 0),
    STORE_B,
    flag("wait", "V", "MTE3", 1),
    STORE_D,
    ALL,
)
"""974 cycles: a 1..257, set to 258, c 258..514, done 614, flag up at 622; b 365..429; d 622..686, done 710, flag up at
718; stores 461..717 and 718..974.
"""
REUSED = FLAGS.replace("<PIPE_V>, <EVENT_ID1>", "<PIPE_V>, <EVENT_ID0>")
"""The second load sets id 0 again: only the times put that, at 622, behind the wait before it, at 365."""
HANGING = text(
    LOAD_A, flag("wait", "MTE2", "V", 0), ADD_B, flag("set", "V", "MTE3", 0), flag("wait", "V", "MTE3", 0), STORE_B, ALL
)
"""The load is done at 357, the sum never starts."""


def job(path: Path, kernel: str, **changes: object) -> Job:
    """A kernel, written to a file, on the machine of the hand-worked cycles."""
    path.write_text(kernel)
    return Job(path, machine(), **changes)  # pyright: ignore[reportArgumentType]


_CPP_HEAD = """\
#include "pto/pto-inst.hpp"
using namespace pto;

__global__ AICORE void twice(__gm__ float* v1, __gm__ float* v2, __gm__ float* v3, __gm__ float* v4, int32_t v5) {
  pto::Shape<1, 1, 1, 64, 64> s = pto::Shape<1, 1, 1, 64, 64>();
  pto::Stride<4096, 4096, 4096, 64, 1> r = pto::Stride<4096, 4096, 4096, 64, 1>();
  #if defined(__DAV_VEC__)
"""
_CPP_TILE = """\
  Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, 64, 64, SLayout::NoneBox, 512, PadValue::Null> t{name};
  TASSIGN(t{name}, {address});
"""
_CPP_VIEW = """\
  GlobalTensor<float, pto::Shape<1, 1, 1, 64, 64>, pto::Stride<4096, 4096, 4096, 64, 1>, pto::Layout::ND> g{name} = \
GlobalTensor<float, pto::Shape<1, 1, 1, 64, 64>, pto::Stride<4096, 4096, 4096, 64, 1>, pto::Layout::ND>(v{name}, s, r);
"""


def cpp_text(*ops: str) -> str:
    """A kernel of these statements in C++, tiles t0 to t3, views g1 to g4 of its pointers."""
    tiles = "".join(_CPP_TILE.format(name=name, address=16384 * name) for name in range(4))
    views = "".join(_CPP_VIEW.format(name=name) for name in range(1, 5))
    body = "".join(f"  {op};\n" for op in ops)
    return f"{_CPP_HEAD}{tiles}{views}{body}  #endif // __DAV_VEC__\n  pipe_barrier(PIPE_ALL);\n  return;\n}}\n"


def cpp_flag(name: str, source: str, target: str, event: int) -> str:
    """`set` or `wait` of a flag, in C++."""
    return f"{name}_flag(PIPE_{source}, PIPE_{target}, EVENT_ID{event})"


CPP = cpp_text(
    "TLOAD(t0, g1)",
    cpp_flag("set", "MTE2", "V", 0),
    "TLOAD(t2, g2)",
    cpp_flag("set", "MTE2", "V", 1),
    cpp_flag("wait", "MTE2", "V", 0),
    "TADD(t1, t0, t0)",
    cpp_flag("set", "V", "MTE3", 0),
    cpp_flag("wait", "MTE2", "V", 1),
    "TADD(t3, t2, t2)",
    cpp_flag("set", "V", "MTE3", 1),
    cpp_flag("wait", "V", "MTE3", 0),
    "TSTORE(g3, t1)",
    cpp_flag("wait", "V", "MTE3", 1),
    "TSTORE(g4, t3)",
)
"""`FLAGS` in C++, as ptoas names things: 974 cycles."""
_CPP_OPS = (
    "TLOAD(t0, g1)",
    "TLOAD(t2, g2)",
    "TADD(t1, t0, t0)",
    "TADD(t3, t2, t2)",
    "TSTORE(g3, t1)",
    "TSTORE(g4, t3)",
)
CPP_PLAIN = cpp_text(*_CPP_OPS).replace("  pipe_barrier(PIPE_ALL);\n", "")
"""`PLAIN` in C++."""
CPP_BARRIERS = cpp_text(
    *(part for op in _CPP_OPS[:-1] for part in (op, "pipe_barrier(PIPE_ALL)")),
    _CPP_OPS[-1],
)
"""`BARRIERS` in C++: 1431 cycles."""
