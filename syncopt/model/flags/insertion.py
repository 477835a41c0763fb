"""The kernel that has the flags and barriers of a placement."""

from collections.abc import Iterable, Iterator, Sequence

from syncopt.ir.kernel import NO_SPAN, Barrier, Block, For, If, Kernel, Op, Scalar, SetFlag, Value, WaitFlag, walk
from syncopt.ir.pipes import Pipe
from syncopt.ir.types import ScalarType
from syncopt.model.addresses import fresh_name, names_in
from syncopt.model.flags.channels import Compensation, Placement, numbers_at, primes_and_drains, rotation_of, stretches
from syncopt.model.rewrite import Insertions, Side, Site, insert
from syncopt.model.rotation import chosen_slots


def with_flags(kernel: Kernel, placement: Placement, ids: Sequence[int]) -> Kernel:
    """The kernel with a placement's flags, channel n on event id `ids[n]`, and the barrier at the end of
    every section."""
    return _Writer(kernel, placement, ids).kernel()


class _Writer:
    def __init__(self, kernel: Kernel, placement: Placement, ids: Sequence[int]) -> None:
        self._kernel = kernel
        self._placement = placement
        self._ids = ids
        self._uid = min((op.uid for op in walk(kernel.body)), default=0)
        self._taken = names_in(kernel)
        self._chosen = chosen_slots(kernel)

    def _next_uid(self) -> int:
        self._uid = min(self._uid, 0) - 1
        return self._uid

    def _sets(self, numbers: Iterable[int]) -> list[Op]:
        channels = self._placement.channels
        return [SetFlag(self._next_uid(), NO_SPAN, channels[n].pair, self._ids[n]) for n in numbers]

    def _waits(self, numbers: Iterable[int]) -> list[Op]:
        channels = self._placement.channels
        return [WaitFlag(self._next_uid(), NO_SPAN, channels[n].pair, self._ids[n]) for n in numbers]

    def _at(self, site: Site, numbers: Sequence[int], flag: type[SetFlag | WaitFlag]) -> Iterator[Op]:
        """The flags of a site: for the slots of a rotating tile one, whose id follows from the slot."""
        for number in numbers:
            channel, rotation = self._placement.channels[number], rotation_of(self._placement, number)
            if channel.slot is None:
                yield flag(self._next_uid(), NO_SPAN, channel.pair, self._ids[number])
            elif number == rotation[0]:
                slot = self._chosen[site.uid][channel.slot.tile]
                scalars, event = self._event(slot, self._ids[number])
                yield from scalars
                yield flag(self._next_uid(), NO_SPAN, channel.pair, event)

    def kernel(self) -> Kernel:
        placement, add = self._placement, Insertions()
        sets, waits = numbers_at(placement)
        primes, drains = primes_and_drains(self._kernel, placement)
        for compensation in placement.compensations:
            add.add(Site(compensation.loop, Side.AFTER), *self._no_trip(compensation))
        for site, numbers in primes.items():
            add.add(site, *self._sets(numbers))
        for site, numbers in sets.items():
            add.add(site, *self._at(site, numbers, SetFlag))
        for site, numbers in waits.items():
            add.add(site, *self._at(site, numbers, WaitFlag))
        for site, numbers in drains.items():
            add.add(site, *self._waits(numbers))
        for site, pipe in placement.barriers:
            add.add(site, Barrier(self._next_uid(), NO_SPAN, pipe))
        for stretch in stretches(self._kernel):
            add.add(stretch.end, Barrier(self._next_uid(), NO_SPAN, Pipe.ALL))
        return insert(self._kernel, add)

    def _event(self, slot: Value, first: int) -> tuple[list[Op], Value]:
        """The event id of a slot: the slots of a rotating tile have ids in a row."""
        if not first:
            return [], slot
        base, event = (Value(fresh_name(self._taken, name), slot.type) for name in (f"%first_{first}", "%event"))
        constant = Scalar(self._next_uid(), NO_SPAN, "arith.constant", (), (base,), first)
        return [constant, Scalar(self._next_uid(), NO_SPAN, "arith.addi", (slot, base), (event,))], event

    def _no_trip(self, compensation: Compensation) -> list[Op]:
        loop = next(op for op in walk(self._kernel.body) if op.uid == compensation.loop)
        assert isinstance(loop, For)
        name = fresh_name(self._taken, "%no_trip")
        self._taken.add(name)
        no_trip = Value(name, ScalarType("i1"))
        compare = Scalar(self._next_uid(), NO_SPAN, "arith.cmpi", (loop.lower, loop.upper), (no_trip,), "sge")
        body = Block((*self._waits(compensation.waits), *self._sets(compensation.sets)), NO_SPAN)
        return [compare, If(self._next_uid(), NO_SPAN, no_trip, (), body, None)]
