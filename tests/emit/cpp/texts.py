"""Kernels from text and the C++ of them."""

import re

from syncopt.emit import cpp_text
from syncopt.frontend import parse_module
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.pipes import Memory
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting
from syncopt.model.addresses import place

MACHINE = load_machine("910b2")
_TILE = re.compile(r"\bTile<[^<>]*>")
_TENSOR = re.compile(r"GlobalTensor<[^<>]*<[^<>]*>[^<>]*<[^<>]*>[^<>]*>")


def kernel_of(text: str | bytes) -> Kernel:
    """The only kernel of a text."""
    return parse_module(Source("kernel.pto", text.encode() if isinstance(text, str) else text)).kernel()


def setting_of(kernel: Kernel) -> Setting:
    """The addresses that the machine gives to tiles that have none."""
    alignment = {memory: MACHINE.memory(memory).alignment for memory in Memory if memory is not Memory.GM}
    return Setting({}, 0, 1, addresses=place(kernel, MACHINE), alignment=alignment)


def cpp_of(text: str | bytes) -> str:
    """The C++ of the only kernel of a text."""
    kernel = kernel_of(text)
    return cpp_text(kernel, setting_of(kernel))


def statements(cpp: str) -> list[str]:
    """The lines of a function's body without indentation, tile and tensor types cut short to their first word."""
    lines = [_TENSOR.sub("GlobalTensor", _TILE.sub("Tile", line.strip())) for line in cpp.splitlines()]
    return lines[lines.index(next(line for line in lines if line.startswith("__global__"))) + 1 : -1]


def body_of(lines: str, arguments: str = "%p: !pto.ptr<f32>, %n: index, %i: i32, %x: f32, %c: i1") -> list[str]:
    """The statements of a function around some lines."""
    return statements(cpp_of(f"func.func @f({arguments}) {{\n{lines}\n}}\n"))
