"""`sweep` and `results`: what they print, write and return."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from syncopt.api import Budget, load_machine
from syncopt.cli import app
from syncopt.sweep import (
    Figures,
    GemmForm,
    Outcome,
    Results,
    Row,
    Setup,
    Task,
    gemm_tasks,
    kernel_tasks,
    opened,
    read_rows,
)
from tests.cli.running import GEMM, STREAM, document, refusal, syncopt
from tests.sweep.made import FIGURES

SETUP = Setup(machine=load_machine("910b2"), budget=Budget(60))


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


@contextmanager
def filled(rows: Path) -> Generator[Results]:
    with opened(rows) as results:
        yield results


def there(rows: Path, tasks: tuple[Task, ...], *figures: Figures) -> None:
    """Put rows of some tasks into a file, as a sweep does."""
    with filled(rows) as results:
        for task, found in zip(tasks, figures, strict=True):
            results.append(Row(task.asked, Outcome.OPTIMAL, 1.0, found))


def streams(*rounds: int) -> tuple[Task, ...]:
    return kernel_tasks([STREAM], [{"n": n} for n in rounds], SETUP).tasks


def test_sweep_solves_all_and_goes_on_where_there_is_a_row(rows: Path, tmp_path: Path) -> None:
    """A good kernel, and one that is none: its row says what is wrong, and the exit status is that of bad input."""
    wrong = tmp_path / "wrong.pto"
    wrong.write_text("func.func @wrong(%n: index) {\n  pto.twonder\n  return\n}\n")
    command = ("sweep", STREAM, wrong, "--set", "n=4:6:2", "-o", rows, "--jobs", "1", "--cache", tmp_path / "plans")
    result = syncopt(*command)
    assert result.exit_code == 2, result.output
    assert "4 rows: 2 solved, 2 of them proven optimal, 2 failed; 1 search remembered" in result.stdout
    assert f"{wrong}, n=4: bad-input" in result.stdout
    assert f"{wrong}:2:3: error: " in result.stdout
    assert "4 of 4" in result.stderr
    assert "2 solved, 2 proven, 2 failed" in result.stderr
    written = rows.read_bytes()
    again = syncopt(*command, "--json")
    assert again.exit_code == 2
    assert "note: 4 rows in" in again.stderr
    assert rows.read_bytes() == written
    found = document(again)
    assert found["counts"] == {
        "rows": 4,
        "solved": 2,
        "proven": 2,
        "failed": 2,
        "remembered": 1,
        "there_before": 4,
    }
    assert [row["key"] for row in found["rows"]] == [task.asked.key for task in ordered(wrong)]
    assert found["best_by_shape"] == [found["rows"][0]["key"], found["rows"][2]["key"]]


def ordered(wrong: Path) -> tuple[Task, ...]:
    return kernel_tasks([STREAM, wrong], [{"n": 4}, {"n": 6}], SETUP).tasks


def test_no_time_is_no_plan_until_it_is_tried_again(rows: Path) -> None:
    """The budget is part of what is asked, so that a row with another budget is another row."""
    command = ("sweep", STREAM, "--set", "n=4", "-o", rows, "--jobs", "1", "--no-cache")
    result = syncopt(*command, "--budget", "0")
    assert result.exit_code == 3
    assert "no-plan" in result.stdout
    assert syncopt(*command, "--budget", "0").exit_code == 3
    assert len(rows.read_text().splitlines()) == 1
    assert syncopt(*command, "--budget", "0", "--retry").exit_code == 3
    assert len(rows.read_text().splitlines()) == 2
    assert syncopt(*command).exit_code == 0
    assert [row.outcome for row in read_rows(rows)] == [Outcome.NO_PLAN, Outcome.OPTIMAL]


def test_plans_below_a_required_speedup(rows: Path) -> None:
    there(rows, streams(4, 6), FIGURES, replace(FIGURES, baseline=1100))
    command = ("sweep", STREAM, "--set", "n=4,6", "-o", rows)
    assert syncopt(*command, "--require-speedup", "1.1").exit_code == 0
    result = syncopt(*command, "--require-speedup", "1.2")
    assert result.exit_code == 1
    assert "1 plan below --require-speedup 1.2" in result.stderr


def test_best_tiling_of_each_shape_and_why(rows: Path) -> None:
    shapes = [{"M": 256, "N": 256, "K": 512}, {"M": 256, "N": 256, "K": 1024}]
    tasks = gemm_tasks(GemmForm(), ["128x256x512", "256x128x256"], shapes, SETUP).tasks
    there(rows, tasks, *(replace(FIGURES, cycles=cycles) for cycles in (1000, 990, 2000, 2001)))
    command = ("sweep", "gemm", "--m", "256", "--n", "256", "--k", "512:1024:512", "-o", rows)
    command = (*command, "--tilings", "128x256x512,256x128x256")
    best = syncopt(*command).stdout.partition("fastest per shape")[2].splitlines()
    header, first, second = (line.split() for line in best[1:4])
    assert header[:4] == ["tiling", "M", "N", "K"]
    assert first[:5] == ["256x128x256/256x128x64/b1/c1", "256", "256", "512", "990"]
    assert second[:5] == ["128x256x512/128x256x64/b2/c1", "256", "256", "1,024", "2,000"]
    assert "90.0 %" in best[2]
    assert (header[-1], first[-1]) == ("of", "2")
    found = document(syncopt(*command, "--json"))
    assert found["best_by_shape"] == [tasks[1].asked.key, tasks[2].asked.key]


def test_shapes_of_a_file(rows: Path, tmp_path: Path) -> None:
    there(rows, streams(4, 6), FIGURES, FIGURES)
    shapes = tmp_path / "shapes.csv"
    shapes.write_text("n\n4\n6\n")
    assert syncopt("sweep", STREAM, "--shapes", shapes, "-o", rows).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.pto"], "error: no kernel at none.pto"),
        ([STREAM, "--m", "5:1"], "error: --m '5:1': 5:1 does not go up"),
        ([STREAM, "--set", "n"], "error: --set 'n' is not NAME=VALUES"),
        ([STREAM, "--m", "1", "--set", "M=2"], "error: argument M is given twice"),
        ([STREAM, "--tilings", "auto"], "error: --tilings is about generated kernels"),
        (["gemm", "--m", "128"], "error: the shapes of a GEMM lack N and K"),
        (["gemm", "--m", "1", "--n", "1", "--k", "1"], "error: no tiling of auto divides M=1, N=1, K=1"),
        ([STREAM, "--jobs", "1", "--dask", "tcp://x"], "error: --jobs and --dask are two places"),
        ([STREAM, "--cache", "x", "--no-cache"], "error: --cache and --no-cache contradict each other"),
        ([STREAM, "--work", "inf"], "error: --work inf is not a finite number"),
        ([STREAM, "-o", STREAM], f"{STREAM}:1:1: error: not a row"),
    ],
)
def test_usage_is_refused_before_anything_is_solved(arguments: list[str | Path], message: str, rows: Path) -> None:
    assert message in refusal(syncopt("sweep", "-o", rows, *arguments))


def test_file_that_another_sweep_writes(rows: Path) -> None:
    with filled(rows):
        message = refusal(syncopt("sweep", STREAM, "--set", "n=4", "-o", rows))
    assert message.startswith(f"error: {rows} is being written by another sweep")


@pytest.fixture
def sample(rows: Path) -> Path:
    """Three rows of two kernels."""
    hand, plain = GEMM / "hand_synchronised.pto", GEMM / "double_buffered.pto"
    shapes = [{"M": m, "N": 512, "K": 512} for m in (128, 1024)]
    tasks = (*kernel_tasks([hand], shapes, SETUP).tasks, *kernel_tasks([plain], shapes[1:], SETUP).tasks)
    figures = [replace(FIGURES, cycles=cycles, beyond_l2=cycles == 900) for cycles in (100, 1000, 900)]
    there(rows, tasks, *figures)
    return rows


def test_results_are_a_table(sample: Path) -> None:
    result = syncopt("results", sample)
    assert result.exit_code == 0
    header, *table = (line.split() for line in result.stdout.splitlines()[:4])
    assert header[:6] == ["kernel", "M", "N", "K", "cycles", "speedup"]
    assert "1.100-2.000" in table[0]
    assert [line[0] for line in table] == ["hand_synchronised", "hand_synchronised", "double_buffered"]
    assert "the load rate is a guess" in result.stdout
    assert "3 rows" in result.stdout


@pytest.mark.parametrize(("width", "left"), [(72, "gap, bound_by"), (71, "on all machines, gap")])
def test_figures_are_left_out_whole_where_there_is_no_room(sample: Path, width: int, left: str) -> None:
    """Set in by 2; names 17 + 2, sizes 5 + 2, 3 + 2 and 3 + 2, cycles 6 + 2, speedup 7 + 2, its range 15 + 2: 72."""
    text = CliRunner(env={"COLUMNS": str(width)}).invoke(app(), ["results", str(sample)]).stdout
    assert "…" not in text
    assert "hand_synchronised    128  512  512     100" in text
    assert ("1.100-2.000" in text) == (width == 72)
    assert f"not shown, the terminal is too narrow: {left}" in " ".join(text.split())


def test_results_are_filtered_sorted_and_chosen(sample: Path) -> None:
    def kernels(*arguments: str) -> list[tuple[str, str]]:
        lines = syncopt("results", sample, "--columns", "kernel,cycles", *arguments).stdout.splitlines()
        cells = [line.split() for line in lines[1 : lines.index("")] if "beyond_l2" not in line]
        return [(kernel, cycles) for kernel, cycles in cells]

    assert kernels("--where", "m>=1024") == [("hand_synchronised", "1,000"), ("double_buffered", "900")]
    assert kernels("--where", "m>=1024", "--where", "kernel=hand*") == [("hand_synchronised", "1,000")]
    assert kernels("--best-by", "shape") == [("hand_synchronised", "100"), ("double_buffered", "900")]
    assert [cycles for _, cycles in kernels("--sort", "-cycles")] == ["1,000", "900", "100"]
    assert [kernel[0] for kernel, _ in kernels("--sort", "kernel")] == ["d", "h", "h"]


def test_results_as_one_document(sample: Path) -> None:
    found = document(syncopt("results", sample, "--where", "M=128", "--json"))
    assert [row["arguments"]["M"] for row in found["rows"]] == [128]
    assert found["rows"][0]["sensitivity"][1] == {
        "machine": "depth 16",
        "cycles": 1000,
        "baseline": 1100,
        "valid": True,
        "speedup": 1.1,
    }


def test_results_in_other_files(sample: Path, tmp_path: Path) -> None:
    names = {"csv": tmp_path / "r.csv", "parquet": tmp_path / "r.parquet", "plot": tmp_path / "r.svg"}
    options = [part for kind, path in names.items() for part in (f"--{kind}", path)]
    result = syncopt("results", sample, "--json", *options)
    assert result.exit_code == 0, result.output
    assert document(result)["outputs"] == {kind: str(path) for kind, path in names.items()}
    assert len(names["csv"].read_text().splitlines()) == 4
    assert names["parquet"].read_bytes().startswith(b"PAR1")
    assert "hand-written" in names["plot"].read_text()
    assert "exists already" in refusal(syncopt("results", sample, "--csv", names["csv"]))
    assert syncopt("results", sample, "--csv", names["csv"], "--force").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--where", "depth=1"], "error: no column 'depth'"),
        (["--best-by", "depth"], "error: no column 'depth'"),
        (["--columns", "depth"], "error: no column 'depth'"),
        (["--csv", "r.out", "--parquet", "./r.out"], "error: r.out is the file of two outputs"),
        (["--plot", "r.gif"], "error: r.gif is no picture"),
    ],
)
def test_results_refuse(sample: Path, arguments: list[str], message: str) -> None:
    assert message in refusal(syncopt("results", sample, *arguments))


def test_older_versions_are_left_out(sample: Path) -> None:
    (task,) = kernel_tasks([GEMM / "double_buffered.pto"], [{"M": 1024, "N": 512, "K": 512}], SETUP).tasks
    there(sample, (replace(task, versions=replace(task.versions, code="older")),), FIGURES)
    result = syncopt("results", sample, "--json")
    assert "note: 1 row of older versions left out" in result.stderr
    assert len(document(result)["rows"]) == 3
    assert len(document(syncopt("results", sample, "--json", "--all-versions"))["rows"]) == 4


def test_results_do_not_overwrite_themselves(sample: Path) -> None:
    assert "holds the rows themselves" in refusal(syncopt("results", sample, "--csv", sample, "--force"))


def test_rows_of_several_machines_are_not_drawn_together(sample: Path, tmp_path: Path) -> None:
    other = replace(SETUP, machine=load_machine("910b1"))
    there(sample, kernel_tasks([STREAM], [{"n": 4}], other).tasks, FIGURES)
    message = refusal(syncopt("results", sample, "--plot", tmp_path / "r.svg"))
    assert "these rows are of several machines" in message


def test_no_rows(rows: Path) -> None:
    rows.write_text("")
    assert "no rows" in syncopt("results", rows).stdout
    assert json.loads(syncopt("results", rows, "--json").stdout)["rows"] == []
    assert "cannot read" in refusal(syncopt("results", rows.parent / "none.jsonl"))
