"""Two texts do the same when they execute the same tile ops on the same bytes."""

import pytest

from syncopt.api._work import same_work
from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting

TEXT = """__global__ AICORE void k(__gm__ float *x, __gm__ float *y, int32_t n) {
  using View = GlobalTensor<float, Shape<1, 1, 1, 8, 8>, Stride<64, 64, 64, 8, 1>>;
  Tile<TileType::Vec, float, 8, 8> a;
  TASSIGN(a, 0);
  for (int i = 0; i < n; ++i) {
    View from(x + i * 64);
    TLOAD(a, from);
    TABS(a, a);
  }
}
"""


def kernel_of(text: str) -> Kernel:
    return parse_module(Source("k.cpp", text.encode())).kernel()


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("", "", True),
        ("    TABS", "    pipe_barrier(PIPE_ALL);\n    TABS", True),
        ("i * 64", "64 * i", True),
        ("x + i * 64", "x + i * 32", False),
        ("x + i", "y + i", False),
        ("TASSIGN(a, 0)", "TASSIGN(a, 256)", False),
        ("TABS", "TNEG", False),
        ("    TABS(a, a);\n", "", False),
        ("i < n", "i < n - 1", False),
    ],
)
def test_same_work(old: str, new: str, same: bool) -> None:
    setting = Setting({"n": 3}, 0, 1)
    assert same_work(kernel_of(TEXT), kernel_of(TEXT.replace(old, new, 1)), setting) is same
    assert same_work(kernel_of(TEXT.replace(old, new, 1)), kernel_of(TEXT), setting) is same
