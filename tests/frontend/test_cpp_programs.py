"""Random programs do what they do when g++ compiles them: the same flags in the same order."""

import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from syncopt.frontend import Module, parse_module
from syncopt.ir.kernel import SetFlag
from syncopt.ir.scalars import wrapped
from syncopt.ir.source import InputError, Source
from syncopt.ir.trace import Setting, Tracer
from tests.emit.cpp.running import Headers, build, needs_compiler
from tests.frontend.programs import FUNCTIONS, Program

pytestmark = needs_compiler

PROGRAMS = 40
ARGUMENTS = {"a": ("int32_t", 32), "b": ("uint32_t", 32), "c": ("int64_t", 64), "d": ("uint8_t", 8)}
NUMBERS = (
    (0, 0, 0, 0),
    (-1, 1, 255, 3),
    ((1 << 31) - 1, (1 << 32) - 1, -1, 255),
    (-(1 << 31), 7, (1 << 63) - 1, 128),
)
AROUND = """#include <cstddef>
#include <cstdint>
#include <cstdio>
#define __global__
#define AICORE
enum pipe_t { PIPE_V, PIPE_S };
static void set_flag(pipe_t, pipe_t, int id) { std::printf("%d ", id); }
"""


def test_programs_do_what_they_do_when_compiled(tmp_path: Path) -> None:
    """Every argument as an unsigned number of 64 bits, from which the call takes the low ones."""
    texts = islice(readable(Random(1)), PROGRAMS)
    kernels = [text.replace(" k(", f" k{number}(") for number, text in enumerate(texts)]
    calls = [
        f"  k{number}({', '.join(f'({type_}) {given % (1 << 64)}ull' for (type_, _), given in typed(numbers))});\n"
        '  std::puts("");\n'
        for number in range(PROGRAMS)
        for numbers in NUMBERS
    ]
    text = FUNCTIONS + "".join(kernels)
    (tmp_path / "all.cpp").write_text(f"{AROUND}{text}int main() {{\n{''.join(calls)}}}\n")
    build(tmp_path / "all.cpp", tmp_path / "all", Headers(tmp_path, ("-w", "-fwrapv")))
    printed = subprocess.run([tmp_path / "all"], capture_output=True, text=True, check=True).stdout.splitlines()
    module = parse_module(Source("k.cpp", text.encode()))
    found = [flags(module, f"k{number}", numbers) for number in range(PROGRAMS) for numbers in NUMBERS]
    assert found == [line.split() for line in printed]
    assert sum(map(len, found)) > 10 * PROGRAMS


def readable(random: Random) -> Iterator[str]:
    """Kernels, without those where the grammar takes `(a * (b)) + c` for a cast: that is refused."""
    parameters = ", ".join(f"{type_} {name}" for name, (type_, _) in ARGUMENTS.items())
    while True:
        text = f"{FUNCTIONS}__global__ AICORE void k({parameters}) {{\n{Program(random, tuple(ARGUMENTS)).text}\n}}\n"
        try:
            parse_module(Source("k.cpp", text.encode())).kernel()
        except InputError as refusal:
            if not refusal.help.startswith("what stands in parentheses in front of an operator is taken for a type"):
                raise
            continue
        yield text.removeprefix(FUNCTIONS)


def typed(numbers: tuple[int, ...]) -> list[tuple[tuple[str, int], int]]:
    """The arguments with their types."""
    return list(zip(ARGUMENTS.values(), numbers, strict=True))


def flags(module: Module, name: str, numbers: tuple[int, ...]) -> list[str]:
    """The ids that a kernel sets, in order."""
    kernel = module.kernel(name)
    bits = (bits for _, bits in ARGUMENTS.values())
    given = {n: wrapped(value, f"i{b}") for n, value, b in zip(ARGUMENTS, numbers, bits, strict=True)}
    return [
        str(instance.event) for instance in Tracer(kernel, Setting(given, 0, 1)) if isinstance(instance.op, SetFlag)
    ]
