"""The commands: from options to an answer and an exit status."""

import typer

from syncopt.api import (
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
from syncopt.cli._documents import check_document, dumped, machine_document, simulate_document, solve_document
from syncopt.cli._executed import executed_document, print_executed
from syncopt.cli._exits import Status
from syncopt.cli._files import Target, target
from syncopt.cli._options import CheckOptions, MachineOptions, SimulateOptions, SolveOptions
from syncopt.cli._page import GOOD, Page
from syncopt.cli._progress import Progress
from syncopt.cli._solved import print_solved
from syncopt.cli._tables import print_checked, print_machine, print_simulation
from syncopt.cli._timeline import (
    outputs_of,
    print_gantt,
    print_written,
    refuse_same_files,
    shown_document,
    write_timelines,
)
from syncopt.cli._words import times


def run_solve(options: SolveOptions) -> None:
    """`solve`."""
    job = options.job_of_one_core("a plan is solved for one core")
    budget, also = options.search_budget(), options.also_arguments()
    output = target(options.kernel, options.output, options.force, options.in_place)
    trace, report, part = options.trace_file(), options.report_file(), options.part()
    refuse_same_files(output, None if trace is None else trace.file, report)
    with Progress() as progress:
        request = Request(options.order, budget, also, progress.step, progress.stage)
        solved = solve(job, request)
    page = Page()
    timelines = solved_timelines(solved, part)
    if options.json:
        if output is not None:
            output.write(solved.text)
        written = write_timelines(trace, report, solved, timelines)
        outputs = {} if output is None else {_language(solved): output.named}
        diff = "".join(_diff(solved, output)) if options.diff else None
        document = solve_document(solved, outputs | outputs_of(written), diff)
        page.raw(dumped({**document, "timelines": shown_document(written)}) + "\n")
    else:
        print_solved(page, solved, budget, options.verbose)
        if options.verbose:
            print_gantt(page, timelines)
        _write(page, solved, output)
        print_written(page, write_timelines(trace, report, solved, timelines))
        if options.diff:
            page.line()
            page.diff(_diff(solved, output))
    _require_speedup(solved, options.require_speedup)


def _write(page: Page, solved: Solved, output: Target | None) -> None:
    page.line()
    if output is None:
        page.line(f"Nothing is written; -o OUT.{_language(solved)} writes the kernel with this plan.")
    else:
        output.write(solved.text)
        page.line(f"Written to {output.named}.", GOOD)


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
