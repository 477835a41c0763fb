"""C++ texts with the trees they stand for: `kernels/*.cpp` beside `kernels/*.expected`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from syncopt.frontend import parse_module, read_module
from syncopt.ir.kernel import Block, Flag, For, If, Kernel, Section, TileOp, regions, walk
from syncopt.ir.source import InputError, Source
from tests.frontend.dump import dump

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.cpp"))
EMPTY = (b"", b";", b"else")
JUMPS = (b"return;", b"continue;")


def kernel_of(text: str | bytes, name: str | None = None) -> Kernel:
    data = text.encode() if isinstance(text, str) else text
    return parse_module(Source("k.cpp", data)).kernel(name)


def in_kernel(body: str) -> Kernel:
    return kernel_of(f"__global__ AICORE void k(__gm__ float *p, int32_t n, bool c) {{\n{body}\n}}\n")


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernel_is_read_as_expected(path: Path) -> None:
    assert dump(read_module(path).kernel()) == path.with_suffix(".expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_line_ends_and_text_before_do_not_matter(path: Path) -> None:
    data = path.read_bytes()
    expected = path.with_suffix(".expected").read_text(encoding="utf-8")
    assert dump(kernel_of(data.replace(b"\n", b"\r\n"))) == expected
    assert dump(kernel_of("// vor allem: größer, nicht __gm__\n".encode() + data)) == expected


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_op_belongs_to_a_statement_of_its_block(path: Path) -> None:
    kernel = read_module(path).kernel()
    assert [op.uid for op in walk(kernel.body)] == list(range(len(list(walk(kernel.body)))))
    for block in blocks(kernel.body):
        order = [statement.span for statement in block.statements]
        spans = [op.span for op in block.ops if op.span.start < op.span.end]
        assert [order.index(span) for span in spans] == sorted(order.index(span) for span in spans)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_nothing_but_comments_stands_between_statements(path: Path) -> None:
    """What is no statement was not read: it must mean nothing."""
    kernel = read_module(path).kernel()
    for block in blocks(kernel.body):
        at, between = block.span.start, b""
        for statement in block.statements:
            assert at <= statement.span.start < statement.span.end <= block.span.end
            between += kernel.source.data[at : statement.span.start]
            at = statement.span.end
        between += kernel.source.data[at : block.span.end]
        lines = [line.partition(b"//")[0].strip() for line in between.splitlines()]
        alone = () if block.statements else JUMPS
        assert set(lines) <= {*EMPTY, *alone}, lines


def blocks(block: Block) -> Iterator[Block]:
    """Blocks of the kernel's own text, without those of functions that it calls."""
    yield block
    for op in walk(block):
        yield from (region for region in regions(op) if op.span.start <= region.span.start <= op.span.end)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_text_cut_short_is_refused(path: Path) -> None:
    """Whatever is cut off, the answer is an InputError with a position."""
    data = path.read_bytes()
    end = read_module(path).kernel().span.end
    for cut in range(0, end, 7):
        with pytest.raises(InputError) as caught:
            kernel_of(data[:cut])
        assert caught.value.source is not None
        assert caught.value.span is not None


def test_statements_know_the_names_that_they_use() -> None:
    """A loop or branch itself uses what its header uses; the rest is told by the statements inside."""
    found = in_kernel("  using T = int32_t;\n  T a = n, b;\n  if (c) b = a;\n  for (T i = 0; i < n; ++i) { ++a; }\n")
    outer = [(sorted(s.reads), sorted(s.writes)) for s in found.body.statements]
    assert outer == [([], ["T"]), (["T", "n"], ["a", "b"]), (["c"], []), (["T", "n"], [])]
    branch = next(op for op in found.body.ops if isinstance(op, If))
    loop = next(op for op in found.body.ops if isinstance(op, For))
    assert [(sorted(s.reads), sorted(s.writes)) for s in branch.then.statements] == [(["a", "b"], ["b"])]
    assert [(sorted(s.reads), sorted(s.writes)) for s in loop.body.statements] == [(["a"], ["a"])]


