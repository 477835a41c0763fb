"""Sweeps that are ended midway go on without loss and without repeat."""

import os
import signal
from pathlib import Path

from tests.sweep.commands import finished, lines, printed, processes_with, started, swept_in_one_go, told, wait_until
from tests.sweep.held import held
from tests.sweep.made import STREAM

ROUNDS = range(2, 7)
"""The first has a search of its own, the others have one in common, which is held until the sweep was ended."""


def sweep(folder: Path) -> tuple[str, ...]:
    rounds = ",".join(map(str, ROUNDS))
    places = ("--cache", str(folder / "plans"), "-o", str(folder / "rows.jsonl"))
    return ("syncopt", "sweep", str(STREAM), "--set", f"n={rounds}", "--jobs", "1", *places)


def test_sweep_that_was_killed_goes_on(tmp_path: Path) -> None:
    """Killed after one row, as if in the midst of another: the rest is solved, and all rows are as without any end."""
    rows, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    with held(tmp_path / "plans", ROUNDS[1]):
        killed = started(*sweep(tmp_path))
        wait_until(lambda: lines(rows) == 1, killed)
        killed.send_signal(signal.SIGKILL)
        printed(killed)
    before = rows.read_bytes()
    rows.write_bytes(before + before[:50])
    output = finished(started(*sweep(tmp_path)))
    assert f"note: 1 row in {rows} already" in output
    assert "50 bytes of an unfinished row" in output
    assert "1 of 4 " in output
    assert rows.read_bytes().startswith(before)
    assert lines(rows) == len(ROUNDS)
    swept_in_one_go(whole, ROUNDS)
    assert told(rows) == told(whole)
    assert len(told(rows)) == len(ROUNDS)


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    """As the terminal sends it: to the whole group of the command, which the workers have left."""
    rows, mark = tmp_path / "rows.jsonl", str(tmp_path)
    with held(tmp_path / "plans", ROUNDS[1]) as search:
        command = started(*sweep(tmp_path), mark=mark)
        wait_until(lambda: any(map(search.stops, marked(mark))), command)
        os.killpg(command.pid, signal.SIGINT)
        output = printed(command)
    assert command.returncode == 130
    (row,) = told(rows).values()
    assert row["status"] == "optimal"
    assert f"interrupted: 1 row in {rows} are kept; the same command goes on from there" in output
    assert "Traceback" not in output
    wait_until(lambda: marked(mark) == [])


def marked(mark: str) -> list[int]:
    """The processes of a command and its children."""
    return processes_with(f"SYNCOPT_TEST={mark}")
