"""What `simulate`, `check` and `machine` print for people, and what all commands share."""

from collections import Counter
from collections.abc import Sequence

from rich.table import Table

from syncopt.api import (
    Checked,
    Finding,
    FindingKind,
    Job,
    LowerBound,
    Machine,
    Replay,
    Report,
    Severity,
    Simulation,
    Subject,
    Verdict,
    changed_figures,
    figures,
)
from syncopt.api.words import arguments, binding, count, counted, percent, share
from syncopt.cli._page import BAD, DOUBTFUL, GOOD, HEADING, QUIET, Page, side_by_side, table

FEW = 6
"""Rows of a list that is cut without -v."""


def print_simulation(page: Page, simulation: Simulation, verbose: bool) -> None:
    """The answer of `simulate`."""
    print_head(page, simulation.job, simulation.subject)
    _print_cycles(page, simulation)
    errors = [finding for finding in simulation.findings if finding.severity is Severity.ERROR]
    if errors:
        page.line()
        print_findings(page, errors, verbose, with_execution=False)
    elif simulation.is_synchronised:
        page.line("This execution shows no fault; `syncopt check` looks at all.")
    _print_reused_ids(page, simulation.findings)
    page.line()
    print_run(page, simulation.replay, verbose)
    if simulation.cores:
        page.line()
        cores = table(">core", ">cycles", "verdict")
        for core in simulation.cores:
            style = "" if core.verdict is Verdict.CLEAN or not simulation.is_synchronised else BAD
            cores.add_row(str(core.core), count(core.cycles), str(core.verdict), style=style)
        page.table(cores)


def print_checked(page: Page, checked: Checked, verbose: bool) -> None:
    """The answer of `check`."""
    report = checked.report
    print_head(page, checked.job, checked.subject)
    print_verdict(page, report)
    if report.findings:
        page.line()
        print_findings(page, sorted(report.findings, key=lambda f: tuple(Severity).index(f.severity)), verbose)
    page.line()
    print_assumptions(page, report)


def print_machine(page: Page, machine: Machine) -> None:
    """The answer of `machine`."""
    page.line(f"{machine.name}: figures that the model uses", HEADING)
    page.table(_figures(machine, informational=False))
    page.line()
    page.line("for information, not used", HEADING)
    page.table(_figures(machine, informational=True))


def _figures(machine: Machine, informational: bool) -> Table:
    rows = table("key", ">value", "unit", "source")
    for figure in figures(machine):
        if figure.informational == informational:
            rows.add_row(figure.key, figure.text, figure.unit, figure.source)
    return rows


def print_head(page: Page, job: Job, subject: Subject) -> None:
    """What the answer is about."""
    setting = subject.setting
    page.line(f"{subject.kernel.name} in {job.path}", QUIET)
    given = f"{arguments(setting.arguments)}; " if setting.arguments else ""
    changed = arguments({figure.key: figure.text for figure in changed_figures(job.machine)})
    machine = f"{job.machine.name} with {changed}" if changed else job.machine.name
    page.line(f"{given}core {setting.block_idx} of {setting.block_num} of {machine}", QUIET)
    for note in subject.notes:
        page.line(f"note: {note}", DOUBTFUL)
    page.line()


def over_bound(cycles: int, bound: LowerBound) -> str:
    """How far cycles are above their bound, and what sets it."""
    if cycles == bound.cycles:
        return f"exactly the lower bound, set by {binding(bound.bound_by)}"
    above = percent(share(cycles - bound.cycles, bound.cycles), 2)
    return f"{above} above the lower bound of {count(bound.cycles)}, set by {binding(bound.bound_by)}"


