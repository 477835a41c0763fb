"""C++ text of changed kernels: what stays, what moves, what is new."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from syncopt.emit import render
from syncopt.frontend import parse_module
from syncopt.ir.kernel import (
    NO_SPAN,
    AllocTile,
    Barrier,
    Block,
    Flag,
    For,
    If,
    Kernel,
    Op,
    Return,
    Scalar,
    Section,
    TileOp,
    Value,
    walk,
)
from syncopt.ir.source import InputError, Source
from syncopt.ir.types import ScalarType
from syncopt.model.rewrite import strip_flags
from tests.emit.edit.trees import Ops, barrier_all, change, set_flag, wait_flag

HEAD = "__global__ AICORE void k(__gm__ float* p, int32_t n, bool c) {"
SET, WAIT = "set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);", "wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);"
BASE = """
  // größer als nötig: 8 × 8
  using Buffer = Tile<TileType::Vec, float, 8, 8>;  // a type
  Buffer a, b; /* two */
  TASSIGN(a, 0);

  TASSIGN(b, 1024);
  #if defined(__DAV_VEC__)  // section
  // loop
  for (int i = 0; i < n; ++i) {  // steps
    // wait
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // old
    TADD(b,
         a, a);
    if (c) { pipe_barrier(PIPE_V); } else { };
    // end of the body
  }
  #endif // __DAV_VEC__
  return;
"""


def kernel_of(text: str | bytes) -> Kernel:
    return parse_module(Source("k.cpp", text.encode() if isinstance(text, str) else text)).kernel()


def rendered(text: str, how: Callable[[Ops], Ops]) -> str:
    """The text after a change of its blocks; it can be read again."""
    kernel = kernel_of(text)
    output = render(kernel, change(kernel, how))
    kernel_of(output)
    return output.decode()


def body_after(body: str, how: Callable[[Ops], Ops]) -> str:
    """What stands between the braces of the function after a change."""
    output = rendered(f"{HEAD}{body}}}\n", how)
    assert output.startswith(HEAD)
    assert output.endswith("}\n")
    return output.removeprefix(HEAD).removesuffix("}\n")


def without(*kinds: type[Op]) -> Callable[[Ops], Ops]:
    return lambda ops: tuple(op for op in ops if not isinstance(op, kinds))


def stripped(body: str) -> str:
    """The body without the flags and what served only them."""
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    return render(kernel, strip_flags(kernel)).decode().removeprefix(HEAD).removesuffix("}\n")


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


# -- moves -------------------------------------------------------------------------------------------------------------

MOVES = """
  Tile<TileType::Vec, float, 8, 8> a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 1024);
  pto::Shape<1, 1, 1, 8, 8> shape;
  pto::Stride<64, 64, 64, 8, 1> stride;
  // the product
  TMUL(b, b, b);
  int32_t offset = n;  // another name
  using View = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 8>, pto::Stride<64, 64, 64, 8, 1>>;
  View v(p + offset, shape, stride);
  TLOAD(a, v);  // early
"""


def first(kind: str) -> Callable[[Ops], Ops]:
    """Moves the tile op of a name in front of the others, with what it needs."""

    def how(ops: Ops) -> Ops:
        chosen = next((op for op in ops if isinstance(op, TileOp) and op.name == kind), None)
        heads = [op for op in ops if isinstance(op, TileOp)]
        if chosen is None or heads[0] is chosen:
            return ops
        rest = [op for op in ops if op is not chosen]
        at = rest.index(heads[0])
        pure = [op for op in rest[at:] if not isinstance(op, TileOp | Flag | Return)]
        left = [op for op in rest[at:] if op not in pure]
        return (*rest[:at], *pure, chosen, *left)

    return how


def test_statements_that_a_moved_one_needs_move_with_it() -> None:
    """The view and its type go up with the load, the variable too, though no op stands for it."""
    assert body_after(MOVES, first("pto.tload")) == (
        MOVES.split("  // the product", maxsplit=1)[0]
        + MOVES.split("TMUL(b, b, b);\n")[1]
        + "  // the product\n  TMUL(b, b, b);\n"
    )


TURNS = """
  Tile<TileType::Vec, float, 8, 8> a;
  int turn = n & 1;
  TASSIGN(a, turn * 1024);
  TABS(a, a);
  turn = turn + 1;
  TASSIGN(a, turn * 1024);
  TNEG(a, a);
