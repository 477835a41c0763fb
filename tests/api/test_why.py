"""Why one version is slower than another: hand-worked critical paths of the two, and that they add up."""

from pathlib import Path

import pytest

from syncopt.api import CompareRequest, Explanation, PathStep, Pause, PauseKind, compare, explain
from syncopt.ir.pipes import Pipe
from tests.api.kernels import (
    ADD_B,
    ADD_D,
    ALL,
    BARRIERS,
    CPP,
    FIRST_LINE,
    FLAGS,
    HANGING,
    LOAD_A,
    LOAD_C,
    STORE_B,
    STORE_D,
    flag,
    job,
    text,
)


def explained(folder: Path, *kernels: str) -> Explanation | None:
    jobs = [job(folder / f"k{place}.pto", kernel) for place, kernel in enumerate(kernels)]
    return explain(compare(jobs, CompareRequest()))


def row(step: PathStep) -> tuple[str, int | None, int | None, int, int]:
    """Cause, places of the op and of what it waits for among the ops of the slower version, cycles of both."""

    def place(line: int | None) -> int | None:
        return None if line is None else line - FIRST_LINE

    op = None if step.op is None else step.op.line
    behind = None if step.behind is None else step.behind.line
    return step.cause, place(op), place(behind), step.slow, step.best


def test_barriers_against_flags(tmp_path: Path) -> None:
    """Paths of 1431 and 974 cycles, step by step.

    Barriers: 1 to dispatch; load a 256 and 100 + 5 + 1; load c the same; sum b 64 and 24 + 5 + 1; sum d the same; store
    b 256 and 5 + 1; store d 256. Flags: 1; load a 256, the set behind it 1; load c 256, latency and flag 108; sum d 64,
    latency and flag 32; store d 256.
    """
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    assert (found.slow.name, found.best.name, found.difference) == ("k0.pto", "k1.pto", 457)
    assert [row(step) for step in found.steps if step.more > 0] == [
        ("work", 10, 8, 256, 0),
        ("barrier", 2, 0, 106, 0),
        ("barrier", 4, 2, 106, 0),
        ("work", 6, 4, 64, 0),
        ("barrier", 6, 4, 30, 0),
        ("barrier", 8, 6, 30, 0),
        ("barrier", 10, 8, 6, 0),
    ]
    same = [row(step) for step in found.steps if not step.more]
    assert same == [
        ("work", 2, 0, 256, 256),
        ("work", 4, 2, 256, 256),
        ("work", None, 10, 256, 256),
        ("work", 8, 6, 64, 64),
        ("dispatch", 0, None, 1, 1),
    ]
    # Lines of the faster version, where the slower one has nothing of the kind.
    assert [row(step) for step in found.steps if step.more < 0] == [
        ("order", 2, 0, 0, 1),
        ("flag", 13, 8, 0, 32),
        ("flag", 8, 2, 0, 108),
    ]
    assert sum(step.slow for step in found.steps) == 1431
    assert sum(step.best for step in found.steps) == 974


def test_flag_and_barrier_are_named_with_their_lines(tmp_path: Path) -> None:
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    flag = next(step for step in found.steps if step.cause == "flag" and step.best == 108)
    assert [(place.name, place.line - FIRST_LINE) for place in flag.via] == [
        ("set_flag MTE2->V", 3),
        ("wait_flag MTE2->V", 7),
    ]
    barrier = next(step for step in found.steps if step.cause == "barrier")
    assert [(place.name, place.line - FIRST_LINE) for place in barrier.via] == [("barrier ALL", 1)]
    work = found.steps[0]
    assert (work.link, work.via[0].name) == ("barrier", "barrier ALL")


SERIAL = text(
    LOAD_A,
    flag("set", "MTE2", "V", 0),
    flag("wait", "MTE2", "V", 0),
    ADD_B,
    flag("set", "V", "MTE2", 0),
    flag("wait", "V", "MTE2", 0),
    LOAD_C,
    flag("set", "MTE2", "V", 0),
    flag("wait", "MTE2", "V", 0),
    ADD_D,
    flag("set", "V", "MTE3", 0),
    flag("wait", "V", "MTE3", 0),
    STORE_B,
    STORE_D,
    ALL,
)
"""As `FLAGS`, but the second load waits for the first sum: a 1..257, set to 258, flag up at 365; b 365..429, flag up at
461; c 461..717, flag up at 825; d 825..889, flag up at 921; stores 921..1177 and 1177..1433.
"""


def paused(pause: Pause) -> tuple[PauseKind, str, int | None, int, int]:
    """Kind, cause, place of the op among the ops of its version, cycles of both versions."""
    op = None if pause.op is None else pause.op.line - FIRST_LINE
    return pause.kind, pause.cause, op, pause.slow, pause.best


