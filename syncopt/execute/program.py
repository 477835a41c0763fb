"""A kernel with concrete arguments, ready to be executed: its instructions, their operands and the memory they need."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from syncopt.execute.attributes import Attributes, parse_attributes
from syncopt.execute.memory import Memories, Space, zeros
from syncopt.execute.numbers import encoded, is_float, is_signed
from syncopt.execute.operands import Call, Operands
from syncopt.execute.rules import RULES
from syncopt.hwmodel import Machine
from syncopt.ir import optable
from syncopt.ir.kernel import Barrier, Flag, If, Kernel, TileOp, Value
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.runtime import Environment, RuntimeValue
from syncopt.ir.scalars import UNKNOWN
from syncopt.ir.source import InputError
from syncopt.ir.trace import Instance, Iteration, Overrides, Setting, Tracer
from syncopt.ir.types import DType, PointerType, ScalarType

MOST_INSTRUCTIONS = 20_000
"""Instructions that a kernel may execute here."""
_MOST_BYTES = 1 << 29
_SCALARS = (0.5, 0.75, 1.5, 2.0)


@dataclass(frozen=True, eq=False)
class Program:
    """What a core executes.

    Parameters
    ----------
    kernel : Kernel
        Whose execution it is.
    machine : Machine
        Sizes of the memories, rules of the pipes.
    instances : tuple of Instance
        In program order.
    calls : tuple of Call or None
        The operands of each tile op, None for flags and barriers.
    sizes : mapping of Value to int
        Bytes of global memory that are reached through each pointer argument.
    seed : int
        Determines what memory holds at the start, and the float arguments.
    """

    kernel: Kernel
    machine: Machine
    instances: tuple[Instance, ...]
    calls: tuple[Call | None, ...]
    sizes: Mapping[Value, int]
    seed: int

    @cached_property
    def start(self) -> Memories:
        """Memory before the kernel: noise in the core, small numbers behind the pointers."""
        generator = np.random.default_rng(self.seed)
        arrays: dict[Space, NDArray[np.uint8]] = {}
        for memory in Memory:
            if memory is not Memory.GM:
                array = zeros(self.machine.memory(memory).bytes)
                arrays[memory] = generator.integers(0, 256, len(array), np.uint8)
        for pointer, size in self.sizes.items():
            assert isinstance(pointer.type, PointerType)
            array = arrays[pointer] = zeros(size)
            elements = len(array) // pointer.type.dtype.size
            array[:] = small_numbers(generator, pointer.type.dtype, elements).view(np.uint8)
        return Memories(arrays)

    def refusal(self, instance: Instance, error: InputError) -> InputError:
        """An error with the place of the op that it is about."""
        return error.at(self.kernel.source, instance.op.span)


def read_program(kernel: Kernel, setting: Setting, machine: Machine, seed: int = 0) -> Program:
    """Trace a kernel and find out what every instruction works on.

    Parameters
    ----------
    kernel : Kernel
        As read.
    setting : Setting
        Arguments, core and addresses.
    machine : Machine
        Sizes of the memories.
    seed : int
        Determines what memory holds at the start, and the float arguments.

    Raises
    ------
    InputError
        If an op has no numeric meaning here, an operand is not known, or there is too much to execute.
    """
    _refuse_no_pointers(kernel)
    reader = _Reader(kernel, setting, seed)
    pairs = list(reader.read())
    instances = tuple(instance for instance, _ in pairs)
    sizes = _sizes(kernel, instances)
    if not any(
        access.writes and not isinstance(access.footprint.space, Memory) for i in instances for access in i.accesses
    ):
        raise InputError(
            "nothing is stored to global memory: there is no number to compare", kernel.source, kernel.span
        )
    return Program(kernel, machine, instances, tuple(call for _, call in pairs), sizes, seed)


def small_numbers(generator: np.random.Generator, dtype: DType, elements: int) -> NDArray[np.generic]:
    """Bits of numbers whose sums and products stay exact: halves from -2 to 2, integers from -4 to 4 or 0 to 7."""
    if is_float(dtype):
        return encoded(generator.integers(-4, 5, elements) / 2.0, dtype)
    lowest, above = (-4, 5) if is_signed(dtype) else (0, 8)
    return encoded(generator.integers(lowest, above, elements), dtype)


class _Reader(Overrides):
    """Follows a trace: keeps the values at hand, gives float arguments a number, refuses what depends on memory."""

    def __init__(self, kernel: Kernel, setting: Setting, seed: int) -> None:
        self._kernel = kernel
        self._setting = setting
        self._env: Environment = {}
        self._operands = Operands(kernel)
        self._attributes: dict[TileOp, Attributes] = {}
        generator = random.Random(seed)
        self._floats = {value: generator.choice(_SCALARS) for value in kernel.arguments if _is_float(value)}

    def value(self, value: Value, computed: RuntimeValue, env: Environment) -> RuntimeValue:
        """A number for a float argument, everything else as computed."""
        self._env = env
        return self._floats.get(value, computed) if computed is UNKNOWN else computed

    def unknown_branch(self, op: If, iteration: Iteration) -> bool:
        """There is no way to go."""
        del iteration
        message = "the condition of scf.if is not known from the arguments"
        raise InputError(message, self._kernel.source, op.span, "only what integer arguments decide can be executed")

    def read(self) -> Iterator[tuple[Instance, Call | None]]:
        """The instructions with their operands."""
        for count, instance in enumerate(Tracer(self._kernel, self._setting, self)):
            if count == MOST_INSTRUCTIONS:
                message = f"more than {MOST_INSTRUCTIONS:,} instructions with these arguments: too many to execute"
                raise InputError(message, self._kernel.source, self._kernel.span, "give smaller arguments with --set")
            try:
                yield instance, self._call(instance)
            except InputError as error:
                raise error.at(self._kernel.source, instance.op.span) from None

    def _call(self, instance: Instance) -> Call | None:
        op = instance.op
        if not isinstance(op, TileOp):
            _refuse_impossible(op)
            return None
        row = optable.lookup(op.name)
        if row is None or op.name not in RULES:
            raise InputError(
                f"{op.name} has no numeric meaning here", help="check without --execute judges it by order"
            )
        if op not in self._attributes:
            self._attributes[op] = parse_attributes(op.attributes)
        return self._operands.call(op, self._env, row.scratch, self._attributes[op])


def _refuse_no_pointers(kernel: Kernel) -> None:
    if not any(isinstance(argument.type, PointerType) for argument in kernel.arguments):
        message = f"{kernel.name} has no pointer argument: there is no number to compare"
        raise InputError(message, kernel.source, kernel.span)


def _is_float(argument: Value) -> bool:
    return isinstance(argument.type, ScalarType) and argument.type.name in ("f16", "bf16", "f32", "f64")


def _refuse_impossible(op: Flag | Barrier) -> None:
    if isinstance(op, Flag) and Pipe.ALL in op.pair:
        raise InputError("PIPE_ALL has no flags")
    if isinstance(op, Barrier) and op.pipe is Pipe.S:
        raise InputError("the scalar pipe has no barrier")


def _sizes(kernel: Kernel, instances: tuple[Instance, ...]) -> Mapping[Value, int]:
    """Bytes behind each pointer argument, as far as anything reaches."""
    sizes = {value: 0 for value in kernel.arguments if isinstance(value.type, PointerType)}
    for instance in instances:
        for footprint, _ in instance.accesses:
            if isinstance(footprint.space, Memory):
                continue
            if footprint.start < 0:
                message = f"what is reached through {footprint.space} is not known, or stands before it"
                raise InputError(message, kernel.source, instance.op.span)
            sizes[footprint.space] = max(sizes[footprint.space], footprint.end)
            if sizes[footprint.space] > _MOST_BYTES:
                message = f"{footprint.end:,} bytes of {footprint.space} are reached: too many to execute"
                raise InputError(message, kernel.source, instance.op.span, "give smaller arguments with --set")
    return sizes
