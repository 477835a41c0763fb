"""A kernel's instructions in short lines: `load a_l1 a_first`, `extract a_l0 a_l1 0 16`, `MTE1->M 0 set`, `for k`."""

import re

from syncopt.gen import gemm
from syncopt.gen.gemm import GemmKernel
from syncopt.hwmodel import load_machine

MACHINE = load_machine("910b2")
_PIPES = {"TLOAD": "MTE2", "TMOV_M2L": "MTE1", "TMATMUL": "M", "TSTORE_ACC": "FIX"}
_EVENT = re.compile(r"pto\.(record|wait)_event\[#pto\.sync_op_type<(\w+)>, #pto\.sync_op_type<(\w+)>, <EVENT_ID(\d)>\]")
_TILE_OP = re.compile(r"pto\.(tload|textract|tmatmul|tmatmul\.acc|tstore) ins\(([^:]*) :.*\) outs\(([^:]*) :.*\)")
_BLOCK = re.compile(r"scf\.(for|if) %(\w+)")


def lines_of(kernel: GemmKernel) -> list[str]:
    """The lines of a kernel without comments and indentation."""
    lines = (line.strip() for line in gemm.text(kernel, MACHINE).splitlines())
    return [line for line in lines if not line.startswith("//")]


def skeleton(kernel: GemmKernel) -> str:
    """Instructions, loops and branches of a kernel, one per line, indented as in the text."""
    found: list[str] = []
    depth = 0
    for line in lines_of(kernel):
        depth -= line.startswith("}")
        short = _short(line)
        if short:
            found.append("  " * (depth - 3) + short)
        depth += line.endswith("{")
    return "\n".join(found)


def between(text: str, first: str, last: str) -> str:
    """The lines from one that is `first` to the next that is `last`, indentation left out of the comparison."""
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.strip() == first)
    end = next(place for place, line in enumerate(lines[start:], start) if line.strip() == last)
    indentation = len(lines[start]) - len(lines[start].lstrip())
    return "\n".join(line[indentation:] for line in lines[start : end + 1])


def _short(line: str) -> str:
    if match := _EVENT.fullmatch(line):
        kind, source, target, event = match.groups()
        return f"{_PIPES[source]}->{_PIPES[target]} {event} {'set' if kind == 'record' else 'wait'}"
    if match := _TILE_OP.fullmatch(line):
        name, ins, outs = match.groups()
        operands = [operand.strip().removeprefix("%") for operand in ins.split(",")]
        offsets = [operand[1:] if re.fullmatch(r"c\d+", operand) else operand for operand in operands]
        return " ".join([name.removeprefix("t"), outs.strip().removeprefix("%"), *offsets])
    if match := _BLOCK.match(line):
        return " ".join(match.groups())
    if line == "} else {":
        return "else"
    return line.removeprefix("pto.") if line.startswith("pto.barrier") else ""
