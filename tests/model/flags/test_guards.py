"""C++ branches that return early: what stays in front of them, and where the flags of the rest stand."""

from syncopt.frontend import parse_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Guard, Kernel, TileOp, walk
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting
from syncopt.model.flags.channels import stretches
from syncopt.model.planner import Planner
from syncopt.model.rewrite import Side, Site

HEAD = """__global__ AICORE void k(__gm__ float *x, __gm__ float *y, int32_t n) {
  using View = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
  Tile<TileType::Vec, float, 64, 64> a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 16384);
  View from(x), to(y);
"""


def kernel_of(body: str) -> Kernel:
    return parse_module(Source("k.cpp", f"{HEAD}{body}}}\n".encode())).kernel()


def names(kernel: Kernel) -> list[str]:
    return [op.name for op in walk(kernel.body) if isinstance(op, TileOp)]


def test_a_load_does_not_move_behind_an_early_return() -> None:
    """Without the return the load, which nothing uses, could go anywhere; the branch itself is no unit."""
    guard = "  if (n < 2) { TSTORE(to, b); return; }\n"
    for branch, free in ((guard, False), (guard.replace("return; ", ""), True)):
        planner = Planner(
            kernel_of(f"  TLOAD(a, from);\n{branch}  TSTORE(to, b);\n"), Setting({"n": 1}, 0, 1), load_machine("910b2")
        )
        block = planner.mobility.blocks[0]
        load, other = block.heads[:2]
        assert ((load, other) not in block.before) is free
        assert (other in block.units) is free


def test_a_kernel_behind_a_return_is_a_stretch_of_its_own() -> None:
    """Its priming sets and last waits stand in the arm that holds the tile ops, also within sections and braces."""
    kernel = kernel_of("  if (n < 2) return;\n  TLOAD(a, from);\n  TSTORE(to, a);\n")
    guard = next(op for op in walk(kernel.body) if isinstance(op, Guard))
    (stretch,) = stretches(kernel)
    assert [op.name for op in stretch.ops if isinstance(op, TileOp)] == ["pto.tload", "pto.tstore"]
    assert stretch.end == Site(guard.uid, Side.END, 1)
    nested = kernel_of("#ifdef __DAV_VEC__\n  if (n < 2) return;\n  { TLOAD(a, from);\n  TSTORE(to, a); }\n#endif\n")
    (stretch,) = stretches(nested)
    assert [op.name for op in stretch.ops if isinstance(op, TileOp)] == ["pto.tload", "pto.tstore"]


def test_a_kernel_with_work_on_both_ways_is_one_stretch() -> None:
    kernel = kernel_of("  if (n < 2) { TLOAD(a, from); return; }\n  TLOAD(b, from);\n")
    (stretch,) = stretches(kernel)
    assert stretch.ops == kernel.body.ops
    assert names(kernel) == ["pto.tload", "pto.tload"]
