"""Products against numpy."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from syncopt.ir.source import InputError
from tests.execute.kernels import NZ, PLAIN, ZN, ZZ, Tile, kernel_of, run, view

Matrix = NDArray[Any]


def product(
    sizes: tuple[int, int, int],
    types: tuple[str, str] = ("f16", "f32"),
    op: str = "tmatmul",
    valid: tuple[int, int, int] | None = None,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """What stands behind %a, %b and %e (a row), and acc stored to %out; `.acc` adds to a product of the same."""
    (m, k, n), (size, sum_size) = sizes, types
    vm, vk, vn = valid or sizes
    tiles = {
        "am": Tile(size, m, k, NZ, "mat", (vm, vk)),
        "bm": Tile(size, k, n, ZN, "mat", (vk, vn)),
        "em": Tile(sum_size, 1, n, PLAIN, "mat", (1, vn)),
        "l": Tile(size, m, k, ZZ, "left", (vm, vk)),
        "r": Tile(size, k, n, ZN, "right", (vk, vn)),
        "d": Tile(sum_size, 1, n, PLAIN, "bias", (1, vn)),
        "c": Tile(sum_size, m, n, NZ, "acc", (vm, vn)),
    }
    kind = {name: f"%{name} : {tile.type}" for name, tile in tiles.items()}
    lines = [
        view("a", size, vm, vk) + view("b", size, vk, vn) + view("e", sum_size, 1, vn) + view("out", sum_size, vm, vn)
    ]
    for number, (name, tile) in enumerate(tiles.items()):
        address = 65536 * number if tile.memory == "mat" else 0
        lines.append(f"%{name}_at = arith.constant {address} : i64")
        lines.append(f"%{name} = pto.alloc_tile addr = %{name}_at : {tile.type}")
    for name, (rows, cols) in (("a", (vm, vk)), ("b", (vk, vn)), ("e", (1, vn))):
        dtype = sum_size if name == "e" else size
        lines.append(
            f"pto.tload ins(%{name}p : !pto.partition_tensor_view<{rows}x{cols}x{dtype}>) outs({kind[name + 'm']})"
        )
    moves = (("am", "l"), ("bm", "r"), ("em", "d"))
    lines += [f"pto.tmov ins({kind[source]}) outs({kind[target]})" for source, target in moves]
    plain = f"ins(%l, %r : {tiles['l'].type}, {tiles['r'].type}) outs({kind['c']})"
    with_acc = f"ins(%c, %l, %r : {tiles['c'].type}, {tiles['l'].type}, {tiles['r'].type}) outs({kind['c']})"
    with_bias = f"ins(%l, %r, %d : {tiles['l'].type}, {tiles['r'].type}, {tiles['d'].type}) outs({kind['c']})"
    first, _, suffix = op.partition(".")
    lines += [f"pto.{first} {plain}"] if suffix != "bias" else [f"pto.{op} {with_bias}"]
    lines += [f"pto.{op} {with_acc}", f"pto.{op} {plain}"] if suffix == "acc" else []
    lines.append(f"pto.tstore ins({kind['c']}) outs(%outp : !pto.partition_tensor_view<{vm}x{vn}x{sum_size}>)")
    arguments = f"%a: !pto.ptr<{size}>, %b: !pto.ptr<{size}>, %e: !pto.ptr<{sum_size}>, %out: !pto.ptr<{sum_size}>"
    done = run(kernel_of(arguments, "\n".join(lines), "cube"))
    a, b = done.before("a", vm, vk).astype(np.float64), done.before("b", vk, vn).astype(np.float64)
    return a, b, done.before("e", 1, vn), done.after("out", vm, vn)


@pytest.mark.parametrize("types", [("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("i8", "i32")])
def test_product(types: tuple[str, str]) -> None:
    a, b, _, found = product((32, 64, 48), types)
    assert found.dtype == np.dtype("f4" if types[1] == "f32" else "i4")
    assert np.array_equal(found, a @ b)


def test_product_of_the_valid_part() -> None:
    """Rows, sums and columns that are no multiple of a fractal."""
    a, b, _, found = product((32, 64, 48), valid=(17, 33, 5))
    assert np.array_equal(found, a @ b)


def test_accumulation() -> None:
    """With the accumulator among the ins, then with it among the outs only: three times the product."""
    a, b, _, found = product((16, 32, 16), op="tmatmul.acc")
    assert np.array_equal(found, 3 * (a @ b))


def test_bias_goes_to_every_row() -> None:
    a, b, bias, found = product((16, 32, 48), op="tmatmul.bias")
    assert np.array_equal(found, a @ b + bias)


@pytest.mark.parametrize("op", ["tgemv", "tgemv.acc", "tgemv.bias"])
def test_vector_times_matrix(op: str) -> None:
    """One row in a tile of 16."""
    a, b, bias, found = product((16, 64, 32), op=op, valid=(1, 64, 32))
    expected = {"tgemv": a @ b, "tgemv.acc": 3 * (a @ b), "tgemv.bias": a @ b + bias}
    assert np.array_equal(found, expected[op])


def test_types_that_the_hardware_does_not_multiply() -> None:
    with pytest.raises(InputError, match=r"pto\.tmatmul of f16 \* f16 to i32 has no meaning here"):
        product((16, 32, 16), ("f16", "i32"))
