"""C++ text of changed kernels that return early: nothing that a plan adds stands behind a jump that skips it."""

from collections.abc import Callable

import pytest

from syncopt.emit import render
from syncopt.ir.kernel import Braces, For, Guard, Section, TileOp
from syncopt.ir.source import InputError
from tests.emit.edit.cpp_bodies import HEAD, SET, WAIT, body_after, kernel_of, rendered
from tests.emit.edit.trees import Ops, barrier_all, change, set_flag, wait_flag

ALL = "pipe_barrier(PIPE_ALL);"
TILE = "  Tile<TileType::Vec, float, 8, 8> a;\n  TASSIGN(a, 0);\n"


def around(kind: type[Guard | Braces | For]) -> Callable[[Ops], Ops]:
    """Puts a wait before the first op of a kind in a block, and a set and a barrier behind it."""

    def how(ops: Ops) -> Ops:
        place = next((place for place, op in enumerate(ops) if isinstance(op, kind)), None)
        if place is None:
            return ops
        return (*ops[:place], wait_flag(), ops[place], set_flag(), barrier_all(), *ops[place + 1 :])

    return how


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            f"\n{TILE}  if (c) {{\n    TABS(a, a);\n    return;  // early\n  }}\n\n  // more\n  TNEG(a, a);  // late\n",
            f"\n{TILE}  {WAIT}\n  if (c) {{\n    TABS(a, a);\n    {SET}\n    {ALL}\n    return;  // early\n  }}\n\n"
            f"  // more\n  TNEG(a, a);  // late\n  {SET}\n  {ALL}\n",
            id="both ways",
        ),
        pytest.param(
            f"\n{TILE}  if (c)\n    return;\n  TNEG(a, a);\n  return;\n",
            f"\n{TILE}  {WAIT}\n  if (c)\n    {{\n    {SET}\n    {ALL}\n    return;\n  }}\n"
            f"  TNEG(a, a);\n  {SET}\n  {ALL}\n  return;\n",
            id="a return without braces, and one at the end",
        ),
        pytest.param(
            f"\n{TILE}  if (c) {{ TABS(a, a); return; }} else {{ TNEG(a, a); }}\n",
            f"\n{TILE}  {WAIT}\n  if (c) {{ TABS(a, a);\n    {SET}\n    {ALL}\n  return; }} else {{ TNEG(a, a);\n"
            f"    {SET}\n    {ALL}\n  }}\n",
            id="an else that is written",
        ),
        pytest.param(
            f"\n{TILE}  if (c) {{\n    if (n) {{\n      return;\n    }}\n    TNEG(a, a);\n  }}\n",
            f"\n{TILE}  {WAIT}\n  if (c) {{\n    {WAIT}\n    if (n) {{\n      {SET}\n      {ALL}\n      {SET}\n"
            f"      {ALL}\n      return;\n    }}\n    TNEG(a, a);\n    {SET}\n    {ALL}\n    {SET}\n    {ALL}\n"
            f"  }} else {{\n    {SET}\n    {ALL}\n  }}\n",
            id="a return in a branch, and an else that is not written",
        ),
    ],
)
def test_what_is_added_behind_a_guard_goes_to_all_its_ends(body: str, expected: str) -> None:
    assert body_after(body, around(Guard)) == expected


def test_rounds_end_with_what_is_added_in_front_of_a_continue() -> None:
    body = f"\n{TILE}  for (int i = 0; i < n; ++i) {{\n    if (i == 3) continue;\n    TNEG(a, a);\n  }}\n"
    assert body_after(body, around(Guard)) == (
        f"\n{TILE}  for (int i = 0; i < n; ++i) {{\n    {WAIT}\n    if (i == 3) {{\n      {SET}\n      {ALL}\n"
        f"      continue;\n    }}\n    TNEG(a, a);\n    {SET}\n    {ALL}\n  }}\n"
    )


def test_block_of_its_own_keeps_what_is_added_behind_it_outside_unless_it_returns() -> None:
    body = f"\n{TILE}  {{\n    TNEG(a, a);\n  }}\n  TABS(a, a);\n"
    assert body_after(body, around(Braces)) == (
        f"\n{TILE}  {WAIT}\n  {{\n    TNEG(a, a);\n  }}\n  {SET}\n  {ALL}\n  TABS(a, a);\n"
    )
    body = f"\n{TILE}  {{\n    if (c) return;\n    TNEG(a, a);\n  }}\n"
    assert body_after(body, around(Braces)) == (
        f"\n{TILE}  {WAIT}\n  {{\n    if (c) {{\n      {SET}\n      {ALL}\n      return;\n    }}\n    TNEG(a, a);\n"
        f"    {SET}\n    {ALL}\n  }}\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        f"\n{TILE}  if (c) return;\n  // x\n  if (n) {{ return; }}\n  {{ TNEG(a, a); }}\n\n  // end\n",
        f"\n{TILE}  if (c) {{ TNEG(a, a); return; }} return; /* last */\n",
        f"{TILE}if (c) return; TNEG(a, a);",
        f"{TILE}if (c) {{}} else return;\n",
        f"\n{TILE}  for (;n > 0; --n) {{\n    if (c) {{ TNEG(a, a); continue; }}  // x\n    TABS(a, a); continue; }}\n",
        f"\n{TILE}  while (n < 8) {{ if (c) {{ TNEG(a, a); }} n += 1; }}\n",
        f"\n#ifdef __DAV_VEC__\n{TILE}  if (c) return;\n  TNEG(a, a);\n#endif\n",
    ],
)
def test_unchanged_tree_gives_the_same_bytes(body: str) -> None:
    for text in (f"{HEAD}{body}}}\n", f"{HEAD}{body}}}\n".replace("\n", "\r\n")):
        assert rendered(text, lambda ops: ops) == text


def test_statement_that_moves_behind_a_guard_is_refused() -> None:
    """What stands in front of the branch happens whichever way it goes."""
    kernel = kernel_of(f"{HEAD}\n{TILE}  TABS(a, a);\n  if (c) return;\n  TNEG(a, a);\n}}\n")

    def how(ops: Ops) -> Ops:
        moved = [op for op in ops if isinstance(op, TileOp) and op.name == "pto.tabs"]
        return (*(op for op in ops if op not in moved), *moved)

    with pytest.raises(InputError) as caught:
        render(kernel, change(kernel, how))
    assert str(caught.value).splitlines()[0] == (
        "k.cpp:4:3: error: the plan moves this statement behind a branch that ends what is around it early"
    )
    assert caught.value.help == "use --order fixed"


def test_flags_behind_a_section_that_returns_are_refused() -> None:
    kernel = kernel_of(f"{HEAD}\n#ifdef __DAV_VEC__\n{TILE}  if (c) return;\n  TNEG(a, a);\n#endif\n}}\n")

    def how(ops: Ops) -> Ops:
        return (*ops, barrier_all()) if any(isinstance(op, Section) for op in ops) else ops

    with pytest.raises(InputError, match="the plan has flags behind this section, which returns early"):
        render(kernel, change(kernel, how))
