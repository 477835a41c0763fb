"""What a C++ file offers before and when a function is asked for, and which of its names a kernel can use."""

from pathlib import Path

import pytest

from syncopt.frontend import Module, parse_module, read_module
from syncopt.ir.kernel import For, SetFlag
from syncopt.ir.source import InputError, Source

WAIT = "wait_flag(PIPE_V, PIPE_S, n);"


def module_of(text: str, path: str = "k.cpp") -> Module:
    return parse_module(Source(path, text.encode()))


def message_of(text: str, name: str | None = None) -> str:
    with pytest.raises(InputError) as caught:
        module_of(text).kernel(name)
    return str(caught.value).splitlines()[0]


def test_functions_are_listed_without_being_converted() -> None:
    module = module_of(
        "static AICORE inline int far(int x);\n"
        '/* first */ extern "C" __global__ AICORE void work() { while (1) {} }\n'
        "void host(int n) { work<<<1>>>(); }\n"
        "namespace a { namespace b {\n__global__ __aicore__ void inner(__gm__ uint8_t *x) {} } }\n"
        "template <typename T> __global__ AICORE void made(__gm__ T *x) {}\n"
    )
    listed = [(function.name, function.has_body, function.is_kernel) for function in module.functions]
    assert listed == [
        ("far", False, False),
        ("work", True, True),
        ("host", True, False),
        ("inner", True, True),
        ("made", True, True),
    ]
    assert module.kernel("inner").arguments[0].name == "x"


@pytest.mark.parametrize("suffix", [".cpp", ".cc", ".cxx", ".hpp", ".h", ".CPP"])
def test_the_name_of_a_file_tells_its_language(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"k{suffix}"
    path.write_text("__global__ AICORE void k() {}\n")
    assert read_module(path).kernel().name == "k"


def test_mlir_files_are_no_cpp() -> None:
    text = "func.func @k() { return }"
    assert parse_module(Source("k.mlir", text.encode())).kernel().name == "k"
    with pytest.raises(InputError, match="syntax error"):
        module_of(text)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", None, "k.cpp:1:1: error: the file is empty"),
        ("// nothing\n", None, "k.cpp:1:1: error: no function in this file: not a C++ kernel"),
        ("int x = 3;\n", None, "k.cpp:1:1: error: no function in this file: not a C++ kernel"),
        ("dear reader", None, "k.cpp:1:12: error: syntax error"),
        ("void k() {}\n}\n", None, "k.cpp:2:1: error: syntax error"),
        ("void k() {\n  int32_t = 3;\n}\n", None, "k.cpp:2:10: error: syntax error"),
        ("void k();\n", None, "k.cpp:1:6: error: no function with a body"),
        ("void k();\n", "k", "k.cpp:1:6: error: k is declared here without a body"),
        ("void k() {}\n", "other", "k.cpp:1:1: error: no function other"),
        ("void k() {}\nvoid k(int n) {}\n", "k", "k.cpp:2:6: error: 2 functions are named k"),
        (
            "__global__ AICORE void a() {}\n__global__ AICORE void b() {}\n",
            None,
            "k.cpp:2:24: error: 2 kernels in this file: a, b",
        ),
        ("void a() {}\nvoid b() {}\n", None, "k.cpp:2:6: error: 2 functions, none with tile ops, in this file: a, b"),
        (
            "template <int N>\n__global__ AICORE void k() {}\n",
            None,
            "k.cpp:2:24: error: k is a template, which is not modelled",
        ),
    ],
)
def test_file_without_the_kernel_is_refused(text: str, name: str | None, message: str) -> None:
    assert message_of(text, name) == message


def test_several_kernels_are_read_by_name() -> None:
    module = module_of("__global__ AICORE void a() {}\n__global__ AICORE void b(int n) { return; }\n")
    assert module.kernel("a").arguments == ()
    assert [value.name for value in module.kernel("b").arguments] == ["n"]


def test_only_the_function_asked_for_is_converted() -> None:
    module = module_of("void bad() { goto end; end:; }\n__global__ AICORE void good(int n) { " + WAIT + " }\n")
    assert module.kernel().name == "good"
    with pytest.raises(InputError, match="goto is not modelled"):
        module.kernel("bad")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int n = 3;", "a variable of the file is not modelled"),
        ("constexpr int n = f(3);", "a call of f is not modelled"),
        ("#define n (a + 1)", "the macro n is not modelled"),
        ("#define n(x) x", "the macro n is not modelled"),
        ("#if FAST\nconstexpr int n = 1;\n#endif", "a definition under #if FAST is not modelled"),
        ("#ifdef FAST\n#else\nconstexpr int n = 1;\n#endif", "a definition under #ifdef FAST is not modelled"),
    ],
)
def test_names_of_the_file_that_are_not_modelled_are_refused_where_they_stand(text: str, message: str) -> None:
    used = f"{text}\n__global__ AICORE void k() {{ {WAIT} }}\n"
    assert message in message_of(used)
    assert module_of(f"{text}\n__global__ AICORE void k() {{ }}\n").kernel().name == "k"


