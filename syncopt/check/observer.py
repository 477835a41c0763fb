"""What a happens-before pass tells while it runs."""

from typing import NamedTuple

from syncopt.check.clocks import Clock
from syncopt.check.events import EarlySet
from syncopt.check.memories import HazardKind, Record
from syncopt.ir.trace import Instance


class OpenHazard(NamedTuple):
    """Two conflicting instances of which nothing proves that the earlier completes before the later starts.

    `all_earlier` is the clock of a pipe that knows everything before the later instance to be complete.
    """

    kind: HazardKind
    earlier: Record
    later: Instance
    all_earlier: Clock


class UnfencedLoad(NamedTuple):
    """A load that flags order behind a store of the same global memory, but that may not see what was stored."""

    store: Record
    load: Instance


class Observer:
    """What a happens-before pass tells while it runs."""

    def started(self, record: Record) -> None:
        """A tile op instance starts; its open hazards have been told."""
        del record

    def open_hazard(self, hazard: OpenHazard) -> Clock | None:
        """Nothing proves this hazard. A clock handed back is taken as known by the later instance from here on."""
        del hazard
        return None

    def early_set(self, early: EarlySet) -> None:
        """A set is not ordered behind the wait before it on its id."""
        del early

    def unfenced(self, load: UnfencedLoad) -> Clock | None:
        """Flags alone order a load behind a store. A clock handed back is taken as known by the load from here on."""
        del load
        return None
