"""One way to run a kernel: trip counts, conditions, branches on data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple, Protocol

from syncopt.check.starts import Start
from syncopt.ir.forcing import ForcedTrips, TripCounts
from syncopt.ir.kernel import For, If
from syncopt.ir.runtime import Environment, RuntimeValue
from syncopt.ir.trace import Iteration, Setting

AS_GIVEN = "the given arguments"
"""What an execution without anything forced is called."""


class Branches(Enum):
    """Which way the ifs go whose condition depends on data; `ALTERNATING`: then and else in turn, round by round."""

    THEN = "then"
    ELSE = "else"
    ALTERNATING = "alternating"

    def __str__(self) -> str:
        return self.value


class Heads(Protocol):
    """Is told at the head of every loop iteration, and behind the last one."""

    def head(
        self, loop: For, iteration: Iteration, carried: Sequence[RuntimeValue], env: Environment, decided: "Decided"
    ) -> None:
        """As `Overrides.head`, with what conditions on data have decided so far."""
        ...


class Decided(NamedTuple):
    """How many conditions on data have been decided, and which ways of those that can still be asked again."""

    number: int
    still_open: frozenset[tuple[int, bool]]


@dataclass(frozen=True, slots=True)
class Execution:
    """One way to run a kernel.

    Parameters
    ----------
    counts : mapping of group index to int
        Trip counts, by the groups of `TripCounts`.
    choices : mapping of value number to bool
        Values of the conditions that only the arguments decide.
    branches : Branches
        Which way ifs go that depend on data.
    instructions : int
        About how many instructions it has, both arms of every `if` counted.
    text : str
        Counts and choices in words.
    short : int
        By how much the loops' upper bounds fall short of a whole number of steps (at most a step less one).
    decisions : tuple of bool
        Which way the first ifs go whose condition depends on data, in the order in which they come; `branches` for
        those behind them.
    start : Start or None
        An argument, or the block index, that has another value than given.
    """

    counts: Mapping[int, int]
    choices: Mapping[int, bool]
    branches: Branches
    instructions: int
    text: str
    short: int = 0
    decisions: tuple[bool, ...] = ()
    start: Start | None = None

    def __str__(self) -> str:
        return self.text

    def size(self) -> tuple[int, tuple[int, ...]]:
        """What makes one execution shorter than another."""
        return self.instructions, (*self.counts.values(), self.short, self.start is not None)

    def deciding(self, decisions: tuple[bool, ...]) -> "Execution":
        """The same, with the first ifs on data going these ways."""
        ways = ", ".join("then" if decision else "else" for decision in decisions)
        words = [*([] if self.text == AS_GIVEN else [self.text]), f"conditions on data {ways}"]
        return replace(self, decisions=decisions, text=", ".join(words) if decisions else self.text)

    def starting(self, start: Start) -> "Execution":
        """The same from another start."""
        return replace(self, start=start, text=str(start) if self.text == AS_GIVEN else f"{self.text}, {start}")

    def setting(self, given: Setting) -> Setting:
        """The setting that it runs in."""
        return given if self.start is None else self.start.of(given)

    def overrides(self, trips: TripCounts, setting: Setting, heads: Heads | None = None) -> "ExecutionTrips":
        """What makes a tracer run it in its setting."""
        return ExecutionTrips(trips, self, setting, heads)


class ExecutionTrips(ForcedTrips):
    """The overrides of an execution; `taken` says which way the conditions went that depend on data."""

    def __init__(self, trips: TripCounts, execution: Execution, setting: Setting, heads: Heads | None = None) -> None:
        super().__init__(trips, execution.counts, execution.choices, setting=setting, short=execution.short)
        self.taken: list[bool] = []
        self._decisions = execution.decisions
        self._branches = execution.branches
        self._heads = heads
        self._decided: dict[tuple[int, Iteration], bool] = {}

    @property
    def met_data(self) -> bool:
        """Whether a condition was met that depends on data."""
        return bool(self.taken)

    @property
    def data(self) -> frozenset[int]:
        """Numbers of the values that depend on data."""
        return frozenset(number for number, _ in self._decided)

    def unknown_branch(self, op: If, iteration: Iteration) -> bool:
        """As decided; behind the decisions then, else, or by the parity of the innermost loop.

        A value that is asked again, by another `if` or in another round of an inner loop, gives the same answer.
        """
        key = self.trips.numbers[op.condition], iteration[: self.trips.depth_of(op.condition)]
        if key not in self._decided:
            self._decided[key] = self._decide(iteration)
            self.taken.append(self._decided[key])
        return self._decided[key]

    def _decide(self, iteration: Iteration) -> bool:
        if len(self.taken) < len(self._decisions):
            return self._decisions[len(self.taken)]
        if self._branches is Branches.ALTERNATING:
            return not iteration or iteration[-1] % 2 == 0
        return self._branches is Branches.THEN

    def head(self, loop: For, iteration: Iteration, carried: Sequence[RuntimeValue], env: Environment) -> None:
        """Hand on to whoever looks at heads."""
        if self._heads is not None:
            around = iteration[:-1]
            still_open = ((number, way) for (number, at), way in self._decided.items() if at == around[: len(at)])
            self._heads.head(loop, iteration, carried, env, Decided(len(self.taken), frozenset(still_open)))
