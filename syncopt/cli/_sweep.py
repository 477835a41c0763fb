"""`sweep`: many solves side by side, one row each."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from syncopt import sweep
from syncopt.api import Budget, InputError, OrderMode, load_machine
from syncopt.api.words import counted
from syncopt.cli import _gen, _parse
from syncopt.cli._documents import Document, dumped
from syncopt.cli._exits import Status
from syncopt.cli._options import (
    AnswerOptions,
    Assume,
    BudgetTime,
    Cores,
    Func,
    MachineName,
    MachineSet,
    Order,
    RequireSpeedup,
    Seed,
    Work,
)
from syncopt.cli._page import GOOD, Page
from syncopt.cli._rows import print_best, print_failed, print_rows
from syncopt.cli._sweep_progress import SweepProgress
from syncopt.gen import gemm

GEMM = "gemm"
"""The target that stands for generated GEMM kernels."""

_SHAPES, _TILINGS, _WORKERS, _FILES = "Shapes", "Generated GEMM kernels", "Workers", "Files"
_FAILED = frozenset(outcome for outcome in sweep.Outcome if not outcome.solved)


def _size(name: str) -> typer.models.OptionInfo:
    help = f"Values of argument {name.upper()}: first:last:step (last included), or values with commas between them."
    return typer.Option(f"--{name}", metavar="VALUES", help=help, rich_help_panel=_SHAPES)


Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="KERNEL...|gemm",
        help="Kernels: .pto and C++ files, folders of .pto files, patterns in quotes; gemm: generated for tilings.",
        show_default=False,
    ),
]
SetValues = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUES",
        help="Values of any other integer argument (repeatable); all combinations are solved.",
        rich_help_panel=_SHAPES,
        show_default=False,
    ),
]
ShapesFile = Annotated[
    Path | None,
    typer.Option(
        "--shapes",
        metavar="FILE.csv",
        help="Shapes as rows of a CSV file with the names of arguments in its first line.",
        rich_help_panel=_SHAPES,
    ),
]
TilingTexts = Annotated[
    list[str],
    typer.Option(
        "--tilings",
        metavar="auto|TILING,...",
        help="Tilings to try for every shape: auto, or such as 128x256x512 (L1) and 128x256x512/128x256x64 (L1, L0), "
        "with /b2 for parts of B and /c2 for buffers in L0C (repeatable). Default: auto.",
        rich_help_panel=_TILINGS,
        show_default=False,
    ),
]
CoreNumber = Annotated[
    int, typer.Option("--core", metavar="I", min=0, help="Block index.", rich_help_panel="Kernel and machine")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Processes. Default: one per processor.",
        rich_help_panel=_WORKERS,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Use the workers of this Dask scheduler instead; needs the extra `cluster`.",
        rich_help_panel=_WORKERS,
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="FOLDER",
        help="Where plans are kept, so that equal windows are searched once. Default: the user's folder for caches.",
        rich_help_panel=_WORKERS,
    ),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Do every search.", rich_help_panel=_WORKERS)]
Retry = Annotated[bool, typer.Option("--retry", help="Solve rows again that have failed.", rich_help_panel=_FILES)]
Rows = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        "--out",
        metavar="ROWS.jsonl",
        help="File of the rows, one JSON document per line. Rows that it holds already are not solved again.",
        rich_help_panel=_FILES,
    ),
]


@dataclass(frozen=True, kw_only=True)
class SweepOptions(AnswerOptions):
    """Options of `sweep`."""

    targets: Targets
    m: Annotated[str | None, _size("m")] = None
    n: Annotated[str | None, _size("n")] = None
    k: Annotated[str | None, _size("k")] = None
    named: SetValues = field(default_factory=list[str])
    shapes: ShapesFile = None
    tilings: TilingTexts = field(default_factory=list[str])
    dtype: _gen.ElementType = "f16"
    a_layout: _gen.ALayout = gemm.GlobalLayout.ND
    b_layout: _gen.BLayout = gemm.GlobalLayout.DN
    swizzle: _gen.Swizzle = "5"
    sync: _gen.Sync = _gen.Flags.NONE
    func: Func = None
    assume: Assume = field(default_factory=list[str])
    machine: MachineName = "910b2"
    machine_set: MachineSet = field(default_factory=list[str])
    core: CoreNumber = 0
    cores: Cores = None
    budget: BudgetTime = "60s"
    work: Work = None
    order: Order = OrderMode.FREE
    seed: Seed = 0
    jobs: Jobs = None
    dask: Dask = None
    cache: Cache = None
    no_cache: NoCache = False
    retry: Retry = False
    require_speedup: RequireSpeedup = None
    output: Rows = Path("sweep.jsonl")

    def planned(self) -> sweep.Tasks:
        """The solves that are asked for, generated kernels behind the others."""
        setup = sweep.Setup(
            machine=load_machine(self.machine, self.machine_set),
            budget=Budget(_parse.duration(self.budget), _parse.finite(self.work, "--work"), seed=self.seed),
            order=self.order,
            function=self.func,
            assume=tuple(self.assume),
            core=self.core,
            cores=self.cores,
        )
        shapes = self._shapes()
        found: list[sweep.Tasks] = []
        files = [target for target in self.targets if target != GEMM]
        if files:
            found.append(sweep.kernel_tasks(sweep.kernel_files(files), shapes, setup))
        if GEMM in self.targets:
            texts = [part for text in self.tilings or [sweep.AUTO] for part in text.split(",")]
            found.append(sweep.gemm_tasks(self._form(), texts, shapes, setup))
        elif self.tilings:
            raise InputError("--tilings is about generated kernels", help=f"name {GEMM} among the kernels")
        tasks = tuple(task for part in found for task in part.tasks)
        return sweep.Tasks(tasks, tuple(note for part in found for note in part.notes))

    def workers(self) -> sweep.Workers:
        """Where the tasks are solved."""
        if self.dask is not None:
            if self.jobs is not None:
                raise InputError("--jobs and --dask are two places to solve in", help="give one of the two")
            return sweep.dask_workers(self.dask)
        return sweep.local_workers(self.jobs or sweep.processors())

    def plan_folder(self) -> Path | None:
        """Where plans are kept."""
        if self.no_cache:
            if self.cache is not None:
                raise InputError("--cache and --no-cache contradict each other", help="give one of the two")
            return None
        return (self.cache or sweep.default_folder()).absolute()

    def _form(self) -> sweep.GemmForm:
        return sweep.GemmForm(
            dtype=self.dtype,
            a_layout=self.a_layout,
            b_layout=self.b_layout,
            panel=_gen.panel(self.swizzle),
            sync=gemm.Sync(self.sync.value),
        )

    def _shapes(self) -> tuple[sweep.Shape, ...]:
        given = {"M": self.m, "N": self.n, "K": self.k}
        axes = {name: sweep.values(text, f"--{name.lower()}") for name, text in given.items() if text is not None}
        for text in self.named:
            name, equals, listed = (part.strip() for part in text.partition("="))
            name = name.removeprefix("%")
            if not equals or not name:
                raise InputError(f"--set {text!r} is not NAME=VALUES", help="for example --set rows=64:512:64")
            if name in axes:
                raise InputError(f"argument {name} is given twice", help="put all its values into one option")
            axes[name] = sweep.values(listed, f"--set {name}")
        return sweep.shapes(axes, () if self.shapes is None else sweep.shapes_of_file(self.shapes))


def run_sweep(options: SweepOptions) -> None:
    """`sweep`."""
    began = time.monotonic()
    required = _parse.finite(options.require_speedup, "--require-speedup")
    planned, workers, folder = options.planned(), options.workers(), options.plan_folder()
    with sweep.opened(options.output) as results:
        left = sweep.to_do(planned.tasks, results, _FAILED if options.retry else frozenset())
        there = len({task.asked.key for task in planned.tasks}) - len(left)
        with SweepProgress(len(left)) as progress:
            for note in (*planned.notes, *_notes(options.output, there, results.torn)):
                progress.say(f"note: {note}")
            try:
                sweep.run(left, results, workers, folder, progress.done)
            except KeyboardInterrupt:
                kept = counted(len(sweep.read_rows(options.output)), "row")
                message = f"interrupted: {kept} in {options.output} are kept"
                progress.say(f"{message}; the same command goes on from there")
                raise typer.Exit(Status.INTERRUPTED) from None
        rows = tuple({task.asked.key: results.rows[task.asked.key] for task in planned.tasks}.values())
    page = Page()
    if options.json:
        page.raw(dumped(_document(options.output, rows, planned.notes, there)) + "\n")
    else:
        _print(page, options, rows, there, time.monotonic() - began)
    _exit(rows, required)


def _notes(path: Path, there: int, torn: int) -> list[str]:
    notes = [f"{counted(there, 'row')} in {path} already"] if there else []
    return [*notes, f"{torn} bytes of an unfinished row in {path} are dropped"] if torn else notes


def _print(page: Page, options: SweepOptions, rows: tuple[sweep.Row, ...], there: int, seconds: float) -> None:
    print_rows(page, rows, options.verbose)
    page.line()
    if any(row.asked.tiling for row in rows):
        print_best(page, rows)
        page.line()
    print_failed(page, rows, options.verbose)
    counts = _counts(rows, there)
    remembered = f"{counted(counts['remembered'], 'search', 'searches')} remembered"
    solved = f"{counts['solved']} solved, {counts['proven']} of them proven optimal, {counts['failed']} failed"
    page.line(f"{counted(len(rows), 'row')}: {solved}; {remembered}; {seconds:.1f} s.", GOOD)
    page.line(f"The rows are in {options.output}; `syncopt results {options.output}` filters, exports and plots them.")


def _counts(rows: tuple[sweep.Row, ...], there: int) -> dict[str, int]:
    figures = [row.figures for row in rows if row.figures is not None]
    return {
        "rows": len(rows),
        "solved": len(figures),
        "proven": sum(row.outcome is sweep.Outcome.OPTIMAL for row in rows),
        "failed": len(rows) - len(figures),
        "remembered": sum(found.remembered for found in figures),
        "there_before": there,
    }


def _document(path: Path, rows: tuple[sweep.Row, ...], notes: tuple[str, ...], there: int) -> Document:
    return {
        "results": str(path),
        "counts": _counts(rows, there),
        "notes": list(notes),
        "rows": [sweep.document(row) for row in rows],
        "best_by_shape": [row.key for row in sweep.best_by(rows, sweep.SHAPE)],
    }


def _exit(rows: tuple[sweep.Row, ...], required: float | None) -> None:
    """The exit status: no plan for another reason than its input, then bad input, then plans that gain too little."""
    outcomes = {row.outcome for row in rows}
    if outcomes & {sweep.Outcome.NO_PLAN, sweep.Outcome.WRONG_PLAN, sweep.Outcome.CRASHED}:
        raise typer.Exit(Status.NO_PLAN)
    if sweep.Outcome.BAD_INPUT in outcomes:
        raise typer.Exit(Status.BAD_INPUT)
    speedups = [row.figures.speedup for row in rows if row.figures is not None]
    slow = sum(speedup is None or speedup < required for speedup in speedups) if required is not None else 0
    if slow:
        typer.echo(f"{counted(slow, 'plan')} below --require-speedup {required}", err=True)
        raise typer.Exit(Status.WRONG)
