"""Searches that wait until a test lets them go on, so that it ends a sweep at a point that it chooses."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from syncopt.api import Request, solve
from syncopt.sweep.plans import PlanFolder
from syncopt.sweep.versions import versions
from tests.sweep.made import stream_task


@dataclass(frozen=True)
class Held:
    """Searches that are held, by the file that they wait for."""

    lock: Path

    def stops(self, process: int) -> bool:
        """Whether a process waits, in the midst of its work."""
        try:
            return self.lock in {file.readlink() for file in Path(f"/proc/{process}/fd").iterdir()}
        except OSError:
            return False  # it has ended, or closed a file meanwhile


@contextmanager
def held(plans: Path, rounds: int) -> Generator[Held]:
    """Hold the search of `stream_task(rounds)` in sweeps with a folder of plans for as long as the context is open.

    Tasks with the same window have the same search. Three rounds and more have one window, two have their own.
    """
    key = _key(rounds)
    with PlanFolder(plans, versions()).alone(key):
        (lock,) = plans.rglob("*.lock")
        yield Held(lock)


class _Noted:
    """Keeps no plans, but notes what is searched."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    @contextmanager
    def alone(self, key: str) -> Generator[None]:
        self.keys.append(key)
        yield

    def get(self, key: str) -> None:
        del key

    def put(self, key: str, text: str) -> None:
        del key, text


def _key(rounds: int) -> str:
    """What the first search of a task is kept under."""
    task, noted = stream_task(rounds), _Noted()
    solve(task.job, Request(task.order, task.budget, plans=noted))
    return noted.keys[0]
