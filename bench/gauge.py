"""How far public C++ kernels are from the optimum: writes docs/gauge.md; exits 1 if a point is missed.

Run by `make gauge` with PTO_DSL_PATH naming a checkout of huawei-csl/pto-dsl, branch pto_ir_output, which holds C++
that ptoas printed. Every figure of the page comes from the run that writes it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from syncopt.api import (
    Budget,
    Compared,
    CompareRequest,
    InputError,
    Job,
    Machine,
    NoPlan,
    Version,
    WrongPlan,
    compare,
    load_machine,
)

PAGE = Path(__file__).parents[1] / "docs" / "gauge.md"
VARIABLE = "PTO_DSL_PATH"
EXAMPLES = Path(".agent/skills/translate_cpp2py/references/example_translation")
WORK = 60.0
"""Deterministic time of a search, so that the page is the same from run to run."""

BIAS_RATE = "mat_to_bias.bytes_per_cycle"
"""A figure that is published, but not measured."""
LOW, HIGH = 16, 256
"""Bytes per cycle between which such a rate is taken to be."""

_GUIDE = "matmul_optimization_guide"
_SHAPE = "2176,8192,8192"
# The first argument says whether there is a bias.
_BATCH = "batch_matmul/matmul_dynbatch_multicore/matmul/matmul.cpp"
_STATIC = "simple_static/matmul_static_singlecore/matmul/matmul.cpp"


@dataclass(frozen=True)
class Case:
    """A C++ kernel, the arguments it is run with, and the rate that is varied because it is not measured."""

    cpp: str
    arguments: str
    varied: str = ""

    @property
    def settings(self) -> tuple[str, ...]:
        """What `--machine-set` gets besides nothing."""
        return tuple(f"{self.varied}={rate}" for rate in (LOW, HIGH)) if self.varied else ()

    @property
    def commands(self) -> tuple[str, ...]:
        """The command lines, in the folder of the examples."""
        command = f"syncopt compare {self.cpp} --args {self.arguments} --optimum --work {WORK:.0f}"
        return (command, *(f"{command} --machine-set {setting}" for setting in self.settings))


SINGLE = Case(f"{_GUIDE}/step1_baseline/step1_baseline.cpp", _SHAPE)
AUTO = Case(f"{_GUIDE}/step3_swizzle/step3_swizzle.cpp", _SHAPE)
HAND = Case(f"{_GUIDE}/step4_manual_pipelining/step4_manual_pipelining.cpp", _SHAPE)
CASES = (
    SINGLE,
    Case(f"{_GUIDE}/step2_doublebuffer/step2_doublebuffer.cpp", _SHAPE),
    AUTO,
    HAND,
    Case(f"{_GUIDE}/experimental/matmul/matmul.cpp", f"{_SHAPE},0,0"),
    Case(_BATCH, "0,240", BIAS_RATE),
    Case(_BATCH, "1,240", BIAS_RATE),
    Case("batch_matmul/matmul_dynbatch_multicore_opt/matmul/matmul.cpp", "0,240"),
    Case(_STATIC, "0", BIAS_RATE),
    Case(_STATIC, "1", BIAS_RATE),
    Case("elementwise/add_dynamic_multicore/add/add.cpp", "3145728"),
    Case("elementwise/add_dynamic_multicore/add_double/add_double.cpp", "6291456"),
    Case("simple_static/add_static_multicore/add/add.cpp", "32,32"),
    Case("activations/geglu_dynamic_multicore/geglu/geglu.cpp", "480,4096"),
    Case("activations/relu_dynamic_multicore/relu/generated_relu.cpp", "262144"),
    Case("fast_hadamard/hadamard_auto_sync/hadamard_auto_sync.cpp", "256,4096,12"),
    Case("fast_hadamard/hadamard_manual_sync/hadamard_manual_sync.cpp", "256,4096,12"),
    Case("fast_inverse/basic_dense/inverse_basic_dense_64/inverse_basic_dense_64.cpp", "64,10"),
    Case("fast_inverse/basic_dense/inverse_basic_dense_128/inverse_basic_dense_128.cpp", "128,10"),
    Case("fast_inverse/block_inversion/inverse_block_inversion_64/inverse_block_inversion_64.cpp", "10"),
)


@dataclass(frozen=True)
class Row:
    """What came of a case: versions side by side, the C++ alone, or why there is nothing to compare.

    `again` is what came of it with each of its settings.
    """

    case: Case
    compared: Compared | None
    reason: str = ""
    again: tuple["Row", ...] = ()


def measured(folder: Path, case: Case) -> Row:
    """Compare a kernel with its optimum, once more for each setting of its case."""
    again = tuple(_measured(folder, case, load_machine("910b2", [setting])) for setting in case.settings)
    return replace(_measured(folder, case, load_machine("910b2")), again=again)


def _measured(folder: Path, case: Case, machine: Machine) -> Row:
    """Compare a kernel with its optimum; where there is none, measure it alone if that is possible."""
    job = Job(folder / case.cpp, machine, arguments=tuple(map(int, case.arguments.split(","))))
    try:
        return Row(case, compare([job], CompareRequest(Budget(float("inf"), WORK), stage=_say)))
    except InputError as error:
        reason = f"refused: {_short(error, folder)}"
    except (NoPlan, WrongPlan) as error:
        reason = f"no plan: {_shorter(str(error), folder)}"
    try:
        return Row(case, compare([job], CompareRequest(stage=_say)), reason)
    except InputError:
        return Row(case, None, reason)


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr)


def _short(error: InputError, folder: Path) -> str:
    return _shorter(str(error).splitlines()[0], folder)


def _shorter(text: str, folder: Path) -> str:
    return text.replace(f"{folder}/", "").replace("|", "/")


# -- the page ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """Something that must be seen."""

    name: str
    value: str
    wanted: str
    holds: bool


def cpp_of(row: Row) -> Version:
    """The C++ of a case that was measured."""
    assert row.compared is not None, row.reason
    return row.compared.versions[0]


def gain(compared: Compared, version: Version, place: int) -> float | None:
    """How many times as fast the optimum is as a version, on the sensitivity machine at a place."""
    return compared.ratios_on(place)[compared.versions.index(version)]


def gains(compared: Compared, version: Version) -> str:
    """The range of that over the machines."""
    spread = compared.range_of(version)
    return "-" if spread is None else " to ".join(dict.fromkeys(f"{factor:.3f}" for factor in spread))


def matmuls(version: Version) -> int:
    """Matmuls that were executed."""
    return sum(count for name, count in version.work.ops.items() if name.startswith("pto.tmatmul"))


def published(name: str, row: Row, cycles: int, within: float) -> Point:
    """A kernel against what was measured on hardware, in cycles per matmul."""
    version = cpp_of(row)
    found = version.cycles / matmuls(version)
    value = f"{found:.1f} ({found / cycles - 1:+.2%}), {version.cycles:,} cycles, {matmuls(version)} matmuls"
    return Point(name, value, f"{cycles} +- {within:.0%}", abs(found / cycles - 1) <= within)


def gained(name: str, row: Row, wanted: float) -> Point:
    """The optimum against a kernel, never without its range."""
    version = cpp_of(row)
    assert row.compared is not None
    found = gain(row.compared, version, 0)
    value = f"{found or 0:.3f} times as fast; {gains(row.compared, version)} over the machines"
    return Point(name, value, f"at least {wanted:.2f} on the default one", found is not None and found >= wanted)


def points(rows: Sequence[Row]) -> Iterator[Point]:
    """What must be seen."""
    of = {row.case: row for row in rows}
    yield published("step 1, one buffer each, auto-sync: cycles per matmul", of[SINGLE], 1373, 0.05)
    yield published("step 3, two buffers, swizzled, auto-sync: cycles per matmul", of[AUTO], 777, 0.06)
    yield published("step 4, flags by hand: cycles per matmul", of[HAND], 656, 0.05)
    yield gained("optimum against auto-sync", of[AUTO], 1.20)
    yield gained("optimum against the flags by hand", of[HAND], 1.08)


def table_row(row: Row) -> str:
    """A line of the table of all kernels."""
    return f"| `{row.case.cpp}` | {row.case.arguments} | {' | '.join(figures(row))} |"


def figures(row: Row) -> tuple[str, ...]:
    """What is said of a row: cycles, plan, factor, range, check."""
    if row.compared is None:
        return ("", row.reason, "", "", "")
    version, optimum = cpp_of(row), row.compared.optimum
    if optimum is None or optimum.solved is None:
        return (f"{version.cycles:,}", row.reason, "", "", str(version.report.verdict))
    status = "optimal" if optimum.solved.solution.optimal else "not proven"
    factor = gain(row.compared, version, 0)
    return (
        f"{version.cycles:,}",
        f"{optimum.cycles:,} ({status})",
        "-" if factor is None else f"{factor:.3f}",
        gains(row.compared, version),
        str(version.report.verdict),
    )


def varied(row: Row) -> Iterator[str]:
    """How far a row depends on the rate that is not measured."""
    if not row.case.varied:
        return
    head = f"`{row.case.cpp}` with {row.case.arguments}"
    rate = f"`{row.case.varied}`, which is published, but not measured"
    if all(figures(other) == figures(row) for other in row.again):
        yield f"{head} does not depend on {rate}: nothing changes with {LOW} and {HIGH} bytes per cycle."
        return
    found = (
        f"{cycles} cycles, plan {plan}, factor {factor} with `{setting}`"
        for setting, (cycles, plan, factor, *_) in zip(row.case.settings, map(figures, row.again), strict=True)
    )
    yield f"{head} depends on {rate}: {'; '.join(found)}."


def remarks(rows: Sequence[Row]) -> Iterator[str]:
    """What has to be said of single kernels."""
    for row in rows:
        yield from varied(row)
        if row.compared is None:
            continue
        name, version = f"`{row.case.cpp}`", cpp_of(row)
        beaten = row.compared.beats_optimum_on(version)
        if beaten:
            machines = "; ".join(f"{machine} (by {cycles:,} cycles)" for machine, cycles in beaten.items())
            yield f"{name} is FASTER than the plan with {machines}: no proof covers it."
        for fault in dict.fromkeys(fault for one in version.sensitivity for fault in one.faults):
            where = "; ".join(one.machine for one in version.sensitivity if fault in one.faults)
            yield f"{name} {fault} with {where}."


TEXT = """\
# Public kernels against the optimum

