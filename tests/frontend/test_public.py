"""Every kernel of a folder of public files is read, or refused at a position; nothing else happens."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from syncopt.frontend import Module, read_module
from syncopt.ir.kernel import walk
from syncopt.ir.source import InputError

FOLDER = os.environ.get("SYNCOPT_PUBLIC_KERNELS", "")


@pytest.mark.skipif(not FOLDER, reason="SYNCOPT_PUBLIC_KERNELS names no folder of .pto files")
def test_public_files_are_read_or_refused() -> None:
    paths = sorted(Path(FOLDER).rglob("*.pto"))
    assert paths
    converted = sum(converted_functions(path) for path in paths)
    assert converted > 0


def converted_functions(path: Path) -> int:
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
    ops = list(walk(kernel.body))
    assert [op.uid for op in ops] == list(range(len(ops)))
    assert all(before.span.start < after.span.start for before, after in pairwise(ops))
    return True


def check_position(refusal: InputError) -> None:
    assert refusal.source is not None
    assert refusal.span is not None
