"""No plan is written into a function that a kernel calls."""

import pytest

from syncopt.emit import check_writable, render
from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError, Source
from tests.emit.edit.trees import Ops, change, set_flag, wait_flag

TILES = "  Tile<TileType::Vec, float, 8, 8> a, b;\n  TASSIGN(a, 0);\n  TASSIGN(b, 256);\n"
MESSAGE = "a plan cannot be written into the function that this statement calls"


def kernel_of(function: str, call: str) -> Kernel:
    text = f"{function}\n__global__ AICORE void k(int32_t n) {{\n{TILES}  {call}\n}}\n"
    return parse_module(Source("k.cpp", text.encode())).kernel()


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("template <typename T> AICORE void f(T &a) { TABS(a, a); TNEG(a, a); }", "f(a);"),
        ("template <typename T> AICORE void f(T &a) { TABS(a, a); pipe_barrier(PIPE_V); }", "f(a);"),
        ("template <typename T> AICORE void f(T &a, int n) { if (n) { TABS(a, a); } }", "f(a, n);"),
        ("template <typename T> AICORE void f(T &a, int n) { while (n < 8) { TABS(a, a); ++n; } }", "f(a, n);"),
    ],
)
def test_function_that_does_several_things_is_refused(function: str, call: str) -> None:
    kernel = kernel_of(function, call)
    assert render(kernel, kernel) == kernel.source.data
    for refused in (lambda: check_writable(kernel), lambda: render(kernel, change(kernel, lambda ops: ops))):
        with pytest.raises(InputError) as caught:
            refused()
        assert str(caught.value).startswith(f"k.cpp:6:3: error: {MESSAGE}")
        assert caught.value.help == "write the body of the called function in its place"


def test_function_with_one_op_is_one() -> None:
    """The call stands for the op: flags go around it, and it moves as a whole."""
    kernel = kernel_of("template <typename T> AICORE void f(T &a, T &b) { TADD(a, b, b); }", "f(a, b);\n  f(b, a);")

    def how(ops: Ops) -> Ops:
        return (*ops[:-1], set_flag(), wait_flag(), ops[-1])

    text = render(kernel, change(kernel, how)).decode()
    flags = (f"  {kind}_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);\n" for kind in ("set", "wait"))
    assert f"  f(a, b);\n{''.join(flags)}  f(b, a);\n" in text


def test_function_of_flags_goes_with_its_call() -> None:
    kernel = kernel_of("AICORE void f(int id) { pipe_barrier(PIPE_V); pipe_barrier(PIPE_M); }", "TABS(a, a);\n  f(3);")
    check_writable(kernel)
    text = render(kernel, change(kernel, lambda ops: ops[: -len(("V", "M"))])).decode()
    assert "  TABS(a, a);\n}" in text


def test_call_tells_what_it_changes() -> None:
    """What is passed by reference and assigned counts as assigned by the statement; other arguments are only used."""
    function = "template <typename T> AICORE void f(T &a, int &at, int by) { TABS(a, a); at += by; }"
    kernel = kernel_of(function, "int at = n;\n  f(a, at, n);")
    last = kernel.body.statements[-1]
    assert sorted(last.reads) == ["a", "at", "n"]
    assert sorted(last.writes) == ["at"]
