"""`solve --cpp`: the plan as C++, written only when it was proven to be the plan."""

from pathlib import Path
from typing import Any

import pytest

from syncopt.api import _cpp
from syncopt.emit import cpp_text
from syncopt.ir.kernel import Kernel
from syncopt.ir.trace import Setting
from tests.cli.running import KERNELS, STREAM, document, refusal, syncopt

SOLVE = ("solve", STREAM, "--args", "6")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_cpp_is_the_plan_that_is_written_as_pto(tmp_path: Path) -> None:
    """Read again by name of its suffix, it is clean and takes the claimed cycles with the same flags."""
    pto, cpp = tmp_path / "o.pto", tmp_path / "o.cpp"
    found = document(syncopt(*SOLVE, "-o", pto, "--cpp", cpp, "--json"))
    assert found["outputs"] == {"pto": str(pto), "cpp": str(cpp)}
    assert names(tmp_path) == ["o.cpp", "o.pto"]
    replays: list[dict[str, Any]] = [
        document(syncopt("simulate", path, "--args", "6", "--json")) for path in (pto, cpp)
    ]
    assert replays[0]["cycles"] == replays[1]["cycles"] == found["cycles"]
    assert replays[0]["sync"] == replays[1]["sync"] == found["sync"]
    assert replays[0]["stalls"] == replays[1]["stalls"]
    assert document(syncopt("check", cpp, "--json"))["verdict"] == "clean"


def test_cpp_has_the_names_of_the_text(tmp_path: Path) -> None:
    cpp = tmp_path / "o.cpp"
    result = syncopt(*SOLVE, "--cpp", cpp)
    assert result.exit_code == 0
    assert f"Written to {cpp}." in " ".join(result.stdout.split())
    text = cpp.read_text()
    signature = "stream(__gm__ float* x, __gm__ float* x2, __gm__ float* y, __gm__ float* z, int64_t n) {"
    assert text.startswith(f'#include "pto/pto-inst.hpp"\nusing namespace pto;\n\n__global__ AICORE void {signature}\n')
    assert "TADD(b, a, a);" in text
    assert "TSTORE(yp, b);" in text
    assert "pipe_barrier(PIPE_ALL);" in text
    assert text.endswith("  return;\n}\n")


def test_two_runs_write_the_same(tmp_path: Path) -> None:
    texts: list[bytes] = []
    for _ in range(2):
        assert syncopt(*SOLVE, "--cpp", tmp_path / "o.cpp", "--force").exit_code == 0
        texts.append((tmp_path / "o.cpp").read_bytes())
    assert texts[0] == texts[1]


def test_existing_file_needs_force(tmp_path: Path) -> None:
    cpp = tmp_path / "o.cpp"
    cpp.write_text("old")
    assert f"error: {cpp} exists already" in refusal(syncopt(*SOLVE, "--cpp", cpp))
    assert cpp.read_text() == "old"
    assert syncopt(*SOLVE, "--cpp", cpp, "--force").exit_code == 0
    assert "TLOAD(a, xp);" in cpp.read_text()
    assert names(tmp_path) == ["o.cpp"]


def test_two_outputs_need_two_files(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    message = refusal(syncopt(*SOLVE, "-o", tmp_path / "o", "--cpp", tmp_path / "link" / "o"))
    assert message.splitlines()[0] == f"error: {tmp_path / 'link' / 'o'} is the file of two outputs"
    assert names(tmp_path) == ["link"]


def test_kernel_itself_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_bytes(STREAM.read_bytes())
    message = refusal(syncopt("solve", path, "--args", "6", "--cpp", path, "--force"))
    assert f"error: {path} is the kernel itself" in message
    assert path.read_bytes() == STREAM.read_bytes()


@pytest.mark.parametrize(
    ("kernel", "output", "message", "hint"),
    [
        (STREAM, "o.pto", "o.pto would hold C++", "name a .cpp file"),
        (KERNELS / "stream.cpp", "o.cpp", "stream.cpp is C++ already", "-o writes it with the plan"),
    ],
)
def test_cpp_in_a_pto_file_or_of_cpp_is_refused(
    kernel: Path, output: str, message: str, hint: str, tmp_path: Path
) -> None:
    text = refusal(syncopt("solve", kernel, "--args", "6", "--cpp", tmp_path / output))
    assert message in text
    assert hint in text
    assert names(tmp_path) == []


def test_op_without_cpp_is_refused_before_the_search(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    line = "%odd = arith.remf %half, %half : f32"
    text = STREAM.read_text().replace("    %c0 =", f"    %half = arith.constant 0.5 : f32\n    {line}\n    %c0 =")
    path.write_text(text)
    result = syncopt("solve", path, "--args", "6", "--cpp", tmp_path / "o.cpp")
    assert refusal(result).splitlines()[0] == f"{path}:5:5: error: no C++ for arith.remf on f32, f32"
    assert "best" not in result.stderr
    assert names(tmp_path) == ["k.pto"]
    assert syncopt("solve", path, "--args", "6", "-o", tmp_path / "o.pto").exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PIPE_V, PIPE_MTE3, EVENT_ID0", "PIPE_V, PIPE_MTE3, EVENT_ID7", "the C++ differs from the plan: instruction"),
        ("TADD(b, a, a);", "TADD(b, a, c);", "the C++ differs from the plan: instruction"),
        ("TADD(b, a, a);", "TADD(b, a, e);", "the C++ of the plan cannot be read again"),
        ("int64_t n)", "int64_t n, int64_t m)", "the C++ takes other arguments than the kernel"),
        # The loop runs once less than it should, but not with 6 blocks.
        ("i < n;", "i < (n == 6 ? n : n + 1);", "the C++ differs from the plan: instruction"),
    ],
)
def test_cpp_that_is_not_the_plan_is_not_handed_out(
    old: str, new: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a fault of the writer made of it."""

    def wrong(kernel: Kernel, setting: Setting) -> str:
        text = cpp_text(kernel, setting)
        return text.replace(old, new) if "set_flag" in text else text

    monkeypatch.setattr(_cpp, "cpp_text", wrong)
    options = ("--also-args", "4", "-o", tmp_path / "o.pto", "--cpp", tmp_path / "o.cpp")
    result = syncopt(*SOLVE, *options)
    assert result.exit_code == 3
    assert f"internal error: {message}" in result.stderr
    assert "nothing is written" in result.stderr
    assert names(tmp_path) == []


def test_cpp_that_is_wrong_for_other_arguments_is_not_handed_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flags before the loop are left out but for 6 blocks: the check of all trip counts finds it."""

    def wrong(kernel: Kernel, setting: Setting) -> str:
        text = cpp_text(kernel, setting)
        return text.replace(
            "  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);", "  if (n == 6) { set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0); }", 1
        )

    monkeypatch.setattr(_cpp, "cpp_text", wrong)
    result = syncopt(*SOLVE, "--cpp", tmp_path / "o.cpp")
    assert result.exit_code == 3
    assert "internal error: the C++ of the plan is not clean" in result.stderr
    assert names(tmp_path) == []


def test_scalar_steps_that_cost_time_may_differ(tmp_path: Path) -> None:
    """Where they cost nothing the cycles are the same; where they cost, the instructions still are."""
    result = syncopt(*SOLVE, "--machine-set", "dispatch.scalar_op=1", "--cpp", tmp_path / "o.cpp")
    assert result.exit_code == 0, result.stderr
