"""Global memory: five entries of shape and stride, layouts, pointers."""

import pytest

from syncopt.ir.source import InputError
from tests.emit.cpp.texts import body_of, cpp_of

TILE = "!pto.tile_buf<vec, 8x16xf32>"
COLUMN = "!pto.tile_buf<vec, 8x1xf32, blayout=col_major>"
CONSTANTS = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 8, 16, 128))


def view(shape: str, strides: str, layout: str = "", tile: str = TILE, pointer: str = "%p") -> list[str]:
    """The statements of a view over a pointer that is loaded into a tile."""
    rank = "x".join(["?"] * len(shape.split(",")))
    type_ = f"!pto.tensor_view<{rank}xf32>"
    lines = f"""{CONSTANTS}
    %t = pto.alloc_tile : {tile}
    %v = pto.make_tensor_view {pointer}, shape = [{shape}], strides = [{strides}] {layout} : {type_}
    pto.tload ins(%v : {type_}) outs(%t : {tile})"""
    return [line for line in body_of(lines) if line.startswith(("pto::", "GlobalTensor"))]


@pytest.mark.parametrize(
    ("shape", "strides", "expected_shape", "expected_stride"),
    [
        ("%c8, %c16", "%c16, %c1", "Shape<1, 1, 1, 8, 16>()", "Stride<128, 128, 128, 16, 1>()"),
        ("%c8, %c16", "%n, %c1", "Shape<1, 1, 1, 8, 16>()", "Stride<-1, -1, -1, -1, 1>(8 * n, 8 * n, 8 * n, n)"),
        ("%n, %c16", "%c16, %c1", "Shape<1, 1, 1, -1, 16>(n)", "Stride<-1, -1, -1, 16, 1>(n * 16, n * 16, n * 16)"),
        ("%c16", "%c1", "Shape<1, 1, 1, 1, 16>()", "Stride<16, 16, 16, 16, 1>()"),
        ("%n", "%c1", "Shape<1, 1, 1, 1, -1>(n)", "Stride<-1, -1, -1, -1, 1>(n, n, n, n)"),
        (
            "%n, %c1, %c8, %c1, %c16",
            "%c128, %c128, %c16, %c16, %c1",
            "Shape<-1, 1, 8, 1, 16>(n)",
            "Stride<128, 128, 16, 16, 1>()",
        ),
    ],
)
def test_entries_are_static_where_the_text_says_them(
    shape: str, strides: str, expected_shape: str, expected_stride: str
) -> None:
    [shape_line, stride_line, _] = view(shape, strides)
    assert shape_line.endswith(f"v_shape = pto::{expected_shape};")
    assert stride_line.endswith(f"v_stride = pto::{expected_stride};")


def layout_of(shape: str, strides: str, layout: str = "", tile: str = TILE) -> str:
    type_ = "!pto.tensor_view<?x?xf32>"
    text = cpp_of(f"""func.func @f(%p: !pto.ptr<f32>, %n: index) {{
    {CONSTANTS}
    %t = pto.alloc_tile : {tile}
    %v = pto.make_tensor_view %p, shape = [{shape}], strides = [{strides}] {layout} : {type_}
    pto.tload ins(%v : {type_}) outs(%t : {tile})
    }}\n""")
    return text.split("pto::Layout::")[1][:2]


@pytest.mark.parametrize(
    ("shape", "strides", "layout", "tile", "expected"),
    [
        ("%c8, %c16", "%n, %c1", "", TILE, "ND"),
        ("%c8, %c16", "%c1, %n", "", TILE, "DN"),
        ("%c8, %c16", "%c1, %n", "{layout = #pto.layout<dn>}", TILE, "DN"),
        ("%c8, %c16", "%n, %n", "{layout = #pto.layout<nz>}", TILE, "NZ"),
        # a column of elements that follow each other is both
        ("%c8, %c1", "%c1, %c1", "", TILE, "ND"),
        ("%c8, %c1", "%c1, %c1", "", COLUMN, "DN"),
        ("%c8, %c1", "%n, %c1", "", COLUMN, "ND"),
    ],
)
def test_layout_follows_from_the_contiguous_dimension(
    shape: str, strides: str, layout: str, tile: str, expected: str
) -> None:
    assert layout_of(shape, strides, layout, tile) == expected


def partition(offsets: str, strides: str = "%n, %c1") -> str:
    """The pointer of a box of a view."""
    whole, box = "!pto.tensor_view<?x?xf32>", "!pto.tensor_view<8x16xf32>"
    lines = f"""{CONSTANTS}
    %t = pto.alloc_tile : {TILE}
    %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [{strides}] : {whole}
    %w = pto.partition_view %v, offsets = [{offsets}], sizes = [%c8, %c16] : {whole} -> {box}
    pto.tload ins(%w : {box}) outs(%t : {TILE})"""
    [line] = [line for line in body_of(lines) if line.startswith("GlobalTensor")]
    return line.removeprefix("GlobalTensor w = GlobalTensor(").removesuffix(", w_shape, w_stride);")


@pytest.mark.parametrize(
    ("offsets", "strides", "expected"),
    [
        ("%c0, %c0", "%n, %c1", "p"),
        ("%n, %c0", "%c16, %c1", "p + (n * 16)"),
        ("%c0, %n", "%c16, %c1", "p + n"),
        ("%c8, %c16", "%c128, %c1", "p + 1040"),
        ("%c8, %n", "%n, %c1", "p + (8 * n + n)"),
    ],
)
def test_offset_is_in_elements(offsets: str, strides: str, expected: str) -> None:
    assert partition(offsets, strides) == expected


def test_narrow_numbers_are_widened_before_they_are_multiplied() -> None:
    lines = f"""{CONSTANTS}
    %t = pto.alloc_tile : {TILE}
    %q = pto.addptr %p, %i : !pto.ptr<f32> -> !pto.ptr<f32>
    %v = pto.make_tensor_view %q, shape = [%c8, %c16], strides = [%i, %c1] : !pto.tensor_view<8x16xf32>
    pto.tload ins(%v : !pto.tensor_view<8x16xf32>) outs(%t : {TILE})"""
    found = body_of(lines)
    assert "__gm__ float* q = p + ((int64_t) i);" in found
    assert any(line.endswith("(8 * (int64_t) i, 8 * (int64_t) i, 8 * (int64_t) i, (int64_t) i);") for line in found)


def test_view_that_no_op_uses_is_not_written() -> None:
    lines = f"""{CONSTANTS}
    %v = pto.make_tensor_view %p, shape = [%n], strides = [%c1] : !pto.tensor_view<?xf32>"""
    assert not [line for line in body_of(lines) if "GlobalTensor" in line]


@pytest.mark.parametrize(
    ("shape", "strides", "message"),
    [
        ("%c8, %c16", "%n, %n", "no C++ for %v: no stride of its last two is the constant 1"),
        (
            "%c1, %c1, %c1, %c1, %c8, %c16",
            "%n, %n, %n, %n, %n, %c1",
            "no C++ for %v: a view of 6 dimensions",
        ),
    ],
)
def test_view_without_a_form_is_refused(shape: str, strides: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        view(shape, strides)
    assert caught.value.message == message
    assert caught.value.span is not None


def test_view_of_other_elements_than_its_pointer_is_refused() -> None:
    lines = f"""{CONSTANTS}
    %v = pto.make_tensor_view %p, shape = [%n], strides = [%c1] : !pto.tensor_view<?xf16>"""
    with pytest.raises(InputError, match=r"no C\+\+ for %v: a view with other elements than its pointer's"):
        body_of(lines)
