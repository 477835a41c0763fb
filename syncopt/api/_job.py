"""What a command works on: a kernel, a machine, arguments and a core."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from syncopt.api.words import counted
from syncopt.frontend import parse_module, read_module
from syncopt.hwmodel import Figure, Machine, figures
from syncopt.ir.intervals import Assumptions, parse_assumptions
from syncopt.ir.kernel import AllocMultiTile, AllocTile, Kernel, Section, TileOp, Value, walk
from syncopt.ir.pipes import Memory, SectionKind
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Setting
from syncopt.ir.types import MultiTileType, PointerType, ScalarType, TileType
from syncopt.ir.values import operands_of
from syncopt.model.addresses import place

OVERRIDDEN = "set by --machine-set"
"""The source that `load_machine` gives to figures that were overridden."""

OPEN_ARGUMENT = 4096
"""Value of integer arguments that were not given."""


@dataclass(frozen=True)
class Job:
    """One kernel to work on.

    Parameters
    ----------
    path : Path
        The `.pto` or C++ file.
    machine : Machine
        The chip.
    function : str or None
        The kernel's name where the file holds several.
    arguments : tuple of int
        Integer arguments in order.
    named : mapping of name to int
        Integer arguments by name, without `%`.
    assume : tuple of str
        Restrictions of the arguments for the proof, such as `K>=512`.
    core : int
        Block index.
    cores : int or None
        Block number, None for all cores of the machine.
    text : bytes or None
        What stands in the file, where it is known already or the file does not exist.
    """

    path: Path
    machine: Machine
    function: str | None = None
    arguments: tuple[int, ...] = ()
    named: Mapping[str, int] = field(default_factory=dict[str, int])
    assume: tuple[str, ...] = ()
    core: int = 0
    cores: int | None = None
    text: bytes | None = None


@dataclass(frozen=True)
class Subject:
    """A job's kernel, ready to run.

    Parameters
    ----------
    kernel : Kernel
        As read.
    setting : Setting
        Arguments, core and tile addresses.
    assumptions : Assumptions
        From the job's `assume`.
    notes : tuple of str
        What was assumed on the way: arguments that were left open.
    addresses : mapping of uid to int
        Byte addresses given to the tiles that carry none.
    """

    kernel: Kernel
    setting: Setting
    assumptions: Assumptions
    notes: tuple[str, ...]
    addresses: Mapping[int, int]


def read(job: Job) -> Subject:
    """Read a job's kernel and fix its setting.

    Raises
    ------
    InputError
        Whatever is wrong with file, kernel, arguments, core or tiles.
    """
    kernel = _kernel(job)
    arguments, notes = _arguments(job, kernel)
    kind = section_kind(kernel)
    cores = job.machine.cores(kind) if job.cores is None else job.cores
    if not 0 <= job.core < cores:
        raise InputError(f"core {job.core} is not one of {cores} cores", help=f"use --core 0 to {cores - 1}")
    addresses = place(kernel, job.machine)
    setting = Setting(
        arguments=arguments,
        block_idx=job.core,
        block_num=cores,
        addresses=addresses,
        alignment={memory: job.machine.memory(memory).alignment for memory in Memory if memory is not Memory.GM},
    )
    assumptions = parse_assumptions(job.assume, kernel)
    _refuse_what_is_assumed_away(arguments, assumptions)
    return Subject(kernel, setting, assumptions, notes, addresses)


def integer_arguments(kernel: Kernel) -> tuple[str, ...]:
    """The names of a kernel's integer arguments, without `%`, in order."""
    return tuple(argument.name.removeprefix("%") for argument in kernel.arguments if _is_integer(argument))


def argument_names(job: Job) -> tuple[str, ...]:
    """The integer arguments of a job's kernel in order, without `%`.

    Raises
    ------
    InputError
        If the kernel cannot be read.
    """
    return integer_arguments(_kernel(job))


def changed_figures(machine: Machine) -> tuple[Figure, ...]:
    """The figures that overrides of `load_machine` set."""
    return tuple(figure for figure in figures(machine) if figure.source == OVERRIDDEN)


def with_arguments(job: Job, arguments: tuple[int, ...]) -> Job:
    """The same job for other arguments, given in order."""
    return replace(job, arguments=arguments, named={})


