"""Compiles the C++ of a kernel with g++ and runs it on host memory, against our own header or the public simulator."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which("g++")
PUBLIC = os.environ.get("PTO_ISA_PATH", "")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no g++ here")
needs_public_headers = pytest.mark.skipif(
    COMPILER is None or not PUBLIC, reason="PTO_ISA_PATH does not name a checkout of the public pto-isa, or no g++ here"
)

Array = npt.NDArray[Any]
_SIGNATURE = re.compile(r"__global__ AICORE void (\w+)\(([^)]*)\)")
_MAIN = """#include <cstdint>
#include "kernel.cpp"
{include}
#include <cstdio>
#include <cstdlib>
#include <vector>

static std::vector<std::vector<unsigned char>> buffers;

static void read(const char* path) {{
  std::FILE* file = std::fopen(path, "rb");
  std::fseek(file, 0, SEEK_END);
  buffers.emplace_back(std::ftell(file));
  std::rewind(file);
  if (std::fread(buffers.back().data(), 1, buffers.back().size(), file) != buffers.back().size()) std::exit(4);
  std::fclose(file);
}}

static void write(const char* path, const std::vector<unsigned char>& bytes) {{
  std::FILE* file = std::fopen(path, "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
}}

int main(int, char** given) {{
  for (int at = 0; at < {pointers}; ++at) read(given[2 + at]);
  for (const auto& buffer : buffers) host::lend(buffer.data(), buffer.size());
  host::launch(std::atoll(given[1]), [&] {{ {name}({arguments}); }});
  for (int at = 0; at < {pointers}; ++at) write(given[2 + at], buffers[at]);
}}
"""


@dataclass(frozen=True)
class Headers:
    """What a kernel is compiled against.

    Parameters
    ----------
    folder : Path
        Holds `pto/pto-inst.hpp`.
    flags : tuple of str
        Of the compiler.
    include : str
        What defines `host::launch`, where the headers do not.
    """

    folder: Path
    flags: tuple[str, ...]
    include: str = ""


OWN = Headers(HERE, ("-D__DAV_CUBE__", "-D__DAV_VEC__", "-Wall", "-Wno-unused-variable", "-Werror"))


def public_headers(folder: Path, macro: str) -> Headers:
    """A copy of the public headers that this compiler takes: one assertion of theirs is false in every template."""
    copied = folder / "include"
    shutil.copytree(Path(PUBLIC) / "include", copied)
    assertion = copied / "pto" / "cpu" / "TReduceIdx.hpp"
    text = assertion.read_text()
    assertion.write_text(text.replace("static_assert(false,", "static_assert(sizeof(DType) == 0,"))
    return Headers(copied, ("-D__CPU_SIM", f"-D{macro}"), f'#include "{HERE / "cpu_sim.hpp"}"')


@dataclass(frozen=True)
class Program:
    """A kernel that was compiled."""

    folder: Path

    def run(self, arrays: Sequence[Array], scalars: Sequence[int | float], cores: int = 1) -> list[Array]:
        """What the arrays hold after all cores ran one after the other."""
        finished = self.finish(arrays, scalars, cores)
        assert finished.returncode == 0, finished.stderr
        return [np.fromfile(self._file(at), dtype=array.dtype).reshape(array.shape) for at, array in enumerate(arrays)]

    def finish(
        self, arrays: Sequence[Array], scalars: Sequence[int | float], cores: int = 1
    ) -> subprocess.CompletedProcess[str]:
        """The end of a run, in whatever way it ends."""
        for at, array in enumerate(arrays):
            np.ascontiguousarray(array).tofile(self._file(at))
        files = [str(self._file(at)) for at in range(len(arrays))]
        command = [str(self.folder / "run"), str(cores), *files, *map(str, scalars)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def _file(self, at: int) -> Path:
        return self.folder / f"argument{at}.bin"


def compiled(text: str, folder: Path, headers: Headers = OWN) -> Program:
    """Compiles the C++ of one kernel."""
    (folder / "kernel.cpp").write_text(text)
    (folder / "main.cpp").write_text(_main(text, headers))
    build(folder / "main.cpp", folder / "run", headers)
    return Program(folder)


def build(source: Path, program: Path, headers: Headers = OWN) -> None:
    """Compiles a file; what the compiler says is in the failure."""
    assert COMPILER is not None
    command = [COMPILER, "-std=c++20", "-O1", *headers.flags, f"-I{headers.folder}", str(source), "-o", str(program)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr


def printed_by(body: str, folder: Path) -> list[str]:
    """The lines that a C++ program prints; the usual headers are included."""
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(f"#include <cmath>\n#include <cstdint>\n#include <cstdio>\n{body}")
    build(source, program)
    return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.splitlines()


def _main(text: str, headers: Headers) -> str:
    found = _SIGNATURE.search(text)
    assert found is not None
    types = [argument.rsplit(" ", 1)[0] for argument in found[2].split(", ")]
    pointers = [type_ for type_ in types if type_.endswith("*")]
    assert types[: len(pointers)] == pointers, "pointers first"
    arguments = [f"({type_}) buffers[{at}].data()" for at, type_ in enumerate(pointers)]
    for at, type_ in enumerate(types[len(pointers) :], 2 + len(pointers)):
        read = "std::atof" if type_ in ("float", "half") else "std::atoll"
        arguments.append(f"({type_}) {read}(given[{at}])")
    return _MAIN.format(include=headers.include, pointers=len(pointers), name=found[1], arguments=", ".join(arguments))
