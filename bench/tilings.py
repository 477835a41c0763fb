"""The best of all tilings of a GEMM of 4096 cubed, written to docs/tilings.md. Run by `make tilings`.

All figures and sentences of the page follow from this run.
"""

import sys
from collections.abc import Iterator, Sequence

from bench.sweeping import ROOT, Swept, jobs_of, swept, table
from syncopt.api import BUFFERS, Budget, load_machine
from syncopt.sweep import AUTO, Figures, GemmForm, Outcome, Row, Setup, gemm_tasks

SIZE = 4096
LEAST = 12
MACHINE = load_machine("910b2")
PAGE = ROOT / "docs" / "tilings.md"
PIPES = ("M", "MTE1", "MTE2", "FIX")
CLOSE = 0.05
"""To how much of them the model meets the published measurements (docs/gemm_sweep.md)."""

Ranked = tuple[Row, Figures]
"""A row and its figures; the fewest cycles come first."""


def main() -> int:
    """Solve and write the page; 1 if there are too few tilings, or a plan is missing or not proven."""
    setup = Setup(machine=MACHINE, budget=Budget(120))
    tasks = gemm_tasks(GemmForm(), [AUTO], [dict.fromkeys("MNK", SIZE)], setup).tasks
    found = swept(tasks, ROOT / "build" / "tilings.jsonl", jobs_of(__doc__))
    for row in found.rows:
        if row.figures is None:
            print(f"{row.asked.tiling}: {row.error}", file=sys.stderr)
    ranked = sorted(solved(found.rows), key=lambda pair: pair[1].cycles)
    PAGE.write_text(page(found, ranked), encoding="utf-8")
    print(f"written to {PAGE.relative_to(ROOT)}")
    proven = all(row.outcome is Outcome.OPTIMAL for row in found.rows)
    return 0 if proven and len(ranked) >= LEAST else 1


def solved(rows: Sequence[Row]) -> Iterator[Ranked]:
    """The rows that have a plan."""
    yield from ((row, row.figures) for row in rows if row.figures is not None)


def page(found: Swept, ranked: Sequence[Ranked]) -> str:
    """The whole page."""
    proven = sum(row.outcome is Outcome.OPTIMAL for row, _ in ranked)
    parts = [
        f"# Tilings of a GEMM of {SIZE} cubed",
        "Written by `make tilings`; all figures and sentences follow from them.",
        f"`syncopt sweep gemm --m {SIZE} --n {SIZE} --k {SIZE}`: {len(found.rows)} tilings fill the memories of a "
        f"910B2 and divide {SIZE} in all three dimensions (fp16, A by rows, B transposed). Every one is solved with "
        f"its order open, on core 0 of {MACHINE.cores()}; {proven} of {len(found.rows)} windows are proven optimal. It "
        f"took {found.time}.",
        why(ranked),
        certainty(ranked),
        tilings(ranked),
        "A tiling is written as L1/L0/parts of B/buffers in L0C, sizes as M x N x K. Loads and bytes are those of core "
        "0 from global memory. `bound by` is what sets the lower bound for any order of the ops of that tiling: a "
        "pipe, or the hazards between tiles (buffers).",
    ]
    return "\n\n".join(parts) + "\n"


def why(ranked: Sequence[Ranked]) -> str:
    """Why the best one wins, and how sure that is."""
    (row, best), others = ranked[0], ranked[1:]
    bound = f"the hazards between its tiles, {busiest(best)}" if best.bound_by == BUFFERS else pipe(best)
    second, runner = others[0]
    beaten = sum(figures.lower_bound > best.cycles for _, figures in others)
    low, high = best.speedups or (1.0, 1.0)
    sentences = [
        f"**{row.asked.tiling} wins** with {best.cycles:,} cycles, {best.tflops or 0:.1f} TFLOPS; it stays within "
        f"{best.gap:.2%} of its lower bound, which is set by {bound}.",
        f"MTE2 is the busiest pipe of {number_of(ranked, 'MTE2')} of the {len(ranked)} plans. Core 0 loads {mib(best)} "
        f"MiB, {place(best, others)}, with {best.loads / best.matmuls:.3f} loads per matmul.",
        f"The lower bounds of {beaten} of the other {len(others)} are above its cycles: no order makes these as fast.",
        f"The next one, {second.asked.tiling}, takes {runner.cycles / best.cycles - 1:.2%} longer, {busiest(runner)}.",
        f"Its plan is {best.baseline / best.cycles:.3f} times as fast as its order as written with the best flags "
        f"({low:.3f} to {high:.3f} over the sensitivity machines).",
    ]
    return " ".join(sentences)


