"""Changed trees that no C++ text can follow."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from syncopt.emit import render
from syncopt.frontend import parse_module
from syncopt.ir.kernel import NO_SPAN, Barrier, Block, Flag, For, If, Op, Return, Scalar, Value, walk
from syncopt.ir.source import Source
from syncopt.ir.types import ScalarType
from syncopt.model.rewrite import strip_flags
from tests.emit.edit.cpp_bodies import BASE, HEAD, kernel_of, refused
from tests.emit.edit.trees import Ops, change, without


def test_added_ops_without_a_spelling_are_refused() -> None:
    cast = Scalar(-1, NO_SPAN, "arith.index_cast", (), (), None)
    number = Scalar(-1, NO_SPAN, "arith.constant", (), (Value("%x", ScalarType("f32")),), 1)
    for op in (cast, number, Return(-1, NO_SPAN)):
        assert "no text for an added" in refused(" return; ", lambda ops, op=op: (op, *ops))


def test_other_changes_of_an_op_are_refused() -> None:
    body = "\n  const int x = 1;\n  for (int i = 0; i < n; ++i) {}\n  if (c) {}\n  return;\n"

    def changed(kind: type[Op], **fields: object) -> Callable[[Ops], Ops]:
        return lambda ops: tuple(replace(op, **fields) if isinstance(op, kind) else op for op in ops)

    assert "attribute" in refused(body, changed(Scalar, attribute=2))
    assert "step" in refused(body, changed(For, step=Value("s", ScalarType("i32"))))
    assert "other regions" in refused(body, changed(If, orelse=Block((), NO_SPAN)))
    assert "became a Return" in refused(
        body, lambda ops: tuple(Return(op.uid, op.span) if isinstance(op, Scalar) else op for op in ops)
    )


def test_half_of_a_statement_cannot_stay() -> None:
    text = (
        f"static void help() {{ set_flag(PIPE_V, PIPE_S, 0); wait_flag(PIPE_V, PIPE_S, 0); }}\n{HEAD}\n  help();\n}}\n"
    )
    kernel = parse_module(Source("k.cpp", text.encode())).kernel("k")
    half = change(kernel, lambda ops: ops[1:])
    with pytest.raises(ValueError, match="without the rest of its statement"):
        render(kernel, half)
    assert render(kernel, change(kernel, without(Flag))).decode() == text.replace("  help();\n", "")


def test_op_in_another_block_or_twice_is_refused() -> None:
    body = "\n  if (c) { pipe_barrier(PIPE_V); }\n  return;\n"
    assert "twice" in refused(body, lambda ops: (*ops, *ops))
    inner = next(op for op in walk(kernel_of(f"{HEAD}{body}}}\n").body) if isinstance(op, Barrier))
    assert "moved to another one" in refused(body, lambda ops: (inner, *ops) if len(ops) > 1 else ())


def test_tree_that_was_changed_already_is_no_original() -> None:
    kernel = kernel_of(f"{HEAD}{BASE}}}\n")
    bare = strip_flags(kernel)
    with pytest.raises(ValueError, match="not as it was read"):
        render(bare, change(bare, lambda ops: ops))


def test_kernel_of_another_file_is_refused() -> None:
    with pytest.raises(ValueError, match="another file"):
        render(kernel_of(f"{HEAD}}}"), kernel_of(f"{HEAD}}}"))
