"""The options of the commands: one dataclass per command, each field an argument or option of the command line."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from syncopt.api import (
    Budget,
    Cycles,
    EventScope,
    Grading,
    InputError,
    Job,
    Machine,
    OrderMode,
    Rules,
    Severity,
    TraceFormat,
    load_machine,
)
from syncopt.cli import _parse
from syncopt.cli._files import Target
from syncopt.cli._timeline import TraceFile, report_file, trace_file

_KERNEL = "Kernel and machine"
_ANSWER = "Answer"
_SEARCH = "Search"
_FILES = "Files"

Kernel = Annotated[Path, typer.Argument(metavar="KERNEL", help="The kernel, a .pto or C++ file.", show_default=False)]
MachineName = Annotated[
    str, typer.Option("--machine", metavar="NAME", help="Name or TOML file of the machine.", rich_help_panel=_KERNEL)
]
MachineSet = Annotated[
    list[str],
    typer.Option(
        "--machine-set",
        metavar="KEY=VALUE",
        help="Change one figure of the machine, such as gm_to_mat.bytes_per_cycle=75 (repeatable).",
        rich_help_panel=_KERNEL,
        show_default=False,
    ),
]
Func = Annotated[
    str | None,
    typer.Option("--func", metavar="NAME", help="The kernel, in a file of several.", rich_help_panel=_KERNEL),
]
Args = Annotated[
    str,
    typer.Option(
        "--args",
        metavar="INT,INT,...",
        help="Integer arguments in order, such as 2176,8192,8192; those left open are taken as 4096.",
        rich_help_panel=_KERNEL,
        show_default=False,
    ),
]
Set = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=INT",
        help="An integer argument by its name without % (repeatable).",
        rich_help_panel=_KERNEL,
        show_default=False,
    ),
]
Assume = Annotated[
    list[str],
    typer.Option(
        "--assume",
        metavar="EXPR",
        help="Restrict the arguments that the proof covers, such as 'K>=512' (repeatable).",
        rich_help_panel=_KERNEL,
        show_default=False,
    ),
]
Core = Annotated[
    str,
    typer.Option(
        "--core",
        metavar="I",
        help="Block index of the core; simulate also takes all: every core, the slowest counts.",
        rich_help_panel=_KERNEL,
    ),
]
Cores = Annotated[
    int | None,
    typer.Option(
        "--cores", metavar="N", min=1, help="Block number. Default: the cores of the machine.", rich_help_panel=_KERNEL
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.", rich_help_panel=_ANSWER)]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print long lists in full, and timelines.", rich_help_panel=_ANSWER)
]
Debug = Annotated[bool, typer.Option("--debug", help="Errors come with a traceback.", rich_help_panel=_ANSWER)]

BudgetTime = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Time for the search, such as 60s, 1.5m, 500ms; plain numbers are seconds.",
        rich_help_panel=_SEARCH,
    ),
]
Work = Annotated[
    float | None,
    typer.Option(
        "--work",
        metavar="N",
        min=0,
        help="Limit the search by N units of deterministic time, the same from run to run.",
        rich_help_panel=_SEARCH,
    ),
]
Order = Annotated[
    OrderMode,
    typer.Option(
        "--order",
        help="free: find the best issue order; fixed: keep it and only place flags.",
        rich_help_panel=_SEARCH,
    ),
]
AlsoArgs = Annotated[
    list[str],
    typer.Option(
        "--also-args",
        metavar="INT,INT,...",
        help="Measure the plan for these arguments too (repeatable).",
        rich_help_panel=_SEARCH,
        show_default=False,
    ),
]
Workers = Annotated[
    int,
    typer.Option("--workers", min=1, help="Threads; more than 1 is not deterministic.", rich_help_panel=_SEARCH),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**31 - 1, help="Random seed.", rich_help_panel=_SEARCH)]
RequireSpeedup = Annotated[
    float | None,
    typer.Option(
        "--require-speedup",
        metavar="X",
        help="Exit with status 1 if the plan is less than X times as fast as the baseline.",
        rich_help_panel=_ANSWER,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="OUT", help="Write the kernel with the plan, in its language.", rich_help_panel=_FILES
    ),
]
Cpp = Annotated[
    Path | None,
    typer.Option(
        "--cpp",
        metavar="OUT.cpp",
        help="Write the kernel with the plan as PTO-ISA C++.",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists already.", rich_help_panel=_FILES)]
InPlace = Annotated[bool, typer.Option("--in-place", help="Overwrite the kernel itself.", rich_help_panel=_FILES)]
Diff = Annotated[bool, typer.Option("--diff", help="Print what the plan changes in the text.", rich_help_panel=_FILES)]
Trace = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="OUT.json", help="Write timelines, one lane per pipe, for a viewer.", rich_help_panel=_FILES
    ),
]
TraceFor = Annotated[
    TraceFormat,
    typer.Option(
        "--trace-format",
        help="perfetto: Perfetto and chrome://tracing; mindstudio: MindStudio Insight.",
        rich_help_panel=_FILES,
    ),
]
Timeline = Annotated[
    str,
    typer.Option(
        "--timeline",
        metavar="PART",
        help="What timelines show. window: a few iterations of every loop; all: the full run; FROM:TO: its cycles.",
        rich_help_panel=_ANSWER,
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="OUT.html",
        help="Write one page with verdict, timelines, buffers, diff and machine; needs the extra `report`.",
        rich_help_panel=_FILES,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="A flag that only durations keep from being set twice is an error.",
        rich_help_panel=_ANSWER,
    ),
]
StrictEvents = Annotated[
    bool,
    typer.Option(
        "--strict-events",
        help="Flags are told apart by source pipe and id alone, whatever pipe waits for them.",
        rich_help_panel=_ANSWER,
    ),
]
Stress = Annotated[
    int,
    typer.Option(
        "--stress",
        metavar="N",
        min=0,
        help="Where something depends on times, replay N times with every op's cost times a factor of 0.5 to 2.",
        rich_help_panel=_ANSWER,
    ),
]
Execute = Annotated[
    bool,
    typer.Option(
        "--execute",
        help="Also compute with the given arguments, in many legal orders: a missing flag gives a wrong number.",
        rich_help_panel=_ANSWER,
    ),
]
Orders = Annotated[
    int,
    typer.Option("--orders", metavar="N", min=0, help="Random orders of --execute.", rich_help_panel=_ANSWER),
]


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """How a command answers."""

    json: Json = False
    verbose: Verbose = False
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class SettingOptions(AnswerOptions):
    """What kernels are read with. Options of all commands that read any."""

    func: Func = None
    arguments: Args = ""
    named: Set = field(default_factory=list[str])
    assume: Assume = field(default_factory=list[str])
    machine: MachineName = "910b2"
    machine_set: MachineSet = field(default_factory=list[str])
    core: Core = "0"
    cores: Cores = None

    @property
    def wants_all_cores(self) -> bool:
        """Whether `--core all` is given."""
        return _parse.core(self.core) is None

    def job_of(self, kernel: Path) -> Job:
        """The job of a kernel; core 0 where all are wanted."""
        return Job(
            path=kernel,
            machine=load_machine(self.machine, self.machine_set),
            function=self.func,
            arguments=_parse.integers(self.arguments),
            named=_parse.settings(self.named),
            assume=tuple(self.assume),
            core=_parse.core(self.core) or 0,
            cores=self.cores,
        )

    def refuse_all_cores(self, why: str) -> None:
        """Refuse `--core all`."""
        if self.wants_all_cores:
            raise InputError(f"--core all: {why}", help="give the number of a core; simulate takes all")


@dataclass(frozen=True, kw_only=True)
class JobOptions(SettingOptions):
    """A kernel to work on. Options of all commands that read one."""

    kernel: Kernel

    def job(self) -> Job:
        """The job; core 0 where all are wanted."""
        return self.job_of(self.kernel)

    def job_of_one_core(self, why: str) -> Job:
        """The job; all cores are refused."""
        self.refuse_all_cores(why)
        return self.job()


@dataclass(frozen=True, kw_only=True)
class TimelineOptions(JobOptions):
    """Options of the commands that draw timelines."""

    trace: Trace = None
    trace_format: TraceFor = TraceFormat.PERFETTO
    timeline: Timeline = _parse.WINDOW
    force: Force = False

    def trace_file(self) -> TraceFile | None:
        """The trace file, found writable."""
        return trace_file(self.kernel, self.trace, self.force, self.trace_format)

    def part(self) -> Cycles | None:
        """What timelines show; None for the window."""
        return _parse.part(self.timeline)


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(TimelineOptions):
    """Options of `simulate`."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions(JobOptions):
    """Options of `check`."""

    strict: Strict = False
    strict_events: StrictEvents = False
    stress: Stress = 0
    execute: Execute = False
    orders: Orders = 5

    def rules(self) -> Rules:
        """How strictly to judge."""
        return Rules(
            grading=Grading(timed=Severity.ERROR if self.strict else Severity.WARNING),
            events=EventScope.SOURCE if self.strict_events else EventScope.PAIR,
            stress=self.stress,
        )


