"""The GEMM instances for many M, written to docs/gemm_sweep.md with a picture. Run by `make sweep`.

All figures of the page are those of this run, for core 0 of 24 of a 910B2, but the published ones below.
"""

import importlib
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.sweeping import ROOT, Swept, jobs_of, swept, table
from syncopt.api import Budget, load_machine
from syncopt.sweep import Figures, Outcome, Row, Setup, kernel_tasks, shapes, values

KERNELS = ("single_buffered", "double_buffered", "hand_synchronised")
HAND = "hand_synchronised"
SIZES = (8192, 16384)
ROWS_OF_M = "128:4224:512"
MACHINE = load_machine("910b2")
PAGE, PICTURE = ROOT / "docs" / "gemm_sweep.md", ROOT / "docs" / "gemm_sweep.svg"

TITLE = "Predicted for a 910B2, and published (open circles: a guess, operands beyond L2)"

PUBLISHED_M = (640, 1152, 2176)
PUBLISHED: Mapping[str, tuple[int, int, int]] = {
    "one buffer each, ptoas auto-sync": (1479, 1423, 1373),
    "two buffers each, ptoas auto-sync": (960, 820, 777),
    "two buffers each, hand-written flags": (839, 682, 656),
    "vendor library": (785, 657, 631),
}
"""Measured on hardware for N = K = 8192 and published in the pto-dsl matmul guide, whose pictures were digitised to
+-1 TFLOPS: cycles per 64-wide K step per core, with launch and first reads that miss L2."""


@dataclass(frozen=True)
class Shape:
    """The rows of one shape by kernel."""

    m: int
    size: int
    rows: Mapping[str, Row]

    def figures(self, kernel: str) -> Figures:
        """What the plan of a kernel is worth."""
        found = self.rows[kernel].figures
        assert found is not None, self.rows[kernel].error
        return found

    def over_hand(self, kernel: str) -> tuple[float, float, float]:
        """Cycles of the hand-synchronised kernel by those of a plan: by default, least and most of all machines."""
        hand, plan = self.figures(HAND), self.figures(kernel)
        by_machine = {there.machine: there.baseline for there in hand.sensitivity}
        ratios = [by_machine[there.machine] / there.cycles for there in plan.sensitivity]
        return hand.baseline / plan.cycles, min(ratios), max(ratios)

    def tflops(self, cycles: float) -> float:
        """2 * M * N * K by the time of so many cycles, launch included."""
        return 2 * self.m * self.size**2 / MACHINE.seconds(round(cycles)) / 1e12

    def published_tflops(self, kernel: str) -> float:
        """The same for published cycles per K step, which hold the launch already."""
        cycles = PUBLISHED[kernel][PUBLISHED_M.index(self.m)] * self.figures(HAND).matmuls
        return 2 * self.m * self.size**2 / MACHINE.seconds(cycles, launch=False) / 1e12


def main() -> int:
    """Solve, write page and picture; 1 if a window is not proven or a plan is slower than the hand-written flags."""
    setup = Setup(machine=MACHINE, budget=Budget(120))
    paths = [ROOT / "instances" / "gemm" / f"{name}.pto" for name in KERNELS]
    sizes = [{"N": size, "K": size} for size in SIZES]
    planned = kernel_tasks(paths, shapes({"M": values(ROWS_OF_M, "M")}, sizes), setup)
    found = swept(planned.tasks, ROOT / "build" / "gemm_sweep.jsonl", jobs_of(__doc__))
    failed = [row for row in found.rows if row.figures is None]
    for row in failed:
        print(f"{row.asked.kernel} {dict(row.asked.arguments)}: {row.error}", file=sys.stderr)
    if failed:
        return 1
    by_shape = list(shapes_of(found.rows))
    PAGE.write_text(page(found, by_shape), encoding="utf-8")
    PICTURE.write_bytes(picture(by_shape))
    print(f"written to {PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}")
    slower = [shape for shape in by_shape if shape.over_hand("double_buffered")[0] < 1]
    return 1 if slower or any(row.outcome is not Outcome.OPTIMAL for row in found.rows) else 0


def shapes_of(rows: Sequence[Row]) -> Iterator[Shape]:
    """Rows by shape, smaller N = K first."""
    found: dict[tuple[int, int], dict[str, Row]] = {}
    for row in rows:
        arguments = row.asked.arguments
        name = next(name for name in KERNELS if row.asked.kernel.endswith(f"{name}.pto"))
        found.setdefault((arguments["K"], arguments["M"]), {})[name] = row
    yield from (Shape(m, size, by_kernel) for (size, m), by_kernel in sorted(found.items()))


