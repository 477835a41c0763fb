"""Sweeps that are ended midway go on without loss and without repeat."""

import os
import signal
import time
from pathlib import Path

from tests.sweep.commands import finished, lines, printed, processes_with, started, swept_in_one_go, told, wait_until
from tests.sweep.made import STREAM

ROUNDS = range(2, 82, 2)
"""So many that a signal behind the second row comes long before the last."""
LEFT = 3
"""Rows that are solved after such an end."""


def sweep(rows: Path, *more: str, counts: range = ROUNDS) -> tuple[str, ...]:
    rounds = ",".join(map(str, counts))
    return ("syncopt", "sweep", str(STREAM), "--set", f"n={rounds}", "--jobs", "1", "-o", str(rows), *more)


def test_sweep_that_was_killed_goes_on(tmp_path: Path) -> None:
    """Killed after two rows or more, another one torn: some more are solved, and all rows are as without any end."""
    rows, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    killed = started(*sweep(rows, "--no-cache"))
    wait_until(lambda: lines(rows) >= 2, killed)
    killed.send_signal(signal.SIGKILL)
    printed(killed)
    there = lines(rows)
    counts = ROUNDS[: there + LEFT]
    assert 2 <= there == len(counts) - LEFT
    before = rows.read_bytes()[: rows.read_bytes().rfind(b"\n") + 1]
    rows.write_bytes(before + before[:50])
    output = finished(started(*sweep(rows, "--cache", str(tmp_path / "plans"), counts=counts)))
    assert f"note: {there} rows in {rows} already" in output
    assert "50 bytes of an unfinished row" in output
    assert f"1 of {LEFT} " in output
    assert rows.read_bytes().startswith(before)
    assert lines(rows) == len(counts)
    swept_in_one_go(whole, counts)
    assert told(rows) == told(whole)
    assert len(told(rows)) == len(counts)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    """As the terminal sends it: to the whole group of the command, which the workers have left."""
    rows, mark = tmp_path / "rows.jsonl", str(tmp_path)
    command = started(*sweep(rows, "--no-cache"), mark=mark)
    wait_until(lambda: lines(rows) >= 2, command)
    os.killpg(command.pid, signal.SIGINT)
    output = printed(command)
    assert command.returncode == 130
    there = len(told(rows))
    assert 2 <= there < len(ROUNDS)
    assert f"interrupted: {there} rows in {rows} are kept; the same command goes on from there" in output
    assert "Traceback" not in output
    assert all(row["status"] == "optimal" for row in told(rows).values())
    assert all_gone(mark)


def all_gone(mark: str) -> bool:
    """Whether no process of a sweep is left within ten seconds."""
    for _ in range(200):
        if not processes_with(f"SYNCOPT_TEST={mark}"):
            return True
        time.sleep(0.05)
    return False
