"""Traces of a kernel in one order, and what a placement proves on them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from syncopt.check import EarlySet, HappensBefore, Observer, OpenHazard
from syncopt.check.observer import UnfencedLoad
from syncopt.hwmodel import Machine
from syncopt.ir.kernel import Kernel, Value
from syncopt.ir.pipes import Pipe
from syncopt.model.flags.channels import Placement, rotation_of
from syncopt.model.rewrite import Side, Site
from syncopt.model.rotation import Rotations
from syncopt.model.skeleton import Flagged, Skeleton


@dataclass(frozen=True, slots=True)
class Family:
    """Traces of a kernel in one order, and what is needed to judge flags on them.

    Parameters
    ----------
    kernel : Kernel
        Without flags, in the order that is judged.
    traces : tuple of Skeleton
        Every loop that can be forced goes round at least once in at least one of them, in others not at all.
    machine : Machine
        For the barriers that dependences on one pipe need.
    shared : frozenset of Value
        Pointer arguments whose accesses can conflict.
    rotations : Rotations
        The rotating tiles of the kernel.
    suspects : list of int
        Numbers of the traces in the order in which proofs go through them: the one that failed last comes first.
    """

    kernel: Kernel
    traces: tuple[Skeleton, ...]
    machine: Machine
    shared: frozenset[Value]
    rotations: Rotations
    suspects: list[int] = field(default_factory=list[int], repr=False, compare=False)

    def __post_init__(self) -> None:
        self.suspects.extend(range(len(self.traces)))

    def run(self, number: int, flagged: Flagged, observer: Observer) -> HappensBefore:
        """A pass over one trace with flags."""
        return HappensBefore(self.machine, self.shared, observer).run(flagged.instances(self.traces[number].steps))


class _OpenError(Exception):
    """A hazard is open or a set comes too early."""


class _Proof(Observer):
    """Stops at the first thing that is not proven."""

    def open_hazard(self, hazard: OpenHazard) -> None:
        raise _OpenError(hazard)

    def early_set(self, early: EarlySet) -> None:
        raise _OpenError(early)

    def unfenced(self, load: UnfencedLoad) -> None:
        raise _OpenError(load)


def proves(family: Family, placement: Placement) -> bool:
    """Whether a placement orders every hazard of the family, with no deadlock, no early set and no flag left."""
    flagged = Flagged(family.kernel, placement)
    for position, number in enumerate(family.suspects):
        if not _is_proven(family, number, flagged):
            family.suspects.insert(0, family.suspects.pop(position))
            return False
    return True


def _is_proven(family: Family, number: int, flagged: Flagged) -> bool:
    try:
        run = family.run(number, flagged, _Proof())
    except _OpenError:
        return False
    return not run.blocked and not run.flags_up


class _Early(Observer):
    """Collects channels that are set too early."""

    def __init__(self) -> None:
        self.channels: set[int] = set()

    def early_set(self, early: EarlySet) -> None:
        self.channels.add(early.event)


class _Faults(_Early):
    """Collects channels that fail and ops that come too early."""

    def __init__(self) -> None:
        super().__init__()
        self.open: dict[Site, None] = {}

    def open_hazard(self, hazard: OpenHazard) -> None:
        self.open[Site(hazard.later.op.uid, Side.BEFORE)] = None

    def unfenced(self, load: UnfencedLoad) -> None:
        self.open[Site(load.load.op.uid, Side.BEFORE)] = None


def early_channels(family: Family, placement: Placement) -> frozenset[int]:
    """Numbers of the channels that are set in some trace when nothing proves that the wait before it is over."""
    early = _Early()
    flagged = Flagged(family.kernel, placement)
    for number in family.suspects:
        family.run(number, flagged, early)
    return frozenset(early.channels)


def made_proven(family: Family, placement: Placement) -> Placement:
    """The placement, with full barriers instead of what it does not prove."""
    while not proves(family, placement):
        faults = _Faults()
        flagged = Flagged(family.kernel, placement)
        for number in family.suspects:
            run = family.run(number, flagged, faults)
            faults.channels.update(wait.event for wait in run.blocked)
            faults.channels.update(event for _, event, _ in run.flags_up)
        placement = with_full_barriers(placement, faults.open)
        for number in sorted({rotation_of(placement, number)[0] for number in faults.channels}, reverse=True):
            placement = with_full_barriers(without_channel(placement, number), placement.channels[number].waits)
    return placement


def with_full_barriers(placement: Placement, sites: Iterable[Site]) -> Placement:
    """The placement with barriers of all pipes at more sites."""
    barriers = dict.fromkeys((*placement.barriers, *((site, Pipe.ALL) for site in sites)))
    return replace(placement, barriers=tuple(barriers))


def without_channel(placement: Placement, number: int) -> Placement:
    """The placement without one channel, and without those that are one flag with it; those behind them move up."""
    for gone in reversed(rotation_of(placement, number)):
        compensations = tuple(
            replace(c, waits=_moved_up(c.waits, gone), sets=_moved_up(c.sets, gone)) for c in placement.compensations
        )
        placement = replace(
            placement,
            channels=placement.channels[:gone] + placement.channels[gone + 1 :],
            compensations=tuple(c for c in compensations if c.waits or c.sets),
        )
    return placement


def _moved_up(numbers: Iterable[int], gone: int) -> tuple[int, ...]:
    return tuple(n - (n > gone) for n in numbers if n != gone)
