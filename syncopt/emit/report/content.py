"""What a report says, ready to be laid out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from syncopt.emit.timeline import Shown, Slice
from syncopt.emit.timeline.occupancy import Steps
from syncopt.ir.pipes import Memory, Pipe, PipePair


@dataclass(frozen=True)
class Table:
    """A table; columns named with a leading `>` hold figures."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Drawn:
    """A version of the kernel as the charts show it.

    Parameters
    ----------
    shown : Shown
        What is shown of it, and what is left out.
    pieces : tuple of Slice
        Its slices, in program order.
    live_bytes : mapping of Memory to Steps
        Bytes per on-chip memory that hold a value which is still read.
    live_ids : mapping of PipePair to Steps
        Event ids in use per pair of pipes.
    busy : mapping of Pipe to float
        Share of the full run for which each pipe was occupied by tile ops, 0 to 1.
    """

    shown: Shown
    pieces: tuple[Slice, ...]
    live_bytes: Mapping[Memory, Steps]
    live_ids: Mapping[PipePair, Steps]
    busy: Mapping[Pipe, float]

    @property
    def name(self) -> str:
        """What the version is called."""
        return self.shown.version.name


@dataclass(frozen=True)
class Content:
    """A report on a plan.

    Parameters
    ----------
    title : str
        The kernel.
    subtitle : str
        Arguments, core, machine.
    verdict : str
        The answer in one sentence.
    facts : mapping of str to str
        Figures by what they are.
    sensitivity : Table
        Plan and baseline on the machines that fit the published figures as well.
    sensitivity_note : str
        The range of the gain over them.
    drawn : tuple of Drawn
        The kernel as written, then its plan.
    capacities : mapping of Memory to int
        Bytes of each on-chip memory.
    event_ids : int
        Event ids that exist per pair of pipes.
    stalls : Table
        Cycles by cause, of the full runs.
    moves : Table
        Ops that moved; without rows if none did.
    diff : tuple of str
        Lines of a unified diff from the kernel to its plan.
    figures : Table
        The machine, with the source of each figure.
    assumptions : tuple of str
        What the check takes for granted.
    notes : tuple of str
        What a reader should be warned of.
    """

    title: str
    subtitle: str
    verdict: str
    facts: Mapping[str, str]
    sensitivity: Table
    sensitivity_note: str
    drawn: tuple[Drawn, ...]
    capacities: Mapping[Memory, int]
    event_ids: int
    stalls: Table
    moves: Table
    diff: tuple[str, ...]
    figures: Table
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