def certainty(ranked: Sequence[Ranked]) -> str:
    """Which tilings are too close to the best one to be told apart, and which one is best elsewhere."""
    least = ranked[0][1].cycles
    close = sum(figures.cycles <= least * (1 + CLOSE) for _, figures in ranked)
    elsewhere: dict[str, list[str]] = {}
    for number, there in enumerate(ranked[0][1].sensitivity):
        winner, _ = min(ranked, key=lambda pair: pair[1].sensitivity[number].cycles)
        elsewhere.setdefault(winner.asked.tiling, []).append(there.machine)
    listed = "; ".join(f"{tiling} on {' / '.join(machines)}" for tiling, machines in elsewhere.items())
    return (
        f"{close} tilings, the best one among them, are within {CLOSE:.0%} of the best, which is closer than the model "
        "tells: the published measurements are met to about that. With the plans as they are (solved for the default "
        f"machine), the fastest on the sensitivity machines are {listed}."
    )


def place(best: Figures, others: Sequence[Ranked]) -> str:
    """Where the bytes that the best one loads stand among those of the others."""
    fewer = sum(figures.loaded_bytes < best.loaded_bytes for _, figures in others)
    as_many = sum(figures.loaded_bytes == best.loaded_bytes for _, figures in others)
    if fewer:
        return f"more than {fewer} others"
    return f"the least of all, as {as_many} others do" if as_many else "the least of all"


def pipe(figures: Figures) -> str:
    """The pipe that binds, and how busy it is."""
    return f"pipe {figures.bound_by}, busy for {figures.busy.get(figures.bound_by, 0.0):.1%} of the time"


def busiest(figures: Figures) -> str:
    """The busiest pipe of a plan."""
    name = max(figures.busy, key=lambda name: figures.busy[name])
    return f"with {name} busy for {figures.busy[name]:.1%} of the time"


def number_of(ranked: Sequence[Ranked], name: str) -> int:
    """In how many plans a pipe is the busiest."""
    return sum(max(figures.busy, key=lambda pipe: figures.busy[pipe]) == name for _, figures in ranked)


def mib(figures: Figures) -> str:
    """What is loaded, in MiB."""
    return f"{figures.loaded_bytes / 2**20:.1f}"


def tilings(ranked: Sequence[Ranked]) -> str:
    """A row for every tiling, the best one first."""
    least = ranked[0][1].cycles
    header = (
        "tiling",
        ">cycles",
        ">of the best",
        ">TFLOPS",
        ">above bound",
        "bound by",
        *(f">{p} busy" for p in PIPES),
    )
    header = (*header, ">loads/matmul", ">MiB loaded", ">over its order as written", "window")
    lines = [
        [
            row.asked.tiling,
            f"{figures.cycles:,}",
            f"{figures.cycles / least:.3f}",
            f"{figures.tflops or 0:.1f}",
            f"{figures.gap:.2%}",
            figures.bound_by,
            *(f"{figures.busy.get(name, 0.0):.1%}" for name in PIPES),
            f"{figures.loads / figures.matmuls:.3f}",
            mib(figures),
            f"{figures.baseline / figures.cycles:.3f} ({low:.3f}-{high:.3f})",
            "proven" if row.outcome is Outcome.OPTIMAL else "not proven",
        ]
        for row, figures in ranked
        for low, high in [figures.speedups or (1.0, 1.0)]
    ]
    return table(header, lines)


if __name__ == "__main__":
    sys.exit(main())
