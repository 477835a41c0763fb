"""Tasks in, rows out: what is done again, what is given up, what ends a sweep."""

from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import pytest

from syncopt.api import InputError
from syncopt.sweep.asked import Task
from syncopt.sweep.local import WorkerDied
from syncopt.sweep.rows.results import opened, read_rows
from syncopt.sweep.rows.row import Outcome, Row
from syncopt.sweep.run import run, to_do
from syncopt.sweep.workers import Workers
from tests.sweep.made import FIGURES, stream_task

P = ParamSpec("P")
T = TypeVar("T")


class Scripted(Executor):
    """Answers every task at once, with a row or with what a script has next for its number of rounds."""

    def __init__(self, script: dict[int, list[BaseException]]) -> None:
        self.script = script
        self.asked: list[int] = []
        self.waiting = 0

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        del fn, kwargs
        task = args[0]
        assert isinstance(task, Task)
        rounds = task.job.named["n"]
        self.asked.append(rounds)
        future: Future[Row] = Future()
        left = self.script.get(rounds)
        if left:
            future.set_exception(left.pop(0))
        else:
            future.set_result(Row(task.asked, Outcome.OPTIMAL, 1.0, FIGURES))
        return cast(Future[T], future)


def workers(executor: Executor, most: int = 1) -> Workers:
    @contextmanager
    def opening() -> Generator[Executor]:
        yield executor

    def open_it() -> AbstractContextManager[Executor]:
        return opening()

    return Workers(open_it, most)


TASKS = [stream_task(n) for n in (2, 3, 4)]


def outcomes(path: Path) -> dict[int, Outcome]:
    return {row.asked.arguments["n"]: row.outcome for row in read_rows(path)}


def swept(path: Path, executor: Executor, tasks: list[Task] = TASKS) -> dict[int, Outcome]:
    with opened(path) as results:
        run(to_do(tasks, results), results, workers(executor), None)
    return outcomes(path)


def test_every_task_gets_a_row(tmp_path: Path) -> None:
    executor = Scripted({})
    assert swept(tmp_path / "r", executor) == dict.fromkeys((2, 3, 4), Outcome.OPTIMAL)
    assert executor.asked == [2, 3, 4]


def test_rows_that_are_there_are_not_solved_again(tmp_path: Path) -> None:
    swept(tmp_path / "r", Scripted({}), TASKS[:2])
    executor = Scripted({})
    swept(tmp_path / "r", executor)
    assert executor.asked == [4]


def test_equal_tasks_are_solved_once(tmp_path: Path) -> None:
    executor = Scripted({})
    swept(tmp_path / "r", executor, [*TASKS, *TASKS])
    assert executor.asked == [2, 3, 4]


def test_task_whose_worker_died_is_done_again(tmp_path: Path) -> None:
    executor = Scripted({2: [WorkerDied("signal 9"), WorkerDied("signal 9")]})
    assert swept(tmp_path / "r", executor) == dict.fromkeys((2, 3, 4), Outcome.OPTIMAL)
    assert executor.asked == [2, 2, 2, 3, 4]


def test_task_that_takes_three_workers_with_it_is_given_up(tmp_path: Path) -> None:
    executor = Scripted({3: [WorkerDied("a worker process ended with signal 9")] * 3})
    found = swept(tmp_path / "r", executor)
    assert found == {2: Outcome.OPTIMAL, 3: Outcome.CRASHED, 4: Outcome.OPTIMAL}
    (row,) = (row for row in read_rows(tmp_path / "r") if row.outcome is Outcome.CRASHED)
    assert row.error == "WorkerDied: a worker process ended with signal 9"


def test_other_failures_are_rows_at_once(tmp_path: Path) -> None:
    executor = Scripted({2: [ZeroDivisionError("division by zero")]})
    assert swept(tmp_path / "r", executor)[2] is Outcome.CRASHED
    assert executor.asked == [2, 3, 4]


def test_failed_rows_are_solved_again_only_if_asked(tmp_path: Path) -> None:
    swept(tmp_path / "r", Scripted({2: [ZeroDivisionError()]}))
    assert swept(tmp_path / "r", Scripted({})) == {2: Outcome.CRASHED, 3: Outcome.OPTIMAL, 4: Outcome.OPTIMAL}
    with opened(tmp_path / "r") as results:
        left = to_do(TASKS, results, frozenset({Outcome.CRASHED}))
        run(left, results, workers(Scripted({})), None)
    assert outcomes(tmp_path / "r") == dict.fromkeys((2, 3, 4), Outcome.OPTIMAL)


@pytest.mark.parametrize("ending", [InputError("a worker runs other code"), KeyboardInterrupt()])
def test_what_ends_a_sweep_leaves_the_rows_so_far(tmp_path: Path, ending: BaseException) -> None:
    class Ended(Scripted):
        def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
            if len(self.asked) == 2 and isinstance(ending, KeyboardInterrupt):
                raise ending
            return super().submit(fn, *args, **kwargs)

    with pytest.raises(type(ending)):
        swept(tmp_path / "r", Ended({4: [ending]}))
    assert outcomes(tmp_path / "r") == {2: Outcome.OPTIMAL, 3: Outcome.OPTIMAL}


def test_workers_that_are_gone_end_a_sweep(tmp_path: Path) -> None:
    class Gone(Scripted):
        def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
            del fn, args, kwargs
            future: Future[T] = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(InputError, match="the workers are gone"):
        swept(tmp_path / "r", Gone({}))


def test_no_more_tasks_than_workers_take_are_handed_out(tmp_path: Path) -> None:
    class Counting(Scripted):
        open: int = 0
        most: int = 0

        def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
            self.open += 1
            self.most = max(self.most, self.open)
            return super().submit(fn, *args, **kwargs)

    executor = Counting({})

    def done(row: Row) -> None:
        del row
        executor.open -= 1

    with opened(tmp_path / "r") as results:
        run(TASKS, results, workers(executor, 2), None, done)
    assert executor.most == 2
