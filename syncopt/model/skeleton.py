"""Traces without flags that know where every site is, and the same traces with the flags of a placement."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncopt.ir.kernel import NO_SPAN, Barrier, Kernel, SetFlag, WaitFlag, regions, walk
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Instance, Overrides, Setting, Tracer
from syncopt.model.flags.channels import Placement, numbers_at, primes_and_drains, stretches
from syncopt.model.order import BODY, BlockKey, Order
from syncopt.model.rewrite import Insertions, Side, Site, insert

Step = Instance | Site
"""What a trace passes: an instruction, or a site at or inside a structured op."""

_FIRST_MARKER = -1_000_000


@dataclass(slots=True)
class Skeleton:
    """A trace without flags, with the sites of structured ops as they are passed."""

    steps: list[Step] = field(default_factory=list[Step])

    @property
    def instances(self) -> Iterator[Instance]:
        """The instances alone."""
        return (step for step in self.steps if isinstance(step, Instance))


class Marked:
    """A kernel without flags that can be traced together with its sites.

    Parameters
    ----------
    kernel : Kernel
        Without flags.
    """

    def __init__(self, kernel: Kernel) -> None:
        # A barrier of the scalar pipe, which no kernel has, marks every site of the structured ops.
        add, self._sites = Insertions(), dict[int, Site]()
        for op in walk(kernel.body):
            around = [Site(op.uid, Side.BEFORE), Site(op.uid, Side.AFTER)] if regions(op) else []
            inside = [Site(op.uid, side, n) for n, _ in enumerate(regions(op)) for side in (Side.START, Side.END)]
            for site in (*around, *inside):
                uid = _FIRST_MARKER - len(self._sites)
                self._sites[uid] = site
                add.add(site, Barrier(uid, NO_SPAN, Pipe.S))
        self._kernel = insert(kernel, add)

    def steps(self, setting: Setting, overrides: Overrides | None = None) -> Iterator[Step]:
        """The steps of one trace, one by one."""
        sites, scalars = self._sites, 0
        for instance in Tracer(self._kernel, setting, overrides):
            site = sites.get(instance.op.uid)
            if site is not None:
                scalars += instance.scalars
                yield site
                continue
            instance.scalars += scalars
            scalars = 0
            yield instance

    def skeleton(self, setting: Setting, overrides: Overrides | None = None) -> Skeleton:
        """One trace as a whole."""
        return Skeleton(list(self.steps(setting, overrides)))


def reordered(trace: Skeleton, order: Order) -> Skeleton:
    """The trace of the kernel in another order; scalar steps stay with the instructions they stood before."""
    return Skeleton(_Reordering(trace.steps, order).block(BODY))


class _Reordering:
    """Takes a trace apart by block executions and puts the heads of each in order."""

    def __init__(self, steps: Sequence[Step], order: Order) -> None:
        self._steps = steps
        self._order = order
        self._at = 0

    def block(self, key: BlockKey) -> list[Step]:
        """The steps of the block execution that starts here, in order."""
        heads: dict[int, list[Step]] = {}
        while self._at < len(self._steps):
            step = self._steps[self._at]
            if isinstance(step, Instance):
                heads.setdefault(step.op.uid, []).append(step)
                self._at += 1
            elif step.side is Side.BEFORE:
                heads[step.uid] = self._structured(step)
            else:
                break
        wanted = self._order.get(key, heads)
        return [step for head in wanted if head in heads for step in heads[head]]

    def _structured(self, before: Site) -> list[Step]:
        found: list[Step] = [before]
        self._at += 1
        while (site := self._site()).side is Side.START:
            self._at += 1
            found += [site, *self.block((site.uid, site.region)), self._site()]
            self._at += 1
        self._at += 1
        return [*found, site]

    def _site(self) -> Site:
        step = self._steps[self._at]
        assert isinstance(step, Site), "an instruction stands inside a region"
        return step


class Flagged:
    """The instances of a trace with the flags of a placement; channel n has event n.

    Parameters
    ----------
    kernel : Kernel
        Without flags, in the order of the traces.
    placement : Placement
        Its flags and barriers.
    """

    def __init__(self, kernel: Kernel, placement: Placement) -> None:
        sets, waits = numbers_at(placement)
        primes, drains = primes_and_drains(kernel, placement)
        waited = [(c, flag) for c in placement.compensations for flag in _waits(placement, c.waits)]
        set_after = [(c, flag) for c in placement.compensations for flag in _sets(placement, c.sets)]
        self._no_trip: dict[int, list[tuple[Site | None, Instance]]] = {}
        for compensation, flag in (*waited, *set_after):
            self._no_trip.setdefault(compensation.loop, []).append((compensation.slot_at, flag))
        # At one spot sets stand before waits, and both before a barrier.
        self._at: dict[Site, list[Instance]] = {}
        for numbers in (primes, sets):
            for site, channels in numbers.items():
                self._at.setdefault(site, []).extend(_sets(placement, channels))
        for numbers in (waits, drains):
            for site, channels in numbers.items():
                self._at.setdefault(site, []).extend(_waits(placement, channels))
        for site, pipe in placement.barriers:
            self._at.setdefault(site, []).append(_barrier(pipe))
        # The last barrier of all is left out: nothing comes behind it.
        for stretch in stretches(kernel)[:-1]:
            self._at.setdefault(stretch.end, []).append(_barrier(Pipe.ALL))
        self._slots = {n: channel.slot for n, channel in enumerate(placement.channels) if channel.slot is not None}
        self._before = {site.uid: flags for site, flags in self._at.items() if site.side is Side.BEFORE}
        self._after = {site.uid: flags for site, flags in self._at.items() if site.side is Side.AFTER}

    def at(self, site: Site) -> Sequence[Instance]:
        """The flags and barriers of a site, in order."""
        return self._at.get(site, ())

    def before(self, instance: Instance) -> Sequence[Instance]:
        """The flags and barriers before a tile op."""
        return self._passed(self._before.get(instance.op.uid, ()), WaitFlag, instance)

    def after(self, instance: Instance) -> Sequence[Instance]:
        """The flags behind a tile op."""
        return self._passed(self._after.get(instance.op.uid, ()), SetFlag, instance)

    def _passed(self, flags: Sequence[Instance], held: type[SetFlag | WaitFlag], by: Instance) -> Sequence[Instance]:
        """The flags without those that are held at the op for other slots of a rotating tile than the one it uses."""
        if not self._slots or not flags:
            return flags
        slots = [self._slots.get(flag.event) if isinstance(flag.op, held) else None for flag in flags]
        return [flag for flag, slot in zip(flags, slots, strict=True) if slot is None or slot.is_used(by.accesses)]

    def no_trip(self, loop: int, passed: Mapping[int, Instance]) -> Iterator[Instance]:
        """The flags behind a loop for the case that it does not go round, `passed` being the last instances by uid."""
        for slot_at, flag in self._no_trip.get(loop, ()):
            slot, by = self._slots.get(flag.event), None if slot_at is None else passed.get(slot_at.uid)
            if slot is None or (by is not None and slot.is_used(by.accesses)):
                yield flag

    def instances(self, steps: Iterable[Step]) -> Iterator[Instance]:
        """A trace with its flags, in program order."""
        previous: Step | None = None
        passed: dict[int, Instance] = {}
        for step in steps:
            if isinstance(step, Instance):
                passed[step.op.uid] = step
                yield from self.before(step)
                yield step
                yield from self.after(step)
            else:
                if step.side is Side.AFTER and previous == Site(step.uid, Side.BEFORE):
                    yield from self.no_trip(step.uid, passed)
                yield from self._at.get(step, ())
            previous = step


def _sets(placement: Placement, numbers: Sequence[int]) -> list[Instance]:
    pairs = [(n, placement.channels[n].pair) for n in numbers]
    return [Instance(SetFlag(-1, NO_SPAN, pair, n), pair.source, (), 0, event=n) for n, pair in pairs]


def _waits(placement: Placement, numbers: Sequence[int]) -> list[Instance]:
    pairs = [(n, placement.channels[n].pair) for n in numbers]
    return [Instance(WaitFlag(-1, NO_SPAN, pair, n), pair.target, (), 0, event=n) for n, pair in pairs]


def _barrier(pipe: Pipe) -> Instance:
    return Instance(Barrier(-1, NO_SPAN, pipe), pipe, (), 0)
