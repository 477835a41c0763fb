"""The kernel that has the flags and barriers of a placement."""

from collections.abc import Iterable, Iterator, Sequence

from syncopt.ir.kernel import NO_SPAN, Barrier, Block, For, If, Kernel, Op, Scalar, SetFlag, Value, WaitFlag, walk
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import Language
from syncopt.ir.types import ScalarType
from syncopt.ir.values import is_pure, primary
from syncopt.model.addresses import fresh_name, names_in
from syncopt.model.flags.channels import Placement, numbers_at, primes_and_drains, rotation_of, stretches
from syncopt.model.rewrite import Insertions, Side, Site, insert
from syncopt.model.rotation import chosen_slots
from syncopt.model.slots import Chosen, Either

_INDEX = ScalarType("index")


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
        self._constants = dict(_leading_constants(kernel))

    def _next_uid(self) -> int:
        self._uid = min(self._uid, 0) - 1
        return self._uid

    def _sets(self, numbers: Iterable[int]) -> list[Op]:
        channels = self._placement.channels
        return [SetFlag(self._next_uid(), NO_SPAN, channels[n].pair, self._ids[n]) for n in numbers]

    def _waits(self, numbers: Iterable[int]) -> list[Op]:
        channels = self._placement.channels
        return [WaitFlag(self._next_uid(), NO_SPAN, channels[n].pair, self._ids[n]) for n in numbers]

    def _at(self, site: Site | None, numbers: Sequence[int], flag: type[SetFlag | WaitFlag]) -> Iterator[Op]:
        """The flags of a site: for the slots of a rotating tile one, whose id follows from the slot used there."""
        for number in numbers:
            channel, rotation = self._placement.channels[number], rotation_of(self._placement, number)
            if channel.slot is None:
                yield flag(self._next_uid(), NO_SPAN, channel.pair, self._ids[number])
            elif number == rotation[0]:
                assert site is not None, "flags of slots belong to a site"
                slot = self._chosen[site.uid][channel.slot.tile]
                scalars, event = self._event(slot, self._ids[number])
                yield from scalars
                yield flag(self._next_uid(), NO_SPAN, channel.pair, event)

    def kernel(self) -> Kernel:
        placement, add = self._placement, Insertions()
        sets, waits = numbers_at(placement)
        primes, drains = primes_and_drains(self._kernel, placement)
        for loop in dict.fromkeys(compensation.loop for compensation in placement.compensations):
            add.add(Site(loop, Side.AFTER), *self._no_trip(loop))
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

    def _event(self, slot: Chosen, first: int) -> tuple[list[Op], Value]:
        """Ops that make the event id of a slot, and the id: the slots of a rotating tile have ids in a row."""
        match slot:
            case int():
                return self._constant(first + slot)
            case Either(condition, then, orelse):
                (ops, one), (more, other) = self._event(then, first), self._event(orelse, first)
                text = f"{primary(condition.name)} ? {primary(one.name)} : {primary(other.name)}"
                event = self._value("%event", text, _INDEX)
                select = Scalar(self._next_uid(), NO_SPAN, "arith.select", (condition, one, other), (event,))
                return [*ops, *more, select], event
            case Value() if first:
                base = Value(fresh_name(self._taken, f"%first_{first}"), slot.type)
                event = Value(fresh_name(self._taken, "%event"), slot.type)
                constant = Scalar(self._next_uid(), NO_SPAN, "arith.constant", (), (base,), first)
                return [constant, Scalar(self._next_uid(), NO_SPAN, "arith.addi", (slot, base), (event,))], event
            case Value():
                return [], slot

    def _constant(self, number: int) -> tuple[list[Op], Value]:
        """An event id: one of the constants of the text if it has such."""
        in_text = self._constants.get(number)
        if in_text is not None and self._kernel.source.language is Language.PTO:
            return [], in_text
        event = self._value(f"%id_{number}", f"EVENT_ID{number}", _INDEX)
        return [Scalar(self._next_uid(), NO_SPAN, "arith.constant", (), (event,), number)], event

    def _value(self, name: str, expression: str, type_: ScalarType) -> Value:
        """A value that has a name in `.pto`; in C++ it needs none."""
        in_cpp = self._kernel.source.language is Language.CPP
        return Value(expression if in_cpp else fresh_name(self._taken, name), type_)

    def _no_trip(self, loop: int) -> list[Op]:
        """What stands behind a loop for the case that it does not go round."""
        found = next(op for op in walk(self._kernel.body) if op.uid == loop)
        assert isinstance(found, For)
        no_trip = Value(fresh_name(self._taken, "%no_trip"), ScalarType("i1"))
        compare = Scalar(self._next_uid(), NO_SPAN, "arith.cmpi", (found.lower, found.upper), (no_trip,), "sge")
        parts = [part for part in self._placement.compensations if part.loop == loop]
        waits = [flag for part in parts for flag in self._at(part.slot_at, part.waits, WaitFlag)]
        sets = [flag for part in parts for flag in self._at(part.slot_at, part.sets, SetFlag)]
        body = Block((*waits, *sets), NO_SPAN)
        return [compare, If(self._next_uid(), NO_SPAN, no_trip, (), body, None)]


def _leading_constants(kernel: Kernel) -> Iterator[tuple[int, Value]]:
    """Constants of the text that stand before all that can need a flag."""
    for op in kernel.body.ops:
        if not is_pure(op):
            return
        if isinstance(op, Scalar) and op.name == "arith.constant" and op.results[0].type == _INDEX:
            assert isinstance(op.attribute, int)
            yield op.attribute, op.results[0]
