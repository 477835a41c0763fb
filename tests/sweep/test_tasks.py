"""From kernels, tilings and shapes to solves."""

from pathlib import Path

import pytest

from syncopt.api import InputError, argument_names
from syncopt.sweep.tasks import gemm_tasks, kernel_files, kernel_tasks
from syncopt.sweep.tilings import GemmForm
from tests.sweep.made import SETUP, STREAM

KERNELS = STREAM.parent
GEMM = KERNELS.parents[2] / "instances" / "gemm"


def test_kernels_by_path_folder_and_pattern() -> None:
    stream, guarded = KERNELS / "stream.pto", KERNELS / "guarded.pto"
    assert kernel_files([str(stream), str(KERNELS)]) == (stream, guarded)
    assert kernel_files([str(KERNELS / "g*.pto")]) == (guarded,)
    assert kernel_files([str(KERNELS.parent / "**" / "s*.pto")]) == (stream,)


def test_patterns_count_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(KERNELS.parent)
    assert kernel_files(["kernels/g*.pto"]) == (Path("kernels/guarded.pto"),)


@pytest.mark.parametrize("target", ["none.pto", "none/*.pto"])
def test_target_without_a_kernel_is_refused(target: str) -> None:
    with pytest.raises(InputError, match="no kernel at none"):
        kernel_files([target])


def test_shape_by_shape() -> None:
    """Neighbours differ in their kernels, so that workers do not wait for one another's search."""
    paths = kernel_files([str(KERNELS)])
    tasks = kernel_tasks(paths, [{"n": 2}, {"n": 3}], SETUP).tasks
    assert [(task.job.path.stem, task.job.named["n"]) for task in tasks] == [
        ("guarded", 2),
        ("stream", 2),
        ("guarded", 3),
        ("stream", 3),
    ]


def test_arguments_in_any_case_and_open_ones() -> None:
    planned = kernel_tasks([GEMM / "double_buffered.pto"], [{"m": 128, "n": 512}], SETUP)
    assert planned.tasks[0].job.named == {"M": 128, "N": 512, "K": 4096}
    assert planned.notes == (f"{GEMM / 'double_buffered.pto'}: K = 4096 (not given)",)


def test_kernel_that_cannot_be_read_is_left_to_its_row(tmp_path: Path) -> None:
    path = tmp_path / "wrong.pto"
    path.write_text("nothing\n")
    (task,) = kernel_tasks([path], [{"n": 2}], SETUP).tasks
    assert task.job.named == {"n": 2}
    assert task.job.text == b"nothing\n"


def test_argument_that_no_kernel_has_is_refused() -> None:
    paths = kernel_files([str(KERNELS)])
    with pytest.raises(InputError, match="no kernel of the sweep has an integer argument rows") as refused:
        kernel_tasks(paths, [{"N": 2, "rows": 3}], SETUP)
    assert refused.value.help == "there are n"
    with pytest.raises(InputError, match="no kernel of the sweep has an integer argument Q") as refused:
        gemm_tasks(GemmForm(), ["128x256x512"], [{"m": 128, "n": 256, "k": 512, "Q": 1}], SETUP)
    assert refused.value.help == "there are M, N, K"


def test_argument_that_one_kernel_has_is_none_of_the_others() -> None:
    """Which is said in their rows."""
    planned = kernel_tasks([STREAM, GEMM / "double_buffered.pto"], [{"n": 2, "K": 512}], SETUP)
    assert [dict(task.job.named) for task in planned.tasks] == [{"n": 2, "K": 512}, {"M": 4096, "N": 2, "K": 512}]


def test_tilings_of_every_shape() -> None:
    """128 divides both sizes of M, 256 only one."""
    shapes = [{"m": 128, "n": 256, "k": 512}, {"m": 256, "n": 256, "k": 512}]
    planned = gemm_tasks(GemmForm(), ["128x256x512", "256x128x256"], shapes, SETUP)
    assert [(task.job.named["M"], task.tiling) for task in planned.tasks] == [
        (128, "128x256x512/128x256x64/b2/c1"),
        (256, "128x256x512/128x256x64/b2/c1"),
        (256, "256x128x256/256x128x64/b1/c1"),
    ]
    assert planned.notes == ("tiling 256x128x256 divides 1 of 2 shapes",)


def test_generated_kernel_takes_sizes_by_name() -> None:
    (task,) = gemm_tasks(GemmForm(), ["128x256x512"], [{"M": 128, "N": 256, "K": 512}], SETUP).tasks
    assert argument_names(task.job) == ("M", "N", "K")
    assert str(task.job.path) == "gemm_f16_128x256x512_128x256x64_b2_c1.pto"


def test_tiling_is_tried_once_whatever_it_is_called() -> None:
    shape = {"M": 128, "N": 256, "K": 512}
    texts = ["auto", "128x256x512", "128X256X512/128x256x64/b2/c1"]
    tilings = [task.tiling for task in gemm_tasks(GemmForm(), texts, [shape], SETUP).tasks]
    assert len(tilings) == len(set(tilings)) == len(gemm_tasks(GemmForm(), ["auto"], [shape], SETUP).tasks)


def test_shape_that_no_tiling_divides_is_refused() -> None:
    with pytest.raises(InputError, match="no tiling of 128x256x512 divides M=100, N=256, K=512"):
        gemm_tasks(GemmForm(), ["128x256x512"], [{"M": 100, "N": 256, "K": 512}], SETUP)
