"""The commands: from options to an answer and an exit status."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from syncopt.api import (
    Language,
    Output,
    Request,
    Solved,
    Verdict,
    check,
    plan_diff,
    simulate,
    simulate_cores,
    simulated,
    solve,
    solved_timelines,
    with_executions,
)
from syncopt.api.words import times
from syncopt.cli._documents import check_document, dumped, machine_document, simulate_document, solve_document
from syncopt.cli._executed import executed_document, print_executed
from syncopt.cli._exits import Status
from syncopt.cli._files import Target, cpp_target, refuse_same_files, target
from syncopt.cli._options import CheckOptions, MachineOptions, SimulateOptions, SolveOptions
from syncopt.cli._page import GOOD, Page
from syncopt.cli._progress import Progress
from syncopt.cli._solved import print_solved
from syncopt.cli._tables import print_checked, print_machine, print_simulation
from syncopt.cli._timeline import (
    outputs_of,
    print_gantt,
    print_written,
    shown_document,
    write_timelines,
)


def run_solve(options: SolveOptions) -> None:
    """`solve`."""
    job = options.job_of_one_core("a plan is solved for one core")
    budget, also = options.search_budget(), options.also_arguments()
    files = _files(options)
    trace, report, part = options.trace_file(), options.report_file(), options.part()
    refuse_same_files(files.kernel, files.cpp, None if trace is None else trace.file, report)
    with Progress() as progress:
        wanted = frozenset({Output.CPP} if files.cpp is not None else ())
        request = Request(options.order, budget, also, progress.step, progress.stage, wanted)
        solved = solve(job, request)
    page = Page()
    timelines = solved_timelines(solved, part)
    # Before anything is printed: a reader that takes a few lines and goes must not cost the files.
    outputs = files.write(solved)
    written = write_timelines(trace, report, solved, timelines)
    if options.json:
        diff = "".join(_diff(solved, files.kernel)) if options.diff else None
        document = solve_document(solved, outputs | outputs_of(written), diff)
        page.raw(dumped({**document, "timelines": shown_document(written)}) + "\n")
    else:
        print_solved(page, solved, budget, options.verbose)
        if options.verbose:
            print_gantt(page, timelines)
        _print_outputs(page, solved, outputs)
        print_written(page, written)
        if options.diff:
            page.line()
            page.diff(_diff(solved, files.kernel))
    _require_speedup(solved, options.require_speedup)


@dataclass(frozen=True)
class _Files:
    """What a solve is to write."""

    kernel: Target | None
    cpp: Target | None

    def write(self, solved: Solved) -> dict[str, Path]:
        """Write all that is wanted; the files by the languages that they hold."""
        wanted = ((_language(solved), self.kernel, solved.text), (Language.CPP.value, self.cpp, solved.cpp))
        written: dict[str, Path] = {}
        for language, output, content in wanted:
            if output is not None and content is not None:
                output.write(content)
                written[language] = output.named
        return written


def _files(options: SolveOptions) -> _Files:
    """The files that a solve is to write, all found writable."""
    kernel = target(options.kernel, options.output, options.force, options.in_place)
    return _Files(kernel, cpp_target(options.kernel, options.cpp, options.force))


def _print_outputs(page: Page, solved: Solved, outputs: Mapping[str, Path]) -> None:
    page.line()
    for named in outputs.values():
        page.line(f"Written to {named}.", GOOD)
    if not outputs:
        also = ", --cpp OUT.cpp writes it as C++" if _language(solved) == Language.PTO.value else ""
        page.line(f"Nothing is written; -o OUT.{_language(solved)} writes the kernel with this plan{also}.")


def _language(solved: Solved) -> str:
    """What the kernel is written in, and the plan too: pto or cpp."""
    return solved.subject.kernel.source.language.value


def _diff(solved: Solved, output: Target | None) -> list[str]:
    """What the plan changes in the text, as a unified diff."""
    return plan_diff(solved, str(solved.job.path if output is None else output.named))


def _require_speedup(solved: Solved, required: float | None) -> None:
    if required is None or solved.speedup >= required:
        return
    reached = f"{times(solved.speedup)} times as fast" if solved.speedup == solved.speedup else "not comparable"
    typer.echo(f"the plan is {reached}, --require-speedup asks for {required}", err=True)
    raise typer.Exit(Status.WRONG)


def run_simulate(options: SimulateOptions) -> None:
    """`simulate`."""
    trace, part = options.trace_file(), options.part()
    if options.wants_all_cores:
        with Progress() as progress:
            simulation = simulate_cores(options.job(), progress.cores)
    else:
        simulation = simulate(options.job())
    page = Page()
    timelines = simulated(simulation, part)
    written = [] if trace is None else [trace.write(timelines)]
    if options.json:
        outputs = {key: str(path) for key, path in outputs_of(written).items()}
        document = {**simulate_document(simulation), "outputs": outputs, "timelines": shown_document(written)}
        page.raw(dumped(document) + "\n")
    else:
        print_simulation(page, simulation, options.verbose)
        if options.verbose:
            print_gantt(page, timelines)
        print_written(page, written)
    if simulation.verdict is not Verdict.CLEAN or not simulation.is_synchronised:
        raise typer.Exit(Status.WRONG)


def run_check(options: CheckOptions) -> None:
    """`check`."""
    checked = check(options.job_of_one_core("a check covers the loop counts of every core already"), options.rules())
    if options.execute:
        with Progress() as progress:
            checked = with_executions(checked, options.orders, progress.stage)
    page = Page()
    if options.json:
        page.raw(dumped(check_document(checked) | executed_document(checked)) + "\n")
    else:
        print_checked(page, checked, options.verbose)
        print_executed(page, checked)
    if checked.report.errors:
        raise typer.Exit(Status.WRONG)


def run_machine(options: MachineOptions) -> None:
    """`machine`."""
    machine = options.load()
    page = Page()
    if options.json:
        page.raw(dumped(machine_document(machine)) + "\n")
    else:
        print_machine(page, machine)