@pytest.mark.parametrize(
    "text",
    [
        "constexpr int n = 3;",
        "static const uint8_t m = 1; const auto n = m * 3;",
        "#define n 3",
        "#define n (0x3u)",
        "enum { one = 1, n = one + 2 };",
        "#ifndef K_H\n#define K_H\nconstexpr int n = 3;\n",
    ],
)
def test_numbers_of_the_file_are_known(text: str) -> None:
    end = "#endif\n" if text.startswith("#ifndef") else ""
    kernel = module_of(f"{text}\n__global__ AICORE void k() {{ {WAIT} }}\n{end}").kernel()
    assert getattr(kernel.body.ops[0], "event", None) == 3


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        # the compiler never sees the name that the reader would go by
        ("#define pipe_barrier(x)", 1, "the macro pipe_barrier is not modelled"),
        ("#define PIPE_V PIPE_M", 1, "the macro PIPE_V is not modelled"),
        ("#define n m\nconstexpr int m = 1;", 1, "the macro n is not modelled"),
        # which of two values holds depends on where the name stands
        ("#define n 1\n#undef n\n#define n 2", 2, "the macro n is not the same everywhere"),
        ("#define n 1\n#undef n\nconstexpr int n = 2;", 2, "the macro n is not the same everywhere"),
        ("#define n 1\n#define n 2", 2, "the macro n is not the same everywhere"),
        # a macro inside of what the kernel uses
        ("#define int long\nconstexpr int n = 1;", 1, "the macro int is not modelled"),
    ],
)
def test_macros_that_change_what_is_read_are_refused(text: str, line: int, message: str) -> None:
    used = f"{text}\n__global__ AICORE void k() {{ pipe_barrier(PIPE_V); {WAIT} }}\n"
    assert message_of(used) == f"k.cpp:{line}:1: error: {message}"


@pytest.mark.parametrize("text", ["#define n 1\n#define n 1", "#undef n\n#define n 1", "#define m(x) x\n#define n 1"])
def test_macros_that_change_nothing_do_not_matter(text: str) -> None:
    kernel = module_of(f"{text}\n__global__ AICORE void k() {{ static_assert(m(n)); {WAIT} }}\n").kernel()
    assert getattr(kernel.body.ops[0], "event", None) == 1


@pytest.mark.parametrize(
    ("before", "behind", "found"),
    [
        ("#if 0", "#endif", ["last"]),
        ("#if 0", "#else\n#endif", ["last"]),
        ("#if 1\n#else", "#endif", ["last"]),
        ("#if 0\n#else", "#endif", ["k", "last"]),
        ("#if 1", "#endif", ["k", "last"]),
        ("#if FAST", "#endif", ["k", "last"]),
        ("#if FAST\n#elif 0", "#endif", ["last"]),
    ],
)
def test_functions_that_a_directive_leaves_out_are_not_there(before: str, behind: str, found: list[str]) -> None:
    module = module_of(f"{before}\n__global__ void k() {{}}\n{behind}\n__global__ void last() {{}}\n")
    assert [function.name for function in module.functions] == found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("AICORE void TWICE();", "it is declared without a body"),
        ("AICORE void TWICE() {}\nAICORE void TWICE(int x) {}", "2 functions have this name"),
        ("#ifdef FAST\nAICORE void TWICE() {}\n#else\nAICORE void TWICE() {}\n#endif", "2 functions have this name"),
        ("#ifdef FAST\nAICORE void TWICE() {}\n#endif", "it stands under #ifdef FAST"),
        ("#ifdef FAST\n#else\nAICORE void TWICE() {}\n#endif", "it stands under #ifdef FAST"),
        ("#define B(x)\nAICORE void TWICE() { B(1); }", "the macro B is not modelled"),
    ],
)
def test_function_of_the_file_is_no_tile_op(text: str, reason: str) -> None:
    """Its name could be that of an op, but what it does is known to the file alone."""
    message = message_of(f"{text}\n__global__ AICORE void k() {{ TWICE(); }}\n")
    assert message.endswith(f":30: error: a call of TWICE is not modelled: {reason}")


def test_function_under_the_directive_of_its_caller_is_read() -> None:
    helper = "AICORE void sync() { pipe_barrier(PIPE_V); }\n"
    kernel = module_of(f"#ifdef FAST\n{helper}__global__ AICORE void k() {{ sync(); }}\n#endif\n").kernel()
    assert len(kernel.body.ops) == 1


