"""Loads, stores and moves: elements keep their place, whatever the layouts are."""

import numpy as np
import pytest

from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError, Source
from tests.execute.kernels import BY_COLUMNS, NZ, ZN, ZZ, Tile, kernel_of, run, view

SHAPE = (32, 64)


def through(*tiles: Tile, back: str = "", size: str = "f16") -> Kernel:
    """%in is loaded into the first tile, goes through the others by textract at (0, 0), and back to %out."""
    lines = [view("in", size, *tiles[0].shape) + view("out", size, *tiles[-1].shape).rstrip()]
    for number, tile in enumerate(tiles):
        lines.append(f"%a{number} = arith.constant {number * 65536} : i64")
        lines.append(f"%t{number} = pto.alloc_tile addr = %a{number} : {tile.type}")
    kind = "x".join(map(str, tiles[0].shape)) + f"x{size}"
    lines.append(f"pto.tload ins(%inp : !pto.partition_tensor_view<{kind}>) outs(%t0 : {tiles[0].type})")
    for number, tile in enumerate(tiles[1:], 1):
        source = tiles[number - 1].type
        lines.append(
            f"pto.textract ins(%t{number - 1}, %c0, %c0 : {source}, index, index) outs(%t{number} : {tile.type})"
        )
    kind = "x".join(map(str, tiles[-1].shape)) + f"x{size}"
    last = f"%t{len(tiles) - 1} : {tiles[-1].type}"
    lines.append(f"pto.tstore ins({last}) outs(%outp : !pto.partition_tensor_view<{kind}>) {back}")
    section = "vector" if tiles[0].memory == "vec" else "cube"
    return kernel_of(f"%in: !pto.ptr<{size}>, %out: !pto.ptr<{size}>", "\n".join(lines), section)


@pytest.mark.parametrize("size", ["i8", "f16", "bf16", "f32"])
@pytest.mark.parametrize("layout", [NZ, ZN, ZZ])
def test_load_and_store_of_every_layout(layout: str, size: str) -> None:
    done = run(through(Tile(size, *SHAPE, layout, "mat"), size=size))
    assert np.array_equal(done.before("in", *SHAPE), done.after("out", *SHAPE))


def test_vector_tile_by_columns() -> None:
    done = run(through(Tile("f32", *SHAPE, BY_COLUMNS), size="f32"))
    assert np.array_equal(done.before("in", *SHAPE), done.after("out", *SHAPE))


def test_store_of_the_valid_part() -> None:
    """5 x 7 of 32 x 64 f16 in fractals."""
    done = run(through(Tile("f16", *SHAPE, NZ, "mat", valid=(5, 7))))
    assert np.array_equal(done.before("in", 5, 7), done.after("out", 5, 7))


def test_bytes_do_not_change_on_their_way() -> None:
    """f32 numbers come through a tile of integers of the same size as they are."""
    done = run(through(Tile("i32", *SHAPE, NZ, "mat"), size="f32"))
    assert np.array_equal(done.before("in", *SHAPE), done.after("out", *SHAPE))


def test_extract_of_a_window() -> None:
    """dst[i, j] = src[i + 16, j + 32], from Nz to the one fractal of a tile of L0A."""
    source, left = Tile("f16", *SHAPE, NZ, "mat"), Tile("f16", 16, 16, ZZ, "left")
    body = (
        f"{view('in', 'f16', *SHAPE)}{view('out', 'f16', *SHAPE)}%a = arith.constant 0 : i64\n"
        f"%s = pto.alloc_tile addr = %a : {source.type}\n%t = pto.alloc_tile addr = %a : {left.type}\n"
        f"pto.tload ins(%inp : !pto.partition_tensor_view<32x64xf16>) outs(%s : {source.type})\n"
        f"pto.textract ins(%s, %c16, %c32 : {source.type}, index, index) outs(%t : {left.type})\n"
        f"pto.tstore ins(%s : {source.type}) outs(%outp : !pto.partition_tensor_view<32x64xf16>)"
    )
    done = run(kernel_of("%in: !pto.ptr<f16>, %out: !pto.ptr<f16>", body, "cube"))
    fractal = done.execution.memories.arrays[Memory.LEFT][:512].view(np.float16).reshape(16, 16)
    assert np.array_equal(fractal, done.before("in", *SHAPE)[16:32, 32:48])


