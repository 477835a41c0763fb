"""Rows made by hand, and tasks of a small kernel."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from syncopt.api import Budget, load_machine
from syncopt.sweep.asked import Asked, Task
from syncopt.sweep.rows.row import Figures, OnMachine, Outcome, Row
from syncopt.sweep.tasks import Setup, kernel_tasks
from syncopt.sweep.versions import Versions

STREAM = Path(__file__).parents[1] / "cli" / "kernels" / "stream.pto"
SETUP = Setup(machine=load_machine("910b2"), budget=Budget(60))

ASKED = Asked(
    kernel="kernels/plain.pto",
    kernel_hash="0123",
    function="",
    tiling="",
    arguments={"M": 128, "N": 256, "K": 512},
    assume=("K>=512",),
    core=0,
    cores=24,
    machine="910b2",
    machine_hash="4567",
    order="free",
    budget=60.0,
    work=None,
    seed=0,
    versions=Versions("0.1.0", "89ab", "9.15"),
)
FIGURES = Figures(
    name="plain",
    cycles=1000,
    lower_bound=800,
    bound_by="MTE2",
    window_ops=20,
    window_makespan=300,
    window_bound=300,
    baseline=1500,
    baseline_kind="as-written",
    baseline_valid=True,
    baseline_hangs=False,
    sensitivity=(
        OnMachine("default", 1000, 1500, True, 1.5),
        OnMachine("depth 16", 1000, 1100, True, 1.1),
        OnMachine("depth 40", 1000, 2000, False, 2.0),
    ),
    busy={"MTE2": 0.9, "M": 0.5},
    sets=12,
    waits=12,
    barriers=1,
    matmuls=8,
    loads=4,
    loaded_bytes=65536,
    operand_bytes=393216,
    beyond_l2=False,
    microseconds=10.5,
    tflops=3.25,
    remembered=False,
    search_seconds=0.25,
)


def row(kernel: str = "plain", cycles: int = 1000, **arguments: int) -> Row:
    """A solved row."""
    asked = replace(ASKED, kernel=f"kernels/{kernel}.pto", kernel_hash=kernel, arguments=arguments or ASKED.arguments)
    return Row(asked, Outcome.OPTIMAL, 2.0, replace(FIGURES, cycles=cycles))


def failed(kernel: str = "plain", outcome: Outcome = Outcome.BAD_INPUT, **arguments: int) -> Row:
    """A row without a plan."""
    return Row(row(kernel, **arguments).asked, outcome, 0.5, None, "a.pto:3:1: error: no\n  help: none")


def stream_task(n: int) -> Task:
    """The solve of a small vector kernel with n rounds."""
    (task,) = kernel_tasks([STREAM], [{"n": n}], SETUP).tasks
    return task


def comparable(found: Mapping[str, object]) -> dict[str, object]:
    """What of a row's document does not depend on when and where it was solved."""
    return {name: value for name, value in found.items() if name not in ("seconds", "search_seconds", "remembered")}
