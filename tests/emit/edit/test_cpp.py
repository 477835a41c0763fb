"""C++ text of changed kernels: what stays, what is new."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from syncopt.emit import render
from syncopt.ir.kernel import NO_SPAN, AllocTile, Barrier, Block, Flag, For, If, Op, Scalar, Section, TileOp, Value
from syncopt.ir.source import InputError
from syncopt.ir.types import ScalarType
from tests.emit.edit.cpp_bodies import BASE, HEAD, SET, WAIT, body_after, kernel_of, rendered, stripped
from tests.emit.edit.trees import Ops, barrier_all, change, set_flag, wait_flag, without


def around(kind: type[Op], *, before: Ops = (), behind: Ops = ()) -> Callable[[Ops], Ops]:
    """Puts ops around every op of a kind."""
    return lambda ops: tuple(new for op in ops for new in ((*before, op, *behind) if isinstance(op, kind) else (op,)))


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}{BASE}}}\n",
        f"{HEAD}{BASE}}}\n".replace("\n", "\r\n"),
        f"{HEAD}{BASE}}}\n".replace("  ", "\t"),
        f"{HEAD}}}",
        f"{HEAD} return; }}",
        f"{HEAD}// one\n// two\n return; // three\n// four\n}}",
        f"{HEAD} if (c) pipe_barrier(PIPE_V); else if (n) return; }}".replace("return;", "pipe_barrier(PIPE_M);"),
        f"// head\n\nstatic void help() {{ pipe_barrier(PIPE_ALL); }}\n{HEAD}{BASE} }} // no line end at the end",
    ],
)
def test_unchanged_tree_gives_the_same_bytes(text: str) -> None:
    kernel = kernel_of(text)
    assert render(kernel, kernel) == text.encode()
    assert rendered(text, lambda ops: ops) == text


def test_removed_statement_takes_its_line_and_leaves_the_comments_above() -> None:
    assert body_after(BASE, without(Flag)) == BASE.replace(f"    {WAIT.replace('MTE2', 'MTE3')}  // old\n", "").replace(
        "    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // old\n", ""
    )


def test_branch_goes_with_its_condition_and_semicolon() -> None:
    body = "\n  bool odd = n & 1;\n  if (odd) {\n    pipe_barrier(PIPE_V);\n  };\n  return;\n"
    assert stripped(body) == "\n  return;\n"


def test_names_that_something_else_uses_stay() -> None:
    """`event` served the flags only; `odd` is used by a tile op as well, `twice` names what nothing makes any more."""
    body = (
        "\n  int odd = n & 1;\n  int event = odd + 2;\n  unsigned twice = (unsigned) event;\n"
        "  Tile<TileType::Vec, float, 8, 8> a;\n  TASSIGN(a, odd * 1024);\n"
        "  wait_flag(PIPE_V, PIPE_MTE3, event);\n  set_flag(PIPE_V, PIPE_MTE3, twice);\n  TABS(a, a);\n"
    )
    assert stripped(body) == (
        "\n  int odd = n & 1;\n  Tile<TileType::Vec, float, 8, 8> a;\n  TASSIGN(a, odd * 1024);\n  TABS(a, a);\n"
    )


def test_name_stays_for_a_statement_that_makes_nothing_of_its_own() -> None:
    """`again` is another name of what `event` is; the tile needs it, so both declarations stay."""
    body = (
        "\n  int event = n & 1;\n  int again = event;\n"
        "  Tile<TileType::Vec, float, 8, 8, BLayout::RowMajor, -1> a(again);\n"
        "  TASSIGN(a, 0);\n  wait_flag(PIPE_V, PIPE_MTE3, event);\n  TABS(a, a);\n"
    )
    assert stripped(body) == body.replace("  wait_flag(PIPE_V, PIPE_MTE3, event);\n", "")


def test_added_ops_stand_on_lines_of_their_own() -> None:
    how = around(TileOp, before=(wait_flag(),), behind=(set_flag(uid=-5), barrier_all()))
    assert body_after(BASE, how) == BASE.replace(
        "    TADD(b,\n         a, a);\n",
        f"    {WAIT}\n    TADD(b,\n         a, a);\n    {SET}\n    pipe_barrier(PIPE_ALL);\n",
    )


def test_added_ops_at_the_ends_of_a_section() -> None:
    def how(ops: Ops) -> Ops:
        loops = any(isinstance(op, For) for op in ops)
        return (wait_flag(), *ops, barrier_all()) if loops else ops

    assert body_after(BASE, how) == BASE.replace("  // loop\n", f"  {WAIT}\n  // loop\n").replace(
        "  #endif", "  pipe_barrier(PIPE_ALL);\n  #endif"
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("\n  if (c) pipe_barrier(PIPE_V);\n", f"\n  if (c) {{\n    {SET}\n    pipe_barrier(PIPE_V);\n  }}\n"),
        (
            "\n  if (c) pipe_barrier(PIPE_V);\n  else\n    pipe_barrier(PIPE_M);\n",
            f"\n  if (c) {{\n    {SET}\n    pipe_barrier(PIPE_V);\n  }}\n  else\n    {{\n"
            f"    {SET}\n    pipe_barrier(PIPE_M);\n  }}\n",
        ),
        (
            "\n  for (int i = 0; i < n; ++i)\n    pipe_barrier(PIPE_V);\n",
            f"\n  for (int i = 0; i < n; ++i)\n    {{\n    {SET}\n    pipe_barrier(PIPE_V);\n  }}\n",
        ),
        ("\n  if (c) {}\n", "\n  if (c) {}\n"),
    ],
)
def test_single_statements_get_braces_when_something_is_added(body: str, expected: str) -> None:
    assert body_after(body, around(Barrier, before=(set_flag(),))) == expected


def test_single_statement_that_goes_leaves_an_empty_block() -> None:
    body = "\n  if (c) pipe_barrier(PIPE_V); else TABS(*);\n".replace(
        "else TABS(*);", "else if (n) pipe_barrier(PIPE_M);"
    )
    assert body_after(body, without(Barrier)) == "\n  if (c) {\n  } else if (n) {\n  }\n"


def test_a_branch_that_is_not_written_gets_an_else() -> None:
    """Both arms hand out a value, so the tree has an else that the text has not."""
    body = "\n  int e = 0;\n  if (c) {\n    e = n;\n  }\n  wait_flag(PIPE_V, PIPE_S, e);\n"

    def how(ops: Ops) -> Ops:
        return (set_flag(), *ops) if len(ops) == 1 and ops[0].span.start == ops[0].span.end else ops

    # `e = n` makes nothing new, so the only op of the then-branch is what it hands out too.
    assert body_after(body, how) == (
        f"\n  int e = 0;\n  if (c) {{\n    e = n;\n    {SET}\n  }} else {{\n    {SET}\n  }}\n"
        "  wait_flag(PIPE_V, PIPE_S, e);\n"
    )


def test_condition_and_branch_are_spelled_in_cpp() -> None:
    """The bounds of the loop are not numbers of one sign, so the comparison says which it means."""

    def how(ops: Ops) -> Ops:
        loop = next((op for op in ops if isinstance(op, For)), None)
        if loop is None:
            return ops
        no_trip = Value("%no_trip", ScalarType("i1"))
        compare = Scalar(-10, NO_SPAN, "arith.cmpi", (loop.lower, loop.upper), (no_trip,), "sge")
        return (*ops, compare, If(-11, NO_SPAN, no_trip, (), Block((wait_flag(),), NO_SPAN), None))

    body = "\n  for (size_t i = 0; i < (size_t) (n / 2); ++i) {\n    pipe_barrier(PIPE_V);\n  }\n"
    assert body_after(body, how) == body + (
        f"  const bool no_trip = (int64_t) ((uint64_t) 0) >= (int64_t) ((size_t) (n / 2));\n"
        f"  if (no_trip) {{\n    {WAIT}\n  }}\n"
    )


def test_bounds_that_the_loop_changes_are_refused() -> None:
    def how(ops: Ops) -> Ops:
        loop = next((op for op in ops if isinstance(op, For)), None)
        if loop is None:
            return ops
        made = Value("%made", ScalarType("i1"))
        return (*ops, Scalar(-10, NO_SPAN, "arith.cmpi", (loop.lower, loop.upper), (made,), "sge"))

    body = "\n  int x = n / 2;\n  for (int i = x; i < n; ++i) {\n    x = i;\n    wait_flag(PIPE_V, PIPE_S, x);\n  }\n"
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    with pytest.raises(InputError, match="this loop changes x, which its bounds use") as caught:
        render(kernel, change(kernel, how))
    assert str(caught.value).startswith("k.cpp:3:3: error:")


def test_tile_without_an_address_gets_one() -> None:
    body = "\n  Tile<TileType::Vec, float, 8, 8> a, b;  // both\n  TABS(a, b);\n"

    def how(ops: Ops) -> Ops:
        numbers = [Value(f"%addr_{number}", ScalarType("i64")) for number in (0, 1024)]
        made = [
            Scalar(-number - 1, NO_SPAN, "arith.constant", (), (value,), 1024 * number)
            for number, value in enumerate(numbers)
        ]
        tiles = [op for op in ops if isinstance(op, AllocTile)]
        placed = [replace(tile, address=value) for tile, value in zip(tiles, numbers, strict=True)]
        return (*made, *placed, *ops[len(tiles) :])

    assert body_after(body, how) == (
        "\n  const int64_t addr_0 = 0;\n  const int64_t addr_1024 = 1024;\n"
        "  Tile<TileType::Vec, float, 8, 8> a, b;\n  TASSIGN(a, addr_0);\n  TASSIGN(b, addr_1024);  // both\n"
        "  TABS(a, b);\n"
    )


def test_section_is_unchanged_by_a_change_beside_it() -> None:
    section = "  #if defined(__DAV_VEC__)\n\n  pipe_barrier(PIPE_ALL);\n  #endif // vector\n"
    body = f"\n  set_flag(PIPE_V, PIPE_S, EVENT_ID0);\n{section}  return;\n"
    assert body_after(body, without(Flag)) == f"\n{section}  return;\n"
    assert body_after(body, without(Section)) == "\n  set_flag(PIPE_V, PIPE_S, EVENT_ID0);\n  return;\n"
