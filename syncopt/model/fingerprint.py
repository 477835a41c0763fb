"""One hash of everything that the search for a plan can depend on: equal hashes, equal searches.

Shapes that differ in their trip counts often have the same window, since whole periods of iterations are cut from it.
What is hashed is the window and the traces that flags are derived from, as the search sees them:

- iteration vectors only tell executions of one op apart, so they are left out;
- bytes of global memory count only where accesses can meet: pointers that are shared between pipes, or both read and
  written. Those of the operands of a GEMM, which differ from shape to shape, are left out;
- scalar steps count only on a machine on which they take time; then all arguments count, as the window is traced anew.
"""

from collections.abc import Hashable, Iterable, Iterator
from hashlib import sha256

from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Access, Instance
from syncopt.model.order import Mobility
from syncopt.model.planner import Planner
from syncopt.model.skeleton import Skeleton


def fingerprint(planner: Planner) -> str:
    """The hash of a planner's kernel, machine and traces, as hexadecimal text."""
    hashed = sha256()
    for part in _parts(planner):
        hashed.update(repr(part).encode())
        hashed.update(b"\n")
    return hashed.hexdigest()


def _parts(planner: Planner) -> Iterator[Hashable]:
    kernel, machine = planner.kernel, planner.machine
    yield kernel.name, sha256(kernel.source.data).hexdigest()
    yield from ((figure.key, str(figure.value)) for figure in machine.figures if not figure.informational)
    yield from _blocks(planner.mobility)
    if machine.scalar_op:
        yield repr(planner.setting)
    followed = planner.shared | _read_and_written(planner.traces)
    steps = _Steps(followed)
    for trace in planner.traces:
        yield "trace"
        yield from steps.of(trace)
    yield from steps.tables()


def _blocks(mobility: Mobility) -> Iterator[Hashable]:
    for block in mobility.blocks:
        yield block.key, block.heads, block.units, tuple(sorted(block.before))


def _read_and_written(traces: Iterable[Skeleton]) -> frozenset[Value]:
    """Pointer arguments that some op reads and some op writes."""
    found: dict[bool, set[Value]] = {False: set(), True: set()}
    for trace in traces:
        for instance in trace.instances:
            for access in instance.accesses:
                if not isinstance(access.footprint.space, Memory):
                    found[access.writes].add(access.footprint.space)
    return frozenset(found[False] & found[True])


class _Steps:
    """Steps as short tuples; what several of them share stands in a table, numbered as it is met."""

    def __init__(self, followed: frozenset[Value]) -> None:
        self._followed = followed
        self._works: dict[str, int] = {}
        self._places: dict[tuple[Hashable, ...], int] = {}
        # Both are kept by the object: equal ones of a trace are one object, and building their text takes longer.
        self._known: dict[int, tuple[object, int]] = {}

    def of(self, trace: Skeleton) -> Iterator[Hashable]:
        """The steps of a trace."""
        for step in trace.steps:
            if isinstance(step, Instance):
                yield step.op.uid, step.pipe.value, self._work(step), self._accesses(step.accesses), step.event
            else:
                yield step.uid, step.side.value, step.region

    def tables(self) -> Iterator[Hashable]:
        """What the numbers stand for."""
        yield from self._works
        yield from self._places

    def _work(self, instance: Instance) -> int:
        known = self._known.get(id(instance.work))
        if known is None:
            number = self._works.setdefault(repr(instance.work), len(self._works))
            known = self._known[id(instance.work)] = (instance.work, number)
        return known[1]

    def _accesses(self, accesses: tuple[Access, ...]) -> int:
        known = self._known.get(id(accesses))
        if known is None:
            places = tuple(self._place(access) for access in accesses if self._is_followed(access))
            number = self._places.setdefault(places, len(self._places))
            known = self._known[id(accesses)] = (accesses, number)
        return known[1]

    def _is_followed(self, access: Access) -> bool:
        space = access.footprint.space
        return isinstance(space, Memory) or space in self._followed

    def _place(self, access: Access) -> Hashable:
        footprint = access.footprint
        space = footprint.space.value if isinstance(footprint.space, Memory) else footprint.space.name
        return space, footprint.start, footprint.width, footprint.dims, access.writes
