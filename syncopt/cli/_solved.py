"""What `solve` prints for people."""

import math
from collections.abc import Sequence

from syncopt.api import Baseline, BaselineKind, Budget, Comparison, Solved
from syncopt.api.words import arguments, count, counted, percent, share, times
from syncopt.cli._page import BAD, DOUBTFUL, GOOD, HEADING, QUIET, Page, table
from syncopt.cli._tables import FEW, over_bound, print_assumptions, print_head, print_run, print_verdict

_NOTEWORTHY = 1.001
"""From this ratio of cycles on a slower plan is marked red."""

_BASELINES = {
    BaselineKind.AS_WRITTEN: "the kernel as written",
    BaselineKind.FIXED_ORDER: "its order as written with flags added",
}


def print_solved(page: Page, solved: Solved, budget: Budget, verbose: bool) -> None:
    """The summary: verdict, proof, sensitivity, where the cycles go, what moved, the check."""
    print_head(page, solved.job, solved.subject)
    _print_gain(page, solved)
    page.line()
    _print_proof(page, solved, budget)
    page.line()
    _print_sensitivity(page, solved)
    _print_also(page, solved)
    page.line()
    print_run(page, solved.replay, verbose)
    page.line()
    _print_moves(page, solved, verbose)
    page.line()
    print_verdict(page, solved.report)
    print_assumptions(page, solved.report)


def _print_gain(page: Page, solved: Solved) -> None:
    baseline = solved.baseline
    cycles = f"{count(solved.replay.cycles)} cycles"
    named = f"{_BASELINES[baseline.kind]} ({count(baseline.cycles)})"
    if not math.isfinite(solved.speedup):
        page.line(f"{cycles}; nothing to compare with: {_why_incomparable(baseline)}", HEADING)
    else:
        style = BAD if solved.speedup < 1 else HEADING
        page.line(f"{cycles}, {_times_as_fast(solved.speedup)} {named};", style)
    page.line(f"{over_bound(solved.replay.cycles, solved.bound)}.", HEADING)
    if solved.slower_plan is not None:
        page.line(f"The kernel is kept as written: it is clean, and the best plan takes {count(solved.slower_plan)}.")
    if not baseline.valid:
        more = f" and {len(baseline.errors) - 1} more" if len(baseline.errors) > 1 else ""
        first = baseline.errors[0].message if baseline.errors else "it cannot be replayed"
        page.line(f"The baseline is not valid: {first}{more}.", DOUBTFUL)


def _why_incomparable(baseline: Baseline) -> str:
    return f"{_BASELINES[baseline.kind]} hangs" if baseline.hangs else "this execution does no work"


def _times_as_fast(factor: float) -> str:
    if times(factor) == times(1.0):
        return "as fast as"
    slower = "" if factor > 1 else "SLOWER: "
    return f"{slower}{times(factor)} times as fast as"


def _print_proof(page: Page, solved: Solved, budget: Budget) -> None:
    solution = solved.solution
    window = f"window of {counted(solution.window_ops, 'op')}: {count(solution.makespan)} cycles"
    if solution.optimal:
        page.line(f"Optimal: {solution.scope}.", GOOD)
        page.line(f"  {window}, and no plan in scope takes fewer.")
        return
    gap = percent(share(solution.makespan - solution.bound, solution.bound), 2)
    cut = "budget cut" if budget.work is not None or solution.search_seconds >= budget.seconds else "search ended"
    page.line(f"Not proven optimal ({cut} after {solution.search_seconds:.1f} s): a better plan may exist.", DOUBTFUL)
    page.line(f"  {window}, no plan takes fewer than {count(solution.bound)}: gap {gap}.")
    page.line(f"  What would be proven: {solution.scope}.")


def _print_sensitivity(page: Page, solved: Solved) -> None:
    """Plan and baseline on machines that fit the published figures as well, with the range of the gain."""
    page.line("What it gains depends on figures that are not published. By other readings of them:", HEADING)
    rows = table("machine", ">plan", ">baseline", ">ratio", "")
    for row in solved.sensitivity:
        rows.add_row(row.machine, *_compared(row), style=_style(row))
    page.table(rows)
    page.line(_range(solved.sensitivity))
    _print_slower(page, [(row.machine, row) for row in solved.sensitivity])


def _range(rows: Sequence[Comparison]) -> str:
    factors = [row.speedup for row in rows if row.speedup is not None]
    if not factors:
        return "Nothing to compare."
    low, high = times(min(factors)), times(max(factors))
    if low == high:
        return f"So the plan is {_times_as_fast(min(factors))} the baseline on every one of them."
    return f"So the plan is {low} to {high} times as fast as the baseline, depending on the machine."


def _print_also(page: Page, solved: Solved) -> None:
    if not solved.also:
        return
    page.line()
    page.line("With other arguments:", HEADING)
    rows = table("arguments", ">plan", ">baseline", ">ratio", "")
    for row in solved.also:
        rows.add_row(arguments(row.arguments), *_compared(row), style=_style(row))
    page.table(rows)
    for note in dict.fromkeys(note for row in solved.also for note in row.notes):
        page.line(f"note: {note}", DOUBTFUL)
    _print_slower(page, [(arguments(row.arguments), row) for row in solved.also])


def _compared(row: Comparison) -> tuple[str, str, str, str]:
    marks = [*(["slower"] if row.is_slower else []), *(f"invalid: {fault}" for fault in row.faults)]
    ratio = "-" if row.speedup is None else times(row.speedup)
    return count(row.cycles), count(row.baseline), ratio, ", ".join(marks)


def _style(row: Comparison) -> str:
    if row.is_slower and row.cycles > _NOTEWORTHY * row.baseline:
        return "red"
    return DOUBTFUL if row.is_slower or not row.valid else ""


def _print_slower(page: Page, rows: Sequence[tuple[str, Comparison]]) -> None:
    """Where a plan takes longer, and by how much."""
    slower = [
        f"{name} (by {counted(row.cycles - row.baseline, 'cycle')}, "
        f"{percent(share(row.cycles - row.baseline, row.baseline), 2)})"
        for name, row in rows
        if row.is_slower
    ]
    if slower:
        page.line(f"The plan is SLOWER than the baseline with {'; '.join(slower)}.", BAD)


def _print_moves(page: Page, solved: Solved, verbose: bool) -> None:
    if not solved.moves:
        page.line("No op moved: the issue order is the one as written.")
        return
    page.line(f"{counted(len(solved.moves), 'op')} moved:", HEADING)
    shown = solved.moves if verbose else solved.moves[: 2 * FEW]
    rows = table("op", ">line", ">in the output", "place in its block")
    for move in shown:
        rows.add_row(move.op, str(move.line), str(move.moved_to), f"{move.place_before} -> {move.place_now}")
    page.table(rows)
    if len(shown) < len(solved.moves):
        page.line(f"  and {len(solved.moves) - len(shown)} more; -v prints all", QUIET)
