"""Sweeps on the workers of a Dask scheduler: processes of their own, of which one is killed."""

import importlib
import json
import signal
import subprocess
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from syncopt.api import InputError
from syncopt.sweep.cluster import dask_cluster
from tests.sweep.commands import PATIENCE, finished, printed, started, swept_in_one_go, told, wait_until
from tests.sweep.held import held
from tests.sweep.made import STREAM

ROUNDS = range(2, 7)
"""The first has a search of its own, the others have one in common, which is held until a worker was killed."""
ROWS = len(ROUNDS)


@contextmanager
def running(*arguments: str) -> Generator[subprocess.Popen[str]]:
    process = started(*arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def sweep(rows: Path, *more: str) -> tuple[str, ...]:
    rounds = ",".join(map(str, ROUNDS))
    return ("syncopt", "sweep", str(STREAM), "--set", f"n={rounds}", "-o", str(rows), *more)


def wait_for_workers(address: str, number: int) -> None:
    """Wait until a scheduler knows so many workers, each of which then gets some of the tasks."""
    client: Any = importlib.import_module("distributed").Client(address, timeout=PATIENCE, set_as_default=False)
    try:
        client.wait_for_workers(number, timeout=PATIENCE)
    finally:
        client.close()


def test_worker_that_is_killed_is_replaced_by_the_others(tmp_path: Path) -> None:
    """Two workers, one killed in the midst of its work: that is done by the other, and every row is there."""
    plans = tmp_path / "plans"
    there, rows, whole = tmp_path / "scheduler.json", tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    here = ("--scheduler-file", str(there), "--host", "127.0.0.1", "--no-dashboard")
    worker = (*here, "--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path))
    with ExitStack() as stack:
        scheduler = stack.enter_context(running("distributed.cli.dask_scheduler", *here, "--port", "0"))
        one, other = (stack.enter_context(running("distributed.cli.dask_worker", *worker)) for _ in range(2))
        wait_until(lambda: there.exists() and bool(there.read_text()), scheduler)
        address: str = json.loads(there.read_text())["address"]
        wait_for_workers(address, 2)
        with held(plans, ROUNDS[1]) as search:
            command = stack.enter_context(running(*sweep(rows, "--dask", address, "--cache", str(plans))))
            wait_until(lambda: search.stops(one.pid) and search.stops(other.pid), command)
            one.send_signal(signal.SIGKILL)
            one.wait()
        output = finished(command)
    assert f"{ROWS} rows: {ROWS} solved, {ROWS} of them proven optimal, 0 failed; " in output
    swept_in_one_go(whole, ROUNDS)
    assert told(rows) == told(whole)


def test_no_scheduler_at_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncopt.sweep.cluster._SECONDS_TO_ANSWER", 0.2)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        dask_cluster("tcp://127.0.0.1:9").__enter__()


def test_address_that_is_none() -> None:
    with pytest.raises(InputError, match="no Dask scheduler answers at nowhere"):
        dask_cluster("nowhere").__enter__()


def test_client_that_found_nobody_is_gone(tmp_path: Path) -> None:
    """Nothing waits for it at the end of the process, or prints how that went."""
    command = started(*sweep(tmp_path / "rows.jsonl", "--no-cache", "--dask", "nowhere"))
    output = printed(command)
    assert command.returncode == 2
    assert output.startswith("error: no Dask scheduler answers at nowhere: ")
    assert "Traceback" not in output
