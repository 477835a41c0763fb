"""Everything in C++ that is not modelled is refused by name where it stands."""

import pytest

from syncopt.frontend import parse_module
from syncopt.ir.source import InputError, Source

HEAD = """__global__ AICORE void k(__gm__ float *p, __gm__ half *h, int32_t n, uint32_t u, bool c, float f) {
  using Buffer = Tile<TileType::Vec, float, 8, 8>; Buffer t, unplaced; TASSIGN(t, 0); if (c) { TASSIGN(unplaced, 0); }
  using Box = pto::Shape<1, 1, 1, 8, 8>; using Steps = pto::Stride<64, 64, 64, 8, 1>; int32_t x = n; int32_t never;
  using Open = Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, -1, -1>; Open open; View v(p);
""".replace("View v", "using View = GlobalTensor<float, Box, Steps>; View v")
BEHIND = "give what stands behind the branch an else, or leave out the else of a branch that always jumps"
LOOP = "write the loop as for (T i = a; i < b; i += s)"


def refusal(statement: str, before: str = "") -> InputError:
    text = f"{before}{HEAD}  {statement}\n}}\n"
    with pytest.raises(InputError) as caught:
        parse_module(Source("k.cpp", text.encode())).kernel("k")
    return caught.value


# Each statement stands in line 5, its first byte in column 3.
@pytest.mark.parametrize(
    ("statement", "column", "message"),
    [
        # statements
        ("while (c) {}", 3, "a while whose body has no step of its variable is not modelled"),
        ("while (x < n) ++x;", 3, "a while whose body has no step of its variable is not modelled"),
        (
            "while (x < n) { if (c) { ++x; } }",
            3,
            "a while whose body has no step of its variable is not modelled",
        ),
        ("while (x < n) { x = 3; }", 19, "the step x = 3 is not modelled"),
        ("while (n) { ++n; }", 10, "a loop while n is not modelled"),
        ("while (n) { ++x; }", 3, "a while whose body has no step of its variable is not modelled"),
        ("while (x < n && c) { ++x; }", 10, "a loop while x < n && c is not modelled"),
        ("while (x < n) { x += 2; ++x; }", 10, "the loop changes x, which its header reads"),
        ("while (x < n) { --n; ++x; }", 10, "the loop changes x, which its header reads"),
        ("while (x < n) { if (c) { continue; } ++x; }", 28, "continue is not modelled here"),
        ("while (x < n) { if (c) { return; } ++x; }", 28, "return inside a loop is not modelled"),
        ("while (f < 3) { f += 1; }", 19, "a loop that does not count in integers is not modelled"),
        ("do {} while (c);", 3, "do is not modelled"),
        ("for (int i : {1, 2}) {}", 3, "for over a range is not modelled"),
        ("switch (n) {}", 3, "switch is not modelled"),
        ("goto end;", 3, "goto is not modelled"),
        ("for (int i = 0; i < n; ++i) { break; }", 33, "break is not modelled"),
        ("for (int i = 0; i < n; ++i) { continue; x = 3; }", 43, "nothing comes to what stands behind this continue;"),
        ("for (int i = 0; i < n; ++i) { { continue; } x = 3; }", 35, "continue is not modelled here"),
        ("for (int i = 0; i < n; ++i) { if (c) { return; } }", 42, "return inside a loop is not modelled"),
        ("for (int i = 0; i < n; ++i) { return; }", 33, "return inside a loop is not modelled"),
        ("continue;", 3, "continue is not modelled here"),
        ("return; pipe_barrier(PIPE_V);", 11, "nothing comes to what stands behind this return;"),
        ("if (c) { return; x = 3; } x = 4;", 12, "a return on one of several ways through a branch is not modelled"),
        ("if (c) { return; x = 3; }", 20, "nothing comes to what stands behind this return;"),
        ("if (c) { return; } else { x = 3; } x = 4;", 12, "a return on one of several ways through a branch"),
        ("if (c) { x = 3; } else return; x = 4;", 26, "a return on one of several ways through a branch"),
        ("if (c) { if (n) { return; } } x = 4;", 21, "a return on one of several ways through a branch"),
        ("{ return; } x = 4;", 5, "return is not modelled here"),
        ("[[likely]] if (c) return;", 14, "a branch with return or continue behind attributes is not modelled"),
        ("\n#ifndef __CPU_SIM\nif (c) return;\n#endif\n#ifdef __DAV_VEC__\nx = 3;\n#endif\n", 8, "return is not"),
        ("\n#ifdef __DAV_VEC__\nif (c) return;\n#endif\n#ifdef __DAV_VEC__\nx = 3;\n#endif\n", 8, "return is not"),
        ("return n;", 3, "a kernel that returns a value is not modelled"),
        ("if (c) return n;", 10, "a kernel that returns a value is not modelled"),
        ("if (c) { [[likely]] return n; }", 12, "a kernel that returns a value is not modelled"),
        ("{ int y = 3; } x = y;", 22, "y is not defined here"),
        ("n;", 3, "identifier as a statement is not modelled"),
        ("x = 1, x = 2;", 3, "the comma operator as a statement is not modelled"),
        ("try { } catch (...) { }", 3, "try statement is not modelled"),
        ("struct S { int a; };", 3, "struct specifier is not modelled"),
        ("if (int y = n; y) {}", 6, "(int y = n; y) is not modelled"),
        # directives
        ("\n#if SPEED\n#endif\n", 1, "#if SPEED is not modelled"),
        ("\n#if defined(__PTO_AUTO__)\n#elif SPEED\n#endif\n", 1, "#elif is not modelled"),
        ("\n#ifdef SPEED\n#endif\n", 1, "#ifdef SPEED is not modelled"),
        ("\n#ifndef __DAV_VEC__\n#endif\n", 1, "#ifndef __DAV_VEC__ is not modelled"),
        ("\n#if !defined(__DAV_VEC__)\n#endif\n", 1, "#if !defined(__DAV_VEC__) is not modelled"),
        ("\n#if defined(__DAV_VEC__)\n#else\n#endif\n", 1, "#else and #elif are not modelled"),
        ("\n#define N 3\n", 1, "#define inside a function is not modelled"),
        ("\n#error no\n", 1, "a directive is not modelled"),
        # loops
        ("for (int i = 0; i >= n; ++i) {}", 19, "a loop while i >= n is not modelled with this step"),
        ("for (int i = 0; i > n; ++i) {}", 19, "a loop while i > n is not modelled with this step"),
        ("for (int i = n; i <= 0; --i) {}", 19, "a loop while i <= 0 is not modelled with this step"),
        ("for (int i = 0; i == n; ++i) {}", 19, "a loop while i == n is not modelled"),
        ("for (int i = 0; i + 1 < n; ++i) {}", 19, "a loop while i + 1 < n is not modelled"),
        ("for (int i = 0; i != n; ++i) {}", 19, "a loop while i != n is not modelled: i may never be that"),
        ("for (int i = 0; i != 8; i += 3) {}", 19, "a loop while i != 8 is not modelled: i may never be that"),
        ("for (int i = 9; i != 8; ++i) {}", 19, "a loop while i != 8 is not modelled: i may never be that"),
        ("for (uint32_t i = n; i != u; --i) {}", 24, "a loop while i != u is not modelled: i may never be that"),
        ("for (size_t i = n; i >= 0; --i) {}", 22, "a loop that counts i down in uint64_t is not modelled"),
        ("for (uint32_t i = n; i > 0; i -= 2) {}", 24, "a loop that counts i down in uint32_t is not modelled"),
        ("for (uint32_t i = n; i >= u; --i) {}", 24, "a loop that counts i down in uint32_t is not modelled"),
        ("for (int i = n; i > u; --i) {}", 19, "a loop that counts i down in uint32_t is not modelled"),
        ("for (int i = n; i > 0; i -= x) {}", 19, "a loop that counts i down by x is not modelled"),
        ("for (int16_t i = 0; i < n; ++i) {}", 23, "a loop that counts in int16_t up to a bound of int32_t"),
        ("for (int i = 0; c; ++i) {}", 19, "a loop while c is not modelled"),
        ("for (int i = n; i < n; --i) {}", 19, "a loop while i < n is not modelled with this step"),
        ("for (int i = 0; i < n; i = n + 1) {}", 26, "the step i = n + 1 is not modelled"),
        ("for (int i = 0; i < n; i += i) {}", 31, "a loop whose bound or step follows from i is not modelled"),
        ("for (int i = 1; i < n - i; ++i) {}", 23, "a loop whose bound or step follows from i is not modelled"),
        ("while (x < x + n) { ++x; }", 14, "a loop whose bound or step follows from x is not modelled"),
        ("for (int i = 0; i < n; i = i * 2) {}", 26, "the step i = i * 2 is not modelled"),
        ("for (int i = 0; i < n; i = 1 - i) {}", 26, "the step i = 1 - i is not modelled"),
        ("for (int i = 0; i < n; x++) {}", 26, "the step x++ is not modelled"),
        ("for (int i = 1; i < n; i *= 2) {}", 26, "the step i *= 2 is not modelled"),
        ("for (int i = 0, j = 0; i < n; ++i) {}", 8, "this form of for is not modelled"),
        ("for (x = 0; n < 8; ++n) {}", 8, "this form of for is not modelled"),
        ("for (x += 1; x < n; ++x) {}", 8, "this form of for is not modelled"),
        ("for (f = 0; f < 8; ++f) {}", 8, "this form of for is not modelled"),
        ("for (; x < n; ++x) { x = 3; }", 10, "the loop changes x, which its header reads"),
        ("for (; never < n; ++never) {}", 23, "never may have no value here"),
        ("for (;;) {}", 3, "this form of for is not modelled"),
        ("for (float g = 0; g < f; g += 1) {}", 8, "a loop that does not count in integers is not modelled"),
        ("for (int i = 0; i < x; ++i) { x = 3; }", 23, "the loop changes x, which its header reads"),
        ("for (int i = 0; i < n; ++i) { i = 3; }", 19, "the loop changes i, which its header reads"),
        (
            "for (uint8_t i = 0; i < n; ++i) {}",
            23,
            "a loop that counts in uint8_t up to a bound of int32_t is not modelled",
        ),
        (
            "for (int i = 0; i < n; ++i) { open.SetValidShape(8, i); } TASSIGN(open, 0); TABS(open, open);",
            84,
            "the valid rows of open are not given here",
        ),
        ("Buffer y; for (int i = 0; i < n; ++i) { TASSIGN(y, i); } TABS(t, y);", 68, "y has no address here"),
        ("Buffer y; for (int i = 0; i < n; ++i) { TABS(t, y); TASSIGN(y, i); }", 51, "y has no address here"),
        (
            "for (int i = 0; i < n; ++i) {\n#ifdef __DAV_VEC__\nx = 3;\n#endif\n}",
            3,
            "x may have no value behind this loop",
        ),
        # names and variables
        ("x = missing;", 7, "missing is not defined here"),
        ("int32_t x = 1;", 11, "x is defined twice"),
        ("{ int32_t x = x + 1; }", 17, "x stands in its own first value"),
        ("{ Open open(open.GetValidRow(), 8); }", 15, "open stands in its own first value"),
        ("for (int x = x; x < 8; ++x) {}", 16, "x stands in its own first value"),
        ("x = never;", 7, "never may have no value here"),
        ("if (c) { never = 1; } x = never;", 29, "never may have no value here"),
        ("if (c) { int inner = 1; } x = inner;", 33, "inner is not defined here"),
        ("Buffer = 3;", 3, "an assignment to Buffer is not modelled"),
        ("p[0] = 3;", 3, "an assignment to p[0] is not modelled"),
        ("*p = 3;", 3, "an assignment to *p is not modelled"),
        ("static int y = 1;", 3, "a static variable is not modelled"),
        ("volatile int y = 1;", 3, "a volatile variable is not modelled"),
        ("int &y = x;", 7, "a reference is not modelled"),
        ("int y[2];", 7, "the array y[2] is not modelled"),
        ("auto y = {1, 2};", 12, "a list in braces has no type"),
        ("auto y;", 8, "y has no type"),
        ("int *y;", 3, "a pointer that is not marked as __gm__ is not modelled"),
        ("__gm__ float **y;", 16, "**y is not modelled"),
        # types
        ("Event<1> e;", 3, "type Event<1> is not modelled"),
        ("std::vector<int> e;", 8, "type vector<int> is not modelled"),
        ("other::T e;", 3, "other::T is not modelled"),
        ("char e;", 3, "type char is not modelled"),
        ("Tile<TileType::Vec, bool, 8, 8> y;", 23, "elements of type bool are not modelled"),
        ("Tile<TileType::Vec, hifloat8_t, 8, 8> y;", 23, "type hifloat8_t is not modelled"),
        ("Tile<TileType::Nowhere, float, 8, 8> y;", 8, "TileType::Nowhere is not modelled, expected TileType::"),
        ("Tile<TileType::Vec, float, 8, 8, BLayout::NoneBox> y;", 36, "BLayout::NoneBox is not modelled, expected"),
        ("Tile<TileType::Vec, float, 8> y;", 3, "Tile: 3 template arguments, expected 4 to 11"),
        ("Tile<TileType::Vec, float, 0, 8> y;", 30, "0 is no size"),
        ("Tile<TileType::Vec, float, n, 8> y;", 30, "n is no constant integer"),
        ("Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, -2> y;", 55, "-2 is no size"),
        ("pto::Shape<1, 8> y;", 8, "Shape: 2 template arguments, expected 5"),
        ("GlobalTensor<float, Steps, Box> y(p);", 23, "a Stride stands where a Shape is expected"),
        ("GlobalTensor<float, Box, Steps, Layout::NHWC> y(p);", 35, "Layout::NHWC is not modelled, expected"),
        # expressions
        ("x = (x = 3);", 8, "an assignment inside an expression is not modelled"),
        ("x = x++;", 7, "++ or -- inside an expression is not modelled"),
        ("x = p[0];", 7, "an element of an array that holds no tiles is not modelled"),
        ("x = *p;", 7, "the address of a name, or what a pointer points at is not modelled"),
        ("x = [] { return 1; }();", 7, "a lambda is not modelled"),
        ("x = min(n, 3);", 7, "a call of min is not modelled"),
        ("x = t.GetValue(0);", 9, "a call of GetValue is not modelled"),
        ("x = t.Rows;", 7, "a member is not modelled"),
        ("x = 'a';", 7, "a character is not modelled"),
        ("x = 017;", 7, "an octal number is not modelled: 017"),
        ("x = 99999999999999999999;", 7, "99999999999999999999 fits no type"),
        ("float y = 1.0L;", 13, "1.0L is not modelled"),
        ("x = f % 2;", 7, "% on float is not modelled"),
        ("x = 1 << f;", 7, "<< on floating point numbers is not modelled"),
        ("float y = ~f;", 13, "~ on floating point numbers is not modelled"),
        ("x = f ? 1 : 2;", 7, "a condition on floating point numbers is not modelled"),
        ("x = p + p;", 7, "+ on a pointer is not modelled"),
        ("x = -p;", 7, "- on a pointer is not modelled"),
        ("x = p;", 7, "a pointer is no int32_t"),
        ("x = t;", 7, "a tile as a value of int32_t is not modelled"),
        ("x = t + 1;", 7, "t is a tile, expected a number"),
        ("x = sizeof(x);", 7, "sizeof of an expression is not modelled"),
        ("x = sizeof(Buffer);", 7, "sizeof(Buffer) is not modelled"),
        ("x = (n) - n * 3;", 8, "n is no type"),
        ("auto y = c ? p : p + 1;", 12, "a choice between pointers is not modelled"),
        ("auto y = c ? v : v;", 12, "a choice of a GlobalTensor is not modelled"),
        ("TABS(c ? t : open, t);", 8, "a choice between tiles of different types is not modelled"),
        ("auto y = (__ubuf__ float *) p;", 12, "a pointer from one memory into another is not modelled"),
        ("auto y = (__gm__ float *) x;", 12, "a pointer into global memory made of int32_t is not modelled"),
        # tiles and views
        ("TADD(t, t, unplaced);", 14, "unplaced may have no value here"),
        ("TABS(open, open);", 8, "open has no address here"),
        (
            "Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, -1, -1> y; TASSIGN(y, 0); TABS(y, y);",
            86,
            "the valid rows",
        ),
        (
            "Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, -1> y(n, n);",
            59,
            "a tile with 1 run-time size(s) is made from 2",
        ),
        ("t.SetValidShape(8, 8);", 5, "SetValidShape of a tile with fixed valid sizes is not modelled"),
        ("t.Reset();", 5, "a call of Reset is not modelled"),
        ("x.SetValidRow(8);", 5, "SetValidRow of int32_t is not modelled"),
        ("TASSIGN(t, p);", 14, "a tile in global memory is not modelled"),
        ("TASSIGN(t, f);", 14, "float is no address"),
        ("TASSIGN(x, 0);", 11, "TASSIGN to int32_t is not modelled"),
        ("TASSIGN(t);", 3, "TASSIGN with 1 operands is not modelled"),
        ("TRESHAPE(t, x);", 3, "TRESHAPE of anything but tiles is not modelled"),
        ("View y(h);", 10, "a GlobalTensor of f32 on a pointer to f16 is not modelled"),
        ("View y(x);", 10, "int32_t stands where a pointer into global memory is expected"),
        ("View y(p, Steps());", 13, "a Stride stands where Shape of this type is expected"),
        (
            "GlobalTensor<float, pto::Shape<1, 1, 1, 8, -1>, Steps> y(p);",
            58,
            "the Shape of this GlobalTensor has run-time",
        ),
        ("TileShape2D<float, -1, 16, Layout::NZ> y;", 3, "TileShape2D<float, -1, 16, Layout::NZ> with run-time sizes"),
        ("BaseShape2D<float, 16, -1> y;", 3, "BaseShape2D<float, 16, -1> with run-time sizes is not modelled"),
        ("pto::Shape<1, 1, 1, -1, -1> y(n);", 31, "a Shape with 2 run-time size(s) is made from 1"),
        ("Buffer y[n];", 12, "n is no constant integer"),
        ("Buffer y[2]; TABS(y[2], t);", 21, "there is no y[2]: the array has 2 elements"),
        ("Buffer y[2]; TASSIGN(y[n], 0);", 24, "which of them y[n] is, is known at run time only"),
        ("Buffer y[2][2];", 10, "the array y[2][2] is not modelled"),
        ("Buffer y[2]; TABS(t, y);", 24, "y is no value"),
        ("[[pto::last_use(1)]] TABS(t, t);", 3, "[[pto::last_use(1)]] is not modelled"),
        # calls
        ("undefined(n);", 3, "a call of undefined is not modelled"),
        ("TPUSH(t, t);", 3, "a call of TPUSH is not modelled"),
        ("TSYNC();", 3, "a call of TSYNC is not modelled"),
        ("TPRINT(t);", 3, "a call of TPRINT is not modelled"),
        ("ffts_cross_core_sync(PIPE_MTE3, 1);", 3, "a call of ffts_cross_core_sync is not modelled"),
        ("set_vector_mask(0, -1);", 3, "a vector mask that leaves out lanes is not modelled"),
        ("TADD(x, t, t);", 8, "TADD: the destination is int32_t, expected a tile or a GlobalTensor"),
        ("TADD(t, t, Box());", 14, "TADD on a Shape is not modelled"),
        ("TGATHER(t, t, x, t, t);", 3, "TGATHER with 5 operands is not modelled"),
        # flags
        ("set_flag(PIPE_V, PIPE_S);", 3, "set_flag takes two pipes and an event id"),
        ("set_flag(PIPE_W, PIPE_S, EVENT_ID0);", 12, "pipe PIPE_W is not modelled"),
        ("wait_flag(PIPE_V, PIPE_ALL, EVENT_ID0);", 21, "wait_flag: a flag is between two pipes, not PIPE_ALL"),
        ("set_flag(PIPE_V, PIPE_S, EVENT_ID8);", 28, "set_flag: no event id 8, expected 0 to 7"),
        ("set_flag(PIPE_V, PIPE_S, f);", 28, "f is float, expected an integer"),
        ("PtoSetWaitFlag<PIPE_V>();", 3, "PtoSetWaitFlag takes two pipes in <> and at most two event ids"),
        ("PtoSetWaitFlag<PIPE_V, PIPE_W>();", 26, "pipe PIPE_W is not modelled"),
        ("pipe_barrier();", 3, "pipe_barrier takes one pipe"),
    ],
)
def test_statement_is_refused(statement: str, column: int, message: str) -> None:
    error = refusal(statement)
    line = 5 + statement.startswith("\n")
    if "#else" in statement or "#elif" in statement or "#endif\n#ifdef" in statement:
        line = 7
    assert str(error).startswith(f"k.cpp:{line}:{column}: error: {message}"), str(error)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        ("int *x", "a pointer that is not marked as __gm__ is not modelled"),
        ("__gm__ bool *x", "elements of type bool are not modelled"),
        ("__ubuf__ float *x", "a parameter that is a pointer into a memory of the core is not modelled"),
        ("int &x", "the parameter int &x is not modelled"),
        ("int", "the parameter int is not modelled"),
        ("int x = 3", "the parameter int x = 3 is not modelled"),
        ("Context x", "type Context is not modelled"),
    ],
)
def test_parameter_is_refused(parameter: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_module(Source("k.cpp", f"__global__ AICORE void k({parameter}) {{}}\n".encode())).kernel()
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("helper", "call", "place", "message"),
    [
        ("void help(int way) { if (way) goto end; }", "help(1);", "1:45", "goto is not modelled"),
        ("void help(int way) { return way; }", "help(n);", "1:36", "a kernel that returns a value is not modelled"),
        ("void help(int a) {}", "help();", "6:3", "a call with 0 arguments is not modelled, expected 1"),
        ("void help(int a) {}", "help(1, 2);", "6:3", "a call with 2 arguments is not modelled, expected 1"),
        ("void help(int a) {}", "help(p);", "6:8", "a pointer is no int32_t"),
        ("void help(float &a) { a = 1; }", "help(x);", "6:8", "x as a reference to another type is not modelled"),
        ("void help(int a[2]) {}", "help(x);", "1:25", "the parameter int a[2] is not modelled"),
        ("void help(int a) { help(a); }", "help(x);", "1:34", "a call of help inside itself is not modelled"),
        (
            "void help(int &a, int &b) { while (a < b) { ++a; } }",
            "help(x, x);",
            "1:54",
            "a loop whose bound or step follows from a",
        ),
        ("void help() { x = 3; }", "help();", "1:29", "x is not defined here"),
        ("template <typename T> AICORE void more() {}", "more();", "6:3", "the template parameter T does not follow"),
        ("template <int N> AICORE void more() {}", "more<n>();", "6:8", "n is no constant integer"),
        ("template <int N> AICORE void more() {}", "more<1, 2>();", "6:3", "2 template arguments, expected at most 1"),
        (
            "template <typename... T> AICORE void more() {}",
            "more<int>();",
            "1:11",
            "the template parameter typename... T",
        ),
        ("template <float F> AICORE void more() {}", "more<1>();", "1:11", "the template parameter float F is not"),
    ],
)
def test_called_function_is_refused(helper: str, call: str, place: str, message: str) -> None:
    before = f"{'' if helper.startswith('template') else 'static AICORE '}{helper}\n"
    error = refusal(call, before)
    assert str(error).startswith(f"k.cpp:{place}: error: {message}"), str(error)


