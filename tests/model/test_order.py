"""Mobile units, what they may not cross, and the kernel in another order."""

import pytest

from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import If, Kernel, Scalar, Section, TileOp, walk
from syncopt.model.order import BODY, BlockHeads
from syncopt.model.planner import Planner
from tests.check.kernels import setting, vector_kernel


def planner_of(body: str) -> Planner:
    return Planner(vector_kernel(body), setting(), load_machine("910b2"))


def names(kernel: Kernel) -> list[str]:
    """Tile ops in order, with the tile that each is about."""
    ops = [op for op in walk(kernel.body) if isinstance(op, TileOp)]
    return [f"{op.name.removeprefix('pto.t')} {(op.ins if op.name == 'pto.tstore' else op.outs)[0]}" for op in ops]


def block_of(body: str) -> BlockHeads:
    (block,) = planner_of(body).mobility.blocks
    return block


def test_loads_and_stores_are_units_and_vector_ops_are_anchored():
    block = block_of("load t0\nadd t1 t0\nstore t1")
    load, add, store = block.heads
    assert block.units == (load, store)
    assert block.anchored == (add,)


def test_a_unit_never_crosses_what_it_conflicts_with():
    """load t0 feeds the add, the add feeds the store; x and y do not alias, so load and store may change places."""
    block = block_of("load t0\nadd t1 t0\nstore t1")
    load, add, store = block.heads
    assert block.before == {(load, add), (add, store)}


def test_one_pointer_is_one_place():
    """A store to x and a load of x keep their order although they touch different tiles."""
    block = block_of("store t1 x\nload t0 x")
    assert block.before == {block.heads}


def test_a_guarded_load_is_a_unit_and_a_guarded_add_is_not():
    body = """
scf.if %flag {
load t0
}
scf.if %flag {
add t1 t1
}
"""
    kernel = vector_kernel(body)
    guarded, _ = (op for op in walk(kernel.body) if isinstance(op, If))
    (block,) = Planner(kernel, setting(), load_machine("910b2")).mobility.blocks
    assert block.units == (guarded.uid,)


def test_an_op_with_a_branch_that_no_trace_reached_stays():
    """The load may not cross an if whose else branch, never taken, works on its tile."""
    body = """
%never = arith.cmpi slt, %c1, %c0 : index
scf.if %never {
add t1 t0
} else {
add t1 t1
}
load t0
"""
    block = block_of(body)
    branch, load = block.heads
    assert (branch, load) in block.before


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # The second load moves up to the first.
        ("load t0\nadd t1 t0\nload t2\nadd t3 t2", ["load %t0", "load %t2", "add %t1", "add %t3"]),
        # It writes what the first add reads, so it stays behind it.
        ("load t0\nadd t1 t0\nload t0\nadd t2 t0", ["load %t0", "add %t1", "load %t0", "add %t2"]),
    ],
)
def test_earliest_order(body: str, expected: list[str]):
    planner = planner_of(body)
    assert names(planner.ordered(planner.mobility.earliest())) == expected


def test_pure_ops_move_up_with_the_load_that_needs_them():
    body = """
add t1 t1
%at = arith.addi %c1, %c1 : index
%part = pto.partition_view %xv, offsets = [%at, %c0], sizes = [%c64, %c64] : !pto.tensor_view<?x?xf32> -> \
!pto.partition_tensor_view<64x64xf32>
pto.tload ins(%part : !pto.partition_tensor_view<64x64xf32>) outs(%t0 : !pto.tile_buf<vec, 64x64xf32>)
"""
    planner = planner_of(body)
    (block,) = planner.mobility.blocks
    add, load = block.heads
    kernel = planner.ordered({block.key: (load, add)})
    section = next(op for op in kernel.body.ops if op.uid == block.key[0])
    assert isinstance(section, Section)
    kinds = [type(op).__name__ for op in section.body.ops]
    assert kinds == ["Scalar", "PartitionView", "TileOp", "TileOp"]
    assert names(kernel) == ["load %t0", "add %t1"]


def test_pure_ops_stay_where_a_unit_moves_down():
    body = "load t0\n%at = arith.addi %c1, %c1 : index\nadd t1 t1"
    planner = planner_of(body)
    (block,) = planner.mobility.blocks
    load, add = block.heads
    kernel = planner.ordered({block.key: (add, load)})
    section = next(op for op in kernel.body.ops if op.uid == block.key[0])
    assert isinstance(section, Section)
    assert isinstance(section.body.ops[0], Scalar)


def test_the_order_as_written_is_the_kernel_itself():
    planner = planner_of("load t0\nadd t1 t0\nstore t1")
    assert planner.ordered(planner.mobility.as_written()) is planner.kernel
    assert BODY not in planner.mobility.as_written()


def test_a_moving_part_of_a_tile_counts_as_the_whole_tile():
    """Row 2 i of t0 is read; the traces reach small i only, and still no load of t0 may cross."""
    view = "!pto.tile_buf<vec, 1x64xf32>"
    body = f"""
scf.for %i = %c0 to %n step %c1 {{
%row = pto.subview %t0[%i, %c0] sizes [1, 64] : !pto.tile_buf<vec, 64x64xf32> -> {view}
pto.tadds ins(%row, %f : {view}, f32) outs(%row : {view})
%last = pto.subview %t0[%c2, %c0] sizes [1, 64] : !pto.tile_buf<vec, 64x64xf32> -> {view}
pto.tstore ins(%last : {view}) outs(%yp : !pto.partition_tensor_view<64x64xf32>)
}}
"""
    kernel = vector_kernel(f"%f = arith.constant 1.0 : f32\n{body}")
    (block,) = Planner(kernel, setting(n=1), load_machine("910b2")).mobility.blocks
    assert block.before == {block.heads}
