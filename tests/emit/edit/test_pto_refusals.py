"""Changed trees that no `.pto` text can follow."""

from dataclasses import replace

import pytest

from syncopt.emit import render
from syncopt.ir.kernel import NO_SPAN, Barrier, For, If, Return, Scalar, Value, walk
from syncopt.ir.types import ScalarType
from tests.emit.edit.pto_bodies import refused
from tests.emit.edit.trees import Ops, in_function, kernel_of


def test_ops_of_other_blocks_are_refused() -> None:
    body = "\n    scf.if %run {\n      pto.barrier <PIPE_V>\n    }\n    return\n  "
    inner = next(op for op in walk(kernel_of(in_function(body)).body) if isinstance(op, Barrier))
    assert "moved to another" in refused(body, lambda ops: (inner, *ops) if isinstance(ops[-1], Return) else ops)


def test_op_that_stands_twice_is_refused() -> None:
    assert "twice" in refused("\n    pto.barrier <PIPE_V>\n    return\n  ", lambda ops: (ops[0], *ops))


def test_added_ops_without_a_text_are_refused() -> None:
    cast = Scalar(-1, NO_SPAN, "arith.index_cast", (), (), None)
    number = Scalar(-1, NO_SPAN, "arith.constant", (), (Value("%x", ScalarType("f32")),), 1)
    for op in (cast, number, Return(-1, NO_SPAN)):
        assert "no text for an added" in refused(" return ", lambda ops, op=op: (op, *ops))


def test_other_changes_of_an_op_are_refused() -> None:
    body = "\n    %x = arith.constant 1 : i64\n    scf.for %i = %n to %n step %n {}\n    scf.if %run {}\n    return\n  "

    def constant(ops: Ops) -> Ops:
        return tuple(replace(op, attribute=2) if isinstance(op, Scalar) else op for op in ops)

    def bounds(ops: Ops) -> Ops:
        return tuple(replace(op, upper=op.induction) if isinstance(op, For) else op for op in ops)

    def branches(ops: Ops) -> Ops:
        return tuple(replace(op, orelse=op.then) if isinstance(op, If) else op for op in ops)

    def kinds(ops: Ops) -> Ops:
        return tuple(Return(op.uid, op.span) if isinstance(op, Scalar) else op for op in ops)

    assert "attribute" in refused(body, constant)
    assert "upper" in refused(body, bounds)
    assert "other regions" in refused(body, branches)
    assert "became a Return" in refused(body, kinds)


def test_kernel_of_another_file_is_refused() -> None:
    with pytest.raises(ValueError, match="another file"):
        render(kernel_of(in_function(" return ")), kernel_of(in_function(" return ")))