def test_deep_nesting_is_refused() -> None:
    assert refusal("if (c) {" * 70 + "}" * 70).message == "blocks are nested deeper than 64"
    assert refusal(f"x = {'(' * 300}n{')' * 300};").message == "an expression is nested deeper than 96"
    assert refusal(f"x = {'n + ' * 300}n;").message == "an expression is nested deeper than 96"


@pytest.mark.parametrize(
    ("statement", "help"),
    [
        ("while (c) {}", LOOP),
        ("if (c) { if (n) { return; } } x = 4;", BEHIND),
        ("for (int i = 0; i != n; ++i) {}", LOOP),
        ("TPOP(t, t);", "syncopt models one core; give it each core's part by itself"),
        ("TADD(t, t, unplaced);", "give it one on every way to here"),
        ("for (uint8_t i = 0; i < n; ++i) {}", "declare i as int32_t"),
        ("c = x<3 && n>(2);", "if x is compared here, write a blank before the <"),
        ("c = f<3>(2);", "if f is compared here, write a blank before the <"),
        ("c = g<3>(2);", ""),
        (
            "x = (static_cast<int>((n * n))) & 3;",
            "what stands in parentheses in front of an operator is taken for a type: write it without them",
        ),
    ],
)
def test_refusals_tell_what_to_do(statement: str, help: str) -> None:
    assert refusal(statement).help == help