def test_busiest_pipe_at_flags(tmp_path: Path) -> None:
    """Loads and stores work 512 cycles each, so the loads count, which come first.

    Behind the last load 1433 - 717 cycles are left of one run and 974 - 514 of the other.
    """
    found = explained(tmp_path, SERIAL, FLAGS)
    assert found is not None
    assert found.standing is not None
    assert (found.standing.pipe, found.standing.slow, found.standing.best) == (Pipe.MTE2, 512, 512)
    assert [paused(pause) for pause in found.standing.pauses] == [
        (PauseKind.END, "", None, 716, 460),
        (PauseKind.FLAG, "V->MTE2", 6, 203, 0),
        (PauseKind.DISPATCH, "", 0, 1, 1),
        (PauseKind.SETS, "", 6, 1, 1),
    ]
    waited = found.standing.pauses[1]
    assert [line - FIRST_LINE for line in waited.lines] == [4, 5]


def test_busiest_pipe_at_barriers(tmp_path: Path) -> None:
    """Dispatch is held for 106 cycles between the loads: 257 to 362 until the first is through, and 1 to issue."""
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    assert found.standing is not None
    assert [paused(pause) for pause in found.standing.pauses] == [
        (PauseKind.END, "", None, 1431 - 619, 974 - 514),
        (PauseKind.DISPATCH, "barrier ALL", 2, 106, 0),
        (PauseKind.DISPATCH, "", 0, 1, 1),
        (PauseKind.SETS, "", 2, 0, 1),
    ]


def test_work_and_pauses_of_a_pipe_add_up(tmp_path: Path) -> None:
    for kernel, cycles in ((BARRIERS, 1431), (SERIAL, 1433)):
        found = explained(tmp_path, kernel, FLAGS)
        assert found is not None
        assert found.standing is not None
        assert found.standing.slow + sum(pause.slow for pause in found.standing.pauses) == cycles
        assert found.standing.best + sum(pause.best for pause in found.standing.pauses) == 974


def test_steps_are_stalls_or_work(tmp_path: Path) -> None:
    found = explained(tmp_path, BARRIERS, FLAGS)
    assert found is not None
    assert {step.cause for step in found.stalls} == {"barrier", "dispatch", "flag", "order"}
    assert {step.cause for step in found.work} == {"work"}
    assert sorted([*found.stalls, *found.work], key=found.steps.index) == list(found.steps)


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
    assert [row(step) for step in plain.steps] == [row(step) for step in other.steps]


def test_ops_of_cpp_correspond_to_those_of_pto(tmp_path: Path) -> None:
    """The slow version in .pto, the fast one in both languages: the same rows where the slow one spends something."""
    jobs = [job(tmp_path / "slow.pto", BARRIERS), job(tmp_path / "fast.cpp", CPP)]
    in_pto, in_cpp = explained(tmp_path, BARRIERS, FLAGS), explain(compare(jobs, CompareRequest()))
    assert in_pto is not None
    assert in_cpp is not None
    assert [row(one) for one in in_cpp.steps if one.slow] == [row(one) for one in in_pto.steps if one.slow]
    assert in_cpp.best.name == "fast.cpp"


def test_ops_without_a_counterpart_share_a_row(tmp_path: Path) -> None:
    """The slower version loads a second time: loads do not correspond one to one, so all of them are one row."""
    twice = BARRIERS.replace("    pto.barrier <PIPE_ALL>\n", "    pto.barrier <PIPE_ALL>\n" + LOAD_AGAIN, 1)
    found = explained(tmp_path, twice, FLAGS)
    assert found is not None
    [loads] = [step for step in found.steps if step.cause == "work" and _runs(step, "pto.tload")]
    assert (loads.slow, loads.best) == (768, 512)
    assert loads.behind is not None
    assert sorted([loads.behind.line - FIRST_LINE, *(line - FIRST_LINE for line in loads.also_lines)]) == [0, 2, 4]
    assert sum(step.more for step in found.steps) == found.difference


LOAD_AGAIN = (
    "    pto.tload ins(%xp : !pto.partition_tensor_view<64x64xf32>) outs(%a : !pto.tile_buf<vec, 64x64xf32>)\n"
    "    pto.barrier <PIPE_ALL>\n"
)


def _runs(step: PathStep, name: str) -> bool:
    return step.behind is not None and step.behind.name == name


@pytest.mark.parametrize("kernels", [(FLAGS,), (FLAGS, FLAGS), (HANGING,), (HANGING, HANGING), (HANGING, FLAGS)])
def test_nothing_to_explain(tmp_path: Path, kernels: tuple[str, ...]) -> None:
    """One version that ends, several that are equally fast, or none that ends."""
    assert explained(tmp_path, *kernels) is None


def test_version_that_hangs_is_not_the_slowest(tmp_path: Path) -> None:
    found = explained(tmp_path, HANGING, BARRIERS, FLAGS)
    assert found is not None
    assert (found.slow.name, found.best.name) == ("k1.pto", "k2.pto")
