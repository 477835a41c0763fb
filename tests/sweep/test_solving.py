"""One solve, one row."""

from dataclasses import replace
from pathlib import Path

import pytest

from syncopt.api import Budget, InputError, Job, Request, Solved, WrongPlan, load_machine, solve
from syncopt.sweep import solving
from syncopt.sweep.asked import Task
from syncopt.sweep.rows.row import Outcome
from syncopt.sweep.rows.rowtext import document
from syncopt.sweep.solving import solved_row
from syncopt.sweep.tasks import Setup, gemm_tasks, kernel_tasks
from syncopt.sweep.tilings import GemmForm
from syncopt.sweep.versions import Versions
from tests.sweep.made import SETUP, comparable, stream_task

TINY = "64x64x64/64x64x32/b1/c1"


def gemm_task(setup: Setup = SETUP, **sizes: int) -> Task:
    (task,) = gemm_tasks(GemmForm(), [TINY], [sizes], setup).tasks
    return task


def test_row_says_what_solve_says() -> None:
    task = stream_task(6)
    solved = solve(task.job, Request(task.order, task.budget))
    row = solved_row(task, None)
    figures = row.figures
    assert (row.outcome, row.error, row.asked) == (Outcome.OPTIMAL, "", task.asked)
    assert figures is not None
    assert (figures.cycles, figures.lower_bound, figures.bound_by) == (
        solved.replay.cycles,
        solved.bound.cycles,
        solved.bound.bound_by,
    )
    assert (figures.baseline, figures.baseline_kind, figures.baseline_valid) == (
        solved.baseline.cycles,
        "fixed-order",
        True,
    )
    assert [there.speedup for there in figures.sensitivity] == [there.speedup for there in solved.sensitivity]
    assert (figures.matmuls, figures.loads, figures.tflops, figures.beyond_l2) == (0, 12, None, False)


def test_figures_of_a_gemm() -> None:
    """256 x 256 x 128 on 4 cores: 16 tiles of C, 4 each, in two K steps of 64.

    A step loads 64 x 64 fp16 of A and of B and takes two matmuls: 16 matmuls and 16 loads of 8,192 bytes. A and B are
    256 x 128 x 2 = 65,536 bytes each, one more than this L2 holds. Operations: 2 * 256 * 256 * 128 in the time with its
    launch of 10 us.
    """
    small = replace(SETUP, machine=load_machine("910b2").with_figure("chip.l2_bytes", 131071), cores=4)
    row = solved_row(gemm_task(small, M=256, N=256, K=128), None)
    figures = row.figures
    assert figures is not None
    assert (figures.matmuls, figures.loads, figures.loaded_bytes) == (16, 16, 131072)
    assert (figures.operand_bytes, figures.beyond_l2) == (131072, True)
    assert figures.microseconds == pytest.approx(10 + figures.cycles / 1800)
    assert figures.tflops == pytest.approx(2 * 256 * 256 * 128 / figures.microseconds / 1e6)


def test_search_is_remembered_for_other_shapes_with_the_same_window(tmp_path: Path) -> None:
    """Six rounds and sixty: each plan is checked and replayed for its own shape, as without anything remembered."""
    alone = [solved_row(stream_task(n), None) for n in (6, 60)]
    sharing = [solved_row(stream_task(n), tmp_path) for n in (6, 60)]
    assert [row.figures.remembered for row in sharing if row.figures] == [False, True]
    assert [comparable(document(row)) for row in sharing] == [comparable(document(row)) for row in alone]


def test_kept_plan_that_is_spoilt_is_searched_again(tmp_path: Path) -> None:
    before = solved_row(stream_task(6), tmp_path)
    kept = list(tmp_path.rglob("*.json"))
    assert kept
    for path in kept:
        path.write_text("{}")
    again = solved_row(stream_task(6), tmp_path)
    assert again.figures is not None
    assert not again.figures.remembered
    assert comparable(document(again)) == comparable(document(before))


def test_search_that_was_cut_short_is_not_kept(tmp_path: Path) -> None:
    """No work at all: the plan is that of the order as written, its bound no proof."""
    task = replace(stream_task(6), budget=Budget(60, work=0.0), job=shallow(stream_task(6).job))
    row = solved_row(task, tmp_path)
    again = solved_row(task, tmp_path)
    assert (row.outcome, again.outcome) == (Outcome.FEASIBLE, Outcome.FEASIBLE)
    assert again.figures is not None
    assert not again.figures.remembered


def shallow(job: Job) -> Job:
    """The job on a machine whose queues stop dispatch, so that an early load pays."""
    return replace(job, machine=job.machine.with_queue_depth(2))


def test_bad_input_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pto"
    path.write_text("func.func @wrong(%n: index) {\n  pto.twonder\n  return\n}\n")
    (task,) = kernel_tasks([path], [{"n": 2}], SETUP).tasks
    row = solved_row(task, None)
    assert (row.outcome, row.figures) == (Outcome.BAD_INPUT, None)
    assert row.error.startswith(f"{path}:2:3: error: ")


def test_unknown_argument_is_bad_input() -> None:
    task = stream_task(6)
    row = solved_row(replace(task, job=replace(task.job, named={"rows": 6})), None)
    assert row.outcome is Outcome.BAD_INPUT
    assert "has no integer argument rows" in row.error


def test_no_time_is_no_plan() -> None:
    row = solved_row(replace(stream_task(6), budget=Budget(0)), None)
    assert (row.outcome, row.error) == (Outcome.NO_PLAN, "the budget was spent before there was a valid plan")


def test_wrong_plan_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(job: Job, request: Request) -> Solved:
        del job, request
        raise WrongPlan("the plan is not clean")

    monkeypatch.setattr(solving, "solve", wrong)
    row = solved_row(stream_task(6), None)
    assert (row.outcome, row.error) == (Outcome.WRONG_PLAN, "the plan is not clean")


def test_worker_with_other_code_is_refused() -> None:
    task = replace(stream_task(6), versions=Versions("0.0.1", "0", "9"))
    with pytest.raises(InputError, match="the sweep was begun with"):
        solved_row(task, None)
