"""Kernels without their flags, and ops added at sites."""

from syncopt.ir.kernel import NO_SPAN, Barrier, Flag, If, Scalar, Section, TileOp, Yield, walk
from syncopt.ir.pipes import Pipe
from syncopt.model.rewrite import Insertions, Side, Site, insert, strip_flags
from tests.check.kernels import vector_kernel


def test_flags_and_barriers_go():
    kernel = strip_flags(vector_kernel("load t0\nset MTE2 V 0\nwait MTE2 V 0\nadd t1 t0\nbarrier V\nbarrier ALL"))
    assert not [op for op in walk(kernel.body) if isinstance(op, Flag | Barrier)]
    assert [op.name for op in walk(kernel.body) if isinstance(op, TileOp)] == ["pto.tload", "pto.tadd"]


def test_an_if_that_held_only_flags_goes_with_its_condition():
    body = "%first = arith.cmpi eq, %n, %c0 : index\nscf.if %first {\nset MTE2 V 0\n} else {\nset MTE2 V 1\n}\nload t0"
    kernel = strip_flags(vector_kernel(body))
    assert not [op for op in walk(kernel.body) if isinstance(op, If)]
    assert "arith.cmpi" not in [op.name for op in walk(kernel.body) if isinstance(op, Scalar)]


def test_an_if_that_holds_an_op_stays_with_its_condition():
    body = "%first = arith.cmpi eq, %n, %c0 : index\nscf.if %first {\nset MTE2 V 0\nload t0\n}"
    kernel = strip_flags(vector_kernel(body))
    (branch,) = (op for op in walk(kernel.body) if isinstance(op, If))
    assert [type(op) for op in branch.then.ops if not isinstance(op, Yield)] == [TileOp]
    assert "arith.cmpi" in [op.name for op in walk(kernel.body) if isinstance(op, Scalar)]


def test_what_nothing_used_before_stays():
    """Dead scalars of the input are not the flags' fault."""
    kernel = strip_flags(vector_kernel("%dead = arith.addi %n, %m : index\nset MTE2 V 0"))
    assert "arith.addi" in [op.name for op in walk(kernel.body) if isinstance(op, Scalar)]


def test_a_kernel_without_flags_is_itself():
    kernel = vector_kernel("load t0")
    assert strip_flags(kernel) is kernel


def test_insertions_stand_around_ops_and_at_the_edges_of_regions():
    kernel = vector_kernel("load t0")
    section = next(op for op in kernel.body.ops if isinstance(op, Section))
    (load,) = section.body.ops
    add = Insertions()
    sites = (
        Site(section.uid, Side.END),
        Site(load.uid, Side.AFTER),
        Site(load.uid, Side.BEFORE),
        Site(section.uid, Side.START),
    )
    for number, site in enumerate(sites):
        add.add(site, Barrier(-1 - number, NO_SPAN, Pipe.V))
    changed = next(op for op in insert(kernel, add).body.ops if isinstance(op, Section))
    assert [op.uid for op in changed.body.ops] == [-4, -3, load.uid, -2, -1]
