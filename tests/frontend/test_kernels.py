"""Texts with the trees they stand for: `kernels/*.pto` beside `kernels/*.expected`."""

from pathlib import Path

import pytest

from syncopt.frontend import parse_module, read_module
from syncopt.ir.kernel import Block, Kernel, SubView, TileOp, regions, walk
from syncopt.ir.source import InputError, Source
from tests.frontend.dump import dump

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.pto"))


def kernel_of(text: str | bytes, name: str | None = None) -> Kernel:
    data = text.encode() if isinstance(text, str) else text
    return parse_module(Source("k.pto", data)).kernel(name)


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernel_is_read_as_expected(path: Path) -> None:
    assert dump(read_module(path).kernel()) == path.with_suffix(".expected").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_line_ends_and_text_before_do_not_matter(path: Path) -> None:
    data = path.read_bytes()
    expected = path.with_suffix(".expected").read_text(encoding="utf-8")
    assert dump(kernel_of(data.replace(b"\n", b"\r\n"))) == expected
    assert dump(kernel_of("// vor allem: größer, 非\n".encode() + data)) == expected


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_spans_nest_and_follow_each_other(path: Path) -> None:
    kernel = read_module(path).kernel()
    assert [op.uid for op in walk(kernel.body)] == list(range(len(list(walk(kernel.body)))))
    assert kernel.source.data[kernel.span.start :].startswith(b"func.func")
    check_block(kernel, kernel.body)


def check_block(kernel: Kernel, block: Block) -> None:
    data = kernel.source.data
    assert data[block.span.start - 1 : block.span.start] == b"{"
    assert data[block.span.end : block.span.end + 1] == b"}"
    at = block.span.start
    for op in block.ops:
        assert at <= op.span.start < op.span.end <= block.span.end
        at = op.span.start
        for region in regions(op):
            assert at < region.span.start <= region.span.end < op.span.end
            check_block(kernel, region)
            at = region.span.end
        at = op.span.end


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


def test_op_text_is_found_by_its_span() -> None:
    kernel = kernel_of(
        "func.func @k(%i: index) { // ä\n"
        "  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32> // ö\n"
        "  pto.tadd ins(%t, %t : !u, !u) outs(%t : !u) // the next op follows\n"
        "  %u = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>\n"
        "  return\n"
        "}\n"
    )
    spans = [kernel.source.data[op.span.start : op.span.end].decode() for op in kernel.body.ops]
    assert spans == [
        "%t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>",
        "pto.tadd ins(%t, %t : !u, !u) outs(%t : !u)",
        "%u = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>",
        "return",
    ]


def test_old_types_that_tree_sitter_cannot_read_are_operand_text() -> None:
    kernel = kernel_of(
        "func.func @k() {\n"
        "  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>\n"
        "  pto.tadd ins(%t, %t : <loc=vec, dtype=f32, rows=8, v_row=8>, <loc=vec, rows=8>) outs(%t : <loc=vec>)\n"
        "  return\n"
        "}\n"
    )
    tile_op = kernel.body.ops[1]
    assert isinstance(tile_op, TileOp)
    assert [value.name for value in (*tile_op.ins, *tile_op.outs)] == ["%t", "%t", "%t"]


def test_same_value_is_the_same_object() -> None:
    kernel = kernel_of(
        "func.func @k(%i: index) {\n"
        "  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>\n"
        "  %s = pto.subview %t[%i, %i] sizes [4, 8] : !t -> !pto.tile_buf<vec, 4x8xf32>\n"
        "  return\n"
        "}\n".replace("!t ->", "!pto.tile_buf<vec, 8x8xf32> ->")
    )
    part = kernel.body.ops[1]
    assert isinstance(part, SubView)
    assert part.offsets[0] is kernel.arguments[0]
    assert part.offsets[1] is kernel.arguments[0]
