"""The C++ that is written, read again, executes what the `.pto` executes; what is different is told."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.api._agreement import Renaming, first_difference
from syncopt.emit import cpp_text
from syncopt.frontend import parse_module, read_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.pipes import Memory
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting, Tracer
from syncopt.model.addresses import place
from syncopt.sim import replay
from tests.api.random_kernels import kernels
from tests.emit.cpp.every_op import CUBE, VECTOR, text_with

ROOT = Path(__file__).parents[2]
MACHINE = load_machine("910b2")
INSTANCES = sorted(ROOT.glob("instances/**/*.pto"))
KERNELS = sorted((ROOT / "tests" / "emit" / "cpp" / "kernels").glob("*.pto"))
STRUCTURE = ROOT / "tests" / "emit" / "cpp" / "kernels" / "structure.pto"


DATA_OPS = """func.func @f(%p: !pto.ptr<f32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.1 : f16
  %t = pto.alloc_tile : !pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>
  %l = pto.alloc_tile : !pto.tile_buf<left, 16x16xf16, slayout=row_major>
  %v = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf16>
  %w = pto.alloc_tile : !pto.tile_buf<vec, 16x32xui8>
  %f = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  pto.textract ins(%t, %c0, %c8 : T, index, index) outs(%l : L)
  pto.tmuls ins(%v, %half : V, f16) outs(%v : V)
  pto.tcmp ins(%v, %v {cmpMode = #pto<cmp gt>} : V, V) outs(%w : W)
  pto.tcvt ins(%f {rmode = #pto<round_mode ROUND>} : F) outs(%v : V)
}
"""


def kernel_of(text: str, name: str = "kernel.pto") -> Kernel:
    return parse_module(Source(name, text.encode())).kernel()


def setting_of(kernel: Kernel, *arguments: int, core: int = 0, cores: int = 3) -> Setting:
    """Arguments in order, on a core."""
    integers = [
        value.name.removeprefix("%") for value in kernel.arguments if value.type.__class__.__name__ == "ScalarType"
    ]
    alignment = {memory: MACHINE.memory(memory).alignment for memory in Memory if memory is not Memory.GM}
    given = dict(zip(integers, arguments, strict=False))
    return Setting(given, core, cores, addresses=place(kernel, MACHINE), alignment=alignment)


def check_agreement(kernel: Kernel, setting: Setting) -> None:
    """Same instructions and same cycles, also after another way through C++."""
    other = kernel_of(cpp_text(kernel, setting), "kernel.cpp")
    assert first_difference(kernel, other, setting) is None
    there = Renaming(kernel, other).setting(setting)
    one, two = replay(Tracer(kernel, setting), MACHINE), replay(Tracer(other, there), MACHINE)
    assert (one.cycles, one.stalls, one.deadlock is None) == (two.cycles, two.stalls, two.deadlock is None)
    again = kernel_of(cpp_text(other, there), "again.cpp")
    assert first_difference(other, again, there) is None


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.stem)
@pytest.mark.parametrize("core", [0, 2])
def test_instances(path: Path, core: int) -> None:
    kernel = read_module(path).kernel()
    for arguments in ((256, 512, 1024), (128, 256, 512), (384, 1536, 512)):
        check_agreement(kernel, setting_of(kernel, *arguments, core=core))


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels(path: Path) -> None:
    kernel = read_module(path).kernel()
    for arguments in ((64, 32, 128), (3, 1, 32)):
        check_agreement(kernel, setting_of(kernel, *arguments))


@pytest.mark.parametrize(("section", "uses"), [("vector", VECTOR), ("cube", CUBE)])
def test_every_op(section: str, uses: tuple[object, ...]) -> None:
    """Without a replay: some of them have no known cost."""
    del uses
    kernel = kernel_of(text_with(section, VECTOR if section == "vector" else CUBE))
    setting = setting_of(kernel, 1, 2, 3)
    assert first_difference(kernel, kernel_of(cpp_text(kernel, setting), "kernel.cpp"), setting) is None


@settings(max_examples=60)
@given(text=kernels(), n=st.integers(-3, 70), i=st.integers(-5, 9), core=st.integers(0, 2))
def test_random_kernels(text: str, n: int, i: int, core: int) -> None:
    kernel = kernel_of(text)
    check_agreement(kernel, setting_of(kernel, n, i, core=core))


@pytest.mark.parametrize(
    ("old", "new", "number", "message"),
    [
        ("EVENT_ID1", "EVENT_ID2", 1, "is set MTE3->MTE2 1 in one text and set MTE3->MTE2 2 in the other"),
        ("set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);", "", 1, "is set MTE3->MTE2 1 in one text and set MTE3->MTE2 2"),
        ("(event_t) slot", "(event_t) c1", 3, "is wait MTE3->MTE2 0 in one text and wait MTE3->MTE2 1 in the other"),
        ("at = 65536", "at = 65568", 4, "to vec 65536+512 in one text and pto.tload from x 0+512 to vec 65568+512"),
        (
            "slot * 512",
            "slot * 544",
            15,
            "is pto.tload from %x 512+512 to vec 66048+512 in one text and pto.tload from x",
        ),
        (
            "TMULS(first, first, scale)",
            "TADDS(first, first, scale)",
            7,
            "is pto.tmuls from vec 65536+64 4 times every 128",
        ),
        ("last_base + 16", "last_base + 8", 9, "from vec 65600+64 4 times every 128"),
        ("TADDS(last, last, half_)", "TADDS(last, first, half_)", 9, "is pto.tadds from vec 65600+64"),
        ("pipe_barrier(PIPE_V);", "", 8, "is a barrier of V in one text and pto.tadds from"),
        ("4, 16, SLayout", "3, 16, SLayout", 7, "is pto.tmuls"),
        (
            "c128 = 128",
            "c128 = 256",
            15,
            "is pto.tload from %x 512+512 to vec 66048+512 in one text and pto.tload from x 1024",
        ),
        ("i < n", "i < n - 1", 36, "is wait MTE3->MTE2 0 in one text"),
        (
            "from = x;",
            "from = y;",
            4,
            "is pto.tload from %x 0+512 to vec 65536+512 in one text and pto.tload from y 0+512",
        ),
        (
            "  return;",
            "  pipe_barrier(PIPE_M);\n  return;",
            None,
            "is missing in one text and a barrier of M in the other",
        ),
    ],
)
def test_difference_is_told(old: str, new: str, number: int | None, message: str) -> None:
    """One change at a time in the C++ of kernels/structure.pto."""
    kernel = read_module(STRUCTURE).kernel()
    setting = setting_of(kernel, 0, 4, 0)
    text = cpp_text(kernel, setting)
    assert old in text
    difference = first_difference(kernel, kernel_of(text.replace(old, new, 1), "kernel.cpp"), setting)
    assert message in str(difference)
    assert difference is not None
    assert number in (None, difference.number)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TEXTRACT(l, t, c0, c8)", "TEXTRACT(l, t, c8, c0)", "with 0 8 in one text and pto.textract"),
        ("0.099975586f", "0.2f", "with 0.0999755859375 in one text and pto.tmuls"),
        ("CmpMode::GT", "CmpMode::GE", "{cmpMode = #pto<cmp gt>} in one text and pto.tcmp"),
        ("RoundMode::CAST_ROUND", "RoundMode::CAST_RINT", "{rmode = #pto<round_mode ROUND>} in one text and pto.tcvt"),
    ],
)
def test_difference_of_numbers_and_attributes_is_told(old: str, new: str, message: str) -> None:
    """What decides neither cost nor bytes decides the result."""
    kernel = kernel_of(DATA_OPS)
    setting = setting_of(kernel)
    text = cpp_text(kernel, setting)
    assert first_difference(kernel, kernel_of(text, "kernel.cpp"), setting) is None
    assert old in text
    difference = first_difference(kernel, kernel_of(text.replace(old, new), "kernel.cpp"), setting)
    assert message in str(difference)


CPP = """__global__ AICORE void k(__gm__ float *x, __gm__ float *y, int32_t n) {
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


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("", "", True),
        ("i * 64", "64 * i", True),
        ("    TABS", "    pipe_barrier(PIPE_ALL);\n    TABS", False),
        ("x + i * 64", "x + i * 32", False),
        ("x + i", "y + i", False),
        ("TASSIGN(a, 0)", "TASSIGN(a, 256)", False),
        ("TABS", "TNEG", False),
        ("    TABS(a, a);\n", "", False),
        ("i < n", "i < n - 1", False),
    ],
)
def test_texts_in_one_language(old: str, new: str, same: bool) -> None:
    setting = Setting({"n": 3}, 0, 1)
    one, other = kernel_of(CPP, "kernel.cpp"), kernel_of(CPP.replace(old, new, 1), "kernel.cpp")
    assert (first_difference(one, other, setting) is None) is same
    assert (first_difference(other, one, setting) is None) is same
