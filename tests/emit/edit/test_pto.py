"""Text of changed kernels: what stays, what moves, what is new."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from syncopt.emit import render
from syncopt.ir.kernel import (
    NO_SPAN,
    AllocMultiTile,
    AllocTile,
    Barrier,
    Flag,
    For,
    If,
    Op,
    Return,
    Scalar,
    Section,
    Value,
)
from syncopt.ir.types import ScalarType
from tests.emit.edit.pto_bodies import body_after, rendered
from tests.emit.edit.trees import Ops, barrier_all, change, in_function, kernel_of, set_flag, shapes, wait_flag, without

BASE = """
    // größer als nötig: 16 × 16
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf16>  // first

    %b = pto.alloc_tile
        : !pto.tile_buf<vec, 16x16xf16>
    // loop
    %c0 = arith.constant 0 : index   %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {  // steps
      // wait
      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]  // old
      pto.tadd ins(%a, %a : !pto.tile_buf<vec, 16x16xf16>, !pto.tile_buf<vec, 16x16xf16>)
        outs(%b : !pto.tile_buf<vec, 16x16xf16>)
      scf.if %run { pto.barrier <PIPE_V> } else { }
      // end of the body
    }
    return
  """


def backwards(ops: Ops) -> Ops:
    """The ops in reverse, the end of the block kept in its place."""
    return (*reversed(ops[:-1]), ops[-1]) if isinstance(ops[-1], Return) else tuple(reversed(ops))


def before_first(*added: Op) -> Callable[[Ops], Ops]:
    """Puts ops in front of the function's body."""
    return lambda ops: (*added, *ops) if ops and isinstance(ops[-1], Return) else ops


def everything(ops: Ops) -> Ops:
    return ops


@pytest.mark.parametrize(
    "text",
    [
        in_function(BASE),
        in_function(BASE).replace("\n", "\r\n"),
        in_function(BASE).replace("      ", "\t"),
        in_function(" return "),
        in_function("return"),
        in_function("// one\n// two\n return // three\n// four\n"),
        in_function("\n\n\n  pto.barrier <PIPE_V> return // last\n\n"),
        "// head\n\n" + in_function(BASE) + "// no line end at the end",
        in_function(BASE).replace("module {\n", "").removesuffix("}\n"),
    ],
)
def test_unchanged_tree_gives_the_same_bytes(text: str) -> None:
    kernel = kernel_of(text)
    assert render(kernel, kernel) == text.encode()
    assert rendered(text, everything) == text


def test_other_functions_stay() -> None:
    text = "func.func private @g(index)\n" + in_function("\n  pto.barrier <PIPE_V>\n  return\n") + "\n// end\n"
    assert rendered(text, without(Barrier)) == text.replace("  pto.barrier <PIPE_V>\n", "")


def test_removed_op_takes_its_line_and_leaves_the_comments_above() -> None:
    assert body_after(BASE, without(Flag)) == BASE.replace(
        "      pto.wait_flag[<PIPE_MTE3>, <PIPE_V>, <EVENT_ID0>]  // old\n", ""
    )


def test_comment_above_a_removed_op_travels_with_the_next_one() -> None:
    body = (
        "\n  // phase 0\n  pto.barrier <PIPE_V>\n  %x = arith.constant 0 : i64\n  // y\n  %y = arith.constant 1 : i64\n"
    )
    assert (
        body_after(body, lambda ops: (ops[2], ops[1]))
        == "\n  // y\n  %y = arith.constant 1 : i64\n  // phase 0\n  %x = arith.constant 0 : i64\n"
    )


def test_comment_above_the_last_op_stays_when_it_is_removed() -> None:
    body = "\n  %x = arith.constant 0 : i64\n\n  // all done\n  pto.barrier <PIPE_V>\n"
    assert body_after(body, without(Barrier)) == "\n  %x = arith.constant 0 : i64\n\n  // all done\n"


