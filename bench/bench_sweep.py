"""What a second worker process brings: a sweep of distinct windows with every search done.

Both runs do the same work, so the ratio tells little on a machine that does other things meanwhile: load and processors
are printed with it.
"""

import os
import time
from pathlib import Path

from syncopt.api import Budget, load_machine
from syncopt.sweep import Row, Setup, kernel_tasks, local_workers, opened, processors, run, shapes

GEMM = Path(__file__).parents[1] / "instances" / "gemm" / "double_buffered.pto"
LEAST = 1.7
AXES = {"M": (128,), "N": (6144, 12288), "K": (1024, 1536, 2048, 2560)}
"""One and two tiles of C for core 0 of 24, in two to five K steps: no window is like another one."""


def test_two_processes_are_at_least_1_7_times_as_fast_as_one(tmp_path: Path) -> None:
    """Wall time of the same eight rows, by one process and by two."""
    one, rows = timed(tmp_path / "one.jsonl", 1)
    two, again = timed(tmp_path / "two.jsonl", 2)
    assert [row.key for row in rows] == [row.key for row in again]
    assert len({(row.figures.window_ops, row.figures.window_makespan) for row in rows if row.figures}) == len(rows)
    print(f"\n{len(rows)} rows: {one:.1f} s with one process, {two:.1f} s with two, ratio {one / two:.2f}", end="; ")
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(f"{processors()} processors, load {load} (1, 5, 15 minutes, this bench included)")
    assert one / two >= LEAST


def timed(file: Path, jobs: int) -> tuple[float, list[Row]]:
    """Wall seconds of the sweep, and its rows in the order of the tasks; the start of the processes is included."""
    setup = Setup(machine=load_machine("910b2"), budget=Budget(60))
    tasks = kernel_tasks([GEMM], shapes(AXES), setup).tasks
    began = time.monotonic()
    with opened(file) as results:
        run(tasks, results, local_workers(jobs), None)
        return time.monotonic() - began, [results.rows[task.asked.key] for task in tasks]