def page(found: Swept, by_shape: Sequence[Shape]) -> str:
    """The whole page."""
    rows = found.rows
    proven = sum(row.outcome is Outcome.OPTIMAL for row in rows)
    gains = [shape.over_hand("double_buffered") for shape in by_shape]
    parts = [
        "# The GEMM instances over M",
        "Written by `make sweep`; all figures are computed there.",
        f"`instances/gemm` for M = {ROWS_OF_M.replace(':', ', ..., ', 1).replace(':', ' in steps of ')}, N = K = "
        f"{SIZES[0]} and {SIZES[1]}, core 0 of {MACHINE.cores()} of a 910B2 at {float(MACHINE.clock_ghz):.2f} GHz. "
        f"{proven} of {len(rows)} windows are proven optimal. It took {found.time}.",
        f"The plan of the double-buffered kernel is {low(gains, 0):.3f} to {high(gains, 0):.3f} times as fast as the "
        f"flags placed by hand on the default machine, and {low(gains, 1):.3f} to {high(gains, 2):.3f} times over all "
        "machines that fit the published figures as well. The plans of the double-buffered and the hand-synchronised "
        "kernel take " + ("the same time in every row." if same_plans(by_shape) else "different times in some rows."),
        faults(by_shape),
        "![TFLOPS over M](gemm_sweep.svg)",
        "TFLOPS are 2 * M * N * K by the predicted time of core 0 with the launch of the kernel "
        f"({float(MACHINE.value('launch.microseconds')):.0f} us, itself not published). Rows marked (guess) load "
        "operands that exceed the L2 cache: the model knows no other load rate than that of operands in L2, so they "
        "say what the kernel would reach if all its loads still came at that rate, not what hardware will show.",
        *(f"## N = K = {size}\n\n{size_table([s for s in by_shape if s.size == size])}" for size in SIZES),
        f"## Beside what was published\n\n{published([s for s in by_shape if s.size == SIZES[0]])}",
    ]
    return "\n\n".join(parts) + "\n"


def faults(by_shape: Sequence[Shape]) -> str:
    """On which machines the flags placed by hand are at fault, so that their cycles are those of a wrong kernel."""
    hand = [shape.figures(HAND) for shape in by_shape]
    wrong = dict.fromkeys(there.machine for figures in hand for there in figures.sensitivity if not there.valid)
    if not wrong:
        return "The flags placed by hand show no fault on any of these machines."
    text = f"On some of these machines ({'; '.join(wrong)}) the run with the flags placed by hand shows a fault"
    return f"{text} in some rows; its cycles count all the same."


def low(gains: Sequence[tuple[float, float, float]], place: int) -> float:
    """The least of one figure."""
    return min(gain[place] for gain in gains)


def high(gains: Sequence[tuple[float, float, float]], place: int) -> float:
    """The greatest of one figure."""
    return max(gain[place] for gain in gains)


def same_plans(by_shape: Sequence[Shape]) -> bool:
    """Whether flags of the input make no difference to the plan."""
    return all(shape.figures("double_buffered").cycles == shape.figures(HAND).cycles for shape in by_shape)


def size_table(by_shape: Sequence[Shape]) -> str:
    """A row for every shape and kernel."""
    header = (">M", "kernel", ">plan, cycles", ">above bound", "bound by", ">over its baseline", ">over hand")
    header = (*header, ">hand, TFLOPS", ">plan, TFLOPS", "window")
    lines = [line(shape, kernel) for shape in by_shape for kernel in KERNELS]
    note = (
        "Baselines: the kernel as written for hand_synchronised, its order as written with the best flags for the "
        "others. In brackets: least and most over the sensitivity machines."
    )
    return f"{table(header, lines)}\n\n{note}"


def line(shape: Shape, kernel: str) -> list[str]:
    """A row of that table."""
    figures, (gain, least, most) = shape.figures(kernel), shape.over_hand(kernel)
    guess = " (guess)" if figures.beyond_l2 else ""
    own = figures.speedups
    assert own is not None
    return [
        f"{shape.m}",
        kernel,
        f"{figures.cycles:,}",
        f"{figures.gap:.2%}",
        figures.bound_by,
        f"{figures.baseline / figures.cycles:.3f} ({own[0]:.3f}-{own[1]:.3f})",
        f"{gain:.3f} ({least:.3f}-{most:.3f})",
        f"{shape.tflops(shape.figures(HAND).baseline):.1f}{guess}",
        f"{shape.tflops(figures.cycles):.1f}{guess}",
        "proven" if shape.rows[kernel].outcome is Outcome.OPTIMAL else "not proven",
    ]


