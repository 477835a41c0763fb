"""From kernels to channels, barriers and compensations: exact sites, by the number of the op in the body."""

import pytest

from syncopt.check import check_kernel
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import For, Kernel, TileOp, walk
from syncopt.ir.pipes import Pipe
from syncopt.model.flags.channels import Placement, primes_and_drains
from syncopt.model.flags.insertion import with_flags
from syncopt.model.planner import Plan, Planner
from syncopt.model.rewrite import Side, Site
from tests.check.kernels import setting, vector_kernel
from tests.model.flags.naming import labels, named


def planner_of(kernel: Kernel) -> Planner:
    return Planner(kernel, setting(), load_machine("910b2"))


def written(body: str) -> tuple[Planner, Placement]:
    planner = planner_of(vector_kernel(body))
    return planner, next(planner.placements(planner.mobility.as_written()))


def test_a_loop_needs_flags_both_ways():
    """Each load waits until the add before it has read the tile; that channel is up from the start."""
    planner, placement = written("scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\nstore t1\n}")
    assert named(planner.kernel, placement) == [
        ("MTE2->V", False, ["load0"], ["add0"]),
        ("MTE3->V", True, ["store0"], ["add0"]),
        ("V->MTE2", True, ["add0"], ["load0"]),
        ("V->MTE3", False, ["add0"], ["store0"]),
    ]
    assert placement.barriers == ()
    assert placement.compensations == ()


def test_straight_code_primes_nothing():
    planner, placement = written("load t0\nadd t1 t0\nstore t1")
    assert named(planner.kernel, placement) == [
        ("MTE2->V", False, ["load0"], ["add0"]),
        ("V->MTE3", False, ["add0"], ["store0"]),
    ]


def test_double_buffering_by_parity_has_a_channel_per_buffer():
    body = """
scf.for %i = %c0 to %n step %c1 {
%rest = arith.remui %i, %c2 : index
%even = arith.cmpi eq, %rest, %c0 : index
scf.if %even {
load t0
add t2 t0
} else {
load t1
add t3 t1
}
}
"""
    planner, placement = written(body)
    assert named(planner.kernel, placement) == [
        ("MTE2->V", False, ["load0"], ["add0"]),
        ("MTE2->V", False, ["load1"], ["add1"]),
        ("V->MTE2", True, ["add0"], ["load0"]),
        ("V->MTE2", True, ["add1"], ["load1"]),
    ]


def test_dependent_vector_ops_get_a_barrier():
    planner, placement = written("load t0\nadd t1 t0\nadd t2 t1\nstore t2")
    adds = [op.uid for op in walk(planner.kernel.body) if isinstance(op, TileOp) and op.name == "pto.tadd"]
    assert placement.barriers == ((Site(adds[1], Side.BEFORE), Pipe.V),)


def test_what_a_loop_that_does_not_go_round_leaves_out_is_made_up_for():
    """A load before the loop sets the flag that the first round waits for; with no round somebody else must."""
    body = """
load t0
scf.for %i = %c0 to %n step %c1 {
add t1 t0
%next = arith.addi %i, %c1 : index
%more = arith.cmpi slt, %next, %n : index
scf.if %more {
load t0
}
store t1
}
"""
    planner, placement = written(body)
    (compensation,) = placement.compensations
    (loop,) = (op for op in walk(planner.kernel.body) if isinstance(op, For))
    (number,) = compensation.waits
    assert compensation.loop == loop.uid
    assert compensation.sets == ()
    assert named(planner.kernel, placement)[number] == ("MTE2->V", False, ["load0", "load1"], ["add0"])


def test_a_wait_inside_a_loop_for_a_set_outside_is_lifted():
    """t3 is loaded once and read in every round: the wait stands before the loop."""
    planner, placement = written("load t3\nscf.for %i = %c0 to %n step %c1 {\nadd t1 t3\nstore t1\n}")
    assert ("MTE2->V", False, ["load0"], ["for0"]) in named(planner.kernel, placement)


def test_a_wait_for_sets_before_and_in_a_loop_is_split():
    """The add in the loop waits for the store before it once and for the store of the round before in each round.

    One channel for both would be set once more than it is waited for.
    """
    body = "load t0\nadd t1 t0\nstore t1\nscf.for %i = %c0 to %n step %c1 {\nadd t1 t0\nstore t1\n}"
    planner, placement = written(body)
    stored = [channel for channel in named(planner.kernel, placement) if channel[0] == "MTE3->V"]
    assert stored == [("MTE3->V", False, ["store0"], ["for0"]), ("MTE3->V", True, ["store1"], ["add1"])]
    assert placement.barriers == ()


