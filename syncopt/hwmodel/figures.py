"""The figures a machine is made of: their keys, units and limits, and their values with the source of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from syncopt.ir.optable import Family
from syncopt.ir.pipes import EVENT_IDS, Memory, Pipe

QUEUED_PIPES: tuple[Pipe, ...] = (Pipe.MTE2, Pipe.MTE1, Pipe.M, Pipe.V, Pipe.FIX, Pipe.MTE3)
"""The pipes that have an instruction queue."""

VECTOR_FAMILIES: tuple[Family, ...] = (
    Family.BINARY,
    Family.UNARY,
    Family.EXP,
    Family.DIV,
    Family.CVT,
    Family.ROW_REDUCTION,
    Family.COLUMN_REDUCTION,
    Family.GATHER,
)
"""The families of vector ops that have a head, a slope and a tail."""

LOCAL_MEMORIES: tuple[Memory, ...] = tuple(memory for memory in Memory if memory is not Memory.GM)
"""The memories of a core."""


class Kind(Enum):
    """What a figure's value may be."""

    INTEGER = "an integer"
    NUMBER = "a number"
    TEXT = "a text in quotes"


@dataclass(frozen=True, slots=True)
class Spec:
    """A figure that every machine has.

    Parameters
    ----------
    key : str
        Dotted path in the TOML file.
    unit : str
        Unit of the value.
    kind : Kind
        `TEXT` for informational figures: they are printed, the model does not use them.
    least, most : int or None
        Limits of the value, inclusive.
    positive : bool
        The value is above 0 (for rates, which may be fractions).
    """

    key: str
    unit: str
    kind: Kind
    least: int = 0
    most: int | None = None
    positive: bool = False

    @property
    def informational(self) -> bool:
        """Whether the model does without it."""
        return self.kind is Kind.TEXT

    def limits(self) -> str:
        """The allowed values, in words."""
        if self.positive:
            return "above 0"
        return f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"

    def allows(self, value: Fraction) -> bool:
        """Whether a value is within the limits."""
        if self.positive:
            return value > 0
        return value >= self.least and (self.most is None or value <= self.most)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a machine, as `syncopt machine` prints it.

    Parameters
    ----------
    key : str
        Dotted path, as `--machine-set` takes it.
    value : Fraction or str
        The exact value; a text for informational figures.
    unit : str
        Unit of the value.
    source : str
        Where the value comes from, beginning with how well it is known: `[O]`, `[M]`, `[S]`, `[D]`, `[?]`.
    informational : bool
        Whether the model does without it.
    """

    key: str
    value: Fraction | str
    unit: str
    source: str
    informational: bool = False

    def __str__(self) -> str:
        return f"{self.key} = {self.text} {self.unit}  {self.source}"

    @property
    def text(self) -> str:
        """The value in decimal digits."""
        if isinstance(self.value, str) or self.value.denominator == 1:
            return str(self.value)
        return str(float(self.value))


def _whole(key: str, unit: str, least: int = 0, most: int | None = None) -> Spec:
    return Spec(key, unit, Kind.INTEGER, least, most)


def _cycles(key: str, unit: str = "cycles") -> Spec:
    return Spec(key, unit, Kind.NUMBER)


def _route(name: str) -> tuple[Spec, Spec]:
    rate = Spec(f"{name}.bytes_per_cycle", "bytes/cycle", Kind.NUMBER, positive=True)
    return _cycles(f"{name}.base"), rate


def _note(key: str) -> Spec:
    return Spec(key, "bytes/cycle", Kind.TEXT)


def _chip() -> Iterable[Spec]:
    yield _whole("chip.cube_cores", "cores", least=1)
    yield _whole("chip.vector_cores", "cores", least=1)
    yield Spec("chip.clock_ghz", "GHz", Kind.NUMBER, positive=True)
    yield _whole("chip.l2_bytes", "bytes", least=1)
    yield _whole("dispatch.issue", "cycles/entry")
    yield _whole("dispatch.scalar_op", "cycles")
    yield _whole("flag.event_ids", "ids/pair", least=1, most=EVENT_IDS)
    yield _whole("flag.hop", "cycles")
    yield from (_whole(f"queue.{pipe}", "entries", least=1) for pipe in QUEUED_PIPES)
    yield from (_whole(f"barrier.{pipe}", "cycles") for pipe in (*QUEUED_PIPES, Pipe.ALL))
    for memory in LOCAL_MEMORIES:
        yield _whole(f"memory.{memory}.bytes", "bytes", least=1)
        yield _whole(f"memory.{memory}.alignment", "bytes", least=1)
    yield Spec("launch.microseconds", "microseconds", Kind.NUMBER)


def _costs() -> Iterable[Spec]:
    yield from (*_route("gm_to_mat"), _cycles("gm_to_mat.latency"))
    yield from (_note("gm_to_mat.few_cores"), _note("gm_to_mat.hbm_bound"))
    yield from (*_route("gm_to_vec"), _cycles("gm_to_vec.latency"), _note("gm_to_vec.alone"))
    yield from _route("mat_to_left")
    yield from (*_route("mat_to_right"), _cycles("mat_to_right.per_extra_entry", "cycles/entry"))
    yield from (*_route("mat_to_bias"), *_route("mat_to_scaling"))
    yield from (*_route("acc_to_gm"), *_route("acc_to_mat"), *_route("vec_to_gm"))
    yield _cycles("matmul.base")
    yield _cycles("matmul.fp32_factor", "factor")
    yield _whole("matmul.barrier_below", "fractals")
    for family in VECTOR_FAMILIES:
        yield _cycles(f"vector.{family}.head")
        yield _cycles(f"vector.{family}.slope", "cycles/repeat")
        yield _cycles(f"vector.{family}.tail")
    yield _cycles("scalar.access")
    yield _cycles("scalar.element", "cycles/element")


SPECS: Mapping[str, Spec] = {spec.key: spec for spec in (*_chip(), *_costs())}
"""Every figure of a machine by its key, in the order in which tables show them."""

GROUPS: Mapping[str, tuple[str, ...]] = {"queue_depth": tuple(f"queue.{pipe}" for pipe in QUEUED_PIPES)}
"""Keys that stand for several figures at once."""