Written by `make gauge`, not by hand: every figure is from the run that wrote this page, on the machine model of the
910B2, core 0 of all cores. The kernels are those of huawei-csl/pto-dsl, branch pto_ir_output{revision}.

## What must be seen
GEMM, M=2176, N=K=8192. The figures to reach were measured on hardware and published.

| point | here | wanted | |
|---|---|---|---|
{points}

## All kernels
C++ as published against the plan for it, flags removed. The factor says how many times as fast the plan is on the
default machine, the range says it for all machines that fit the published figures as well. The check covers all trip
counts, not only these arguments. What "optimal" covers stands in [plan.md](plan.md): it is the best of the plans that
are searched, and the kernels that are faster than theirs are listed below the table.

| kernel | arguments | cycles | plan | factor | range | check of the C++ |
|---|---|---|---|---|---|---|
{rows}

{remarks}

## Commands
In the folder `{folder}`:

{commands}
"""


def page(rows: Sequence[Row], wanted: Sequence[Point], revision: str) -> str:
    """The whole page."""
    held = (f"| {one.name} | {one.value} | {one.wanted} | {'ok' if one.holds else 'MISSED'} |" for one in wanted)
    return TEXT.format(
        revision=revision,
        points="\n".join(held),
        rows="\n".join(map(table_row, rows)),
        remarks="\n".join(f"- {text}" for text in remarks(rows)),
        folder=EXAMPLES,
        commands="\n".join(f"    {command}" for row in rows for command in row.case.commands),
    )


def revision_of(checkout: Path) -> str:
    """The commit of a checkout, nothing if it is none."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return f", commit {run.stdout.strip()}" if run.returncode == 0 else ""


def main() -> int:
    """Write the page."""
    checkout = Path(os.environ.get(VARIABLE, ""))
    folder = checkout / EXAMPLES
    if not os.environ.get(VARIABLE) or not folder.is_dir():
        print(f"error: {VARIABLE} must name a checkout of pto-dsl, branch pto_ir_output ({folder} is no folder)")
        return 2
    rows: list[Row] = []
    for case in CASES:
        print("\n".join(case.commands), file=sys.stderr)
        rows.append(measured(folder, case))
    wanted = list(points(rows))
    PAGE.write_text(page(rows, wanted, revision_of(checkout)), encoding="utf-8")
    print(f"written to {PAGE}")
    for point in wanted:
        print(f"{'ok' if point.holds else 'MISSED':6}  {point.name}: {point.value} (wanted: {point.wanted})")
    return 0 if all(point.holds for point in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