def test_a_set_behind_a_branch_waits_until_the_wait_before_it_is_over():
    """MTE3 sets in every round, also in the last one, where it does nothing that would show that V has waited.

    So V has to tell it in every round, and the wait for the add stands before the branch, not in it.
    """
    body = """
load t0
scf.for %i = %c0 to %n step %c1 {
add t1 t0
%next = arith.addi %i, %c1 : index
%more = arith.cmpi slt, %next, %n : index
scf.if %more {
store t1
}
}
store t1
add t1 t0
store t1
"""
    planner, placement = written(body)
    found = named(planner.kernel, placement)
    assert ("MTE3->V", True, ["if0"], ["add0"]) in found
    assert ("V->MTE3", False, ["add0"], ["if0"]) in found
    assert placement.barriers == ()


def test_priming_sets_stand_before_the_first_op_of_their_pipe():
    """Right before the loop they would wait, on their pipe, until the store before it is done.

    Further up they would only be issued earlier than the load and the add.
    """
    body = "load t0\nadd t1 t0\nstore t1\nscf.for %i = %c0 to %n step %c1 {\nadd t2 t0\nstore t2\n}"
    planner, placement = written(body)
    assert ("MTE3->V", True, ["store1"], ["add1"]) in named(planner.kernel, placement)
    primes, drains = primes_and_drains(planner.kernel, placement)
    names = labels(planner.kernel)
    assert [names[site.uid] for site in primes] == ["store0"]
    assert [names[site.uid] for site in drains] == ["for0"]


def test_a_kernel_without_its_flags_is_not_proven():
    planner, placement = written("load t0\nadd t1 t0\nstore t1")
    plan = Plan(planner.mobility.as_written(), placement)
    assert planner.proves(plan)
    assert not planner.proves(Plan(plan.order, Placement()))


def preloaded(variable: str, loaded: str, added: str) -> str:
    """A loop that adds what a round before has loaded; without a round the first flag is taken behind it."""
    return (
        f"load {loaded}\nscf.for %{variable} = %c0 to %n step %c1 {{\nadd {added} {loaded}\n"
        f"%next_{variable} = arith.addi %{variable}, %c1 : index\n"
        f"%more_{variable} = arith.cmpi slt, %next_{variable}, %n : index\n"
        f"scf.if %more_{variable} {{\nload {loaded}\n}}\n}}\n"
    )


BODIES = {
    "straight": "load t0\nadd t1 t0\nadd t2 t1\nstore t2",
    "loop": "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\nadd t2 t1\nstore t2\n}",
    "constant": "%c7 = arith.constant 7 : index\nscf.for %i = %c0 to %c7 step %c1 {\nload t0\nadd t1 t0\nstore t1\n}",
    "one bound": "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\n}\nscf.for %j = %c0 to %n step %c1 {\n"
    "load t0\nadd t2 t0\nstore t2\n}",
    "three deep": "load t3\nscf.for %i = %c0 to %n step %c1 {\nload t0\nscf.for %j = %c0 to %m step %c1 {\nadd t1 t0\n"
    "scf.for %k = %c0 to %n step %c1 {\nload t2\nadd t1 t2\nadd t1 t3\n}\nstore t1\n}\n}",
    "condition on an argument": "scf.for %i = %c0 to %n step %c1 {\nscf.if %flag {\nload t0\n} else {\nload t1\n}\n"
    "add t2 t0\nadd t3 t1\nstore t2\nstore t3\n}",
    "through global memory": "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\nstore t1 x\n}",
    "inner count varies": "scf.for %i = %c0 to %n step %c1 {\nscf.for %j = %c0 to %i step %c1 {\nload t0\nadd t1 t0\n"
    "}\nstore t1\n}",
    "carried": "%z = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {\nload t0\nadd t1 t0\nstore t1\n"
    "%b = arith.addi %a, %c1 : index\nscf.yield %b : index\n}",
    "arms that an argument decides": "%c3 = arith.constant 3 : index\nscf.for %i = %c0 to %c3 step %c1 {\n"
    "%late = arith.cmpi sgt, %i, %m : index\nscf.if %late {\n"
    + preloaded("j", "t0", "t1")
    + "} else {\n"
    + preloaded("k", "t2", "t3")
    + "}\n}",
    "empty loop": "scf.for %i = %c0 to %n step %c1 {\n}\nload t0",
}


@pytest.mark.parametrize("name", BODIES)
def test_every_placement_passes_the_check(name: str):
    """One id per channel of a pair is enough here, and what the planner proves the independent check proves too."""
    kernel = vector_kernel(BODIES[name])
    planner = planner_of(kernel)
    order = planner.mobility.as_written()
    for placement in planner.placements(order):
        assert planner.proves(Plan(order, placement))
        pairs = [channel.pair for channel in placement.channels]
        ids = [pairs[:number].count(pair) for number, pair in enumerate(pairs)]
        report = check_kernel(with_flags(kernel, placement, ids), setting(), planner.machine)
        assert report.findings == ()


@pytest.mark.parametrize("name", ["loop", "three deep", "one bound"])
def test_no_channel_can_be_left_out(name: str):
    planner, placement = written(BODIES[name])
    order = planner.mobility.as_written()
    for number, _ in enumerate(placement.channels):
        channels = placement.channels[:number] + placement.channels[number + 1 :]
        assert not planner.proves(Plan(order, Placement(channels, placement.barriers)))