"""


def test_statement_does_not_move_over_the_assignment_of_what_it_uses() -> None:
    """TABS uses the first `a`; with TNEG in front of it `a` and `turn` would have changed already."""
    kernel = kernel_of(f"{HEAD}{TURNS}}}\n")
    with pytest.raises(InputError) as caught:
        render(kernel, change(kernel, first("pto.tneg")))
    assert str(caught.value).splitlines()[0] == (
        "k.cpp:8:3: error: the plan moves this statement over line 5, where a stands for something else"
    )
    assert caught.value.help == "give a one value only, or use --order fixed"


def test_assignment_waits_for_a_statement_that_moved_down() -> None:
    """The wait moves down behind TNEG, and `turn` keeps its value until the wait has used it."""
    body = (
        "\n  Tile<TileType::Vec, float, 8, 8> b;\n  TASSIGN(b, 1024);\n"
        "  int turn = n;\n  wait_flag(PIPE_V, PIPE_S, turn);\n  turn = turn + 1;\n  TNEG(b, b);\n"
        "  set_flag(PIPE_V, PIPE_S, turn);\n"
    )

    def how(ops: Ops) -> Ops:
        wait = next(op for op in ops if isinstance(op, Flag))
        negation = next(op for op in ops if isinstance(op, TileOp))
        rest = [op for op in ops if op is not wait]
        at = rest.index(negation) + 1
        return (*rest[:at], wait, *rest[at:])

    assert body_after(body, how) == body.replace(
        "  wait_flag(PIPE_V, PIPE_S, turn);\n  turn = turn + 1;\n  TNEG(b, b);\n",
        "  TNEG(b, b);\n  wait_flag(PIPE_V, PIPE_S, turn);\n  turn = turn + 1;\n",
    )


# -- what cannot be written --------------------------------------------------------------------------------------------


def refused(body: str, how: Callable[[Ops], Ops]) -> str:
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    with pytest.raises(ValueError, match=r"an op|no text|became") as caught:
        render(kernel, change(kernel, how))
    return str(caught.value)


def test_added_ops_without_a_spelling_are_refused() -> None:
    value = Value("%x", ScalarType("i64"))
    cast = Scalar(-1, NO_SPAN, "arith.index_cast", (), (), None)
    number = Scalar(-1, NO_SPAN, "arith.constant", (), (Value("%x", ScalarType("f32")),), 1)
    run_time = replace(set_flag(), event=value)
    for op in (cast, number, run_time, Return(-1, NO_SPAN)):
        assert "no text for an added" in refused(" return; ", lambda ops, op=op: (op, *ops))


def test_other_changes_of_an_op_are_refused() -> None:
    body = "\n  const int x = 1;\n  for (int i = 0; i < n; ++i) {}\n  if (c) {}\n  return;\n"

    def changed(kind: type[Op], **fields: object) -> Callable[[Ops], Ops]:
        return lambda ops: tuple(replace(op, **fields) if isinstance(op, kind) else op for op in ops)  # pyright: ignore

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


def test_section_is_unchanged_by_a_change_beside_it() -> None:
    section = "  #if defined(__DAV_VEC__)\n\n  pipe_barrier(PIPE_ALL);\n  #endif // vector\n"
    body = f"\n  set_flag(PIPE_V, PIPE_S, EVENT_ID0);\n{section}  return;\n"
    assert body_after(body, without(Flag)) == f"\n{section}  return;\n"
    assert body_after(body, without(Section)) == "\n  set_flag(PIPE_V, PIPE_S, EVENT_ID0);\n  return;\n"
