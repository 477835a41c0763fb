"""RAW, WAR and WAW hazards between the last accesses of a trace."""

from collections.abc import Iterable

from syncopt.hwmodel import Machine
from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.trace import Access


def least_hop(machine: Machine) -> int:
    """Least cycles from the completion of an op to the start of one on another pipe that waits for it.

    By a flag it is `hop`; by a barrier of all pipes its cost and the issue of the later op (docs/model.md).
    """
    return min(machine.hop, machine.barrier_cost(Pipe.ALL) + machine.issue)


class Hazards:
    """Last writers and readers per footprint, by a number that the caller gives each instance.

    Parameters
    ----------
    shared : frozenset of Value
        Pointer arguments whose accesses can conflict; others are not followed.
    """

    def __init__(self, shared: frozenset[Value]) -> None:
        self._shared = shared
        self._writers: dict[Footprint, list[int]] = {}
        self._readers: dict[Footprint, list[int]] = {}
        self._meets: dict[Footprint, list[Footprint]] = {}
        self._by_space: dict[Memory | Value, list[Footprint]] = {}

    def earlier(self, number: int, accesses: Iterable[Access]) -> tuple[int, ...]:
        """Take the next instance and tell the earlier ones that it conflicts with, each once."""
        followed = [
            access
            for access in accesses
            if isinstance(access.footprint.space, Memory) or access.footprint.space in self._shared
        ]
        found: dict[int, None] = {}
        for access in followed:
            for place in self._neighbours(access.footprint):
                found.update(dict.fromkeys(self._writers.get(place, ())))
                if access.writes:
                    found.update(dict.fromkeys(self._readers.get(place, ())))
        for access in followed:
            if access.writes:
                self._writers[access.footprint], self._readers[access.footprint] = [number], []
        for access in followed:
            if not access.writes:
                self._readers.setdefault(access.footprint, []).append(number)
        return tuple(found)

    def _neighbours(self, footprint: Footprint) -> list[Footprint]:
        known = self._meets.get(footprint)
        if known is None:
            others = self._by_space.setdefault(footprint.space, [])
            known = self._meets[footprint] = [other for other in others if other.meets(footprint)]
            for other in known:
                self._meets[other].append(footprint)
            known.append(footprint)
            others.append(footprint)
        return known