def test_a_semicolon_behind_a_brace_belongs_to_the_statement() -> None:
    kernel = in_kernel("  if (c) { pipe_barrier(PIPE_V); };\n  pipe_barrier(PIPE_M);")
    texts = [kernel.source.data[s.span.start : s.span.end] for s in kernel.body.statements]
    assert texts == [b"if (c) { pipe_barrier(PIPE_V); };", b"pipe_barrier(PIPE_M);"]


def test_a_pragma_belongs_to_the_statement_behind_it() -> None:
    kernel = in_kernel("#pragma unroll\n  for (int i = 0; i < n; ++i) { pipe_barrier(PIPE_V); }")
    (statement,) = kernel.body.statements
    assert kernel.source.data[statement.span.start : statement.span.end].startswith(b"#pragma unroll\n")


def test_sections_end_at_their_directive() -> None:
    kernel = in_kernel("#ifdef __DAV_VEC__\n  pipe_barrier(PIPE_V);\n#endif  // vector\n  pipe_barrier(PIPE_ALL);")
    section = kernel.body.ops[0]
    assert isinstance(section, Section)
    data = kernel.source.data
    assert data[section.span.start : section.span.end] == b"#ifdef __DAV_VEC__\n  pipe_barrier(PIPE_V);\n#endif"
    assert data[section.body.span.start : section.body.span.end] == b"\n  pipe_barrier(PIPE_V);\n"


def test_values_that_nobody_uses_behind_a_loop_are_not_carried() -> None:
    """`turn` starts anew in every iteration, and `last` is not used at all; only `sum` goes from round to round."""
    body = (
        "  int turn = 0, sum = 0, last;\n  for (int i = 0; i < n; ++i) {\n    turn = i & 1;\n    sum += turn;\n"
        "    if (c) { last = i; }\n    set_flag(PIPE_V, PIPE_S, turn);\n  }\n  set_flag(PIPE_V, PIPE_S, sum);"
    )
    loop = next(op for op in in_kernel(body).body.ops if isinstance(op, For))
    assert [value.name for value in loop.results] == ["sum"]
    branch = next(op for op in loop.body.ops if isinstance(op, If))
    assert branch.results == ()
    assert branch.orelse is None


def test_tile_can_get_its_address_in_a_loop() -> None:
    """Each round gives it one before it is used, so nothing is carried."""
    kernel = in_kernel(
        "Tile<TileType::Vec, float, 8, 8> t;\n"
        "for (int i = 0; i < n; ++i) { TASSIGN(t, i % 2 * 256); TABS(t, t); }\n"
        "TASSIGN(t, 0); TABS(t, t);\n"
    )
    loop = next(op for op in kernel.body.ops if isinstance(op, For))
    assert loop.carried == ()
    assert [op.name for op in walk(loop.body) if isinstance(op, TileOp)] == ["pto.tabs"]


def test_blanks_in_front_of_template_arguments_do_not_matter() -> None:
    text = "using T = Tile%s<TileType::Vec, float, 8, 8>; T t; TASSIGN(t, 0); if (n < 3 && n > (2)) { TABS(t, t); }"
    blank, plain = (dump(in_kernel(text % between)) for between in (" ", ""))
    assert blank == plain


def test_set_and_wait_of_the_headers_are_two_flags_of_one_statement() -> None:
    """An id that is not given is 0."""
    kernel = in_kernel("PtoSetWaitFlag<PIPE_V, PIPE_S>(); PtoSetWaitFlag<PIPE_MTE2, PIPE_V>((event_t) n, EVENT_ID3);")
    flags = [(type(op).__name__, str(op.pair), str(op.event)) for op in kernel.body.ops if isinstance(op, Flag)]
    assert flags == [
        ("SetFlag", "V->S", "0"),
        ("WaitFlag", "V->S", "0"),
        ("SetFlag", "MTE2->V", "n"),
        ("WaitFlag", "MTE2->V", "3"),
    ]
    assert len(kernel.body.statements) == 2
