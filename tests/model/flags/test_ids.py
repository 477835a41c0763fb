"""Which channels may share an id, and what happens when there are not enough."""

from syncopt.check import check_kernel
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel, TileOp, walk
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.model.flags.channels import Channel, Placement, Priming, has_full_barrier, primes_and_drains
from syncopt.model.flags.derive import Derivation
from syncopt.model.flags.ids import channels_by_pair, conflicts, within_ids
from syncopt.model.flags.insertion import with_flags
from syncopt.model.planner import Plan, Planner
from syncopt.model.rewrite import Side, Site
from syncopt.solve.cpsat.ids import event_ids
from tests.check.kernels import setting, vector_kernel
from tests.model.flags.naming import Named, labels, named

MACHINE = load_machine("910b2")
LOADED = PipePair(Pipe.MTE2, Pipe.V)


def planner_of(body: str) -> Planner:
    return Planner(vector_kernel(body), setting(), MACHINE)


def fewest_ids(body: str, ids: int) -> tuple[Kernel, Placement]:
    """A kernel and its placement on a machine with few ids per pair."""
    planner = Planner(vector_kernel(body), setting(), load_machine("910b2", [f"flag.event_ids={ids}"]))
    (placement,) = planner.placements(planner.mobility.as_written())
    return planner.kernel, placement


def loop(variable: str, loaded: str, added: str) -> str:
    return f"scf.for %{variable} = %c0 to %n step %c1 {{\nload {loaded}\nadd {added} {loaded}\n}}\n"


def released(kernel: Kernel, placement: Placement) -> list[Named]:
    """The channels with which adds let loads go on."""
    return [channel for channel in named(kernel, placement) if channel[0] == "V->MTE2"]


BRANCHES = f"scf.if %flag {{\n{loop('i', 't0', 't1')}}} else {{\n{loop('j', 't2', 't3')}}}"
BOTH = [("V->MTE2", True, ["add0"], ["load0"]), ("V->MTE2", True, ["add1"], ["load1"])]
UNITED = [("V->MTE2", True, ["add0", "add1"], ["load0", "load1"])]


def test_channels_of_branches_that_exclude_each_other_become_one_when_ids_are_short():
    assert released(*fewest_ids(BRANCHES, 2)) == BOTH
    kernel, placement = fewest_ids(BRANCHES, 1)
    assert released(kernel, placement) == UNITED
    assert placement.priming is Priming.FIRST
    assert placement.barriers == ()


def test_channels_are_primed_later_when_ids_are_short():
    """The load between the loops tells V that the first channel is drained: its id is free for the second one."""
    body = loop("i", "t0", "t1") + "load t1\nadd t3 t1\n" + loop("j", "t2", "t0")
    assert fewest_ids(body, 2)[1].priming is Priming.FIRST
    kernel, placement = fewest_ids(body, 1)
    assert placement.priming is Priming.USE
    assert len(released(kernel, placement)) == 2
    names = labels(kernel)
    assert [names[site.uid] for site in primes_and_drains(kernel, placement)[0]] == ["for0", "for1"]


def test_channels_of_loops_in_a_row_become_one_when_ids_are_short():
    """Nothing tells V between the loops that the first channel is drained, so that priming later is not enough."""
    body = loop("i", "t0", "t1") + loop("j", "t2", "t3")
    assert released(*fewest_ids(body, 2)) == BOTH
    kernel, placement = fewest_ids(body, 1)
    assert released(kernel, placement) == UNITED
    assert placement.barriers == ()


def channels(planner: Planner, *edges: tuple[int, int]) -> Placement:
    """One channel per edge, from tile op number a to tile op number b."""
    uids = [op.uid for op in walk(planner.kernel.body) if isinstance(op, TileOp)]
    return Placement(
        tuple(Channel(LOADED, (Site(uids[a], Side.AFTER),), (Site(uids[b], Side.BEFORE),)) for a, b in edges)
    )


def test_flags_that_are_up_together_conflict():
    planner = planner_of("load t0\nload t1\nadd t2 t0\nadd t3 t1")
    family = planner.family(planner.mobility.as_written())
    assert conflicts(family, channels(planner, (0, 2), (1, 3))) == {(0, 1)}


def test_a_wait_that_only_time_has_behind_it_conflicts():
    """The second load is set long after the first wait in time, but nothing orders the two."""
    planner = planner_of("load t0\nadd t2 t0\nload t1\nadd t3 t1")
    family = planner.family(planner.mobility.as_written())
    assert conflicts(family, channels(planner, (0, 1), (2, 3))) == {(0, 1)}


def test_an_ordered_set_may_take_the_same_id():
    """The second load waits for the first add, so its set comes after the first wait."""
    planner = planner_of("load t0\nadd t2 t0\nload t0\nadd t3 t0")
    order = planner.mobility.as_written()
    (placement, *_) = planner.placements(order)
    loaded = channels_by_pair(placement)[LOADED]
    assert not {pair for pair in conflicts(planner.family(order), placement) if set(pair) <= set(loaded)}


def test_ids_differ_on_conflict_and_start_at_0():
    planner = planner_of("load t0\nload t1\nadd t2 t0\nadd t3 t1")
    placement = channels(planner, (0, 2), (1, 3))
    assert event_ids(placement, [(0, 1)]) == (0, 1)
    assert event_ids(placement, []) == (0, 0)
    assert event_ids(placement, [(0, 1)], 1) is None


def test_more_channels_than_ids_fall_back_to_full_barriers():
    """Nine loads in a row and nine adds behind them would need nine ids at once."""
    tiles = "".join(
        f"%p{n} = arith.constant {65536 + 8192 * n} : i64\n"
        f"%s{n} = pto.alloc_tile addr = %p{n} : !pto.tile_buf<vec, 32x64xf32>\n"
        for n in range(9)
    )
    part = (
        "%part = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c32, %c64] : "
        "!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<32x64xf32>\n"
    )
    tile = "!pto.tile_buf<vec, 32x64xf32>"
    loads = "".join(
        f"pto.tload ins(%part : !pto.partition_tensor_view<32x64xf32>) outs(%s{n} : {tile})\n" for n in range(9)
    )
    adds = "".join(f"pto.tadd ins(%s{n}, %s{n} : {tile}, {tile}) outs(%s{n} : {tile})\n" for n in range(9))
    planner = planner_of(f"%c32 = arith.constant 32 : index\n{tiles}{part}{loads}{adds}")
    order = planner.mobility.as_written()
    family = planner.family(order)
    wide = channels(planner, *((n, n + 9) for n in range(9)))
    assert event_ids(wide, conflicts(family, wide)) is None
    fewer = within_ids(family, Derivation(family), wide)
    assert has_full_barrier(fewer)
    ids = event_ids(fewer, conflicts(family, fewer))
    assert ids is not None
    assert planner.proves(Plan(order, fewer))
    assert check_kernel(with_flags(planner.kernel, fewer, ids), setting(), MACHINE).findings == ()