def print_run(page: Page, run: Replay, verbose: bool) -> None:
    """Busy shares, largest stalls, flags of a replay."""
    busy = table("pipe", ">busy")
    for pipe, cycles in run.busy.items():
        busy.add_row(str(pipe), percent(share(cycles, run.cycles)))
    stalls = table("stall", ">cycles", ">of the run")
    shown = list(run.stalls.items())[: None if verbose else FEW]
    for cause, cycles in shown:
        stalls.add_row(cause, count(cycles), percent(share(cycles, run.cycles)))
    flags = table("flags", ">ids")
    for pair, ids in run.ids.items():
        flags.add_row(str(pair), str(ids))
    page.table(side_by_side(*(part for part in (busy, stalls, flags) if part.row_count)))
    totals = (counted(run.sets, "set"), counted(run.waits, "wait"), counted(run.barriers, "barrier"))
    page.line(f"  executed: {counted(run.tile_ops, 'tile op')}, {', '.join(totals)}")


def print_findings(page: Page, findings: Sequence[Finding], verbose: bool, with_execution: bool = True) -> None:
    """Findings, the first few of them unless all are asked for."""
    columns = (">line", "severity", "what", *(("execution",) if with_execution else ()))
    rows = table(*columns)
    shown = findings if verbose else findings[:FEW]
    for finding in shown:
        wrong = finding.severity is Severity.ERROR
        style = "red" if wrong else DOUBTFUL
        where = (_where(finding),) if with_execution else ()
        rows.add_row(str(finding.line or "-"), str(finding.severity), finding.message, *where, style=style)
        if finding.hint:
            rows.add_row("", "", f"  help: {finding.hint}", style=QUIET)
    page.table(rows)
    if len(shown) < len(findings):
        page.line(f"  and {len(findings) - len(shown)} more; -v prints all", QUIET)


def _where(finding: Finding) -> str:
    execution = "every one" if finding.execution is None else str(finding.execution)
    return f"{execution}; at {finding.iteration}" if finding.iteration else execution


def print_verdict(page: Page, report: Report) -> None:
    """The verdict of a check."""
    runs = f"{counted(report.executions, 'execution')} ({report.covers})"
    others = Counter(finding.severity for finding in report.findings)
    if report.errors:
        page.line(f"{report.verdict}: {counted(len(report.errors), 'error')} in {runs}", BAD)
    else:
        page.line(f"clean: no race, no deadlock, no double set and no flag left up in {runs}", GOOD)
    for severity in (Severity.WARNING, Severity.NOTE):
        if others[severity]:
            page.line(counted(others[severity], str(severity)), DOUBTFUL)
    if not report.errors:
        for text in report.proven:
            page.line(f"proven: {text}", GOOD)
        for text in report.unproven:
            page.line(f"not proven: {text}", DOUBTFUL)


def print_assumptions(page: Page, report: Report) -> None:
    """What a check takes for granted."""
    if report.assumptions:
        page.line("assuming that", QUIET)
        page.items(report.assumptions)


def _print_cycles(page: Page, simulation: Simulation) -> None:
    run = simulation.replay
    cycles = f"{count(run.cycles)} cycles"
    if simulation.cores:
        cycles += f" on core {simulation.subject.setting.block_idx}, the slowest of {len(simulation.cores)}"
    if run.deadlock is not None:
        page.line(f"{simulation.verdict}: the kernel hangs after {cycles}", BAD)
    elif not simulation.is_synchronised:
        page.line("unsynchronised: no flag and no barrier orders the pipes, so the result is undefined", BAD)
        page.line(f"{cycles} without any waiting; `syncopt solve` adds the flags")
    elif simulation.verdict is not Verdict.CLEAN:
        page.line(f"{simulation.verdict}: {cycles}, but this execution is wrong", BAD)
    elif not run.tile_ops:
        page.line(f"{cycles}: no tile op is executed", HEADING)
    else:
        page.line(f"{cycles}: {over_bound(run.cycles, simulation.bound)}", HEADING)


def _print_reused_ids(page: Page, findings: Sequence[Finding]) -> None:
    lines = [finding.line for finding in findings if finding.kind is FindingKind.ID_REUSE]
    if lines:
        some = ", ".join(map(str, lines[:3])) + (", ..." if len(lines) > 3 else "")
        text = f"{counted(len(lines), 'set')} of an id that only timing keeps behind the wait before (lines {some})"
        page.line(f"warning: {text}", DOUBTFUL)
