"""`compare`: several versions of a kernel side by side."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from syncopt.api._fit import fit
from syncopt.api._job import Job
from syncopt.api._ptoas import compiled
from syncopt.api._solve import Request
from syncopt.api._versions import Version, VersionKind, optimum_of, version_of
from syncopt.hwmodel import Machine
from syncopt.solve.cpsat.search import Step
from syncopt.solve.driver import OrderMode
from syncopt.solve.orders import Budget

OPTIMUM = "optimum"
"""What the plan of the first file is called."""


@dataclass(frozen=True)
class CompareRequest:
    """What to compare with besides the files.

    Parameters
    ----------
    optimum : Budget or None
        What the search for the plan of the first file may use; None if there is to be none.
    ptoas : Path or None
        The binary whose output for the first file is compared as well.
    stage : callable
        Is told in words what begins.
    report : callable
        Is told of the progress of the search.
    """

    optimum: Budget | None = None
    ptoas: Path | None = None
    stage: Callable[[str], None] = lambda _: None
    report: Callable[[Step], None] = lambda _: None


@dataclass(frozen=True)
class Difference:
    """What a version does that the first one does not, or the other way round: their cycles compare different work."""

    name: str
    text: str


@dataclass(frozen=True)
class Compared:
    """Versions side by side.

    Parameters
    ----------
    machine : Machine
        The chip.
    versions : tuple of Version
        The files in order, then what ptoas made, then the optimum.
    best : Version or None
        The fastest version whose execution of the given arguments shows no fault; None if there is none.
    differences : tuple of Difference
        Where versions do not do the same work as the first one.
    notes : tuple of str
        Options that do not apply to all kernels, arguments that were left open, flags that were added.
    """

    machine: Machine
    versions: tuple[Version, ...]
    best: Version | None
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    @property
    def optimum(self) -> Version | None:
        """The plan of the first file, if it was asked for."""
        return next((version for version in self.versions if version.kind is VersionKind.OPTIMUM), None)

    def ratio_to_best(self, version: Version) -> float | None:
        """Cycles per cycle of the best version; None where there is no best one or this one never ends."""
        return None if self.best is None or version.hangs else version.cycles / self.best.cycles

    def percent_of_optimum(self, version: Version) -> float | None:
        """Speed in percent of that of the optimum; None without one, or where the version never ends."""
        return None if self.optimum is None or version.hangs else 100 * self.optimum.cycles / version.cycles

    def ratios_on(self, place: int) -> tuple[float | None, ...]:
        """Cycles of every version per cycle of the reference, on the sensitivity machine at a place.

        The reference is the optimum, or the version that is best on the default machine.
        """
        reference = self.reference
        base = None if reference is None else reference.sensitivity[place]
        return tuple(
            None if base is None or base.hangs or measured.hangs else measured.cycles / base.cycles
            for measured in (version.sensitivity[place] for version in self.versions)
        )

    def range_of(self, version: Version) -> tuple[float, float] | None:
        """The least and the largest ratio to the reference over the sensitivity machines."""
        at = self.versions.index(version)
        ratios = [self.ratios_on(place)[at] for place in range(len(version.sensitivity))]
        known = [ratio for ratio in ratios if ratio is not None]
        return (min(known), max(known)) if known else None

    def beats_optimum_on(self, version: Version) -> dict[str, int]:
        """The sensitivity machines on which a version without a fault there is faster than the optimum: by how much.

        A plan is the best of those that its proof covers, on the machine that it was solved for.
        """
        if self.optimum is None:
            return {}
        pairs = zip(version.sensitivity, self.optimum.sensitivity, strict=True)
        fewer = {ours.machine: plan.cycles - ours.cycles for ours, plan in pairs if not ours.faults}
        return {machine: cycles for machine, cycles in fewer.items() if cycles > 0}

    @property
    def reference(self) -> Version | None:
        """What versions are measured against on other machines: the optimum, or else the best version."""
        return self.optimum or self.best


def compare(jobs: Sequence[Job], request: CompareRequest) -> Compared:
    """Replay and check several versions of a kernel.

    Parameters
    ----------
    jobs : sequence of Job
        One per file, at least one, all with the same machine, core and options. Arguments in order apply to every
        kernel; a function, an argument or an assumption by name to those that have it.
    request : CompareRequest
        What to add.

    Raises
    ------
    InputError
        Bad input, an option that applies to no kernel, or ptoas failing.
    NoPlan, WrongPlan
        As `solve`, for the optimum and for kernels without flags.
    """
    fitted = fit(jobs)
    versions: list[Version] = []
    for job, name in zip(fitted.jobs, _names([job.path for job in fitted.jobs]), strict=True):
        request.stage(f"measuring {name}")
        versions.append(version_of(job, name))
    first = versions[0]
    if request.ptoas is not None:
        request.stage("running ptoas")
        versions += _of_ptoas(first, request.ptoas)
    if request.optimum is not None:
        search = Request(OrderMode.FREE, request.optimum, report=request.report, stage=request.stage)
        versions.append(optimum_of(first.job, OPTIMUM, search))
    return Compared(
        machine=first.job.machine,
        versions=tuple(versions),
        best=min((one for one in versions if one.valid), key=lambda one: one.cycles, default=None),
        differences=tuple(_differences(versions)),
        notes=(*fitted.notes, *_notes(versions)),
    )


def _names(paths: Sequence[Path]) -> list[str]:
    """The names of the files, or their paths where two files have one name; each time but the first with a number."""
    named = Counter(path.name for path in set(paths))
    seen = Counter[str]()
    names: list[str] = []
    for path in paths:
        name = str(path) if named[path.name] > 1 else path.name
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def _of_ptoas(first: Version, ptoas: Path) -> Iterator[Version]:
    """What ptoas makes of the first file; arguments keep their order in C++, but not their names."""
    kernel, values = first.subject.kernel, tuple(first.subject.setting.arguments.values())
    with TemporaryDirectory(prefix="syncopt-") as folder:
        for made in compiled(ptoas, first.job.path, kernel.name, Path(folder)):
            job = replace(first.job, path=made.path, function=kernel.name, arguments=values, named={}, assume=())
            yield version_of(job, f"{first.name} ({made.label})", made.label)


def _differences(versions: Sequence[Version]) -> Iterator[Difference]:
    """Where versions do other work than the first one, or on other arguments or cores."""
    first = versions[0]
    ours = first.subject.setting
    for version in versions[1:]:
        theirs = version.subject.setting
        values, others = tuple(ours.arguments.values()), tuple(theirs.arguments.values())
        if values != others:
            yield Difference(version.name, f"arguments in order: {_listed(others)} instead of {_listed(values)}")
        if theirs.block_num != ours.block_num:
            yield Difference(version.name, f"cores: {theirs.block_num} instead of {ours.block_num}")
        for text in first.work.differences(version.work):
            yield Difference(version.name, text)


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values)) or "none"


def _notes(versions: Sequence[Version]) -> Iterator[str]:
    for version in versions:
        if version.maker == "solve":
            continue
        yield from (f"{version.name}: {note}" for note in version.subject.notes)
        if version.kind is VersionKind.FIXED_ORDER:
            yield f"{version.name}: no flag and no barrier in it; measured in its order as written with flags added"
