"""A sweep: tasks in, rows out, as they come."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from pathlib import Path

from syncopt.api import InputError
from syncopt.sweep.asked import Task
from syncopt.sweep.local import WorkerDied
from syncopt.sweep.rows.results import Results
from syncopt.sweep.rows.row import Outcome, Row
from syncopt.sweep.solving import solved_row
from syncopt.sweep.workers import Workers

_ATTEMPTS = 3
"""Workers that a task may take with it before it is given up."""


def to_do(tasks: Iterable[Task], results: Results, retry: frozenset[Outcome] = frozenset()) -> tuple[Task, ...]:
    """The tasks without a row, or with one of an outcome that is to be tried again, each key once."""
    left: dict[str, Task] = {}
    for task in tasks:
        row = results.rows.get(task.asked.key)
        if row is None or row.outcome in retry:
            left.setdefault(task.asked.key, task)
    return tuple(left.values())


def run(
    tasks: Iterable[Task],
    results: Results,
    workers: Workers,
    folder: Path | None,
    done: Callable[[Row], None] = lambda _: None,
) -> None:
    """Solve tasks and write a row for each as soon as it is there.

    A row whose solve fails says how, and the sweep goes on. A task whose worker died is done again by another one, and
    given up after three. Whatever ends the sweep early, the rows that were written stay.

    Parameters
    ----------
    tasks : iterable of Task
        See `to_do`.
    results : Results
        Where the rows go.
    workers : Workers
        Where tasks are solved.
    folder : Path or None
        Where plans are kept that several rows share; None to do every search.
    done : callable
        Is told every row.

    Raises
    ------
    InputError
        If the executor cannot be opened or is gone, or a worker cannot be used for the sweep.
    """
    with workers.open() as executor:
        sweep = _Sweep(executor, folder, deque(tasks))
        while sweep.left or sweep.running:
            sweep.fill(workers.most)
            for row in sweep.finished():
                results.append(row)
                done(row)


@dataclass
class _Sweep:
    executor: Executor
    folder: Path | None
    left: deque[Task]
    running: dict[Future[Row], Task] = field(default_factory=dict[Future[Row], Task])
    begun: dict[str, float] = field(default_factory=dict[str, float])
    died: dict[str, int] = field(default_factory=dict[str, int])

    def fill(self, most: int) -> None:
        """Hand out tasks, so that there is no worker without."""
        while self.left and len(self.running) < most:
            task = self.left.popleft()
            self.begun.setdefault(task.asked.key, time.monotonic())
            self.running[self.executor.submit(solved_row, task, self.folder)] = task

    def finished(self) -> list[Row]:
        """The rows of what is through; waits for the first."""
        through = wait(self.running, return_when=FIRST_COMPLETED).done
        rows = [self._row(future, self.running.pop(future)) for future in through]
        return [row for row in rows if row is not None]

    def _row(self, future: Future[Row], task: Task) -> Row | None:
        """The row of a task; None if the task is to be done again."""
        if future.cancelled():
            raise InputError(
                "the workers are gone", help="the rows so far are kept; the same command goes on from there"
            )
        error = future.exception()
        if error is None:
            return future.result()
        if isinstance(error, InputError):
            raise error
        if isinstance(error, WorkerDied) and self._may_be_tried_again(task):
            self.left.appendleft(task)
            return None
        seconds = time.monotonic() - self.begun[task.asked.key]
        return Row(task.asked, Outcome.CRASHED, seconds, None, f"{type(error).__name__}: {error}")

    def _may_be_tried_again(self, task: Task) -> bool:
        key = task.asked.key
        self.died[key] = self.died.get(key, 0) + 1
        return self.died[key] < _ATTEMPTS
