"""The brute force itself, on traces whose interleavings can be told by hand."""

from dataclasses import replace

import pytest

from syncopt.ir.trace import Instance, Tracer
from tests.check.brute_force import IdReuse, Outcome, TooManyStatesError, Waits, explore, id_reuse
from tests.check.short_kernels import Pipeline, short_kernel
from tests.check.statements import arguments

TO_V = "set MTE2 V 0\nwait MTE2 V 0\n"
TO_MTE3 = "set V MTE3 0\nwait V MTE3 0\n"
END = "barrier ALL"


def trace(lines: str, pipeline: Pipeline = Pipeline.VECTOR) -> list[Instance]:
    return list(Tracer(short_kernel(lines, pipeline), arguments(n=2)))


def outcome(lines: str, pipeline: Pipeline = Pipeline.VECTOR) -> Outcome:
    """With lazy waits; eager ones make no difference but to double sets."""
    lazy, eager = (explore(trace(lines, pipeline), waits) for waits in Waits)
    assert replace(eager, doubles=lazy.doubles, apart=lazy.apart, states=lazy.states) == lazy
    return lazy


def grade(lines: str, pipeline: Pipeline = Pipeline.VECTOR) -> IdReuse:
    lazy, eager = (explore(trace(lines, pipeline), waits) for waits in Waits)
    return id_reuse(lazy, eager)


def test_states_of_two_ops_of_two_pipes():
    """Passed are none, one or both of the ops; then each of them waits, runs or is complete: 2 + 3 * 3."""
    assert explore(trace("load t0 x\nadd t3 t3"), Waits.LAZY).states == 11


def test_too_many_states_are_refused():
    with pytest.raises(TooManyStatesError, match="more than 10 states"):
        explore(trace("load t0 x\nadd t3 t3"), Waits.LAZY, most=10)


def test_read_after_write_without_a_flag_is_a_race():
    found = outcome(f"load t0 x\nadd t2 t0\n{END}")
    assert (found.races, found.swapped, found.deadlock) == ({(0, 1)}, frozenset(), False)


def test_read_after_write_with_a_flag_is_none():
    """Places 0 to 7; the store is complete behind the barrier."""
    found = outcome(f"load t0 x\n{TO_V}add t2 t0\n{TO_MTE3}store t2 y\n{END}")
    assert (found.races, found.deadlock, found.left, found.undrained) == (set(), False, set(), set())
    assert grade(f"load t0 x\n{TO_V}add t2 t0\n{TO_MTE3}store t2 y\n{END}") is IdReuse.SAFE


def test_tiles_that_share_no_byte_do_not_race():
    """p0 and p1 are columns of t2, t0 and t1 meet, t0 and t3 do not."""
    assert outcome(f"load p0 x\nadd p1 p1\n{END}").races == set()
    assert outcome(f"load p0 x\nadd t2 t2\n{END}").races == {(0, 1)}
    assert outcome(f"load t0 x\nadd t1 t1\n{END}").races == {(0, 1)}
    assert outcome(f"load t0 x\nadd t3 t3\n{END}").races == set()


def test_flag_behind_the_wrong_op_proves_nothing():
    """The set stands before the load of t0: it rises without it."""
    assert outcome(f"load t3 x\nset MTE2 V 0\nload t0 x\nwait MTE2 V 0\nadd t2 t0\n{END}").races == {(2, 4)}


def test_vector_ops_that_depend_on_each_other_need_a_barrier():
    assert outcome(f"add t2 t0\nadd t3 t2\n{END}").races == {(0, 1)}
    assert outcome(f"add t2 t0\nbarrier V\nadd t3 t2\n{END}").races == set()
    assert outcome(f"add t2 t0\nbarrier MTE2\nadd t3 t2\n{END}").races == {(0, 2)}


def test_round_trip_through_another_pipe_proves_completion():
    """V -> MTE3 -> V: the second add starts when the set behind the first has been answered."""
    assert outcome(f"add t2 t0\n{TO_MTE3}set MTE3 V 0\nwait MTE3 V 0\nadd t3 t2\n{END}").races == set()
    assert outcome(f"set V MTE3 0\nadd t2 t0\nwait V MTE3 0\nset MTE3 V 0\nwait MTE3 V 0\nadd t3 t2\n{END}").races


