"""Slices and files of small programs and kernels."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from syncopt.emit.timeline import Cycles, Slice, Version, slices
from syncopt.frontend import read_module
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.model.addresses import place

KERNELS = Path(__file__).parents[2] / "cli" / "kernels"
GUARDED = KERNELS / "guarded.pto"
NOWHERE = Source("toy.pto", b"")


def sliced(machine: Machine, program: Sequence[Instance]) -> list[Slice]:
    """The slices of a program."""
    found: list[Slice] = []
    slices(program, machine, NOWHERE, found.append)
    return found


def stalls(piece: Slice) -> list[tuple[str, int]]:
    """Causes and cycles."""
    return [(stall.cause, stall.cycles) for stall in piece.stalls]


def toy_version(
    machine: Machine, program: Iterable[Instance], cycles: Cycles | None = None, most: int | None = None
) -> Version:
    """A program as a version."""
    return Version("toy", NOWHERE, program, machine, "the full run", cycles or Cycles(), most)


def placed(path: Path, machine: Machine, arguments: dict[str, int]) -> tuple[Kernel, Setting]:
    """The kernel of a file on the only core there is."""
    kernel = read_module(path).kernel()
    return kernel, Setting(arguments=arguments, block_idx=0, block_num=1, addresses=place(kernel, machine))


def guarded_version(name: str = "as written") -> Version:
    """The kernel guarded.pto for n = 4096 on a 910B2."""
    machine = load_machine("910b2")
    kernel, setting = placed(GUARDED, machine, {"n": 4096})
    return Version(name, Source("guarded.pto", kernel.source.data), Tracer(kernel, setting), machine, "the full run")


def text_of(out: io.StringIO) -> list[str]:
    """The lines of a file."""
    return out.getvalue().splitlines()
