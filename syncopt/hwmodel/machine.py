"""A machine: queues, memories, flag rules and costs of one chip, as the simulator and the solver see them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil

from syncopt.hwmodel.cost import Cost, acc_fractals, cost_of
from syncopt.hwmodel.figures import GROUPS, LOCAL_MEMORIES, QUEUED_PIPES, SPECS, Figure, Kind
from syncopt.ir.pipes import Memory, Pipe, SectionKind
from syncopt.ir.work import Work


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """Size of a memory of one core and the multiple that tile addresses in it have, both in bytes."""

    bytes: int
    alignment: int


@dataclass(frozen=True)
class Machine:
    """A chip with the figures that its model needs.

    Parameters
    ----------
    name : str
        Name of the chip.
    figures : tuple of Figure
        One per key of `SPECS`, in that order, within the limits given there.

    Raises
    ------
    ValueError
        If a figure is missing, unknown or impossible. `load_machine` reports these as errors of a file.
    """

    name: str
    figures: tuple[Figure, ...]
    _costs: dict[Work, Cost] = field(default_factory=dict[Work, Cost], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if tuple(figure.key for figure in self.figures) != tuple(SPECS):
            raise ValueError(f"{self.name} does not have exactly the figures of a machine, in their order")
        for figure in self.figures:
            _check(figure)

    def __str__(self) -> str:
        return self.name

    def value(self, key: str) -> Fraction:
        """The exact value of a figure that the model uses."""
        return self._values[key]

    def cost(self, work: Work) -> Cost:
        """The cost of an op instance, rounded up once per figure of the cost.

        Raises
        ------
        UnmodelledWork
            If the op, or this form of it, has no cost rule.
        """
        cost = self._costs.get(work)
        if cost is None:
            cost = self._costs[work] = cost_of(work, self.value)
        return cost

    def cores(self, kind: SectionKind = SectionKind.CUBE) -> int:
        """How many cores of a kind the chip has."""
        return self._whole("chip.cube_cores" if kind is SectionKind.CUBE else "chip.vector_cores")

    @property
    def block_num(self) -> int:
        """Blocks of a launch that uses the whole chip: one per cube core."""
        return self.cores(SectionKind.CUBE)

    @property
    def clock_ghz(self) -> Fraction:
        """Clock in GHz."""
        return self.value("chip.clock_ghz")

    @property
    def l2_bytes(self) -> int:
        """Bytes of the L2 cache; the load rate assumes that the operands fit."""
        return self._whole("chip.l2_bytes")

    @property
    def load_rate(self) -> Fraction:
        """Bytes per cycle that one core loads from global memory to L1."""
        return self.value("gm_to_mat.bytes_per_cycle")

    @cached_property
    def issue(self) -> int:
        """Cycles of the scalar clock per queue entry."""
        return self._whole("dispatch.issue")

    @cached_property
    def scalar_op(self) -> int:
        """Cycles of the scalar clock per arithmetic op, view, branch or loop step."""
        return self._whole("dispatch.scalar_op")

    @cached_property
    def hop(self) -> int:
        """Cycles from the completion that a flag stands for to the flag being seen."""
        return self._whole("flag.hop")

    @cached_property
    def event_ids(self) -> int:
        """Event ids per ordered pair of pipes, counted from 0."""
        return self._whole("flag.event_ids")

    def queue_depth(self, pipe: Pipe) -> int:
        """Entries that the queue of a pipe holds; the scalar pipe has none."""
        return self._depths[pipe]

    def barrier_cost(self, pipe: Pipe) -> int:
        """Cycles of a barrier on a pipe, or on all, after what it waits for; the scalar pipe has none."""
        return self._barriers[pipe]

    def memory(self, memory: Memory) -> MemoryFacts:
        """Size and alignment of a memory of one core."""
        return self._memories[memory]

    def same_pipe_barrier_needed(self, earlier: Work, later: Work) -> bool:
        """Whether two conflicting ops of one pipe need a barrier between them.

        Parameters
        ----------
        earlier, later : Work
            Two ops that meet in a tile, at least one of them writing it.
        """
        if earlier.pipe is not later.pipe:
            raise ValueError(f"{earlier.name} and {later.name} run on different pipes")
        if earlier.pipe is Pipe.V:
            return True
        if earlier.pipe is Pipe.M:
            fractals = min(acc_fractals(operand) for operand in (*earlier.outs, *later.outs))
            return fractals < self._whole("matmul.barrier_below")
        return False

    def seconds(self, cycles: int, launch: bool = True) -> float:
        """The time that so many cycles take, with the launch of the kernel."""
        launched = self.value("launch.microseconds") / 10**6 if launch else 0
        return float(cycles / (self.clock_ghz * 10**9) + launched)

    def with_issue(self, cycles: int) -> "Machine":
        """The same machine with another issue cost per queue entry."""
        return self.with_figure("dispatch.issue", cycles)

    def with_queue_depth(self, depth: int, *pipes: Pipe) -> "Machine":
        """The same machine with another queue depth on the given pipes, or on all."""
        keys = tuple(f"queue.{pipe}" for pipe in pipes) or GROUPS["queue_depth"]
        return self.with_figures({key: Fraction(depth) for key in keys})

    def with_load_rate(self, bytes_per_cycle: Fraction | int) -> "Machine":
        """The same machine with another rate from global memory to L1."""
        return self.with_figure("gm_to_mat.bytes_per_cycle", bytes_per_cycle)

    def with_figure(self, key: str, value: Fraction | int, source: str = "set by the caller") -> "Machine":
        """The same machine with another value of one figure."""
        return self.with_figures({key: Fraction(value)}, source)

    def with_figures(self, values: dict[str, Fraction], source: str = "set by the caller") -> "Machine":
        """The same machine with other values of some figures."""
        unknown = values.keys() - SPECS.keys()
        if unknown:
            raise ValueError(f"no such figure: {', '.join(sorted(unknown))}")
        figures = tuple(
            replace(figure, value=values[figure.key], source=source) if figure.key in values else figure
            for figure in self.figures
        )
        return Machine(self.name, figures)

    @cached_property
    def _values(self) -> dict[str, Fraction]:
        return {figure.key: figure.value for figure in self.figures if isinstance(figure.value, Fraction)}

    @cached_property
    def _depths(self) -> dict[Pipe, int]:
        return {pipe: self._whole(f"queue.{pipe}") for pipe in QUEUED_PIPES}

    @cached_property
    def _barriers(self) -> dict[Pipe, int]:
        return {pipe: self._whole(f"barrier.{pipe}") for pipe in (*QUEUED_PIPES, Pipe.ALL)}

    @cached_property
    def _memories(self) -> dict[Memory, MemoryFacts]:
        return {
            memory: MemoryFacts(self._whole(f"memory.{memory}.bytes"), self._whole(f"memory.{memory}.alignment"))
            for memory in LOCAL_MEMORIES
        }

    def _whole(self, key: str) -> int:
        return ceil(self.value(key))


def _check(figure: Figure) -> None:
    spec = SPECS[figure.key]
    if isinstance(figure.value, str) != (spec.kind is Kind.TEXT):
        raise ValueError(f"{figure.key} is not {spec.kind.value}: {figure.value}")
    if isinstance(figure.value, str):
        return
    if spec.kind is Kind.INTEGER and figure.value.denominator != 1:
        raise ValueError(f"{figure.key} is not an integer: {figure.value}")
    if not spec.allows(figure.value):
        raise ValueError(f"{figure.key} is not {spec.limits()}: {figure.value}")


def figures(machine: Machine) -> tuple[Figure, ...]:
    """All figures of a machine with their units and sources, in the order of a table."""
    return machine.figures


def sensitivity_machines(machine: Machine) -> tuple[tuple[str, Machine], ...]:
    """The machines on which a plan and its baseline are compared, with a label each (docs/plan.md, the machine)."""
    variants: Iterable[tuple[str, Machine]] = (
        ("default", machine),
        ("depth 16", machine.with_queue_depth(16)),
        ("depth 40", machine.with_queue_depth(40)),
        ("60 B/cycle", machine.with_load_rate(60)),
        ("110 B/cycle", machine.with_load_rate(110)),
        ("75 B/cycle, depth 40", machine.with_load_rate(75).with_queue_depth(40)),
    )
    return tuple(variants)
