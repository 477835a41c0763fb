"""What `compare --why` prints for people."""

from collections import Counter
from collections.abc import Sequence

from syncopt.api import (
    WORK,
    Cause,
    Explanation,
    PathStep,
    Pause,
    PauseKind,
    Place,
    Standing,
    Version,
    VersionKind,
)
from syncopt.api.words import count, counted
from syncopt.cli._page import HEADING, QUIET, Page, table
from syncopt.cli._tables import FEW

_LINES = 3
"""Line numbers that a list shows before it is cut."""


def print_explanation(page: Page, explanation: Explanation | None, verbose: bool) -> None:
    """The answer to `--why`."""
    if explanation is None:
        page.line("Nothing to explain: no version that ends is slower than the best one.", HEADING)
        return
    slow, best = explanation.slow, explanation.best
    page.line(f"Why {slow.name} takes {counted(explanation.difference, 'cycle')} more than {best.name}:", HEADING)
    if explanation.standing is not None:
        _print_standing(page, explanation, explanation.standing, verbose)
        page.line()
    _print_path(page, explanation, verbose)
    elsewhere = f"; where it spends nothing, of {_text_of(best)}" if verbose else ""
    page.line(f"Lines are those of {_text_of(slow)}{elsewhere}.", QUIET)


def line_numbers(lines: Sequence[int]) -> str:
    """Numbers of lines, the first few."""
    return ", ".join(map(str, lines[:_LINES])) + (", ..." if len(lines) > _LINES else "")


# -- the pipe that works most ------------------------------------------------------------------------------------------


def _print_standing(page: Page, explanation: Explanation, standing: Standing, verbose: bool) -> None:
    slow, best = explanation.slow, explanation.best
    spent: Counter[PauseKind] = Counter()
    spent_by_best: Counter[PauseKind] = Counter()
    for pause in standing.pauses:
        spent[pause.kind] += pause.slow
        spent_by_best[pause.kind] += pause.best
    totals = table(f"busiest pipe: {standing.pipe}", f">{slow.name}", f">{best.name}", ">more")
    totals.add_row("work", *_both(standing.slow, standing.best))
    for kind in sorted(spent, key=lambda kind: spent_by_best[kind] - spent[kind]):
        totals.add_row(_KINDS[kind], *_both(spent[kind], spent_by_best[kind]))
    totals.add_row("all cycles", *_both(slow.cycles, best.cycles), style=HEADING)
    page.table(totals)
    page.line()
    rows = [((pause.slow, pause.best), _paused(pause)) for pause in standing.pauses]
    _print_rows(page, explanation, f"where {standing.pipe} stands still", rows, 2 * FEW, verbose)


def _both(slow: int, best: int) -> tuple[str, str, str]:
    return count(slow), count(best), count(slow - best)


_KINDS = {
    PauseKind.FLAG: "waits for flags",
    PauseKind.BARRIER: "barriers",
    PauseKind.DISPATCH: "nothing dispatched",
    PauseKind.SETS: "sets of flags",
    PauseKind.END: "behind its last op",
}


def _paused(pause: Pause) -> str:
    """A pause in words."""
    op = _named(pause.op)
    match pause.kind:
        case PauseKind.FLAG:
            where = f" (set line {pause.lines[0]}, wait line {pause.lines[-1]})" if pause.lines else ""
            return f"before {op}: flag {pause.cause} is not up{where}"
        case PauseKind.BARRIER:
            where = f" (line {pause.lines[0]})" if pause.lines else ""
            return f"before {op}: at a barrier{where}"
        case PauseKind.DISPATCH:
            return f"before {op}: not dispatched yet{f', {pause.cause}' if pause.cause else ''}"
        case PauseKind.SETS:
            return f"before {op}: sets of flags"
        case PauseKind.END:
            return "behind its last op: what other pipes still do, and its latency"


# -- the critical paths ------------------------------------------------------------------------------------------------


def _print_path(page: Page, explanation: Explanation, verbose: bool) -> None:
    slow, best = explanation.slow, explanation.best
    totals = table("critical path", f">{slow.name}", f">{best.name}", ">more")
    for total in explanation.totals:
        totals.add_row(total.name, *_both(total.slow, total.best))
    totals.add_row("all cycles", *_both(slow.cycles, best.cycles), style=HEADING)
    page.table(totals)
    page.line()
    for steps, head in ((explanation.stalls, "waits for"), (explanation.work, "works on")):
        rows = [((step.slow, step.best), _spent(step)) for step in steps]
        _print_rows(page, explanation, f"what the critical path {head}", rows, 2 * FEW, verbose)
        page.line()
    more = sum(step.more for step in explanation.steps if step.more > 0)
    less = more - explanation.difference
    page.line(
        f"Each critical path adds up to the cycles of its version: these {count(more)} cycles, less {count(less)} that "
        f"{best.name} spends elsewhere, are the {count(explanation.difference)}."
    )


def _print_rows(
    page: Page,
    explanation: Explanation,
    head: str,
    rows: Sequence[tuple[tuple[int, int], str]],
    few: int,
    verbose: bool,
) -> None:
    """What the slower version spends more cycles on, line by line; all that both spend cycles on with `verbose`."""
    longer = [row for row in rows if row[0][0] > row[0][1]]
    shown = rows if verbose else longer[:few]
    if not shown:
        return
    made = table(">more", f">{explanation.slow.name}", f">{explanation.best.name}", head)
    for (slow, best), text in shown:
        made.add_row(count(slow - best), count(slow), count(best), text)
    page.table(made)
    rest = [slow - best for (slow, best), _ in longer[len(shown) :]]
    if rest and not verbose:
        page.line(f"  and {len(rest)} more with {counted(sum(rest), 'cycle')}; -v prints all", QUIET)


def _text_of(version: Version) -> str:
    if version.kind is VersionKind.OPTIMUM:
        return f"the plan of {version.job.path} as `syncopt solve -o` writes it"
    return f"{version.job.path}" if version.maker == "file" else f"what {version.maker} wrote"


def _spent(step: PathStep) -> str:
    """A step in words."""
    works = step.cause == WORK
    behind, held = _named(step.behind, step.also_lines if works else ()), _named(step.op, step.also_lines)
    if works and step.behind is not None:
        waiting = "" if step.op is None else f"; {_named(step.op)} waits for it{_via(step)}"
        return f"{behind} runs on {step.behind.pipe}{waiting}"
    if step.link == Cause.END.value:
        return f"{behind} completes"
    if step.link == Cause.DISPATCH.value:
        return f"{held} is dispatched behind what stands before it, from {behind} on"
    return f"{held} waits for {behind}{_via(step)}"


def _via(step: PathStep) -> str:
    """Through what one op waits for another."""
    match step.link:
        case Cause.FLAG.value:
            raised, waited = step.via
            lines = f" (set line {raised.line}, wait line {waited.line})" if raised.line or waited.line else ""
            return f": flag {raised.name.partition(' ')[2]}{lines}"
        case Cause.BARRIER.value:
            return "" if step.via[0] in (step.behind, step.op) else f": {_named(step.via[0])}"
        case Cause.QUEUE.value:
            return f" to leave its full queue, where dispatch stands at {_named(step.via[0])}"
        case Cause.ORDER.value:
            return ": one pipe, flags between them"
        case _:
            return ", by dispatch"


def _named(place: Place | None, also: Sequence[int] = ()) -> str:
    if place is None:
        return "the beginning"
    lines = [place.line, *also] if place.line else list(also)
    return f"{place.name} (line{'s' if len(lines) > 1 else ''} {line_numbers(lines)})" if lines else place.name
