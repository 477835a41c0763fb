"""Traces: what is executed, and in which iteration."""

import pytest

from syncopt.ir.kernel import For
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Instance, Overrides, Setting, Tracer
from tests.ir.bodies import LINE, LOAD, PART, UNKNOWN_INDEX, VIEW, kernel_of, part, refusal, setting, trace


class SkipsMiddle(Overrides):
    """Leaves iterations 1 and 2 out of every loop."""

    def skips(self, loop: For, ordinal: int) -> bool:
        del loop
        return ordinal in (1, 2)


def skipping(body: str) -> list[Instance]:
    """The trace without iterations 1 and 2 of every loop."""
    return list(Tracer(kernel_of(body), setting(), SkipsMiddle()))


# -- control flow --------------------------------------------------------------------------------------------------


def test_nested_loops_number_their_iterations() -> None:
    """%i = 0, 2 and %j = 1, 2, 3: iterations count from 0 in steps of 1."""
    body = "scf.for %i = %c0 to %n step %c2 {\nscf.for %j = %c1 to %n step %c1 {\nbarrier\n}\n}\nbarrier"
    assert [i.iteration for i in trace(body)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), ()]


def test_empty_loops_execute_nothing() -> None:
    assert trace("scf.for %i = %n to %c0 step %c1 {\nbarrier\n}") == []


def test_branches_take_the_way_of_their_condition() -> None:
    """On V, else on MTE2; then on MTE3 or nothing."""
    one, other, third = (f"pto.barrier_sync [<{kind}>]" for kind in ("TVEC", "TLOAD", "TSTORE_VEC"))
    body = f"scf.if %flag {{\n{one}\n}} else {{\n{other}\n}}\nscf.if %flag {{\n{third}\n}}"
    assert [i.pipe for i in trace(body, flag=1)] == [Pipe.V, Pipe.MTE3]
    assert [i.pipe for i in trace(body, flag=0)] == [Pipe.MTE2]


def test_branches_hand_on_values() -> None:
    """%bound is 2 or 1, with and without a loop in the branch."""
    inner = "scf.for %j = %c0 to %c0 step %c1 {\n}\n"
    for loop in ("", inner):
        body = (
            f"%bound = scf.if %flag -> (index) {{\n{loop}scf.yield %c2 : index\n}} else {{\nscf.yield %c1 : index\n}}\n"
            "scf.for %i = %c0 to %bound step %c1 {\nbarrier\n}"
        )
        assert (len(trace(body, flag=1)), len(trace(body, flag=0))) == (2, 1)


def test_loops_carry_values() -> None:
    """%sum = 0 + 0 + 1 + 2 + 3."""
    body = (
        "%sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {\n"
        "%t = arith.addi %s, %i : index\nscf.yield %t : index\n}\nscf.for %k = %c0 to %sum step %c1 {\nbarrier\n}"
    )
    assert len(trace(body)) == 6


def test_block_index_and_number_are_those_of_the_setting() -> None:
    """From block 3 in steps of 8 to 16: 3 and 11."""
    body = (
        "%idx = pto.get_block_idx\n%num = pto.get_block_num\n%i0 = arith.index_cast %idx : i64 to index\n"
        "%step = arith.index_cast %num : i64 to index\nscf.for %i = %i0 to %c16 step %step {\nbarrier\n}"
    )
    assert len(trace(body)) == 2


def test_arguments_are_held_in_their_types() -> None:
    """2^31 as an i32 is negative, so the loop is empty."""
    body = "%b = arith.index_cast %m : i32 to index\nscf.for %i = %c0 to %b step %c1 {\nbarrier\n}"
    assert len(trace(body, m=2)) == 2
    assert trace(body, m=1 << 31) == []


def test_scalar_steps_are_counted_up_to_the_next_instruction() -> None:
    """The seven constants of the head; then loop step and branch before each barrier."""
    body = "barrier\nscf.for %i = %c0 to %c2 step %c1 {\nscf.if %true {\nbarrier\n}\n}"
    counts = [i.scalars for i in trace(f"%true = arith.constant 1 : i1\n{body}")]
    assert counts == [8, 2, 2]


def test_allocations_cost_no_scalar_step() -> None:
    tile = "%t = pto.alloc_tile addr = %a0 : TILE\n"
    tiles = "%mt = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<vec, 64x64xf32, count=2>\n"
    assert trace(f"{tile}{tiles}barrier")[0].scalars == 7


