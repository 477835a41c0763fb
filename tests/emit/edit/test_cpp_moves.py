"""C++ text of kernels whose ops moved: statements go with what they need, and see the values that they saw."""

from collections.abc import Callable

import pytest

from syncopt.emit import render
from syncopt.ir.kernel import Flag, Return, TileOp
from syncopt.ir.source import InputError
from tests.emit.edit.cpp_bodies import HEAD, body_after, kernel_of
from tests.emit.edit.trees import Ops, change

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