def test_removal_leaves_no_double_blank_line() -> None:
    body = "\n  %x = arith.constant 0 : i64\n\n  pto.barrier <PIPE_V>\n\n  %y = arith.constant 1 : i64\n"
    assert body_after(body, without(Barrier)) == body.replace("\n  pto.barrier <PIPE_V>\n", "")


def test_blank_lines_above_the_brace_go_with_a_removed_op() -> None:
    body = "\n  %x = arith.constant 0 : i64\n\n  pto.barrier <PIPE_V>\n"
    assert body_after(body, without(Barrier)) == "\n  %x = arith.constant 0 : i64\n"


def test_comments_travel_with_moved_ops() -> None:
    body = """ // head
    // one
    %x = arith.constant 1 : i64  // one too

    // two
    %y = arith.constant 2 : i64
    // tail
  """
    assert (
        body_after(body, backwards)
        == """ // head

    // two
    %y = arith.constant 2 : i64
    // one
    %x = arith.constant 1 : i64  // one too
    // tail
  """
    )


def test_ops_of_one_line_stay_valid_when_they_part() -> None:
    body = "\n    %x = arith.constant 1 : i64 %y = arith.constant 2 : i64 // both\n    %z = arith.constant 3 : i64\n  "
    assert (
        body_after(body, backwards)
        == """
    %z = arith.constant 3 : i64
    %y = arith.constant 2 : i64 // both
    %x = arith.constant 1 : i64
  """
    )
    assert (
        body_after(body, lambda ops: (ops[0], ops[2]))
        == """
    %x = arith.constant 1 : i64
    %z = arith.constant 3 : i64
  """
    )


def test_ops_without_a_blank_between_them_get_one() -> None:
    body = "pto.barrier <PIPE_V>pto.barrier <PIPE_M>"
    assert body_after(body, backwards) == " pto.barrier <PIPE_M> pto.barrier <PIPE_V>"


def test_added_ops_have_lines_of_their_own() -> None:
    body = "\n      // first\n      %x = arith.constant 0 : index\n      return\n    "
    added = (set_flag(3), wait_flag(7), barrier_all())
    assert (
        body_after(body, before_first(*added))
        == """
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID3>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID7>]
      pto.barrier #pto.pipe<PIPE_ALL>
      // first
      %x = arith.constant 0 : index
      return
    """
    )


def test_added_ops_have_the_line_ends_of_the_file() -> None:
    text = in_function("\n    return\n  ").replace("\n", "\r\n")
    expected = in_function("\n    pto.barrier #pto.pipe<PIPE_ALL>\n    return\n  ").replace("\n", "\r\n")
    assert rendered(text, before_first(barrier_all())) == expected


@pytest.mark.parametrize("empty", ["{}", "{ }", "{\n    }", "{  // nothing\n    }"])
def test_empty_block_gets_ops(empty: str) -> None:
    kernel_text = in_function(f"\n    scf.if %run {empty}\n    return\n  ")
    output = rendered(kernel_text, lambda ops: ops or (barrier_all(),))
    comment = "  // nothing" if "//" in empty else ""
    body = f"{{{comment}\n      pto.barrier #pto.pipe<PIPE_ALL>\n    }}"
    assert output == kernel_text.replace(empty, body)


def test_op_before_and_behind_a_one_line_block() -> None:
    body = "\n    scf.if %run { pto.barrier <PIPE_V> }\n    return\n  "
    assert (
        body_after(body, lambda ops: (set_flag(), *ops, wait_flag()) if isinstance(ops[0], Barrier) else ops)
        == """
    scf.if %run {
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.barrier <PIPE_V>
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    }
    return
  """
    )


def test_one_line_block_loses_its_op() -> None:
    body = "\n    scf.if %run { pto.barrier <PIPE_V> }\n    return\n  "
    assert body_after(body, without(Barrier)) == "\n    scf.if %run { }\n    return\n  "


def test_whole_function_on_one_line() -> None:
    assert body_after(" return ", before_first(barrier_all())) == (
        "\n    pto.barrier #pto.pipe<PIPE_ALL>\n    return\n  "
    )


