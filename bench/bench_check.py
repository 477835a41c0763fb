"""What it takes to prove a plan, and whether the proof needs every flag of it.

The plan of the double-buffered GEMM is proven for all trip counts; the time is set beside that of bare happens-before
passes over the same executions, which prove nothing beyond them. Then each flag is left out in turn.
"""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from syncopt.api import Job, Request, solve
from syncopt.check import HappensBefore, Observer, Verdict, check_kernel
from syncopt.check.executions import Executions
from syncopt.frontend import parse_module
from syncopt.hwmodel import load_machine
from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import NO_ASSUMPTIONS
from syncopt.ir.kernel import Kernel
from syncopt.ir.pointers import shared_pointers
from syncopt.ir.source import Source
from syncopt.ir.trace import Setting, Tracer
from syncopt.solve.driver import OrderMode
from syncopt.solve.orders import Budget

GEMM = Path(__file__).parents[1] / "instances" / "gemm" / "double_buffered.pto"
MACHINE = load_machine("910b2")
SETTING = Setting({"M": 2176, "N": 8192, "K": 8192}, 0, 24)
MOST_SECONDS = 5
FEW_TRIPS = 2
FLAGS = ("pto.set_flag", "pto.wait_flag")


@pytest.fixture(name="lines", scope="module")
def _lines() -> list[str]:
    """The lines of the plan."""
    job = Job(GEMM, MACHINE, arguments=(2176, 8192, 8192))
    return solve(job, Request(OrderMode.FREE, Budget(60.0))).text.decode().splitlines()


def parsed(lines: list[str]) -> Kernel:
    return parse_module(Source("plan.pto", "\n".join([*lines, ""]).encode())).kernel()


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = process_time()
    work()
    return process_time() - start


def test_plan_is_proven_within_seconds(lines: list[str]) -> None:
    kernel = parsed(lines)
    report = check_kernel(kernel, SETTING, MACHINE)
    assert (report.verdict, report.findings, report.unproven) == (Verdict.CLEAN, (), ())
    whole = seconds(lambda: check_kernel(kernel, SETTING, MACHINE))
    bare = seconds(lambda: passes(kernel))
    ratio = f"{whole / bare:.1f} times bare passes over 0..5 trips ({bare:.2f} s)"
    print(f"\nproof of {report.executions} executions: {whole:.2f} s, {ratio}")
    assert whole < MOST_SECONDS


def passes(kernel: Kernel) -> None:
    """Happens-before over all executions of up to five trips, and nothing else."""
    trips, shared = TripCounts(kernel), shared_pointers(kernel)
    for execution in Executions(trips, NO_ASSUMPTIONS, 5):
        trace = Tracer(kernel, SETTING, execution.overrides(trips, SETTING))
        HappensBefore(MACHINE, shared, Observer()).run(trace)


def test_every_flag_of_the_plan_is_needed(lines: list[str]) -> None:
    """Two trips of each loop are enough to miss any flag but those of the first matmul of the odd branch."""
    flags = [number for number, line in enumerate(lines) if line.strip().startswith(FLAGS)]
    clean = [
        number + 1
        for number in flags
        if not check_kernel(parsed([*lines[:number], *lines[number + 1 :]]), SETTING, MACHINE, limit=FEW_TRIPS).findings
    ]
    print(f"\n{len(flags)} flags, of which {len(clean)} can be left out: lines {clean}")
    assert not clean