@pytest.mark.parametrize(
    ("body", "events"),
    [
        ("set_flag(PIPE_V, PIPE_S, n); return; set_flag(PIPE_V, PIPE_S, 7);", [1]),
        ("switch (n) { case 1: set_flag(PIPE_V, PIPE_S, 2); return; } set_flag(PIPE_V, PIPE_S, 7);", [2]),
        ("switch (n) { case 1: set_flag(PIPE_V, PIPE_S, 2); break; } set_flag(PIPE_V, PIPE_S, 3);", [2, 3]),
        ("switch (n) { case 1: set_flag(PIPE_V, PIPE_S, 2); case 2: set_flag(PIPE_V, PIPE_S, 3); }", [2, 3]),
    ],
)
def test_function_that_synchronises_ends_at_its_return_and_sees_the_names_of_the_file(
    body: str, events: list[int]
) -> None:
    """The `n` of the kernel is another one than the `n` of the file."""
    kernel = module_of(
        f"constexpr int n = 1;\nAICORE void sync() {{ {body} }}\n__global__ AICORE void k() {{ int n = 5; sync(); }}\n"
    ).kernel()
    assert [op.event for op in kernel.body.ops if isinstance(op, SetFlag)] == events


@pytest.mark.parametrize(
    ("function", "call", "expected"),
    [
        ("constexpr int f(int a, int b) { return (a + b - 1) / b; }", "f(17, 8)", 3),
        # the argument in the type of its parameter, the result in that of the function
        ("uint8_t f(uint8_t a) { return a + a + 1; }", "f(258)", 5),
        ("AICORE inline uint8_t f(int a) { return a; }", "f(259)", 3),
        ("static inline auto f(const int a) { return a / 2; }", "f(7.9f)", 3),
        # the n of the file, not that of the kernel
        ("constexpr int n = 4;\nint f() { return n; }", "f()", 4),
        # each in the type of the function, whichever is returned
        ("uint8_t f(int a) { if (a > 300) { return 1; } if (a > 200) return a + 52; return a; }", "f(207)", 3),
        ("uint8_t f(int a) { if (a > 300) { return 1; } if (a > 200) return a + 52; return a; }", "f(301)", 1),
        ("template <typename T, int N = 3> T f(T a) { return a + N; }", "f<uint8_t>(258)", 5),
        ("template <typename T, typename U> U f(T a, U b) { return (U) a + b; }", "f(258, (uint8_t) 1)", 3),
        ("int g(int a) { return a + 1; }\nint f(int a) { return g(a) * g(a + 1); }", "f(1)", 6),
    ],
)
def test_functions_of_a_number_are_read_where_they_are_called(function: str, call: str, expected: int) -> None:
    body = f"int n = 5; set_flag(PIPE_V, PIPE_S, {call});"
    kernel = module_of(f"{function}\n__global__ AICORE void k() {{ {body} }}\n").kernel()
    assert [op.event for op in kernel.body.ops if isinstance(op, SetFlag)] == [expected]


def test_call_of_a_function_goes_by_its_own_text() -> None:
    """A loop bound is spelled again where the plan needs to know whether the loop goes round at all."""
    kernel = module_of(
        "int middle(int a) { return (a + 1) / 2; }\n"
        "__global__ AICORE void k(int n) { for (int i = 0; i < middle(n); ++i) { pipe_barrier(PIPE_V); } }\n"
    ).kernel()
    loop = next(op for op in kernel.body.ops if isinstance(op, For))
    assert loop.upper.name == "middle(n)"
    assert [sorted(statement.reads) for statement in kernel.body.statements] == [["n"]]


@pytest.mark.parametrize(
    ("function", "call", "reason"),
    [
        ("int f(int a) { if (a) return 1; else return 3; return 2; }", "f(1)", ": it does more than return a number"),
        ("int f(int a) { if (a) return 1; }", "f(1)", ": it does more than return a number"),
        ("int f(int a) { a = 1; return 2; }", "f(1)", ": it does more than return a number"),
        ("void f(int a) { return; }", "f(1)", ": it does more than return a number"),
        ("int f(int a) { return a; }", "f(1, 2)", " with 2 arguments is not modelled"),
        ("int f(int a, int b = 2) { return a; }", "f(1)", " with 1 arguments is not modelled"),
    ],
)
def test_other_functions_are_refused_where_they_are_called(function: str, call: str, reason: str) -> None:
    message = message_of(f"{function}\n__global__ AICORE void k() {{ int x = {call}; }}\n")
    assert message.startswith("k.cpp:2:38: error: a call of f")
    assert message.endswith(reason)


def test_function_that_calls_itself_is_refused() -> None:
    message = message_of("int f(int a) { return f(a); }\n__global__ AICORE void k() { int x = f(1); }\n")
    assert message.endswith("an expression is nested deeper than 96")


def test_name_of_two_namespaces_is_refused() -> None:
    names = "namespace a { constexpr int n = 2; }\nnamespace b { constexpr int n = 3; }\n"
    assert message_of(f"{names}__global__ AICORE void k() {{ {WAIT} }}\n") == "k.cpp:2:29: error: n is defined twice"


def test_statement_that_only_names_an_argument_does_nothing() -> None:
    kernel = module_of("__global__ AICORE void k(int n) { (void) n; }\n").kernel()
    assert kernel.body.ops == ()
