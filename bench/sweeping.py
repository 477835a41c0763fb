"""What the sweeps behind pages of `docs` have in common: how they are run, and how their pages are written."""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from syncopt.sweep import Outcome, Row, Task, local_workers, opened, processors, run, to_do

ROOT = Path(__file__).parents[1]
_FAILED = frozenset(outcome for outcome in Outcome if not outcome.solved)


@dataclass(frozen=True)
class Swept:
    """The rows of a sweep in the order of its tasks, and how long it took.

    Parameters
    ----------
    rows : tuple of Row
        One per task.
    seconds : float
        Wall time of this run.
    there_before : int
        Rows that were there before it.
    jobs : int
        Worker processes.
    """

    rows: tuple[Row, ...]
    seconds: float
    there_before: int
    jobs: int

    @property
    def time(self) -> str:
        """How long it took, in words."""
        remembered = sum(row.figures is not None and row.figures.remembered for row in self.rows)
        searches = f"{len(self.rows) - remembered} searches for {len(self.rows)} rows"
        in_all = sum(row.seconds for row in self.rows)
        if self.there_before:
            return f"{searches}, {in_all:.0f} s of one process in all"
        return f"{searches}, {self.seconds:.0f} s with {self.jobs} processes ({in_all:.0f} s of one process in all)"


def swept(tasks: Sequence[Task], file: Path, jobs: int) -> Swept:
    """Solve tasks, the rows of which go to a file; plans that it holds already are not searched again."""
    began = time.monotonic()
    file.parent.mkdir(exist_ok=True)
    with TemporaryDirectory() as plans, opened(file) as results:
        left = to_do(tasks, results, _FAILED)
        there = len(tasks) - len(left)
        print(f"{len(left)} rows to solve, {there} in {file} already", flush=True)

        def done(row: Row) -> None:
            figures = row.figures
            what = f"{row.asked.tiling or Path(row.asked.kernel).stem} {dict(row.asked.arguments)}"
            worth = row.error if figures is None else f"{figures.cycles:,} cycles in {row.seconds:.1f} s"
            print(f"{time.monotonic() - began:6.1f} s  {what}: {row.outcome.value}, {worth}", flush=True)

        run(left, results, local_workers(jobs), Path(plans), done)
        rows = tuple(results.rows[task.asked.key] for task in tasks)
    found = Swept(rows, time.monotonic() - began, there, jobs)
    print(f"total: {found.time}", flush=True)
    return found


def jobs_of(description: str | None) -> int:
    """The number of worker processes that the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--jobs", type=int, default=processors())
    return int(parser.parse_args().jobs)


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; columns whose header begins with `>` hold figures."""
    names = [name.removeprefix(">") for name in header]
    rules = ["--:" if name.startswith(">") else "---" for name in header]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rules, *lines))