def section_kind(kernel: Kernel) -> SectionKind:
    """The kind of core a kernel runs on; a kernel without sections runs where its tiles are.

    Raises
    ------
    InputError
        If it has tiles of both kinds of cores.
    """
    kinds = {op.kind for op in walk(kernel.body) if isinstance(op, Section)}
    if len(kinds) > 1:
        section = next(op for op in walk(kernel.body) if isinstance(op, Section) and op.kind is SectionKind.VECTOR)
        message = "cube and vector sections in one kernel are not modelled"
        raise InputError(message, kernel.source, section.span, "put each section into a kernel of its own")
    memories = {op: _memory(op) for op in walk(kernel.body) if isinstance(op, AllocTile | AllocMultiTile)}
    tiles = SectionKind.VECTOR if set(memories.values()) == {Memory.VEC} else SectionKind.CUBE
    kind = kinds.pop() if kinds else tiles
    for op, memory in memories.items():
        if (memory is Memory.VEC) != (kind is SectionKind.VECTOR):
            message = f"{op.result} is a tile in {memory}, which a {kind.value} core does not have"
            raise InputError(message, kernel.source, op.span, "put cube and vector work into kernels of their own")
    return kind


def _memory(op: AllocTile | AllocMultiTile) -> Memory:
    type_ = op.result.type
    tile = type_.tile if isinstance(type_, MultiTileType) else type_
    assert isinstance(tile, TileType)
    return tile.memory


def _kernel(job: Job) -> Kernel:
    module = read_module(job.path) if job.text is None else parse_module(Source(str(job.path), job.text))
    return module.kernel(job.function)


def _arguments(job: Job, kernel: Kernel) -> tuple[dict[str, int], tuple[str, ...]]:
    scalars = [argument for argument in kernel.arguments if not isinstance(argument.type, PointerType)]
    integers = [argument for argument in scalars if _is_integer(argument)]
    names = integer_arguments(kernel)
    for name in job.named:
        if name not in names:
            raise InputError(
                f"{kernel.source.path}: kernel {kernel.name} has no integer argument {name}",
                help=f"its integer arguments are {', '.join(names) or 'none'}",
            )
    if len(job.arguments) > len(names):
        raise InputError(
            f"{counted(len(job.arguments), 'argument')} given, kernel {kernel.name} has "
            f"{counted(len(names), 'integer argument')}",
            help=f"its integer arguments are {', '.join(names) or 'none'}",
        )
    for name in names[: len(job.arguments)]:
        if name in job.named:
            raise InputError(f"argument {name} is given twice, in order and by name", help="give it once")
    _refuse_open_scalars(kernel, [argument for argument in scalars if argument not in integers])
    values = dict(zip(names, job.arguments, strict=False)) | dict(job.named)
    for argument in integers:
        _check_range(kernel, argument, values.get(argument.name.removeprefix("%"), 0))
    notes = tuple(f"{name} = {OPEN_ARGUMENT} (not given)" for name in names if name not in values)
    return {name: values.get(name, OPEN_ARGUMENT) for name in names}, notes


def _refuse_what_is_assumed_away(arguments: Mapping[str, int], assumptions: Assumptions) -> None:
    for name, value in arguments.items():
        low, high = assumptions.of(name)
        if not low <= value <= high:
            message = f"{name} = {value} is not what --assume says of it: {', '.join(assumptions.texts)}"
            raise InputError(message, help=f"give {name} another value, with --args or --set, or assume less")


def _is_integer(argument: Value) -> bool:
    return isinstance(argument.type, ScalarType) and (argument.type.name == "index" or argument.type.name[0] in "isu")


def _check_range(kernel: Kernel, argument: Value, value: int) -> None:
    assert isinstance(argument.type, ScalarType)
    bits = int("".join(filter(str.isdigit, argument.type.name)) or 64)
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise InputError(f"{value} does not fit argument {argument.name} : {argument.type.name} of {kernel.name}")


def _refuse_open_scalars(kernel: Kernel, others: list[Value]) -> None:
    """An argument that is no integer cannot be set, so nothing but the numbers of tile ops may depend on it."""
    for op in walk(kernel.body):
        if isinstance(op, TileOp):
            continue
        for value in operands_of(op):
            if value in others:
                kind = value.type.name if isinstance(value.type, ScalarType) else "no scalar"
                raise InputError(
                    f"argument {value} is {kind}, not an integer: it has no value here",
                    kernel.source,
                    op.span,
                    "only operands of tile ops may depend on such an argument",
                )
