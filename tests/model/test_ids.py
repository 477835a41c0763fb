"""Which channels may share an id, and what happens when there are not enough."""

from syncopt.check import check_kernel
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import TileOp, walk
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.model.channels import Channel, Placement, has_full_barrier, with_flags
from syncopt.model.derive import Derivation
from syncopt.model.ids import channels_by_pair, conflicts, within_ids
from syncopt.model.planner import Plan, Planner
from syncopt.model.rewrite import Side, Site
from syncopt.solve.cpsat.ids import event_ids
from tests.check.kernels import setting, vector_kernel

MACHINE = load_machine("910b2")
LOADED = PipePair(Pipe.MTE2, Pipe.V)


def planner_of(body: str) -> Planner:
    return Planner(vector_kernel(body), setting(), MACHINE)


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
