"""Progress of a sweep on stderr: a bar on a terminal, a line per row elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from syncopt.api.words import times
from syncopt.sweep import Outcome, Row, shape_of


class SweepProgress:
    """Says how many rows are there, how fast they come and how long the rest will take; a context manager.

    Parameters
    ----------
    total : int
        Rows to come.
    """

    def __init__(self, total: int) -> None:
        console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._console = console
        self._total = total
        self._began = time.monotonic()
        self._rows = self._solved = self._proven = 0
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
            disable=not console.is_terminal or not total,
        )
        self._task = self._bar.add_task(self._state(), total=total)

    def __enter__(self) -> "SweepProgress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, text: str) -> None:
        """A line that stays."""
        self._console.print(text, soft_wrap=True)

    def done(self, row: Row) -> None:
        """A row is there."""
        self._rows += 1
        self._solved += row.outcome.solved
        self._proven += row.outcome is Outcome.OPTIMAL
        if self._bar.disable:
            self.say(f"{self._seconds:6.1f} s  {self._rows} of {self._total}  {_in_short(row)}; {self._state()}")
        elif not row.outcome.solved:
            self.say(_in_short(row))
        self._bar.update(self._task, advance=1, description=self._state())

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began

    def _state(self) -> str:
        counts = f"{self._solved} solved, {self._proven} proven, {self._rows - self._solved} failed"
        if not self._rows:
            return counts
        rate = self._rows / self._seconds
        left = (self._total - self._rows) / rate
        return f"{counts}; {60 * rate:.1f} rows/min, {_duration(left)} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"


def _in_short(row: Row) -> str:
    """A row in a few words."""
    what = ", ".join(part for part in (row.asked.tiling or row.asked.kernel, shape_of(row)) if part)
    if row.figures is None:
        return f"{what}: {row.outcome.value}: {row.error.splitlines()[0]}"
    speedup = "" if row.figures.speedup is None else f", {times(row.figures.speedup)} times as fast"
    return f"{what}: {row.outcome.value}{speedup}"
