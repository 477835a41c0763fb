"""What a check reports."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from syncopt.check.execution import Execution
from syncopt.sim import Replay


class Severity(Enum):
    """An error makes the kernel wrong, a warning doubtful; a note only says what the kernel rests on."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def __str__(self) -> str:
        return self.value


SEVERITIES = tuple(Severity)
"""The worst first."""


class FindingKind(Enum):
    """What is found, in the order of the verdicts; the last two are never errors.

    `ID_REUSE`: a flag is set again without proof that the wait before has taken it down. `VISIBILITY`: a store and a
    later load of the same global memory are ordered by flags alone.
    """

    DEADLOCK = "deadlock"
    RACE = "race"
    DOUBLE_SET = "double-set"
    UNBALANCED = "unbalanced"
    ILLEGAL = "illegal"
    ID_REUSE = "id-reuse"
    VISIBILITY = "visibility"

    def __str__(self) -> str:
        return self.value


class Verdict(Enum):
    """The first kind among the errors, in this order; `CLEAN` without any."""

    DEADLOCK = "deadlock"
    RACE = "race"
    DOUBLE_SET = "double-set"
    UNBALANCED = "unbalanced"
    ILLEGAL = "illegal"
    CLEAN = "clean"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or doubtful.

    Parameters
    ----------
    kind : FindingKind
        What it is.
    severity : Severity
        Errors make the kernel wrong.
    ops : tuple of int
        Uids of the ops it is about; the last one is where it shows.
    line : int
        Line of that op in the file, 0 if it stands in none.
    message : str
        What is wrong, and what is missing.
    execution : Execution or None
        The shortest execution that shows it; None if every one does.
    iteration : str
        Where in that execution: how often each loop around the ops has gone round before.
    hint : str
        What to do about it.
    """

    kind: FindingKind
    severity: Severity
    ops: tuple[int, ...]
    line: int
    message: str
    execution: Execution | None = None
    iteration: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check.

    Parameters
    ----------
    findings : tuple of Finding
        By line; each pair of ops once per kind.
    executions : int
        How many executions were run.
    covers : str
        Which ones.
    assumptions : tuple of str
        What the verdict takes for granted.
    proven : tuple of str
        The trip counts that these executions stand for.
    unproven : tuple of str
        The trip counts that nothing is known of, and why; executions that could not be run; conditions that fail
        together if any arguments give them.
    """

    findings: tuple[Finding, ...]
    executions: int
    covers: str
    assumptions: tuple[str, ...]
    proven: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The worst kind of error, or clean."""
        return verdict_of(self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the kernel wrong."""
        return errors_of(self.findings)

    @property
    def failing(self) -> Execution | None:
        """The shortest execution with an error."""
        executions = [finding.execution for finding in self.errors if finding.execution is not None]
        return min(executions, key=Execution.size, default=None)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the execution of the given arguments shows.

    Parameters
    ----------
    findings : tuple of Finding
        By line; each pair of ops once per kind.
    replay : Replay or None
        Its replay; None if an op in it has no known cost or cannot be executed at all.
    """

    findings: tuple[Finding, ...]
    replay: Replay | None

    @property
    def verdict(self) -> Verdict:
        """The worst kind of error, or clean."""
        return verdict_of(self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make the kernel wrong."""
        return errors_of(self.findings)

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with this execution."""
        return not self.errors


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of error severity."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """The first verdict among the errors."""
    kinds = {finding.kind.value for finding in errors_of(findings)}
    return next((verdict for verdict in Verdict if verdict.value in kinds), Verdict.CLEAN)