def test_skipped_iterations_execute_and_cost_nothing() -> None:
    """Of 0 to 3 the first and the last stay, with one loop step each."""
    instances = skipping("barrier\nscf.for %i = %c0 to %n step %c1 {\nbarrier\n}")
    assert [(i.iteration, i.scalars) for i in instances] == [((), 7), ((0,), 1), ((3,), 1)]


def test_skipped_iterations_still_carry_values() -> None:
    """%sum = 0 + 1 + 2 + 3 whatever is skipped; it is the bound of the second loop, of which 0, 3, 4 and 5 stay."""
    body = (
        "%sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (index) {\nbarrier\n"
        "%t = arith.addi %s, %i : index\nscf.yield %t : index\n}\nscf.for %k = %c0 to %sum step %c1 {\nbarrier\n}"
    )
    assert [i.iteration for i in skipping(body)] == [(0,), (3,), (0,), (3,), (4,), (5,)]


def test_tracer_can_be_run_again() -> None:
    tracer = Tracer(kernel_of("scf.for %i = %c0 to %n step %c1 {\nbarrier\n}"), Setting({"n": 3}, 0, 1))
    assert [[(i.iteration, i.scalars) for i in tracer] for _ in range(2)] == [[((0,), 8), ((1,), 1), ((2,), 1)]] * 2


# -- flags ---------------------------------------------------------------------------------------------------------


def test_flags_enter_the_queue_of_their_pipe() -> None:
    """A set that of the source, a wait that of the target."""
    body = "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]\npto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID3>]"
    assert [(i.pipe, i.event) for i in trace(body)] == [(Pipe.MTE2, 3), (Pipe.V, 3)]


def test_event_ids_can_be_computed() -> None:
    body = "scf.for %i = %c0 to %n step %c1 {\n%e = arith.remsi %i, %c2 : index\n"
    assert [i.event for i in trace(f"{body}pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %e]\n}}")] == [0, 1, 0, 1]


@pytest.mark.parametrize("event", [8, 40, -1])
def test_event_ids_that_do_not_exist_are_for_the_checker(event: int) -> None:
    assert [i.event for i in trace("pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %n]", n=event)] == [event]


# -- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        (f"{UNKNOWN_INDEX}scf.for %i = %c0 to %w step %c1 {{\n}}", 2, "scf.for is not known from the arguments"),
        (
            "%w = arith.constant 2000001 : index\nscf.for %i = %c0 to %w step %c2 {\n}",
            1,
            "with these arguments the loops go round more than 1,000,000 times",
        ),
        ("scf.for %i = %c0 to %n step %c0 {\n}", 0, "scf.for has step 0"),
        (
            f"{UNKNOWN_INDEX}%b = arith.cmpi eq, %w, %c0 : index\nscf.if %b {{\nbarrier\n}}",
            3,
            "the condition of scf.if is not known from the arguments",
        ),
        (
            f"{UNKNOWN_INDEX}pto.set_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %w]",
            2,
            "the event id is not known from the arguments",
        ),
        ("%t = pto.alloc_tile : TILE", 0, "%t has no address"),
        (
            "%t = pto.alloc_tile addr = %a0 : TILE\npto.tnew ins(%t : TILE) outs(%t : TILE)",
            1,
            "op pto.tnew is not modelled",
        ),
        (
            "%t = pto.alloc_tile addr = %a0 : TILE\npto.tmatmul ins(%t, %t : TILE, TILE) outs(%t : TILE)",
            1,
            "op pto.tmatmul from vec, vec to vec is not modelled",
        ),
        (
            "%t = pto.alloc_tile addr = %a0 : TILE\npto.tabs ins(%t : TILE) outs(%c0 : index)",
            1,
            "%c0 of pto.tabs is neither a tile nor a view",
        ),
    ],
)
def test_refusals_name_the_op_and_its_line(body: str, line: int, message: str) -> None:
    assert refusal(body) == f"f.pto:{LINE + line}:1: error: {message}"


def test_size_that_is_not_known() -> None:
    view = f"{UNKNOWN_INDEX}{VIEW.replace('shape = [%c64', 'shape = [%w')}"
    body = view + part("%c0").replace("sizes = [%c16", "sizes = [%w").replace(
        PART, "!pto.partition_tensor_view<?x64xf32>"
    )
    load = LOAD.replace(PART, "!pto.partition_tensor_view<?x64xf32>")
    assert refusal(body + load).endswith("error: the size of %p is not known from the arguments")
