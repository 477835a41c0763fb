"""Kernels of a folder of public files: unchanged trees give the same bytes, new flags can be read again."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from syncopt.emit import render
from syncopt.frontend import parse_module, read_module
from syncopt.ir.kernel import Flag, Kernel
from syncopt.ir.source import InputError, Source
from syncopt.model.rewrite import strip_flags
from tests.emit.edit.trees import change, flagged, shapes

FOLDER = os.environ.get("SYNCOPT_PUBLIC_KERNELS", "")

pytestmark = pytest.mark.skipif(not FOLDER, reason="SYNCOPT_PUBLIC_KERNELS names no folder of .pto files")


def kernels() -> Iterator[Kernel]:
    """Every function that converts."""
    for path in sorted(Path(FOLDER).rglob("*.pto")):
        try:
            module = read_module(path)
        except InputError:
            continue
        for name in {function.name for function in module.functions}:
            try:
                yield module.kernel(name)
            except InputError:
                continue


def test_public_kernels_come_back() -> None:
    count = 0
    for kernel in kernels():
        copied = replace(kernel, body=change(kernel, lambda ops: ops).body)
        assert render(kernel, copied) == kernel.source.data, kernel.source.path
        count += 1
    assert count > 0


def test_public_kernels_take_other_flags() -> None:
    for kernel in kernels():
        changed = change(strip_flags(kernel), flagged)
        output = render(kernel, changed)
        again = parse_module(Source(kernel.source.path, output)).kernel(kernel.name)
        assert shapes(again) == shapes(changed), kernel.source.path
        bare = change(again, lambda ops: tuple(op for op in ops if not isinstance(op, Flag)))
        assert render(again, bare) == render(kernel, strip_flags(kernel)), kernel.source.path