def test_matmuls_need_a_barrier_where_an_accumulator_is_small():
    """d0 has 4 x 4 fractals, d1 is its first one."""
    two = "matmul {} l0 r0\n{}matmul {} l0 r0\n" + END
    assert outcome(two.format("d0", "", "d0"), Pipeline.CUBE).races == set()
    assert outcome(two.format("d0", "", "d1"), Pipeline.CUBE).races == {(0, 1)}
    assert outcome(two.format("d1", "", "d0"), Pipeline.CUBE).races == {(0, 1)}
    assert outcome(two.format("d1", "barrier M\n", "d1"), Pipeline.CUBE).races == set()


def test_other_ops_of_one_pipe_need_nothing():
    assert outcome(f"load t0 x\nload t1 x\n{END}").races == set()
    assert outcome(f"store t0 y\nstore t2 z\n{END}").races == set()


def test_scalar_op_meets_what_runs_and_nothing_behind_it():
    """The scalar unit goes on when its op is complete; before that a flag must bring the load to it."""
    assert outcome(f"load t0 x\nput t0\nadd t2 t0\n{END}").races == {(0, 1), (0, 2)}
    assert outcome(f"load t0 x\nset MTE2 S 0\nwait MTE2 S 0\nput t0\nadd t2 t0\n{END}").races == set()


def test_loads_of_what_was_stored():
    """x and y are different pointers; z starts behind the first rows of y and ends behind its last."""
    assert outcome(f"store t0 y\nload t2 x\n{END}").races == set()
    assert outcome(f"store t0 y\nload t2 w\n{END}").races == set()
    assert outcome(f"store t0 y\nload t2 z\n{END}").races == {(0, 1)}


def test_loads_behind_a_store_that_only_flags_order():
    """A barrier on all and a wait of the scalar unit hold the load back before it is in its queue; a flag does not."""
    lines = "store t0 y\n{}load t2 y\n" + END
    assert outcome(lines.format("")).unfenced == set()
    assert outcome(lines.format("set MTE3 MTE2 0\nwait MTE3 MTE2 0\n")).unfenced == {(0, 3)}
    assert outcome(lines.format("barrier ALL\n")).unfenced == set()
    assert outcome(lines.format("set MTE3 S 0\nwait MTE3 S 0\n")).unfenced == set()


def test_waits_that_cross_hang():
    found = outcome(f"wait MTE3 V 0\nset V MTE3 0\nwait V MTE3 0\nset MTE3 V 0\n{END}")
    assert (found.deadlock, found.left) == (True, set())


def test_ops_behind_a_hanging_wait_are_stuck():
    """The add never starts; the store starts without it, and the load may still be at work then."""
    found = outcome("load t0 x\nwait MTE3 V 0\nadd t0 t2\nstore t0 y")
    assert (found.deadlock, found.races, found.stuck) == (True, {(0, 3), (2, 3)}, {(2, 3)})
    assert outcome("load t0 x\nadd t0 t2\nstore t0 y").stuck == set()


def test_barrier_on_all_behind_a_hanging_wait_holds_the_set_behind_it():
    assert outcome(f"wait MTE2 V 0\n{END}\nset MTE2 V 0").deadlock
    assert not outcome(f"wait MTE2 V 0\nset MTE2 V 0\n{END}").deadlock


def test_scalar_wait_holds_the_set_behind_it():
    assert outcome("wait MTE2 S 0\nset MTE2 S 0").deadlock
    assert not outcome("set MTE2 S 0\nwait MTE2 S 0").deadlock


def test_flag_without_a_wait_is_left():
    """Two sets, one wait: the second is left."""
    found = outcome(f"set MTE2 V 0\nset MTE2 V 0\nwait MTE2 V 0\n{END}")
    assert (found.left, found.doubles) == ({1}, {1})


def test_store_without_a_final_barrier_is_not_drained():
    assert outcome("store t0 y").undrained == {0}
    assert outcome("store t0 y\nbarrier MTE3").undrained == {0}
    assert outcome("store t0 y\nset MTE3 S 0\nwait MTE3 S 0\nstore t0 y").undrained == {3}


def test_reader_that_waits_for_a_later_writer_is_swapped():
    """The add stands before the load and reads what it has loaded."""
    found = outcome(f"wait MTE2 V 0\nadd t2 t0\nload t0 x\nset MTE2 V 0\n{END}")
    assert (found.races, found.swapped) == ({(1, 2)}, {(1, 2)})


