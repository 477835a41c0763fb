"""Which events come before which: one test per rule."""

import pytest

from syncopt.execute import Program, constraints_of, read_program
from syncopt.execute.constraints import completion_of, start_of
from tests.execute.kernels import NZ, ZN, ZZ, Tile, kernel_of, setting, view
from tests.execute.streams import MACHINE, program_of, stream


def lines(body: str) -> Program:
    """A stream of these lines, one instruction each, behind `rows`."""
    return program_of(stream(body="rows %c0\n" + body))


def comes_after(program: Program, later: int, earlier: int) -> bool:
    """Whether the instruction at a place starts after the one at another place has completed, directly or not."""
    before = constraints_of(program).before
    seen, open_ = set[int](), [start_of(later)]
    while open_:
        event = open_.pop()
        if event not in seen:
            seen.add(event)
            open_.extend(before[event])
    return completion_of(earlier) in seen


@pytest.mark.parametrize(
    ("body", "later", "earlier", "expected"),
    [
        # A flag: the wait holds its pipe, not the pipe of the set.
        ("load t0\nset MTE2 V\nwait MTE2 V\nadd t1 t0\nstore t2\n", 3, 0, True),
        ("load t0\nset MTE2 V\nload t1\nwait MTE2 V\nadd t2 t0\nstore t2\n", 2, 0, False),
        ("load t0\nset MTE2 V\nload t1\nwait MTE2 V\nadd t2 t0\nstore t2\n", 4, 2, False),
        # Issue order alone proves nothing, on other pipes and on the same one.
        ("load t0\nadd t1 t0\nstore t2\n", 1, 0, False),
        ("load t0\nload t1\nstore t2\n", 1, 0, False),
        # A barrier of a pipe holds that pipe; of all pipes, all.
        ("add t1 t0\nbarrier V\nadd t2 t0\nstore t2\n", 2, 0, True),
        ("add t1 t0\nbarrier V\nload t0\nstore t2\n", 2, 0, False),
        ("add t1 t0\nbarrier ALL\nload t0\nstore t2\n", 2, 0, True),
        ("load t0\nadd t1 t0\nbarrier ALL\nload t0\nstore t2\n", 4, 0, True),
        # The scalar unit: what it waits for is complete for everything behind it.
        ("load t0\nset MTE2 S\nwait MTE2 S\nstore t2\n", 3, 0, True),
        ("load t0\nset MTE2 S\nstore t2\nwait MTE2 S\n", 2, 0, False),
        # The second wait takes the second set.
        ("load t0\nset MTE2 V\nload t1\nset MTE2 V\nwait MTE2 V\nadd t2 t0\nstore t2\n", 5, 2, False),
        ("load t0\nset MTE2 V\nload t1\nset MTE2 V\nwait MTE2 V\nwait MTE2 V\nadd t2 t0\nstore t2\n", 6, 2, True),
        # A set rises after all earlier instructions of its pipe, those before another set too.
        ("load t0\nset MTE2 MTE3\nload t1\nset MTE2 V\nwait MTE2 V\nadd t2 t0\nstore t2\n", 5, 0, True),
        # A flag of one pipe after one of another: through MTE2.
        ("add t1 t0\nset V MTE2\nwait V MTE2\nload t0\nset MTE2 MTE3\nwait MTE2 MTE3\nstore t1\n", 6, 0, True),
        # On one pipe: loads into one tile in order, vector ops not.
        ("load t0\nload t0\nstore t2\n", 1, 0, True),
        ("add t1 t0\nadd t2 t1\nstore t2\n", 1, 0, False),
        ("add t1 t0\nadd t1 t2\nstore t2\n", 1, 0, False),
    ],
)
def test_what_is_known_complete(body: str, later: int, earlier: int, expected: bool) -> None:
    assert comes_after(lines(body), later, earlier) is expected


def test_wait_without_a_set_is_unanswered() -> None:
    constraints = constraints_of(lines("load t0\nset MTE2 V\nwait MTE2 V\nwait MTE2 V\nstore t0\n"))
    assert constraints.unanswered == {3}


def test_wait_may_stand_before_its_set() -> None:
    """MTE3 waits for V, whose set is issued later."""
    program = lines("wait V MTE3\nadd t1 t0\nset V MTE3\nstore t1\n")
    assert comes_after(program, 3, 1)
    assert constraints_of(program).unanswered == frozenset()


@pytest.mark.parametrize(("size", "expected"), [(16, False), (64, True)])
def test_accumulation_needs_a_barrier_below_ten_fractals(size: int, expected: bool) -> None:
    """16 x 16 is one fractal, 64 x 64 are 16: then the second product starts when the first is complete."""
    left, right = Tile("f16", size, size, ZZ, "left"), Tile("f16", size, size, ZN, "right")
    acc = Tile("f32", size, size, NZ, "acc")
    body = view("out", "f32", size, size) + "%a = arith.constant 0 : i64\n"
    for name, tile in (("l", left), ("r", right), ("c", acc)):
        body += f"%{name} = pto.alloc_tile addr = %a : {tile.type}\n"
    operands = f"ins(%l, %r : {left.type}, {right.type}) outs(%c : {acc.type})"
    store = f"pto.tstore ins(%c : {acc.type}) outs(%outp : !pto.partition_tensor_view<{size}x{size}xf32>)"
    kernel = kernel_of(
        "%out: !pto.ptr<f32>", f"{body}pto.tmatmul {operands}\npto.tmatmul.acc {operands}\n{store}", "cube"
    )
    assert comes_after(read_program(kernel, setting(), MACHINE), 1, 0) is expected


def test_distant_ops_of_a_pipe_are_in_order() -> None:
    """300 loads of two tiles: the first of one tile is complete when the 257th load starts."""
    program = lines("load t0\n" + "load t1\n" * 299 + "store t2\n")
    assert not comes_after(program, 255, 0)
    assert comes_after(program, 256, 0)