@dataclass(frozen=True, kw_only=True)
class SolveOptions(TimelineOptions):
    """Options of `solve`."""

    budget: BudgetTime = "60s"
    work: Work = None
    order: Order = OrderMode.FREE
    also: AlsoArgs = field(default_factory=list[str])
    workers: Workers = 1
    seed: Seed = 0
    require_speedup: RequireSpeedup = None
    output: Out = None
    cpp: Cpp = None
    in_place: InPlace = False
    diff: Diff = False
    report: ReportFile = None

    def report_file(self) -> Target | None:
        """The file of the report, found writable, with all that a report needs."""
        return report_file(self.kernel, self.report, self.force)

    def search_budget(self) -> Budget:
        """What the search may use."""
        _parse.finite(self.require_speedup, "--require-speedup")
        work = _parse.finite(self.work, "--work")
        return Budget(_parse.duration(self.budget), work, self.workers, self.seed)

    def also_arguments(self) -> tuple[tuple[int, ...], ...]:
        """The further shapes."""
        return tuple(_parse.integers(text, "--also-args") for text in self.also)


@dataclass(frozen=True, kw_only=True)
class MachineOptions(AnswerOptions):
    """Options of `machine`."""

    name: Annotated[str, typer.Argument(metavar="NAME", help="Name or TOML file of the machine.", show_default=False)]
    machine_set: MachineSet = field(default_factory=list[str])

    def load(self) -> Machine:
        """The machine."""
        return load_machine(self.name, self.machine_set)