def test_race_that_goes_both_ways_is_not_swapped():
    found = outcome(f"add t2 t0\nload t0 x\n{END}")
    assert (found.races, found.swapped) == ({(0, 1)}, set())


# -- double sets ---------------------------------------------------------------------------------------------------


def test_id_is_safe_when_a_flag_leads_back():
    assert grade(f"{TO_V}set V MTE2 0\nwait V MTE2 0\n{TO_V}{END}") is IdReuse.SAFE


def test_id_is_eager_when_nothing_holds_the_wait():
    """V has nothing to do before the first wait, so it has ended when the second load is complete."""
    lines = f"load t0 x\n{TO_V}load t3 x\n{TO_V}{END}"
    assert outcome(lines).doubles == {4}
    assert explore(trace(lines), Waits.EAGER).doubles == set()
    assert grade(lines) is IdReuse.EAGER


def test_id_is_timed_when_an_op_holds_the_wait():
    """The second wait stands behind the first add, which can take longer than the third load."""
    lines = f"load t3 x\n{TO_V}add t1 t1\nload t3 x\n{TO_V}barrier V\nadd t1 t1\nload t3 x\n{TO_V}{END}"
    assert explore(trace(lines), Waits.EAGER).doubles == {10}
    assert grade(lines) is IdReuse.TIMED


@pytest.mark.parametrize("held", ["wait MTE3 V 0", "barrier V", "add t1 t1"])
def test_id_is_timed_when_anything_holds_the_first_wait(held: str):
    assert grade(f"{held}\n{TO_V}load t3 x\n{TO_V}set MTE3 V 0\n{END}") is IdReuse.TIMED


def test_id_is_timed_when_the_scalar_unit_has_yet_to_pass_the_wait():
    """The second set stands before the first wait in program order."""
    waits = "wait MTE2 V 0\nwait MTE2 V 0"
    assert grade(f"load t0 x\nset MTE2 V 0\nload t3 x\nset MTE2 V 0\n{waits}\n{END}") is IdReuse.TIMED


def test_id_is_timed_when_the_scalar_unit_has_yet_to_come_to_its_wait():
    """The store can be complete before the scalar unit, which passes the second set first, stands at the first wait."""
    waits = "wait MTE3 S 0\nwait MTE3 S 0\n"
    assert grade(f"set MTE3 S 0\nstore t0 y\nset MTE3 S 0\n{waits}{END}") is IdReuse.TIMED
    assert grade(f"set MTE3 S 0\nwait MTE3 S 0\nstore t0 y\nset MTE3 S 0\nwait MTE3 S 0\n{END}") is IdReuse.SAFE


def test_sets_that_one_completion_raises_are_not_kept_apart_by_an_eager_wait():
    """Both sets stand behind the first add; when it is complete they rise at the same moment.

    An add between them makes no difference, since it can be complete before the first; loads complete in order, and
    behind a barrier the second add starts when the flag has risen.
    """
    two = f"add t1 t1\n{TO_MTE3}" + "{}" + f"{TO_MTE3}{END}"
    assert grade(two.format("")) is IdReuse.TIMED
    assert grade(two.format("barrier V\n")) is IdReuse.TIMED
    assert grade(two.format("add t3 t3\n")) is IdReuse.TIMED
    assert grade(two.format("barrier V\nadd t3 t3\n")) is IdReuse.EAGER
    assert grade(f"{TO_MTE3}add t3 t3\n{TO_MTE3}{END}") is IdReuse.EAGER
    assert grade(f"load t0 x\n{TO_V}load t3 x\n{TO_V}{END}") is IdReuse.EAGER


def test_flag_of_the_scalar_unit_may_rise_late():
    """V comes to its first wait behind the second set, but perhaps before that has risen."""
    lines = "set S V 0\nset V S 0\nwait V S 0\nset S V 0\nwait S V 0\nwait S V 0\n"
    assert grade(f"{lines}{END}") is IdReuse.TIMED
    assert grade(f"set S V 0\nwait S V 0\nset V S 0\nwait V S 0\nset S V 0\nwait S V 0\n{END}") is IdReuse.SAFE


def test_sets_before_a_wait_that_needs_both_are_certainly_double():
    """V first takes a flag of another id that is set behind the two."""
    lines = f"set MTE2 V 0\nset MTE2 V 0\nset MTE2 V 1\nwait MTE2 V 1\nwait MTE2 V 0\nwait MTE2 V 0\n{END}"
    assert grade(lines) is IdReuse.CERTAIN