def test_extract_behind_the_edge_is_refused() -> None:
    kernel = through(Tile("f16", *SHAPE), Tile("f16", 16, 16))
    text = kernel.source.data.decode().replace("%c0, %c0 : !pto.tile_buf", "%c1, %c64 : !pto.tile_buf")
    with pytest.raises(InputError, match=r"16 x 16 elements at \(1, 64\) of one that has 32 x 64"):
        run(parse_module(Source("f.pto", text.encode())).kernel())


SUB = """\
%a0 = arith.constant 0 : i64
%a1 = arith.constant 65536 : i64
%s = pto.alloc_tile addr = %a0 : WHOLE
pto.tload ins(%inp : !pto.partition_tensor_view<32x64xf16>) outs(%s : WHOLE)
%p = pto.subview %s[%c16, %c32] sizes [16, 16] : WHOLE -> PART
%q = pto.subview %p[%c0, %c0] sizes [16, 16] : PART -> PART
pto.tstore ins(%q : PART) outs(%outp : !pto.partition_tensor_view<16x16xf16>)
"""


@pytest.mark.parametrize(("layout", "memory"), [(NZ, "mat"), ("blayout=row_major, slayout=none_box", "vec")])
def test_part_of_a_tile(layout: str, memory: str) -> None:
    """With fractals and without, and a part of a part."""
    whole, part = Tile("f16", *SHAPE, layout, memory), Tile("f16", 16, 16, layout, memory)
    body = view("in", "f16", *SHAPE) + view("out", "f16", 16, 16)
    body += SUB.replace("WHOLE", whole.type).replace("PART", part.type).rstrip()
    done = run(kernel_of("%in: !pto.ptr<f16>, %out: !pto.ptr<f16>", body, "cube" if memory == "mat" else "vector"))
    assert np.array_equal(done.before("in", *SHAPE)[16:32, 32:48], done.after("out", 16, 16))


def accumulated(store: str, size: str = "f32", move: str = "") -> Kernel:
    """The product of %x (16 x 16) with itself, then lines of the caller's."""
    mat, left = Tile("f16", 16, 16, NZ, "mat"), Tile("f16", 16, 16, ZZ, "left")
    right, acc = Tile("f16", 16, 16, ZN, "right"), Tile("f32", 16, 16, NZ, "acc")
    body = (
        f"{view('x', 'f16', 16, 16)}{view('out', size, 16, 16)}%a = arith.constant 0 : i64\n"
        + "".join(
            f"%{name} = pto.alloc_tile addr = %a : {tile.type}\n"
            for name, tile in (("m", mat), ("l", left), ("r", right), ("c", acc))
        )
        + f"pto.tload ins(%xp : !pto.partition_tensor_view<16x16xf16>) outs(%m : {mat.type})\n"
        f"pto.tmov ins(%m : {mat.type}) outs(%l : {left.type})\npto.tmov ins(%m : {mat.type}) outs(%r : {right.type})\n"
        f"pto.tmatmul ins(%l, %r : {left.type}, {right.type}) outs(%c : {acc.type})\n{move}"
        f"{store.replace('ACC', acc.type)}"
    )
    return kernel_of(f"%x: !pto.ptr<f16>, %out: !pto.ptr<{size}>", body, "cube")


STORE = "pto.tstore ins(%c : ACC) outs(%outp : !pto.partition_tensor_view<16x16xSIZE>) ATTR"


@pytest.mark.parametrize("size", ["f32", "f16", "bf16"])
def test_store_of_the_accumulator_converts(size: str) -> None:
    done = run(accumulated(STORE.replace("SIZE", size).replace("ATTR", ""), size))
    x = done.before("x", 16, 16).astype(np.float32)
    assert np.array_equal(done.after("out", 16, 16), (x @ x).astype(done.after("out").dtype))


def test_store_that_clips_and_adds() -> None:
    attributes = "{atomicType = #pto<atomic_type atomic_add>, reluPreMode = #pto<relu_pre_mode normal_relu>}"
    done = run(accumulated(STORE.replace("SIZE", "f32").replace("ATTR", attributes)))
    x = done.before("x", 16, 16).astype(np.float32)
    assert np.array_equal(done.after("out", 16, 16), done.before("out", 16, 16) + np.maximum(x @ x, 0))


