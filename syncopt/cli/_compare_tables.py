"""What `compare` prints for people."""

from collections import Counter

from syncopt.api import (
    Compared,
    Finding,
    FindingKind,
    Severity,
    Version,
    changed_figures,
)
from syncopt.api.words import arguments, count, counted, percent, share, times
from syncopt.cli._compare_why import line_numbers
from syncopt.cli._page import BAD, DOUBTFUL, GOOD, HEADING, QUIET, Page, table
from syncopt.cli._tables import FEW


def print_compared(page: Page, compared: Compared, verbose: bool) -> None:
    """The versions, what is wrong with them, and how they compare on other machines."""
    _print_head(page, compared)
    _print_cycles(page, compared)
    page.line()
    _print_busy(page, compared)
    page.line()
    _print_ids(page, compared)
    for version in compared.versions:
        if version.report.findings or version.report.unproven:
            page.line()
            _print_findings(page, version, verbose)
    _print_sensitivity(page, compared)


def _print_head(page: Page, compared: Compared) -> None:
    setting, machine = compared.versions[0].subject.setting, compared.machine
    given = f"{arguments(setting.arguments)}; " if setting.arguments else ""
    changed = arguments({figure.key: figure.text for figure in changed_figures(machine)})
    named = f"{machine.name} with {changed}" if changed else machine.name
    page.line(f"{given}core {setting.block_idx} of {setting.block_num} of {named}", QUIET)
    for note in compared.notes:
        page.line(f"note: {note}", DOUBTFUL)
    if compared.differences:
        page.line("The versions do not do the same work, so their cycles do not compare:", BAD)
        page.items([f"{difference.name}: {difference.text}" for difference in compared.differences])
    page.line()


def _print_cycles(page: Page, compared: Compared) -> None:
    optimum = compared.optimum
    of_optimum = [">% of optimum"] if optimum is not None else []
    rows = table("version", "kind", ">cycles", ">to the best", *of_optimum, "check", "")
    for version in compared.versions:
        ratio, reached = compared.ratio_to_best(version), compared.percent_of_optimum(version)
        rows.add_row(
            version.name,
            _kind(version),
            count(version.cycles),
            "-" if ratio is None else times(ratio),
            *([] if optimum is None else ["-" if reached is None else f"{reached:.1f}"]),
            str(version.report.verdict),
            "" if version.valid else "hangs here" if version.hangs else "wrong here",
            style=BAD if version.report.errors else GOOD if version is compared.best else "",
        )
    page.table(rows)
    if compared.best is None:
        page.line("No version runs without a fault with these arguments: there is no best one.", BAD)
    if optimum is not None and optimum.solved is not None:
        _print_proof(page, optimum.solved.solution.optimal, optimum.solved.solution.scope)


def _print_proof(page: Page, optimal: bool, scope: str) -> None:
    if optimal:
        page.line(f"The optimum is proven: {scope}.")
    else:
        page.line(f"The optimum is not proven, a better plan may exist. What would be proven: {scope}.", DOUBTFUL)


def _kind(version: Version) -> str:
    if version.solved is not None and not version.solved.solution.optimal:
        return f"{version.kind.value} (not proven)"
    return version.kind.value


def _print_busy(page: Page, compared: Compared) -> None:
    pipes = list(dict.fromkeys(pipe for version in compared.versions for pipe in version.replay.busy))
    rows = table("busy", *(f">{pipe}" for pipe in pipes), ">sets", ">waits", ">barriers")
    for version in compared.versions:
        run = version.replay
        busy = (percent(share(run.busy.get(pipe, 0), run.cycles)) for pipe in pipes)
        rows.add_row(version.name, *busy, count(run.sets), count(run.waits), count(run.barriers))
    page.table(rows)


def _print_ids(page: Page, compared: Compared) -> None:
    pairs = sorted({pair for version in compared.versions for pair in version.replay.ids}, key=str)
    if not pairs:
        return
    rows = table("event ids", *(f">{version.name}" for version in compared.versions))
    for pair in pairs:
        rows.add_row(str(pair), *(str(version.replay.ids.get(pair, 0)) for version in compared.versions))
    page.table(rows)


def _print_findings(page: Page, version: Version, verbose: bool) -> None:
    """What the check of a version found, the worst first; reuse of ids that is no error is one line without -v."""
    report = version.report
    runs = f"{counted(report.executions, 'execution')} ({report.covers})"
    number = Counter(finding.severity for finding in report.findings)
    found = ", ".join(counted(number[severity], str(severity)) for severity in Severity if number[severity])
    page.line(
        f"{version.name}: {report.verdict}: {found or 'no finding'} in {runs}", BAD if report.errors else DOUBTFUL
    )
    listed = [finding for severity in Severity for finding in report.findings if finding.severity is severity]
    reused = [] if verbose else [finding for finding in listed if finding.kind is FindingKind.ID_REUSE]
    listed = [finding for finding in listed if finding not in reused]
    shown = listed if verbose else listed[:FEW]
    rows = table(">line", "kind", "severity", "what", "execution")
    for finding in shown:
        rows.add_row(*_finding(finding), style="red" if finding.severity is Severity.ERROR else DOUBTFUL)
    if shown:
        page.table(rows)
    if len(shown) < len(listed):
        page.line(f"  and {len(listed) - len(shown)} more; -v prints all", QUIET)
    if reused:
        text = f"{counted(len(reused), 'set')} of an id without proof that the wait before has taken the flag down"
        page.line(
            f"  {FindingKind.ID_REUSE}: {text} (lines {line_numbers(sorted(one.line for one in reused))})", DOUBTFUL
        )
    for text in () if report.errors else report.unproven:
        page.line(f"  not proven: {text}", DOUBTFUL)


def _finding(finding: Finding) -> tuple[str, ...]:
    execution = "every one" if finding.execution is None else str(finding.execution)
    where = f"{execution}; at {finding.iteration}" if finding.iteration else execution
    return str(finding.line or "-"), str(finding.kind), str(finding.severity), finding.message, where


def _print_sensitivity(page: Page, compared: Compared) -> None:
    reference = compared.reference
    if reference is None or len(compared.versions) == 1:
        return
    page.line()
    page.line(f"By other readings of figures that are not published, cycles per cycle of {reference.name}:", HEADING)
    rows = table("machine", *(f">{version.name}" for version in compared.versions))
    for place, measured in enumerate(reference.sensitivity):
        cells = ("-" if ratio is None else times(ratio) for ratio in compared.ratios_on(place))
        rows.add_row(measured.machine, *cells)
    page.table(rows)
    for version in compared.versions:
        spread = compared.range_of(version)
        if version is not reference and spread is not None:
            low, high = map(times, spread)
            factor, where = (low, "on all of them") if low == high else (f"{low} to {high}", "depending on the machine")
            page.line(f"{version.name} takes {factor} times the cycles of {reference.name}, {where}.")
    for version in compared.versions:
        _print_exceptions(page, compared, version)


def _print_exceptions(page: Page, compared: Compared, version: Version) -> None:
    """Where a version is faster than the optimum, and where it is wrong."""
    beaten = compared.beats_optimum_on(version)
    if beaten:
        machines = "; ".join(f"{machine} (by {counted(cycles, 'cycle')})" for machine, cycles in beaten.items())
        page.line(f"{version.name} is FASTER than the plan with {machines}: no proof covers it.", BAD)
    for fault in dict.fromkeys(fault for measured in version.sensitivity for fault in measured.faults):
        machines = "; ".join(measured.machine for measured in version.sensitivity if fault in measured.faults)
        page.line(f"{version.name} {fault} with {machines}.", DOUBTFUL)
