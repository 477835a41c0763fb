"""Worker processes on this machine, one solve at a time in each."""

import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import NamedTuple, ParamSpec, TypeVar, cast

from syncopt.api import InputError

P = ParamSpec("P")
T = TypeVar("T")

_CONTEXT = get_context("spawn")


class WorkerDied(Exception):  # noqa: N818 - what happened to it, not a fault of the work
    """A worker process ended in the midst of its work."""


class _Work(NamedTuple):
    future: Future[object]
    call: tuple[Callable[..., object], tuple[object, ...], dict[str, object]]


class LocalProcesses(Executor):
    """An executor of worker processes of which any may die: only the work that it did fails, with `WorkerDied`.

    Workers are not reached by Ctrl-C on the terminal, and end when this process does, however it ends.

    Parameters
    ----------
    processes : int
        How many; each is started when it is first needed.
    """

    def __init__(self, processes: int) -> None:
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._closing = threading.Event()
        self._workers = [_Worker() for _ in range(processes)]
        self._threads = [threading.Thread(target=self._serve, args=[worker], daemon=True) for worker in self._workers]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        self._queue.put(_Work(cast(Future[object], future), (fn, args, kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """As that of any executor; with `cancel_futures`, work that has begun is ended too."""
        if cancel_futures:
            self._closing.set()
            for worker in self._workers:
                worker.end()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _serve(self, worker: "_Worker") -> None:
        """Hand work to one worker, piece by piece."""
        while (work := self._queue.get()) is not None:
            if self._closing.is_set() or not work.future.set_running_or_notify_cancel():
                work.future.cancel()
                continue
            try:
                result, error = worker.answer(work.call)
            except Exception as failure:  # noqa: BLE001 - whatever it is belongs to the future
                result, error = None, failure
            if error is None:
                work.future.set_result(result)
            else:
                work.future.set_exception(error)
        worker.end()


class _Worker:
    """One worker process, started again after it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended = False
        self._line: Connection | None = None
        self._process = _CONTEXT.Process()

    def answer(self, call: object) -> tuple[object, BaseException | None]:
        """Have a call made: its result, or what it raised."""
        line = self._started()
        try:
            line.send(call)
            # A worker that was killed leaves nothing to read.
            connection.wait([line, self._process.sentinel])
            return line.recv()
        except (EOFError, OSError):
            self._process.join()
            self._line = None
            return None, WorkerDied(f"a worker process ended with {_ending(self._process.exitcode)}")

    def end(self) -> None:
        """End the process at once, for good."""
        with self._lock:
            self._ended = True
            if self._line is not None:
                self._process.kill()
                self._process.join()

    def _started(self) -> Connection:
        with self._lock:
            if self._ended:
                raise WorkerDied("the sweep was ended")
            if self._line is None or not self._process.is_alive():
                self._line = self._start()
            return self._line

    def _start(self) -> Connection:
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_work, args=[theirs], daemon=True)
        try:
            process.start()
        except OSError as error:
            # No other task would fare better, so this is the end of the sweep, not of a row.
            self._line = None
            raise InputError(f"cannot start a worker process: {error}") from error
        finally:
            theirs.close()
        self._process = process
        return ours


def _ending(code: int | None) -> str:
    """How a process ended, in words."""
    return f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"


def _work(line: Connection) -> None:
    """What a worker process does until nobody is at the other end."""
    # A group of its own: Ctrl-C on the terminal is for the process that the sweep was begun with.
    os.setpgid(0, 0)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            function, args, kwargs = line.recv()
        except EOFError:
            return
        line.send(_called(function, args, kwargs))


def _called(
    function: Callable[..., object], args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[object, BaseException | None]:
    try:
        return function(*args, **kwargs), None
    except Exception as error:  # noqa: BLE001 - whatever it is goes to who asked
        return None, error


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


@contextmanager
def local_processes(processes: int) -> Generator[Executor]:
    """Worker processes for as long as the context is open; at its end work that has begun is ended."""
    executor = LocalProcesses(processes)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)
