"""Worker processes: results, errors, deaths, and the end of all."""

import os
import signal
import subprocess
import sys
from concurrent.futures import CancelledError, Executor
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from syncopt.api import InputError
from syncopt.sweep.local import LocalProcesses, WorkerDied, local_processes
from syncopt.sweep.rows.results import opened
from syncopt.sweep.run import run
from syncopt.sweep.workers import local_workers
from tests.sweep import calls
from tests.sweep.commands import PATIENCE, wait_until
from tests.sweep.made import stream_task


def gone(process: int) -> bool:
    """Whether a process has ended; one that nobody has asked for its status may still be listed."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def at_work(began: Path) -> int:
    """The process that does `calls.sleep`, as soon as it does."""
    wait_until(lambda: began.exists() and began.read_text().endswith("\n"))
    return int(began.read_text())


def test_work_is_done_elsewhere_and_errors_come_back() -> None:
    with local_processes(1) as executor:
        assert executor.submit(calls.process).result() != os.getpid()
        with pytest.raises(ValueError, match="no such thing"):
            executor.submit(calls.fail, "no such thing").result()
        assert executor.submit(calls.double, 4).result() == 8


def killed_while_it_works(executor: Executor, tmp_path: Path) -> int:
    """Have a worker killed in the midst of its work; its process id."""
    began = tmp_path / "began"
    work = executor.submit(calls.sleep, str(began))
    process = at_work(began)
    os.kill(process, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="a worker process ended with signal 9"):
        work.result(PATIENCE)
    return process


def test_death_of_a_worker_is_that_of_its_work_alone(tmp_path: Path) -> None:
    with local_processes(1) as executor:
        killed = killed_while_it_works(executor, tmp_path)
        assert executor.submit(calls.process).result() != killed


def test_exit_of_a_worker_is_its_death() -> None:
    with local_processes(1) as executor, pytest.raises(WorkerDied, match="ended with exit status 7"):
        executor.submit(calls.leave, 7).result(PATIENCE)


def test_end_ends_work_that_has_begun_and_cancels_the_rest(tmp_path: Path) -> None:
    began = tmp_path / "began"
    with local_processes(1) as executor:
        first, second = executor.submit(calls.sleep, str(began)), executor.submit(calls.process)
        worker = at_work(began)
    with pytest.raises(WorkerDied):
        first.result(PATIENCE)
    with pytest.raises(CancelledError):
        second.result(PATIENCE)
    assert gone(worker)


def test_worker_that_cannot_be_started_ends_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is written for what no worker has tried: with the folder back, the same sweep solves everything."""

    def fails(self: SpawnProcess) -> None:
        del self
        raise FileNotFoundError("No such file or directory")

    rows = tmp_path / "rows.jsonl"
    with opened(rows) as results:
        with monkeypatch.context() as patch:
            patch.setattr(SpawnProcess, "start", fails)
            with pytest.raises(InputError, match="cannot start a worker process: No such file or directory"):
                run([stream_task(2), stream_task(3)], results, local_workers(1), None)
        assert results.rows == {}
        run([stream_task(2)], results, local_workers(1), None)
        assert len(results.rows) == 1


def test_shutdown_waits_for_what_was_submitted() -> None:
    executor = LocalProcesses(1)
    work = executor.submit(calls.double, 2)
    executor.shutdown()
    assert work.result(0) == 4


PARENT = """
from syncopt.sweep.local import LocalProcesses
from tests.sweep import calls
if __name__ == "__main__":
    LocalProcesses(1).submit(calls.sleep, {began!r}).result()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_process_that_began_them(tmp_path: Path, number: signal.Signals) -> None:
    """Though nobody tells them, and they are in the midst of their work."""
    began, script = tmp_path / "began", tmp_path / "parent.py"
    script.write_text(PARENT.format(began=str(began)))
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen([sys.executable, str(script)], env=environment) as parent:
        worker = at_work(began)
        parent.send_signal(number)
        parent.wait(PATIENCE)
    wait_until(lambda: gone(worker))