def published(by_shape: Sequence[Shape]) -> str:
    """The table of what was measured on hardware, and what the model says of the same kernels."""
    known = [shape for shape in by_shape if shape.m in PUBLISHED_M]
    header = ["cycles per 64-wide K step", *(f">M={shape.m}" for shape in known), *(f">TFLOPS, M={s.m}" for s in known)]
    lines = [
        [f"published: {name}", *map(str, cycles), *(f"{shape.published_tflops(name):.1f}" for shape in known)]
        for name, cycles in PUBLISHED.items()
    ]
    lines += [model_line(name, kernel, known) for name, kernel in MODELLED]
    text = (
        "Cycles of a core by its matmuls. The published figures hold the launch and first reads that miss L2, which "
        "weigh more the smaller M is; those of the model hold the launch alone. Source of the published figures: the "
        "pto-dsl matmul guide, pictures digitised to +-1 TFLOPS. Their TFLOPS follow from the cycles and the matmuls "
        "of core 0."
    )
    return f"{table(header, lines)}\n\n{text}"


MODELLED = (
    ("model: one buffer each, best flags", ("single_buffered", "plan")),
    ("model: two buffers each, hand-written flags", (HAND, "baseline")),
    ("model: two buffers each, order as written, best flags", ("double_buffered", "baseline")),
    ("model: two buffers each, plan", ("double_buffered", "plan")),
)


def model_line(name: str, what: tuple[str, str], known: Sequence[Shape]) -> list[str]:
    """What the model says of a kernel, as it is or with its plan."""
    cycles = [cycles_of(shape, *what) for shape in known]
    steps = [
        f"{MACHINE.seconds(count) * 1e9 * float(MACHINE.clock_ghz) / shape.figures(HAND).matmuls:.0f}"
        for shape, count in zip(known, cycles, strict=True)
    ]
    return [name, *steps, *(f"{shape.tflops(count):.1f}" for shape, count in zip(known, cycles, strict=True))]


def cycles_of(shape: Shape, kernel: str, which: str) -> int:
    """Cycles of a kernel's plan, or of its baseline."""
    figures = shape.figures(kernel)
    return figures.cycles if which == "plan" else figures.baseline


def picture(by_shape: Sequence[Shape]) -> bytes:
    """TFLOPS over M, with the published points, and what the plan gains over the hand-written flags."""
    matplotlib: Any = importlib.import_module("matplotlib")
    figures: Any = importlib.import_module("matplotlib.figure")
    style = {"svg.hashsalt": "syncopt", "svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3}
    with matplotlib.rc_context(style):
        figure = figures.Figure(figsize=(8, 8.5), layout="constrained")
        upper, lower = figure.subplots(2, height_ratios=(2, 1), sharex=True)
        for size, dashes in zip(SIZES, ("-", "--"), strict=True):
            draw(upper, lower, [shape for shape in by_shape if shape.size == size], size, dashes)
        draw_published(upper, [s for s in by_shape if s.size == SIZES[0] and s.m in PUBLISHED_M])
        upper.set(ylabel="TFLOPS, launch included", title=TITLE)
        upper.set_ylim(0)
        lower.set(ylabel="plan over hand", xlabel="M", title="Bars: over the sensitivity machines")
        lower.axhline(1.0, color="0.4", lw=0.8, zorder=0)
        upper.legend(fontsize=7, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.04))
        lower.margins(y=0.2)
        lower.legend(fontsize=7, frameon=False, ncols=2, loc="upper right")
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def draw(upper: Any, lower: Any, some: Sequence[Shape], size: int, dashes: str) -> None:
    """The lines of one N = K."""
    m = [shape.m for shape in some]
    for (name, what), colour in zip(MODELLED, ("C0", "C1", "C3", "C2"), strict=True):
        y = [shape.tflops(cycles_of(shape, *what)) for shape in some]
        upper.plot(m, y, dashes, color=colour, lw=1, marker="o", ms=3.5, label=f"{name}, N=K={size}")
        guesses = [(shape.m, value) for shape, value in zip(some, y, strict=True) if shape.figures(what[0]).beyond_l2]
        upper.plot([g[0] for g in guesses], [g[1] for g in guesses], "o", color=colour, ms=3.5, mfc="w")
    gains = [shape.over_hand("double_buffered") for shape in some]
    bars = [[value - least for value, least, _ in gains], [most - value for value, _, most in gains]]
    shifted = [x + 12 * SIZES.index(size) for x in m]
    lower.errorbar(
        shifted, [g[0] for g in gains], yerr=bars, ls=dashes, lw=1, marker=".", capsize=2, label=f"N=K={size}"
    )


def draw_published(upper: Any, known: Sequence[Shape]) -> None:
    """The published points, joined to show the shape of their curve."""
    for name, (marker, colour) in zip(PUBLISHED, (("o", "C0"), ("^", "C3"), ("s", "C1"), ("*", "k")), strict=True):
        y = [shape.published_tflops(name) for shape in known]
        style = {"marker": marker, "color": colour, "ls": ":", "lw": 1, "ms": 6, "mfc": "none"}
        upper.plot([shape.m for shape in known], y, label=f"published: {name}, N=K={SIZES[0]}", **style)


if __name__ == "__main__":
    sys.exit(main())
