"""One row of a sweep: what was asked and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from syncopt.sweep.asked import Asked


class Outcome(Enum):
    """What came of a solve.

    `BAD_INPUT`: kernel, arguments or machine were refused. `NO_PLAN`: the budget ended before there was any plan.
    `WRONG_PLAN` and `CRASHED` are faults of syncopt, or of the machine that it ran on.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    BAD_INPUT = "bad-input"
    NO_PLAN = "no-plan"
    WRONG_PLAN = "wrong-plan"
    CRASHED = "crashed"

    @property
    def solved(self) -> bool:
        """Whether there is a plan."""
        return self in (Outcome.OPTIMAL, Outcome.FEASIBLE)


@dataclass(frozen=True, slots=True)
class OnMachine:
    """Cycles of plan and baseline on one of the sensitivity machines; `speedup` is None where one of them hangs."""

    machine: str
    cycles: int
    baseline: int
    valid: bool
    speedup: float | None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a plan is worth.

    Parameters
    ----------
    name : str
        Of the kernel's function.
    cycles, lower_bound : int
        Replay of the plan on the full shape, and a bound for any order of its ops.
    bound_by : str
        What sets that bound: a pipe, or `buffers`.
    window_ops, window_makespan, window_bound : int
        Tile ops of the window, its makespan and the bound that the search proved, in cycles.
    baseline : int
        Cycles of the baseline.
    baseline_kind : str
        `as-written` or `fixed-order`.
    baseline_valid, baseline_hangs : bool
        Whether the execution of the given arguments shows no fault, and whether it never ends.
    sensitivity : tuple of OnMachine
        Plan and baseline on the sensitivity machines.
    busy : mapping of pipe to float
        Share of the cycles for which each pipe was occupied.
    sets, waits, barriers : int
        Flags and barriers that the plan executes.
    matmuls, loads, loaded_bytes : int
        What the core executes, and what it loads from global memory.
    operand_bytes : int or None
        Bytes of the tensors that are loaded from; None where the arguments do not tell.
    beyond_l2 : bool or None
        Whether they exceed the L2 cache: the load rate is a guess then. None where their size is not known.
    microseconds : float
        At the clock of the machine, launch included.
    tflops : float or None
        2 * M * N * K by that time, of the kernels that compute a GEMM; see `tflops_of`.
    remembered : bool
        Whether the search was done for another row, whose window is the same.
    search_seconds : float
        Wall time of the search, or of finding it again.
    """

    name: str
    cycles: int
    lower_bound: int
    bound_by: str
    window_ops: int
    window_makespan: int
    window_bound: int
    baseline: int
    baseline_kind: str
    baseline_valid: bool
    baseline_hangs: bool
    sensitivity: tuple[OnMachine, ...]
    busy: Mapping[str, float]
    sets: int
    waits: int
    barriers: int
    matmuls: int
    loads: int
    loaded_bytes: int
    operand_bytes: int | None
    beyond_l2: bool | None
    microseconds: float
    tflops: float | None
    remembered: bool
    search_seconds: float

    @property
    def gap(self) -> float:
        """Distance of the cycles from their bound, as a fraction of the bound."""
        return (self.cycles - self.lower_bound) / self.lower_bound if self.lower_bound else 0.0

    @property
    def speedup(self) -> float | None:
        """Baseline cycles per plan cycle; None where the baseline hangs."""
        return None if self.baseline_hangs or not self.cycles else self.baseline / self.cycles

    @property
    def speedups(self) -> tuple[float, float] | None:
        """The least and the greatest speedup over the sensitivity machines."""
        known = [row.speedup for row in self.sensitivity if row.speedup is not None]
        return (min(known), max(known)) if known else None


@dataclass(frozen=True)
class Row:
    """One row.

    Parameters
    ----------
    asked : Asked
        What it is about.
    outcome : Outcome
        What came of it.
    seconds : float
        Wall time.
    figures : Figures or None
        What the plan is worth, if there is one.
    error : str
        What went wrong, if there is none.
    """

    asked: Asked
    outcome: Outcome
    seconds: float
    figures: Figures | None = None
    error: str = ""

    @property
    def key(self) -> str:
        """What the row is known by."""
        return self.asked.key


def tflops_of(arguments: Mapping[str, int], products: int, cores: int, seconds: float) -> float | None:
    """Floating-point operations per second, in 10^12, of a GEMM: 2 * M * N * K by its time.

    Parameters
    ----------
    arguments : mapping of name to int
        Those of the kernel; M, N and K in any case make it a GEMM.
    products : int
        Multiplications that one core executes.
    cores : int
        How many cores there are.
    seconds : float
        The time of that core.

    Returns
    -------
    float or None
        None if the kernel has other arguments, or its core multiplies fewer elements than the mean of the cores would
        for M x N x K: then it is no GEMM, or that core is not the slowest.
    """
    folded = {name.casefold(): value for name, value in arguments.items()}
    if folded.keys() != {"m", "n", "k"} or not seconds:
        return None
    needed = folded["m"] * folded["n"] * folded["k"]
    return 2 * needed / seconds / 1e12 if 0 < needed <= products * cores else None
