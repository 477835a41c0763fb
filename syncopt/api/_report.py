"""The report of `solve`."""

import difflib
import math
from collections.abc import Iterable, Sequence

from syncopt.api._measure import BaselineKind, Comparison
from syncopt.api._solve import Solved
from syncopt.api._timeline import Timelines, at_most, setting_in_words
from syncopt.api.words import arguments, binding, count, counted, percent, share, times
from syncopt.emit.report import Content, Drawn, Table, chart_library, render_page
from syncopt.emit.timeline import Shown, Slice, Version, show
from syncopt.emit.timeline.occupancy import Occupancy
from syncopt.hwmodel import figures
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Tracer
from syncopt.sim import Replay, replay

MOST_SLICES = 4000
"""Slices of a version that a page draws; with more a browser becomes slow."""

_BASELINES = {
    BaselineKind.AS_WRITTEN: "the kernel as written",
    BaselineKind.FIXED_ORDER: "its order as written with flags added",
}

_READINGS = (
    "Some figures of the machine are not published; these readings of them fit the published measurements as well. "
    "The plan that was solved for the default one is replayed on the others, not solved anew."
)


def require_report() -> None:
    """Find out before any work whether a report can be made.

    Raises
    ------
    InputError
        If the chart library is not installed.
    """
    chart_library()


def report_page(solved: Solved, timelines: Timelines) -> tuple[str, list[Shown]]:
    """The page of a solve, and what its timelines show of each version.

    Raises
    ------
    InputError
        If the chart library is not installed.
    """
    full = (replay(Tracer(solved.baseline.kernel, solved.subject.setting), solved.job.machine), solved.replay)
    versions = at_most(timelines, MOST_SLICES).versions
    drawn: list[Drawn] = []
    for version, run in zip(versions, full, strict=True):
        drawn.append(_drawn(version, run))
    content = Content(
        title=f"{solved.subject.kernel.name} in {solved.job.path.name}",
        subtitle=setting_in_words(solved.job, solved.subject),
        verdict=_verdict(solved),
        facts=_facts(solved),
        sensitivity=_sensitivity(solved),
        sensitivity_note=_READINGS,
        drawn=tuple(drawn),
        capacities={m: solved.job.machine.memory(m).bytes for m in Memory if m is not Memory.GM},
        event_ids=solved.job.machine.event_ids,
        stalls=_stalls([one.name for one in drawn], full),
        moves=_moves(solved),
        diff=tuple(plan_diff(solved, f"{solved.job.path} (plan)")),
        figures=_figures(solved),
        assumptions=solved.report.assumptions,
        notes=tuple(_notes(solved)),
    )
    return render_page(content, chart_library()), [one.shown for one in drawn]


def _drawn(version: Version, full: Replay) -> Drawn:
    pieces: list[Slice] = []
    occupancy = Occupancy(version.cycles)

    def occupy(piece: Slice) -> None:
        # Where a page draws no more, it does not need the rest of the run either.
        if len(pieces) < MOST_SLICES:
            occupancy.add(piece)

    shown = show(version, pieces.append, occupy)
    busy = {pipe: share(busy, full.cycles) for pipe, busy in full.busy.items()}
    return Drawn(shown, tuple(pieces), occupancy.live_bytes(), occupancy.live_ids(), busy)


def plan_diff(solved: Solved, output: str) -> list[str]:
    """What the plan changes in the text, as a unified diff to a file called `output`."""
    before = solved.subject.kernel.source.data.decode().splitlines(keepends=True)
    after = solved.text.decode().splitlines(keepends=True)
    lines = difflib.unified_diff(before, after, str(solved.job.path), output)
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]


def _verdict(solved: Solved) -> str:
    baseline = solved.baseline
    cycles = f"{count(solved.replay.cycles)} cycles"
    if not math.isfinite(solved.speedup):
        gain = f"nothing to compare with, since {_BASELINES[baseline.kind]} hangs"
    else:
        ranged = _range(solved.sensitivity)
        gain = f"{_as_fast(solved.speedup)} {_BASELINES[baseline.kind]} ({count(baseline.cycles)} cycles{ranged})"
    proof = "proven optimal for its window" if solved.solution.optimal else "not proven optimal"
    kept = ""
    if solved.slower_plan is not None:
        kept = f" The kernel is kept as written: the best plan takes {count(solved.slower_plan)} cycles."
    return f"{cycles}, {gain}; {_over_bound(solved)}; {proof}.{kept}"


def _as_fast(factor: float) -> str:
    if times(factor) == times(1.0):
        return "as fast as"
    return f"{'' if factor > 1 else 'SLOWER: '}{times(factor)} times as fast as"


def _range(rows: Sequence[Comparison]) -> str:
    """The range of the gain, which no gain stands without."""
    factors = [row.speedup for row in rows if row.speedup is not None]
    if not factors:
        return ""
    low, high = times(min(factors)), times(max(factors))
    ranged = "the same" if low == high else f"{low} to {high}"
    return f"; {ranged} by other readings of the machine's figures"


