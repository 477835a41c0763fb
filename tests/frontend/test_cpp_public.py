"""C++ that ptoas made of public `.pto` files does what they do: the same tile ops on as much, in the same order."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import pytest

from syncopt.frontend import Module, read_module
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import AllocMultiTile, AllocTile, Kernel, TileOp, walk
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting, Tracer
from syncopt.ir.types import ScalarType
from syncopt.ir.work import Work
from tests.frontend.test_public import check_position

FOLDER = os.environ.get("SYNCOPT_PUBLIC_KERNELS", "")
ARGUMENTS = (
    (2176, 8192, 8192, 0, 5),
    (640, 1024, 2048, 1, 3),
    (256, 512, 512, 1, 1),
    (33, 1000, 77, 1, 2),
    (1, 2, 3, 1, 1),
    (32, 32, 32, 1, 1),
)
LONGEST = 4000
"""Tile ops that are compared per run."""

pytestmark = pytest.mark.skipif(not FOLDER, reason="SYNCOPT_PUBLIC_KERNELS names no folder of .pto and .cpp files")


@dataclass(frozen=True)
class Pair:
    """A `.pto` file and the C++ that stands beside it."""

    pto: Path
    cpp: Path


def pairs() -> Iterator[Pair]:
    for cpp in sorted(Path(FOLDER).rglob("*.cpp")):
        beside = sorted(cpp.parent.glob("*.pto"))
        if len(beside) == 1 and "__global__ AICORE" in cpp.read_text(encoding="utf-8"):
            yield Pair(beside[0], cpp)


@dataclass(frozen=True)
class Step:
    """A tile op as far as it must be the same in both: bytes on chip without their address, which ptoas chooses."""

    work: Work
    iteration: tuple[int, ...]
    accesses: tuple[object, ...]


def steps(kernel: Kernel, arguments: tuple[int, ...], core: int) -> Iterator[Step | None]:
    """The tile ops of a run, and None where one is refused: not all arguments fit the tiles of all kernels."""
    try:
        yield from executed(kernel, arguments, core)
    except InputError:
        yield None


def executed(kernel: Kernel, arguments: tuple[int, ...], core: int) -> Iterator[Step]:
    names = [value.name.removeprefix("%") for value in kernel.arguments if isinstance(value.type, ScalarType)]
    tiles = (op for op in walk(kernel.body) if isinstance(op, AllocTile | AllocMultiTile) and op.address is None)
    setting = Setting(dict(zip(names, arguments, strict=False)), core, 24, addresses={op.uid: 0 for op in tiles})
    for instance in Tracer(kernel, setting):
        if isinstance(instance.op, TileOp):
            assert instance.work is not None
            accesses = tuple((access.writes, place(kernel, access.footprint)) for access in instance.accesses)
            yield Step(without_valid_parts(instance.work), instance.iteration, accesses)


def place(kernel: Kernel, footprint: Footprint) -> object:
    if isinstance(footprint.space, Memory):
        return footprint.space, footprint.width, footprint.dims
    return kernel.arguments.index(footprint.space), footprint.start, footprint.width, footprint.dims


def without_valid_parts(work: Work) -> Work:
    """A part of a tile whose valid size the `.pto` leaves open has one in C++, since ptoas works it out."""
    if work.name not in ("pto.tadd", "pto.tsub"):
        return work
    return replace(work, outs=tuple(replace(operand, rows=0, cols=0) for operand in work.outs))


def test_public_pairs_do_the_same() -> None:
    count = 0
    for pair in pairs():
        kernels = read_module(pair.pto).kernel(), read_module(pair.cpp).kernel()
        for arguments in ARGUMENTS:
            for core in (0, 5):
                traces = (steps(kernel, arguments, core) for kernel in kernels)
                for number, (pto, cpp) in enumerate(zip_longest(*traces)):
                    assert pto == cpp, f"{pair.cpp} {arguments} core {core}: tile op {number}"
                    if number == LONGEST:
                        break
        count += 1
    assert count > 0


def test_public_files_are_read_or_refused() -> None:
    paths = sorted(Path(FOLDER).rglob("*.cpp"))
    assert paths
    read = sum(converted_kernels(path) for path in paths)
    assert read > 0


def converted_kernels(path: Path) -> int:
    """The number of kernels of a file that convert; the others must be refused at a position."""
    try:
        module = read_module(path)
    except InputError as refusal:
        check_position(refusal)
        return 0
    return sum(is_converted(module, name) for name in {function.name for function in module.functions})


def is_converted(module: Module, name: str) -> bool:
    try:
        kernel = module.kernel(name)
    except InputError as refusal:
        check_position(refusal)
        return False
    return [op.uid for op in walk(kernel.body)] == list(range(len(list(walk(kernel.body)))))
