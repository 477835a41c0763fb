"""`gen`: kernels for a tiling."""

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from syncopt.api import InputError, Machine, load_machine
from syncopt.api.words import count, percent, share
from syncopt.cli._documents import Document, dumped
from syncopt.cli._files import new_target
from syncopt.cli._options import AnswerOptions, Force, MachineName, MachineSet
from syncopt.cli._page import GOOD, Page, table
from syncopt.gen import gemm

_TILES, _TYPES, _FORM, _FILES = "Tiles", "Operands", "Form", "Files"
_EXTENTS = re.compile(r"([1-9]\d{0,8})x([1-9]\d{0,8})x([1-9]\d{0,8})")
_OFF = "off"


def _buffers(option: str, where: str) -> typer.models.OptionInfo:
    help = f"Tiles {where}: 2 to fill one while the other is used."
    return typer.Option(option, min=1, max=2, help=help, rich_help_panel=_TILES)


L1 = Annotated[
    str,
    typer.Option(
        "--l1",
        metavar="MxNxK",
        help="Tile of C that a core works on at a time, and the K step that L1 holds.",
        rich_help_panel=_TILES,
    ),
]
L0 = Annotated[
    str | None,
    typer.Option(
        "--l0",
        metavar="MxNxK",
        help="One matmul; its sizes divide those of --l1. Default: M and N of --l1 and the deepest K that L0 holds.",
        rich_help_panel=_TILES,
    ),
]
BParts = Annotated[
    int | None,
    typer.Option(
        "--b-parts",
        metavar="N",
        min=1,
        help="Tiles in which the K step of B is loaded. Default: the fewest that fit L1.",
        rich_help_panel=_TILES,
    ),
]
ElementType = Annotated[
    str, typer.Option("--dtype", metavar="TYPE", help="A and B: f16, bf16, f32 or i8.", rich_help_panel=_TYPES)
]
OutputType = Annotated[
    str | None,
    typer.Option(
        "--c-dtype",
        metavar="TYPE",
        help="C: f16, bf16 or f32 of floats, i32 of i8. Default: --dtype, i32 of i8; with --splits as accumulated.",
        rich_help_panel=_TYPES,
    ),
]
ALayout = Annotated[
    gemm.GlobalLayout,
    typer.Option("--a-layout", help="nd: A lies as M x K rows; dn: as K x M rows.", rich_help_panel=_TYPES),
]
BLayout = Annotated[
    gemm.GlobalLayout,
    typer.Option("--b-layout", help="nd: B lies as K x N rows; dn: as N x K rows.", rich_help_panel=_TYPES),
]
Swizzle = Annotated[
    str,
    typer.Option(
        "--swizzle",
        metavar="N|off",
        help="Tile order: panels of N tile columns, every second one upwards; off: row by row.",
        rich_help_panel=_FORM,
    ),
]
Splits = Annotated[
    int,
    typer.Option(
        "--splits",
        metavar="N",
        min=1,
        help="Slices of K for different blocks; from 2 on their sums go to a workspace of shape [N, M, N of C].",
        rich_help_panel=_FORM,
    ),
]


class Flags(Enum):
    """Which flags a kernel holds."""

    NONE = gemm.Sync.NONE.value
    HAND = gemm.Sync.HAND.value


Sync = Annotated[
    Flags,
    typer.Option(
        "--sync",
        help="none: no flags; hand: placed as kernel writers do, with ids of its own for each buffer.",
        rich_help_panel=_FORM,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="Name of the function. Default: from type and --l1.", rich_help_panel=_FORM
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", "--out", metavar="OUT.pto", help="File to write. Default: stdout.", rich_help_panel=_FILES
    ),
]


@dataclass(frozen=True, kw_only=True)
class GemmOptions(AnswerOptions):
    """Options of `gen gemm`."""

    l1: L1 = "128x256x512"
    l0: L0 = None
    b_parts: BParts = None
    a_buffers: Annotated[int, _buffers("--a-buffers", "of A in L1")] = 2
    b_buffers: Annotated[int, _buffers("--b-buffers", "of B in L1")] = 2
    l0a_buffers: Annotated[int, _buffers("--l0a-buffers", "in L0A")] = 2
    l0b_buffers: Annotated[int, _buffers("--l0b-buffers", "in L0B")] = 2
    l0c_buffers: Annotated[int, _buffers("--l0c-buffers", "of C in L0C")] = 1
    dtype: ElementType = "f16"
    output_type: OutputType = None
    a_layout: ALayout = gemm.GlobalLayout.ND
    b_layout: BLayout = gemm.GlobalLayout.DN
    swizzle: Swizzle = "5"
    splits: Splits = 1
    sync: Sync = Flags.NONE
    name: Name = None
    machine: MachineName = "910b2"
    machine_set: MachineSet = field(default_factory=list[str])
    output: Out = None
    force: Force = False

    def kernel(self, machine: Machine) -> gemm.GemmKernel:
        """The kernel that is asked for, with what was left open filled in for a machine."""
        l1 = _extents("--l1", self.l1)
        l0 = None if self.l0 is None else _extents("--l0", self.l0)
        buffers = gemm.Buffers(self.a_buffers, self.b_buffers, self.l0a_buffers, self.l0b_buffers, self.l0c_buffers)
        dtype = gemm.operand_type(self.dtype)
        kernel = gemm.GemmKernel(
            name=f"gemm_{self.dtype}_{l1}" if self.name is None else self.name,
            tiling=gemm.Tiling(l1, l0 or l1, self.b_parts or 1, buffers),
            dtype=dtype,
            output=None if self.output_type is None else gemm.element_type(self.output_type),
            a_layout=self.a_layout,
            b_layout=self.b_layout,
            panel=panel(self.swizzle),
            splits=self.splits,
            sync=gemm.Sync(self.sync.value),
        )
        if self.b_parts is None:
            kernel = replace(kernel, tiling=gemm.fewest_parts(kernel, machine))
        if l0 is None:
            kernel = replace(kernel, tiling=gemm.deepest_l0(kernel, machine))
        return replace(kernel, origin=f"Written by `{_command(kernel)}`.")