def _over_bound(solved: Solved) -> str:
    bound = solved.bound
    if solved.replay.cycles == bound.cycles:
        return f"exactly the lower bound, set by {binding(bound.bound_by)}"
    above = f"{percent(solved.gap, 2)} above the lower bound of {count(bound.cycles)}"
    return f"{above}, set by {binding(bound.bound_by)}"


def _facts(solved: Solved) -> dict[str, str]:
    solution, run, machine = solved.solution, solved.replay, solved.job.machine
    gap = percent(share(solution.makespan - solution.bound, solution.bound), 2)
    proven = "no plan in scope takes fewer" if solution.optimal else f"bound {count(solution.bound)}, gap {gap}"
    report = solved.report
    gain = "-" if not math.isfinite(solved.speedup) else times(solved.speedup) + _range(solved.sensitivity)
    return {
        "Plan": f"{count(run.cycles)} cycles",
        f"Compared with {_BASELINES[solved.baseline.kind]}": f"{count(solved.baseline.cycles)} cycles",
        "Times as fast": gain,
        "Lower bound for any order": f"{count(solved.bound.cycles)} cycles, set by {binding(solved.bound.bound_by)}",
        "Gap to it": percent(solved.gap, 2),
        "Time": f"{1e6 * machine.seconds(run.cycles):,.1f} us with the launch, at {float(machine.clock_ghz)} GHz",
        f"Window of {counted(solution.window_ops, 'op')}": f"{count(solution.makespan)} cycles, {proven}",
        "What the window's proof covers": solution.scope,
        "Check": f"{report.verdict} in {counted(report.executions, 'execution')} ({report.covers})",
        "Executed": ", ".join(
            counted(number, one)
            for number, one in (
                (run.tile_ops, "tile op"),
                (run.sets, "set"),
                (run.waits, "wait"),
                (run.barriers, "barrier"),
            )
        ),
    }


def _notes(solved: Solved) -> Iterable[str]:
    baseline = solved.baseline
    if not baseline.valid:
        first = baseline.errors[0].message if baseline.errors else "it cannot be replayed"
        yield f"{_BASELINES[baseline.kind]} is not valid: {first}."
    slower = [f"{name} (by {_more(row)})" for name, row in _comparisons(solved) if row.is_slower]
    if slower:
        yield f"The plan is SLOWER than {_BASELINES[baseline.kind]} with {'; '.join(slower)}."
    yield from (f"Assumed: {note}." for note in solved.subject.notes)


def _comparisons(solved: Solved) -> list[tuple[str, Comparison]]:
    """Plan and baseline on other machines, then with other arguments."""
    machines: list[tuple[str, Comparison]] = [(row.machine, row) for row in solved.sensitivity]
    return [*machines, *((arguments(row.arguments), row) for row in solved.also)]


def _sensitivity(solved: Solved) -> Table:
    columns = ("machine or arguments", ">plan", ">compared with", ">times as fast", "remarks")
    rows = [(name, *_compared(row)) for name, row in _comparisons(solved)]
    remarked = any(row[-1] for row in rows)
    return Table(columns if remarked else columns[:-1], tuple(row if remarked else row[:-1] for row in rows))


def _slower_by(row: Comparison) -> str:
    return f"slower by {_more(row)}"


def _more(row: Comparison) -> str:
    """What the plan takes more than the baseline."""
    more = row.cycles - row.baseline
    return f"{counted(more, 'cycle')}, {percent(share(more, row.baseline), 2)}"


def _compared(row: Comparison) -> tuple[str, str, str, str]:
    remarks = [f"invalid: {fault}" for fault in row.faults]
    if row.is_slower:
        remarks.insert(0, _slower_by(row))
    ratio = "-" if row.speedup is None else times(row.speedup)
    return count(row.cycles), count(row.baseline), ratio, ", ".join(remarks)


def _stalls(names: Sequence[str], runs: Sequence[Replay]) -> Table:
    causes = sorted(
        {cause for run in runs for cause in run.stalls}, key=lambda c: (-max(r.stalls.get(c, 0) for r in runs), c)
    )
    rows = [(cause, *(_stalled(run, cause) for run in runs)) for cause in causes]
    return Table(("cycles stood still for", *(f">{name}" for name in names)), tuple(rows))


def _stalled(run: Replay, cause: str) -> str:
    cycles = run.stalls.get(cause, 0)
    return f"{count(cycles)} ({percent(share(cycles, run.cycles))})" if cycles else "-"


def _moves(solved: Solved) -> Table:
    columns = ("op that moved", ">line", ">line in the plan", "place in its block")
    rows = ((m.op, str(m.line), str(m.moved_to), f"{m.place_before} to {m.place_now}") for m in solved.moves)
    return Table(columns, tuple(rows))


def _figures(solved: Solved) -> Table:
    rows = (
        (f.key, f.text, f.unit, f.source, "" if not f.informational else "not used")
        for f in figures(solved.job.machine)
    )
    return Table(("key", ">value", "unit", "source", ""), tuple(rows))
