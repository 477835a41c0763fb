"""What a second worker process brings: a sweep of distinct windows with every search done.

The ratio of wall times tells little on a machine that does other things meanwhile, so its load is printed too, and the
processor time of the workers: where one process and two take the same, they do not get in each other's way.
"""

import os
import resource
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from syncopt.api import Budget, load_machine
from syncopt.sweep import Row, Setup, kernel_tasks, local_workers, opened, processors, run, shapes

GEMM = Path(__file__).parents[1] / "instances" / "gemm" / "double_buffered.pto"
LEAST = 1.7
ROUNDS = 3
AXES = {"M": (128,), "N": (18432, 12288, 6144), "K": (2560, 2048, 1536, 1024)}
"""Three to one tiles of C for core 0 of 24, in five to two K steps: no window is like another one, and the longest come
first, so that no process is left with a long one at the end."""


def test_two_processes_are_at_least_1_7_times_as_fast_as_one(tmp_path: Path) -> None:
    """Wall time of the same twelve rows, by one process and by two in turns; the median of the ratios counts."""
    ratios = [ratio_of_a_round(tmp_path, number) for number in range(ROUNDS)]
    print(f"median of {', '.join(f'{ratio:.2f}' for ratio in ratios)}: {median(ratios):.2f}")
    assert median(ratios) >= LEAST


def ratio_of_a_round(folder: Path, number: int) -> float:
    """One run by one process, one by two, on files of their own."""
    before = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    one, rows = timed(folder / f"one{number}.jsonl", 1)
    two, again = timed(folder / f"two{number}.jsonl", 2)
    assert [row.key for row in rows] == [row.key for row in again]
    assert len({(row.figures.window_ops, row.figures.window_makespan) for row in rows if row.figures}) == len(rows)
    print(f"\n{len(rows)} rows, wall time: {one.wall:.1f} s with one process, {two.wall:.1f} s with two", end="; ")
    print(f"processor time: {one.processor:.1f} s and {two.processor:.1f} s; ratio {one.wall / two.wall:.2f}")
    print(f"{processors()} processors; load before it began: {before} (1, 5, 15 minutes)")
    return one.wall / two.wall


class Seconds(NamedTuple):
    """Wall time of a sweep and processor time of its workers, their start included."""

    wall: float
    processor: float


def timed(file: Path, jobs: int) -> tuple[Seconds, list[Row]]:
    """How long a sweep takes, and its rows in the order of the tasks."""
    setup = Setup(machine=load_machine("910b2"), budget=Budget(60))
    tasks = kernel_tasks([GEMM], shapes(AXES), setup).tasks
    began, used = time.monotonic(), of_children()
    with opened(file) as results:
        run(tasks, results, local_workers(jobs), None)
        rows = [results.rows[task.asked.key] for task in tasks]
    return Seconds(time.monotonic() - began, of_children() - used), rows


def of_children() -> float:
    """Processor seconds of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