def test_moved_op_takes_its_changed_inside_along() -> None:
    body = """
    // branch
    scf.if %run {
      pto.barrier <PIPE_V>
    } else {
      pto.barrier <PIPE_M>  // m
    }
    %x = arith.constant 0 : i64
  """
    assert (
        body_after(
            body,
            lambda ops: (set_flag(), *ops) if isinstance(ops[0], Barrier) else tuple(reversed(ops)),
        )
        == """
    %x = arith.constant 0 : i64
    // branch
    scf.if %run {
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.barrier <PIPE_V>
    } else {
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.barrier <PIPE_M>  // m
    }
  """
    )


def test_nested_blocks_change() -> None:
    body = """
    pto.section.vector {
      scf.for %i = %n to %n step %n {
        pto.barrier <PIPE_V>
      }
    }
    return
  """

    def add(ops: Ops) -> Ops:
        return (*ops, barrier_all()) if isinstance(ops[0], For) else (wait_flag(), *ops)

    assert (
        body_after(body, add)
        == """
    pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    pto.section.vector {
      scf.for %i = %n to %n step %n {
        pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
        pto.barrier <PIPE_V>
      }
      pto.barrier #pto.pipe<PIPE_ALL>
    }
    return
  """
    )


def test_added_branch_on_no_trip() -> None:
    kernel = kernel_of(in_function("\n    %c = arith.constant 0 : index\n    return\n  "))
    zero = kernel.body.ops[0]
    assert isinstance(zero, Scalar)
    one = Scalar(-8, NO_SPAN, "arith.constant", (), (Value("%one", ScalarType("i64")),), 1)
    value = Value("%no_trip", ScalarType("i1"))
    none = Scalar(-9, NO_SPAN, "arith.cmpi", (zero.results[0], kernel.arguments[1]), (value,), "sge")
    then, orelse = (replace(kernel.body, ops=ops) for ops in ((wait_flag(), set_flag()), (barrier_all(),)))
    guards = (If(-10, NO_SPAN, value, (), then, None), If(-11, NO_SPAN, value, (), orelse, then))
    changed = change(kernel, lambda ops: (zero, one, none, *guards, *ops[1:]))
    output = render(kernel, changed).decode()
    assert shapes(kernel_of(output)) == shapes(changed)
    assert output == in_function("""
    %c = arith.constant 0 : index
    %one = arith.constant 1 : i64
    %no_trip = arith.cmpi sge, %c, %n : index
    scf.if %no_trip {
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    }
    scf.if %no_trip {
      pto.barrier #pto.pipe<PIPE_ALL>
    } else {
      pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
      pto.set_flag[<PIPE_MTE2>, <PIPE_MTE1>, <EVENT_ID0>]
    }
    return
  """)


def test_allocation_gets_an_address() -> None:
    body = """
    %at = arith.constant 0 : i64
    %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf16>
    %b = // not pto.alloc_tile here
      pto.alloc_tile valid_row = %n
        : !pto.tile_buf<vec, 16x16xf16, valid=?x16>
    %m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x16xf16, count=2>
    return
  """

    def place(ops: Ops) -> Ops:
        at = ops[0]
        assert isinstance(at, Scalar)
        return tuple(
            replace(op, address=at.results[0]) if isinstance(op, AllocTile | AllocMultiTile) else op for op in ops
        )

    assert body_after(body, place) == (
        body.replace("%a = pto.alloc_tile", "%a = pto.alloc_tile addr = %at")
        .replace("pto.alloc_tile valid", "pto.alloc_tile addr = %at valid")
        .replace("alloc_multi_tile", "alloc_multi_tile addr = %at")
    )


def test_section_is_unchanged_by_a_change_beside_it() -> None:
    section = "    pto.section.cube {  // keep\n\n    }  // me\n"
    body = f"\n    pto.barrier <PIPE_V>\n{section}    return\n  "
    assert section in body_after(body, without(Barrier))
    assert section not in body_after(body, without(Section))
