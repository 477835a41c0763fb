"""C++ kernels of a folder of public files: unchanged trees give the same bytes, new flags can be read again."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from syncopt.emit import render
from syncopt.frontend import parse_module, read_module
from syncopt.ir.kernel import Barrier, Flag, Kernel, Op, TileOp, walk
from syncopt.ir.source import InputError, Source
from syncopt.model.rewrite import strip_flags
from tests.emit.edit.trees import change, flagged

FOLDER = os.environ.get("SYNCOPT_PUBLIC_KERNELS", "")

pytestmark = pytest.mark.skipif(not FOLDER, reason="SYNCOPT_PUBLIC_KERNELS names no folder of .cpp files")


def kernels() -> Iterator[Kernel]:
    """Every kernel that converts."""
    for path in sorted(Path(FOLDER).rglob("*.cpp")):
        try:
            module = read_module(path)
            yield from (module.kernel(function.name) for function in module.functions if function.is_kernel)
        except InputError:
            continue


def work(kernel: Kernel) -> list[str]:
    """The tile ops, flags and barriers of a kernel."""
    return [_words(op) for op in walk(kernel.body) if isinstance(op, TileOp | Flag | Barrier)]


def _words(op: Op) -> str:
    match op:
        case TileOp():
            return f"{op.name} {op.ins} {op.outs} {op.attributes}"
        case Flag():
            return f"{type(op).__name__} {op.pair} {op.event}"
        case _:
            return type(op).__name__


def test_public_kernels_come_back() -> None:
    count = 0
    for kernel in kernels():
        assert render(kernel, change(kernel, lambda ops: ops)) == kernel.source.data, kernel.source.path
        count += 1
    assert count > 0


def test_public_kernels_take_other_flags() -> None:
    for kernel in kernels():
        changed = change(strip_flags(kernel), flagged)
        again = parse_module(Source(kernel.source.path, render(kernel, changed))).kernel(kernel.name)
        assert work(again) == work(changed), kernel.source.path
        bare = change(again, lambda ops: tuple(op for op in ops if not isinstance(op, Flag)))
        assert render(again, bare) == render(kernel, strip_flags(kernel)), kernel.source.path
