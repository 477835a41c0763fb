"""Tile ops on the operands that their arguments give them: what does not fit is refused."""

import pytest

from syncopt.frontend import parse_module
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Setting, Tracer

TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=32, cols=64, v_row=?, v_col=64>"
VIEW = "!pto.partition_tensor_view<?x64xf32>"
KERNEL = f"""\
func.func @f(%x: !pto.ptr<f32>, %rows: index, %valid: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %a0 = arith.constant 0 : i64
  %t = pto.alloc_tile addr = %a0 valid_row = %valid : {TILE}
  %v = pto.make_tensor_view %x, shape = [%rows, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%rows, %c64] : !pto.tensor_view<?x?xf32> -> {VIEW}
  OP
  return
}}
"""
LOAD = f"pto.tload ins(%p : {VIEW}) outs(%t : {TILE})"
STORE = f"pto.tstore ins(%t : {TILE}) outs(%p : {VIEW})"
ABS = f"pto.tabs ins(%t : {TILE}) outs(%t : {TILE})"


def run(op: str, rows: int, valid: int) -> None:
    kernel = parse_module(Source("f.pto", KERNEL.replace("OP", op).encode())).kernel()
    list(Tracer(kernel, Setting({"rows": rows, "valid": valid}, 0, 1)))


@pytest.mark.parametrize("op", [LOAD, STORE, ABS])
def test_all_of_a_tile(op: str) -> None:
    run(op, 32, 32)


@pytest.mark.parametrize("op", [LOAD, STORE, ABS])
def test_more_valid_rows_than_a_tile_has(op: str) -> None:
    with pytest.raises(InputError) as error:
        run(op, 32, 33)
    first, *_, last = str(error.value).splitlines()
    assert first == "f.pto:9:3: error: 33 x 64 elements of %t are valid, a tile of 32 x 64"
    assert last == "   help: choose arguments for which it fits"


@pytest.mark.parametrize(("op", "name"), [(LOAD, "tload"), (STORE, "tstore")])
def test_view_larger_than_its_tile(op: str, name: str) -> None:
    """33 rows of 64 elements into 32 of them."""
    with pytest.raises(InputError) as error:
        run(op, 33, 32)
    first = str(error.value).splitlines()[0]
    assert first == f"f.pto:9:3: error: pto.{name} moves 33 x 64 elements, its tile has 32 x 64"


def test_tile_that_no_op_uses_is_not_asked() -> None:
    """Allocations stand outside the branches that guard them."""
    run("", 32, 4096)
