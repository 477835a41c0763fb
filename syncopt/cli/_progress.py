"""Progress on stderr: one live line on a terminal, plain lines elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.status import Status

from syncopt.api import Step
from syncopt.api.words import count, percent


class Progress:
    """Says what is going on; a context manager."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self._console = console
        self._live = Status("reading", console=console) if console.is_terminal else None
        self._last = ""

    def __enter__(self) -> "Progress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def stage(self, text: str) -> None:
        """Something begins."""
        self._say(text)

    def step(self, step: Step) -> None:
        """The search knows more."""
        if step.bound:
            gap = (step.makespan - step.bound) / step.bound
            self._say(f"best {count(step.makespan)}, bound {count(step.bound)}, gap {percent(gap, 2)}")
        else:
            self._say(f"best {count(step.makespan)}, no bound yet")

    def cores(self, done: int, cores: int) -> None:
        """Some cores are replayed."""
        self._say(f"replayed {done} of {cores} cores")

    def _say(self, text: str) -> None:
        if text == self._last:
            return
        self._last = text
        line = f"{time.monotonic() - self._began:6.1f} s  {text}"
        if self._live is not None:
            self._live.update(line)
        else:
            self._console.print(line, soft_wrap=True)
