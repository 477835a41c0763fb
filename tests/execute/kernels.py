"""Small kernels around one op: every tile comes from a pointer of its own, the result goes to `%out`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from syncopt.execute import (
    Execution,
    Program,
    Schedule,
    ScheduleKind,
    constraints_of,
    execute,
    order_of,
    read_program,
)
from syncopt.frontend import parse_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting

PLAIN = "blayout=row_major, slayout=none_box"
BY_COLUMNS = "blayout=col_major, slayout=none_box"
ZN = "blayout=row_major, slayout=col_major"
NZ = "blayout=col_major, slayout=row_major"
ZZ = "blayout=row_major, slayout=row_major"
_ROOM = 32768
"""Bytes between the tiles of one memory."""


@dataclass(frozen=True)
class Tile:
    """A tile of a kernel; `valid` is its valid shape, all of it unless given."""

    dtype: str
    rows: int
    cols: int
    layout: str = PLAIN
    memory: str = "vec"
    valid: tuple[int, int] | None = None

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Its valid rows and columns."""
        return self.valid or (self.rows, self.cols)

    @cached_property
    def type(self) -> str:
        """As the text has it."""
        rows, cols = self.shape
        size = f"dtype={self.dtype}, rows={self.rows}, cols={self.cols}, v_row={rows}, v_col={cols}"
        return f"!pto.tile_buf<loc={self.memory}, {size}, {self.layout}>"


@dataclass(frozen=True)
class Number:
    """A scalar operand."""

    value: float | int
    dtype: str


@dataclass(frozen=True)
class Run:
    """What stood behind the pointers of a kernel before and after it, in program order."""

    program: Program
    execution: Execution

    def before(self, name: str, *shape: int) -> NDArray[Any]:
        """What a pointer held at the start."""
        return self._numbers(Execution(self.execution.order, self.program.start, {}), name, shape)

    def after(self, name: str, *shape: int) -> NDArray[Any]:
        """What it holds in the end."""
        return self._numbers(self.execution, name, shape)

    def _numbers(self, execution: Execution, name: str, shape: Sequence[int]) -> NDArray[Any]:
        pointer = next(pointer for pointer in self.program.sizes if pointer.name == f"%{name}")
        numbers = execution.numbers(pointer)
        return numbers[: int(np.prod(shape))].reshape(shape) if shape else numbers


def kernel_of(arguments: str, body: str, section: str = "vector") -> Kernel:
    """A kernel from its arguments and the lines of its body; constants %c0 .. are made for every one that is used."""
    words = body.replace(",", " ").replace("[", " ").replace("]", " ").split()
    indices = sorted({int(word[2:]) for word in words if word.startswith("%c") and word[2:].isdigit()} | {0, 1})
    constants = "\n".join(f"%c{index} = arith.constant {index} : index" for index in indices)
    text = f"func.func @f({arguments}) {{\n{constants}\npto.section.{section} {{\n{body}\n}}\nreturn\n}}\n"
    return parse_module(Source("f.pto", text.encode())).kernel()


def setting(**arguments: int) -> Setting:
    """Block 0 of 1."""
    return Setting(arguments, 0, 1)


def run(kernel: Kernel, seed: int = 0, **arguments: int) -> Run:
    """Execute a kernel in program order."""
    program = read_program(kernel, setting(**arguments), load_machine("910b2"), seed)
    order = order_of(constraints_of(program), Schedule(ScheduleKind.PROGRAM))
    return Run(program, execute(program, order))


def view(name: str, dtype: str, rows: int, cols: int) -> str:
    """Lines that make %NAMEp, all of pointer %NAME as a matrix."""
    whole = f"%{name}v = pto.make_tensor_view %{name}, shape = [%c{rows}, %c{cols}], strides = [%c{cols}, %c1]"
    part = f"%{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}]"
    types = f"!pto.tensor_view<?x?x{dtype}> -> !pto.partition_tensor_view<{rows}x{cols}x{dtype}>"
    return f"{whole} : !pto.tensor_view<?x?x{dtype}>\n{part} : {types}\n"


def one_op(
    name: str, ins: Sequence[Tile | Number], out: Tile, attributes: str = "", loads_out: bool = False
) -> tuple[Kernel, str]:
    """A kernel of one op on tiles of vec: tile i of the ins comes from %p<i>, the result from %out if it is loaded.

    Returns the kernel and the text of the op's line.
    """
    tiles = {f"p{i}": operand for i, operand in enumerate(ins) if isinstance(operand, Tile)} | {"out": out}
    lines: list[str] = []
    for place, (pointer, tile) in enumerate(tiles.items()):
        lines.append(f"%{pointer}a = arith.constant {place * _ROOM} : i64")
        lines.append(f"%{pointer}t = pto.alloc_tile addr = %{pointer}a : {tile.type}")
        lines.append(view(pointer, tile.dtype, *tile.shape).rstrip())
        if pointer != "out" or loads_out:
            lines.append(f"pto.tload ins(%{pointer}p : {_view_type(tile)}) outs(%{pointer}t : {tile.type})")
    for i, operand in enumerate(ins):
        if isinstance(operand, Number):
            lines.append(f"%s{i} = arith.constant {operand.value} : {operand.dtype}")
    names = ", ".join(f"%p{i}t" if isinstance(operand, Tile) else f"%s{i}" for i, operand in enumerate(ins))
    types = ", ".join(operand.type if isinstance(operand, Tile) else operand.dtype for operand in ins)
    op = f"pto.{name} ins({names} : {types}) outs(%outt : {out.type}) {attributes}".rstrip()
    lines += [op, f"pto.tstore ins(%outt : {out.type}) outs(%outp : {_view_type(out)})"]
    arguments = ", ".join(f"%{pointer}: !pto.ptr<{tile.dtype}>" for pointer, tile in tiles.items())
    return kernel_of(arguments, "\n".join(lines)), op


def _view_type(tile: Tile) -> str:
    rows, cols = tile.shape
    return f"!pto.partition_tensor_view<{rows}x{cols}x{tile.dtype}>"


def result(
    name: str, ins: Sequence[Tile | Number], out: Tile, attributes: str = "", loads_out: bool = False
) -> tuple[NDArray[Any], ...]:
    """The matrices of the ins, of what the result held before if it is loaded, and of the result."""
    kernel, _ = one_op(name, ins, out, attributes, loads_out)
    done = run(kernel)
    sources = [done.before(f"p{i}", *operand.shape) for i, operand in enumerate(ins) if isinstance(operand, Tile)]
    sources += [done.before("out", *out.shape)] if loads_out else []
    return (*sources, done.after("out", *out.shape))
