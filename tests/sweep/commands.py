"""Sweeps as processes of their own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import ParamSpec, TypeVar

from syncopt.sweep.rows.results import opened, read_rows
from syncopt.sweep.rows.rowtext import document
from syncopt.sweep.run import run
from syncopt.sweep.workers import Workers
from tests.sweep.made import comparable, stream_task

ROOT = Path(__file__).parents[2]
PATIENCE = 300
"""Seconds after which something has hung: many times what it takes on a slow machine with much to do."""
P = ParamSpec("P")
T = TypeVar("T")


def started(*arguments: str, mark: str = "") -> subprocess.Popen[str]:
    """A module of this interpreter, run with arguments in a process group of its own.

    Parameters
    ----------
    arguments : str
        The module and its arguments.
    mark : str
        Value of `SYNCOPT_TEST` in its environment and that of its children.
    """
    # A shell has jobs in the background ignore Ctrl-C, and processes inherit that: these are to feel it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT), "SYNCOPT_TEST": mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            process_group=0,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def printed(process: subprocess.Popen[str]) -> str:
    """What a process has printed at its end; one that takes too long is killed."""
    try:
        return process.communicate(timeout=PATIENCE)[0]
    finally:
        process.kill()


def finished(process: subprocess.Popen[str]) -> str:
    """What a process has printed at its end, which must be a good one."""
    output = printed(process)
    assert process.returncode == 0, output
    return output


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for something, which a process brings about that runs until then, if one is given."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert process is None or process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def lines(path: Path) -> int:
    """Finished lines of a file."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


class Inline(Executor):
    """Does work where it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def swept_in_one_go(rows: Path, rounds: Iterable[int]) -> None:
    """The rows of a sweep that nothing ends, in this process."""
    with opened(rows) as results:
        run([stream_task(n) for n in rounds], results, Workers(Inline, 1), None)


def told(path: Path) -> dict[str, dict[str, object]]:
    """What the rows of a file say, by key, without what depends on when and where they were solved."""
    return {row.key: comparable(document(row)) for row in read_rows(path)}


def processes_with(variable: str) -> list[int]:
    """Processes with a variable, as `NAME=value`, in their environment."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found
