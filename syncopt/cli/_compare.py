"""`compare`: its options, its answer and its exit status."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from syncopt.api import Budget, CompareRequest, InputError, compare, explain
from syncopt.cli import _parse
from syncopt.cli._compare_document import compare_document, explanation_document
from syncopt.cli._compare_tables import print_compared
from syncopt.cli._compare_why import print_explanation
from syncopt.cli._documents import dumped
from syncopt.cli._exits import Status
from syncopt.cli._options import SettingOptions, Work
from syncopt.cli._page import Page
from syncopt.cli._progress import Progress

_VERSIONS, _SEARCH, _ANSWER = "Versions to add", "Search", "Answer"
_BUDGET = "60s"

Kernels = Annotated[
    list[Path], typer.Argument(metavar="KERNEL", help="The versions, .pto or C++ files.", show_default=False)
]
Optimum = Annotated[
    bool,
    typer.Option(
        "--optimum",
        help="Add the best plan of the first file, without its flags.",
        rich_help_panel=_VERSIONS,
    ),
]
Ptoas = Annotated[
    Path | None,
    typer.Option(
        "--ptoas",
        metavar="PATH",
        help="Add what this ptoas makes of the first file, with and without --enable-insert-sync.",
        rich_help_panel=_VERSIONS,
    ),
]
BudgetTime = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="TIME",
        help=f"Time for the search of --optimum. Default: {_BUDGET}.",
        rich_help_panel=_SEARCH,
    ),
]
Why = Annotated[
    bool,
    typer.Option(
        "--why",
        help="Say why the slowest version takes longer than the best one, by op, line and flag: first what the busiest "
        "pipe stands still for, then what the critical paths, which lead back from the last op through what each op "
        "waited for last, wait for and work on. Both add up to the difference in cycles.",
        rich_help_panel=_ANSWER,
    ),
]


@dataclass(frozen=True, kw_only=True)
class CompareOptions(SettingOptions):
    """Options of `compare`."""

    kernels: Kernels
    optimum: Optimum = False
    budget: BudgetTime = None
    work: Work = None
    ptoas: Ptoas = None
    why: Why = False

    def search_budget(self) -> Budget | None:
        """What the search for the optimum may use; None if there is none."""
        if not self.optimum:
            for option, given in (("--budget", self.budget), ("--work", self.work)):
                if given is not None:
                    raise InputError(f"{option} limits the search for the optimum", help="add --optimum")
            return None
        if self.work is not None and not math.isfinite(self.work):
            raise InputError(f"--work {self.work} is not a finite number")
        return Budget(_parse.duration(_BUDGET if self.budget is None else self.budget), self.work)


def run_compare(options: CompareOptions) -> None:
    """`compare`."""
    options.refuse_all_cores("versions are compared on one core")
    budget = options.search_budget()
    jobs = [options.job_of(kernel) for kernel in options.kernels]
    with Progress() as progress:
        compared = compare(jobs, CompareRequest(budget, options.ptoas, progress.stage, progress.step))
        explanation = explain(compared) if options.why else None
    for difference in compared.differences:
        typer.echo(f"warning: not the same work: {difference.name}: {difference.text}", err=True)
    page = Page()
    if options.json:
        why = {"why": explanation_document(explanation)} if options.why else {}
        page.raw(dumped(compare_document(compared) | why) + "\n")
    else:
        print_compared(page, compared, options.verbose)
        if options.why:
            page.line()
            print_explanation(page, explanation, options.verbose)
    if any(version.report.errors for version in compared.versions):
        raise typer.Exit(Status.WRONG)