def run_gemm(options: GemmOptions) -> None:
    """`gen gemm`."""
    machine = load_machine(options.machine, options.machine_set)
    kernel = options.kernel(machine)
    output = None if options.output is None else new_target(options.output, options.force)
    text = gemm.text(kernel, machine)
    if output is not None:
        output.write(text.encode())
    page = Page()
    if options.json:
        page.raw(dumped(_document(kernel, machine, text, options.output)) + "\n")
    elif output is None:
        page.raw(text)
    else:
        _print_written(page, kernel, machine, output.named)


def _print_written(page: Page, kernel: gemm.GemmKernel, machine: Machine, path: Path) -> None:
    rows = table("memory", ">bytes", ">of", ">share", "tiles")
    for use in gemm.memory_use(kernel, machine):
        tiles = ", ".join(f"{number} x {role} of {count(size)}" for role, number, size in use.parts)
        rows.add_row(use.name, count(use.used), count(use.size), percent(share(use.used, use.size)), tiles)
    page.table(rows)
    page.line(f"@{kernel.name} written to {path}.", GOOD)


def _document(kernel: gemm.GemmKernel, machine: Machine, text: str, output: Path | None) -> Document:
    tiling, buffers = kernel.tiling, kernel.tiling.buffers
    return {
        "function": kernel.name,
        "machine": machine.name,
        "l1": [tiling.l1.m, tiling.l1.n, tiling.l1.k],
        "l0": [tiling.l0.m, tiling.l0.n, tiling.l0.k],
        "b_parts": tiling.b_parts,
        "buffers": {"a": buffers.a, "b": buffers.b, "l0a": buffers.l0a, "l0b": buffers.l0b, "l0c": buffers.l0c},
        "dtype": kernel.dtype.spelling,
        "accumulator": kernel.accumulator.spelling,
        "c_dtype": kernel.stored.spelling,
        "a_layout": kernel.a_layout.value,
        "b_layout": kernel.b_layout.value,
        "swizzle": kernel.panel,
        "splits": kernel.splits,
        "sync": kernel.sync.value,
        "k_multiple": kernel.k_multiple,
        "memory": {use.name: {"used": use.used, "bytes": use.size} for use in gemm.memory_use(kernel, machine)},
        "text": text if output is None else None,
        "outputs": {} if output is None else {"pto": str(output)},
    }


def _extents(option: str, text: str) -> gemm.Extents:
    match = _EXTENTS.fullmatch(text.strip().lower())
    if match is None:
        raise InputError(f"{option} {text!r} is not MxNxK", help=f"three sizes, for example {option} 128x256x64")
    m, n, k = map(int, match.groups())
    return gemm.Extents(m, n, k)


def panel(text: str) -> int:
    """Tile columns per panel, 0 for no swizzle."""
    if text.strip().lower() == _OFF:
        return 0
    if re.fullmatch(r"[1-9]\d{0,8}", text.strip()) is None:
        raise InputError(f"--swizzle {text!r} is neither a number of tile columns nor off", help="for example 5")
    return int(text)


def _command(kernel: gemm.GemmKernel) -> str:
    """The command line that writes a kernel, with every option that shows in its text."""
    tiling, buffers = kernel.tiling, kernel.tiling.buffers
    values = {
        "--l1": str(tiling.l1),
        "--l0": str(tiling.l0),
        "--b-parts": str(tiling.b_parts),
        "--a-buffers": str(buffers.a),
        "--b-buffers": str(buffers.b),
        "--l0a-buffers": str(buffers.l0a),
        "--l0b-buffers": str(buffers.l0b),
        "--l0c-buffers": str(buffers.l0c),
        "--dtype": kernel.dtype.spelling,
        "--c-dtype": kernel.stored.spelling,
        "--a-layout": kernel.a_layout.value,
        "--b-layout": kernel.b_layout.value,
        "--swizzle": str(kernel.panel or _OFF),
        "--splits": str(kernel.splits),
        "--sync": kernel.sync.value,
        "--name": kernel.name,
    }
    return " ".join(["syncopt gen gemm", *(f"{option} {value}" for option, value in values.items())])
