"""Why one version is slower than another: hand-worked critical paths of the two, and that they add up."""

from pathlib import Path

import pytest

from syncopt.api import CompareRequest, Explanation, Stall, compare, explain
from tests.api.kernels import BARRIERS, CPP, FIRST_LINE, FLAGS, HANGING, job


def explained(folder: Path, *kernels: str) -> Explanation | None:
    jobs = [job(folder / f"k{place}.pto", kernel) for place, kernel in enumerate(kernels)]
    return explain(compare(jobs, CompareRequest()))


def row(stall: Stall) -> tuple[str, int | None, int | None, int, int]:
    """Cause, places of the op and of what it waits for among the ops of the slower version, cycles of both."""

    def place(line: int | None) -> int | None:
        return None if line is None else line - FIRST_LINE

    op = None if stall.op is None else stall.op.line
    behind = None if stall.behind is None else stall.behind.line
    return stall.cause, place(op), place(behind), stall.slow, stall.best


def test_barriers_against_flags(tmp_path: Path) -> None:
    """Paths of 1431 and 974 cycles, step by step.

    Barriers: 1 to dispatch; load a 256 and 100 + 5 + 1; load c the same; sum b 64 and 24 + 5 + 1; sum d the same; store
    b 256 and 5 + 1; store d 256. Flags: 1; load a 256, the set behind it 1; load c 256, latency and flag 108; sum d 64,
    latency and flag 32; store d 256.
    """
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    assert (found.slow.name, found.best.name, found.difference) == ("k0.pto", "k1.pto", 457)
    assert [row(stall) for stall in found.stalls if stall.more > 0] == [
        ("work", 10, 8, 256, 0),
        ("barrier", 2, 0, 106, 0),
        ("barrier", 4, 2, 106, 0),
        ("work", 6, 4, 64, 0),
        ("barrier", 6, 4, 30, 0),
        ("barrier", 8, 6, 30, 0),
        ("barrier", 10, 8, 6, 0),
    ]
    same = [row(stall) for stall in found.stalls if not stall.more]
    assert same == [
        ("work", 2, 0, 256, 256),
        ("work", 4, 2, 256, 256),
        ("work", None, 10, 256, 256),
        ("work", 8, 6, 64, 64),
        ("dispatch", 0, None, 1, 1),
    ]
    # Lines of the faster version, where the slower one has nothing of the kind.
    assert [row(stall) for stall in found.stalls if stall.more < 0] == [
        ("order", 2, 0, 0, 1),
        ("flag", 13, 8, 0, 32),
        ("flag", 8, 2, 0, 108),
    ]
    assert sum(stall.slow for stall in found.stalls) == 1431
    assert sum(stall.best for stall in found.stalls) == 974


def test_flag_and_barrier_are_named_with_their_lines(tmp_path: Path) -> None:
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    flag = next(stall for stall in found.stalls if stall.cause == "flag" and stall.best == 108)
    assert [(place.name, place.line - FIRST_LINE) for place in flag.via] == [
        ("set_flag MTE2->V", 3),
        ("wait_flag MTE2->V", 7),
    ]
    barrier = next(stall for stall in found.stalls if stall.cause == "barrier")
    assert [(place.name, place.line - FIRST_LINE) for place in barrier.via] == [("barrier ALL", 1)]
    work = found.stalls[0]
    assert (work.link, work.via[0].name) == ("barrier", "barrier ALL")


def test_totals_add_up(tmp_path: Path) -> None:
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    assert {total.name: (total.slow, total.best) for total in found.totals} == {
        "work on MTE2": (512, 512),
        "work on V": (128, 64),
        "work on MTE3": (512, 256),
        "barrier": (278, 0),
        "flag": (0, 140),
        "order": (0, 1),
        "dispatch": (1, 1),
    }


def test_ops_of_renamed_tiles_correspond_by_their_order(tmp_path: Path) -> None:
    """Other names for all tiles: the same rows."""
    renamed = FLAGS
    for old, new in (("%a", "%1"), ("%b", "%2"), ("%c ", "%3 "), ("%c,", "%3,"), ("%d", "%4")):
        renamed = renamed.replace(old, new)
    plain, other = explained(tmp_path, BARRIERS, FLAGS), explained(tmp_path, BARRIERS, renamed)
    assert plain is not None
    assert other is not None
    assert [row(stall) for stall in plain.stalls] == [row(stall) for stall in other.stalls]


def test_ops_of_cpp_correspond_to_those_of_pto(tmp_path: Path) -> None:
    """The slow version in .pto, the fast one in both languages: the same rows where the slow one spends something."""
    jobs = [job(tmp_path / "slow.pto", BARRIERS), job(tmp_path / "fast.cpp", CPP)]
    in_pto, in_cpp = explained(tmp_path, BARRIERS, FLAGS), explain(compare(jobs, CompareRequest()))
    assert in_pto is not None
    assert in_cpp is not None
    assert [row(one) for one in in_cpp.stalls if one.slow] == [row(one) for one in in_pto.stalls if one.slow]
    assert in_cpp.best.name == "fast.cpp"


def test_ops_without_a_counterpart_share_a_row(tmp_path: Path) -> None:
    """The slower version loads a second time: loads do not correspond one to one, so all of them are one row."""
    twice = BARRIERS.replace("    pto.barrier <PIPE_ALL>\n", "    pto.barrier <PIPE_ALL>\n" + LOAD_AGAIN, 1)
    found = explained(tmp_path, twice, FLAGS)
    assert found is not None
    [loads] = [stall for stall in found.stalls if stall.cause == "work" and _runs(stall, "pto.tload")]
    assert (loads.slow, loads.best) == (768, 512)
    assert loads.behind is not None
    assert sorted([loads.behind.line - FIRST_LINE, *(line - FIRST_LINE for line in loads.also_lines)]) == [0, 2, 4]
    assert sum(stall.more for stall in found.stalls) == found.difference


LOAD_AGAIN = (
    "    pto.tload ins(%xp : !pto.partition_tensor_view<64x64xf32>) outs(%a : !pto.tile_buf<vec, 64x64xf32>)\n"
    "    pto.barrier <PIPE_ALL>\n"
)


def _runs(stall: Stall, name: str) -> bool:
    return stall.behind is not None and stall.behind.name == name


@pytest.mark.parametrize("kernels", [(FLAGS,), (FLAGS, FLAGS), (HANGING,), (HANGING, HANGING), (HANGING, FLAGS)])
def test_nothing_to_explain(tmp_path: Path, kernels: tuple[str, ...]) -> None:
    """One version that ends, several that are equally fast, or none that ends."""
    assert explained(tmp_path, *kernels) is None


def test_version_that_hangs_is_not_the_slowest(tmp_path: Path) -> None:
    found = explained(tmp_path, HANGING, BARRIERS, FLAGS)
    assert found is not None
    assert (found.slow.name, found.best.name) == ("k1.pto", "k2.pto")
