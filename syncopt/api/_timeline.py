"""Timelines of what `simulate` and `solve` found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TextIO

from syncopt.api._job import Job, Subject, changed_figures, section_kind
from syncopt.api._measure import BaselineKind
from syncopt.api._simulate import Simulation
from syncopt.api._solve import Solved
from syncopt.api.words import arguments
from syncopt.emit.timeline import Cycles, Shown, Version, write_chrome, write_mindstudio
from syncopt.emit.timeline.gantt import Gantt, gantt
from syncopt.ir.kernel import For, Kernel, walk
from syncopt.ir.pipes import SectionKind
from syncopt.ir.trace import Overrides, Tracer
from syncopt.model.window import Window
from syncopt.sim import replay

FULL_RUN = "the full run"
"""What a timeline says of a run of which nothing was cut out."""


class TraceFormat(Enum):
    """Whose viewer a trace file is for."""

    PERFETTO = "perfetto"
    MINDSTUDIO = "mindstudio"


@dataclass(frozen=True)
class Timelines:
    """Versions of a kernel, ready to be drawn.

    Parameters
    ----------
    job : Job
        What was asked.
    subject : Subject
        The kernel as read, and its setting.
    versions : tuple of Version
        One, or the kernel as written and its plan.
    """

    job: Job
    subject: Subject
    versions: tuple[Version, ...]


def simulated(simulation: Simulation, cycles: Cycles | None) -> Timelines:
    """The timeline of a kernel as written.

    Parameters
    ----------
    simulation : Simulation
        Its replay.
    cycles : Cycles or None
        What of the full run is shown; None for the window, a few iterations of every loop.
    """
    subject = simulation.subject
    drawing = _Drawing(simulation.job, subject, simulation.window, cycles)
    return Timelines(simulation.job, subject, (drawing.version("as written", subject.kernel),))


def solved_timelines(solved: Solved, cycles: Cycles | None) -> Timelines:
    """The timelines of the kernel as written, or in its order as written with flags added, and of its plan.

    Parameters
    ----------
    solved : Solved
        The plan and its baseline.
    cycles : Cycles or None
        What of the full runs is shown; None for the window, on which the plan was searched.
    """
    drawing = _Drawing(solved.job, solved.subject, solved.window, cycles)
    added = " with flags added" if solved.baseline.kind is BaselineKind.FIXED_ORDER else ""
    before = drawing.version(f"as written{added}", solved.baseline.drawn)
    return Timelines(solved.job, solved.subject, (before, drawing.version("plan", solved.kernel)))


@dataclass(frozen=True)
class _Drawing:
    job: Job
    subject: Subject
    window: Window
    cycles: Cycles | None

    def version(self, name: str, kernel: Kernel) -> Version:
        """One version, with the iterations left out that the window leaves out."""
        run, overrides = FULL_RUN, None
        if self.cycles is None:
            run, overrides = self._windowed(kernel)
        return Version(
            name=name,
            source=kernel.source,
            trace=Tracer(kernel, self.subject.setting, overrides),
            machine=self.job.machine,
            run=run,
            cycles=self.cycles or Cycles(),
        )

    def _windowed(self, kernel: Kernel) -> tuple[str, Overrides | None]:
        """The window in words, and for the loops of `kernel`: those of the kernel as written, in their order."""
        written, own = ([op for op in walk(k.body) if isinstance(op, For)] for k in (self.subject.kernel, kernel))
        cuts = [
            (old, new, self.window.cuts[old.uid])
            for old, new in zip(written, own, strict=True)
            if old.uid in self.window.cuts
        ]
        if not cuts:
            return FULL_RUN, None
        source = self.subject.kernel.source
        left_out = [
            f"{cut.first}-{cut.first + cut.count - 1} of 0-{cut.total - 1} of the loop at line "
            f"{source.line(old.span.start)}"
            for old, _, cut in cuts
        ]
        run = f"a window (iterations {' and '.join(left_out)} left out)"
        return run, Window({new.uid: cut for _, new, cut in cuts})


def write_trace(out: TextIO, timelines: Timelines, viewer: TraceFormat) -> list[Shown]:
    """Write timelines as a file for a viewer; what was written of each."""
    about = _about(timelines)
    if viewer is TraceFormat.PERFETTO:
        return write_chrome(out, timelines.versions, about)
    return write_mindstudio(out, timelines.versions, about, _core(timelines.subject))


def draw(timelines: Timelines, columns: int) -> tuple[Cycles, list[Gantt]]:
    """Draw timelines in characters on one scale: the cycles of the scale, and each version in so many columns."""
    shown = timelines.versions[0].cycles
    last = shown.last
    if last is None:
        last = max(replay(version.trace, version.machine).cycles for version in timelines.versions)
    first = min(shown.first, last)
    drawn = [gantt(version, first, max(last, first + 1), columns) for version in timelines.versions]
    return Cycles(first, last), drawn


def at_most(timelines: Timelines, most: int) -> Timelines:
    """The same with no more than the first `most` slices of each version."""
    return replace(timelines, versions=tuple(replace(version, most=most) for version in timelines.versions))


def setting_in_words(job: Job, subject: Subject) -> str:
    """Arguments, core and machine."""
    setting = subject.setting
    given = f"{arguments(setting.arguments)}; " if setting.arguments else ""
    return f"{given}core {setting.block_idx} of {setting.block_num} of {_machine(job)}"


def _machine(job: Job) -> str:
    changed = arguments({figure.key: figure.text for figure in changed_figures(job.machine)})
    return f"{job.machine.name} with {changed}" if changed else job.machine.name


def _about(timelines: Timelines) -> Mapping[str, str]:
    job, subject = timelines.job, timelines.subject
    setting = subject.setting
    return {
        "kernel": f"{subject.kernel.name} in {job.path}",
        "arguments": arguments(setting.arguments),
        "core": f"{setting.block_idx} of {setting.block_num}",
        "machine": f"{_machine(job)}, {float(job.machine.clock_ghz)} GHz",
    }


def _core(subject: Subject) -> str:
    """The core as MindStudio calls it."""
    kind = "veccore" if section_kind(subject.kernel) is SectionKind.VECTOR else "cubecore"
    return f"core{subject.setting.block_idx}.{kind}0"
