"""Executes a program in an order of its events, and says where two executions differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from syncopt.execute.constraints import completion_of
from syncopt.execute.memory import Memories, Region, Write
from syncopt.execute.numbers import Numbers, bits_type, decoded
from syncopt.execute.operands import Call
from syncopt.execute.program import Program
from syncopt.execute.rules import RULES
from syncopt.execute.schedules import Order
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Value
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance
from syncopt.ir.types import DType, PointerType

_UNDEFINED = 0xA5
"""What scratch bytes hold afterwards."""


@dataclass(frozen=True, eq=False)
class Execution:
    """What an order of events left behind.

    Parameters
    ----------
    order : Order
        The order.
    memories : Memories
        All bytes at the end.
    results : mapping of int to int
        For every tile op, by its place in the trace, a checksum of what it wrote.
    """

    order: Order
    memories: Memories
    results: dict[int, int]

    def numbers(self, pointer: Value) -> Numbers:
        """What stands behind a pointer argument, as elements of its type."""
        assert isinstance(pointer.type, PointerType)
        return _elements(self.memories.arrays[pointer], pointer.type.dtype)


@dataclass(frozen=True, slots=True)
class Difference:
    """Wrong numbers behind one pointer.

    Parameters
    ----------
    pointer : Value
        The pointer argument.
    index : int
        The first element that differs, counted from the pointer.
    got, expected : int or float
        What it is and what it is in program order.
    elements : int
        How many elements differ.
    store : Instance or None
        What wrote the element last; None if nothing did.
    origin : Instance or None
        The first op of the trace that computed something else than in program order; None if all computed the same,
        so that only the order of their writes went wrong.
    """

    pointer: Value
    index: int
    got: int | float
    expected: int | float
    elements: int
    store: Instance | None
    origin: Instance | None


def execute(program: Program, order: Order) -> Execution:
    """Execute a program: an op reads at its start, and others see what it wrote from its completion on.

    Raises
    ------
    InputError
        If an op is used in a form that has no meaning here, or reaches beyond its memory.
    """
    memories = program.start.copy()
    held: dict[int, tuple[Write, ...]] = {}
    results: dict[int, int] = {}
    for event in order.events:
        place = event // 2
        instance = program.instances[place]
        completes = event == completion_of(place)
        with np.errstate(all="ignore"):
            try:
                if completes == order.schedule.reads_late(instance.pipe):
                    held[place] = _computed(program.calls[place], memories)
                    results[place] = _checksum(held[place])
                if completes:
                    for write in held.pop(place):
                        memories.put(write)
            except InputError as error:
                raise program.refusal(instance, error) from None
    return Execution(order, memories, results)


def _computed(call: Call | None, memories: Memories) -> tuple[Write, ...]:
    """What an op writes, scratch first."""
    assert call is not None, "only tile ops have events"
    return (*map(_spoilt, call.scratch), *RULES[call.name](call, memories))


def _spoilt(region: Region) -> Write:
    size = region.dtype.size
    bits = np.full((region.rows, region.cols * size), _UNDEFINED, np.uint8).view(bits_type(size))
    return Write(region, bits)


def _checksum(writes: Sequence[Write]) -> int:
    total = 0
    for write in writes:
        total = crc32(write.bits.tobytes(), total)
    return total


def differences(program: Program, expected: Execution, got: Execution) -> tuple[Difference, ...]:
    """Where the memory behind pointers differs, one entry per pointer in the order of the arguments."""
    return tuple(_differences(program, expected, got))


def _differences(program: Program, expected: Execution, got: Execution) -> Iterator[Difference]:
    origin = _origin(program, expected, got)
    for pointer, size in program.sizes.items():
        assert isinstance(pointer.type, PointerType)
        element = pointer.type.dtype.size
        mine, other = (run.memories.arrays[pointer][:size] for run in (got, expected))
        wrong = np.unique(np.flatnonzero(mine != other) // element)
        if len(wrong):
            index = int(wrong[0])
            here, there = (run.numbers(pointer)[index].item() for run in (got, expected))
            place = Footprint(pointer, index * element, element)
            yield Difference(pointer, index, here, there, len(wrong), _last_store(program, got.order, place), origin)


def _elements(array: NDArray[np.uint8], dtype: DType) -> Numbers:
    return decoded(array.view(bits_type(dtype.size)), dtype)


def _last_store(program: Program, order: Order, place: Footprint) -> Instance | None:
    for event in reversed(order.events):
        instance = program.instances[event // 2]
        if event == completion_of(event // 2) and any(a.writes and a.footprint.meets(place) for a in instance.accesses):
            return instance
    return None


def _origin(program: Program, expected: Execution, got: Execution) -> Instance | None:
    wrong = (place for place, checksum in got.results.items() if checksum != expected.results[place])
    first = min(wrong, default=None)
    return None if first is None else program.instances[first]