def test_accumulator_into_a_window_of_a_tile() -> None:
    """acc -> mat at (16, 0) of 32 x 16, as f16; the rows before are those of %x."""
    tile = Tile("f16", 32, 16, NZ, "mat")
    move = (
        f"%b = arith.constant 8192 : i64\n%n = pto.alloc_tile addr = %b : {tile.type}\n"
        f"%h = pto.subview %n[%c0, %c0] sizes [16, 16] : {tile.type} -> {Tile('f16', 16, 16, NZ, 'mat').type}\n"
        f"pto.tload ins(%xp : !pto.partition_tensor_view<16x16xf16>) outs(%h : {Tile('f16', 16, 16, NZ, 'mat').type})\n"
        f"pto.tinsert ins(%c, %c16, %c0 : {Tile('f32', 16, 16, NZ, 'acc').type}, index, index) outs(%n : {tile.type})\n"
        f"{view('o2', 'f16', 32, 16)}"
    ).replace("%o2,", "%out,")
    store = f"pto.tstore ins(%n : {tile.type}) outs(%o2p : !pto.partition_tensor_view<32x16xf16>)"
    done = run(accumulated(store, "f16", move))
    x = done.before("x", 16, 16)
    found = done.after("out", 32, 16)
    assert np.array_equal(found[:16], x)
    assert np.array_equal(found[16:], (x.astype(np.float32) @ x.astype(np.float32)).astype(np.float16))


def test_views_of_other_ranks_and_orders() -> None:
    """A dn view of 8 x 16 with strides (1, 8) is the transpose of 16 x 8; five dimensions count as rows and columns."""
    tile = Tile("f32", 8, 16)
    body = (
        "%t0 = pto.make_tensor_view %in, shape = [%c8, %c16], strides = [%c1, %c8] {layout = #pto.layout<dn>}"
        " : !pto.tensor_view<?x?xf32>\n"
        "%p0 = pto.partition_view %t0, offsets = [%c0, %c0], sizes = [%c8, %c16]"
        " : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x16xf32>\n"
        "%t1 = pto.make_tensor_view %out, shape = [%c1, %c1, %c2, %c4, %c16], strides = [%c128, %c128, %c64, %c16, %c1]"
        " : !pto.tensor_view<?x?x?x?x?xf32>\n"
        "%p1 = pto.partition_view %t1, offsets = [%c0, %c0, %c0, %c0, %c0], sizes = [%c1, %c1, %c2, %c4, %c16]"
        " : !pto.tensor_view<?x?x?x?x?xf32> -> !pto.partition_tensor_view<1x1x2x4x16xf32>\n"
        f"%a = arith.constant 0 : i64\n%t = pto.alloc_tile addr = %a : {tile.type}\n"
        f"pto.tload ins(%p0 : !pto.partition_tensor_view<8x16xf32>) outs(%t : {tile.type})\n"
        f"pto.tstore ins(%t : {tile.type}) outs(%p1 : !pto.partition_tensor_view<1x1x2x4x16xf32>)"
    )
    done = run(kernel_of("%in: !pto.ptr<f32>, %out: !pto.ptr<f32>", body))
    assert np.array_equal(done.after("out", 8, 16), done.before("in", 16, 8).T)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (through(Tile("f16", *SHAPE), Tile("f16", 64, 64)), "64 x 64 elements at (0, 0) of one that has 32 x 64"),
        (through(Tile("f16", *SHAPE, NZ, "mat"), back="{quant = 3}"), "quant has no meaning here"),
        (
            through(Tile("f16", *SHAPE, NZ, "mat"), back="{reluPreMode = #pto<relu_pre_mode normal_relu>}"),
            "reluPreMode = normal_relu has no meaning here",
        ),
        (through(Tile("f32", *SHAPE, NZ, "mat")), "pto.tload from f16 to f32 has no meaning here"),
    ],
)
def test_move_without_meaning_is_refused(body: Kernel, message: str) -> None:
    with pytest.raises(InputError) as refused:
        run(body)
    assert message in str(refused.value)
