"""Plans of one kernel: families of traces for any order, placements for them, and what a plan takes on a trace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from syncopt.check import Execution
from syncopt.hwmodel import Machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.pointers import shared_pointers
from syncopt.ir.trace import Setting, Tracer
from syncopt.model.family import Family, proves
from syncopt.model.flags.channels import Placement
from syncopt.model.flags.derive import Derivation
from syncopt.model.flags.ids import within_ids
from syncopt.model.flags.repairs import POLICIES
from syncopt.model.order import BlockHeads, Mobility, Order, in_order, mobility
from syncopt.model.prices import priced
from syncopt.model.rotation import rotations
from syncopt.model.skeleton import Flagged, Marked, Skeleton, reordered
from syncopt.model.touched import Touches
from syncopt.model.traces import Traces
from syncopt.model.window import Window, window
from syncopt.sim import Listener, Replay, replay

MOST_CLASSES = 240
_MOST_UNITS = 6
_MOST_PROVEN = 4000
"""Steps up to which the window itself is one of the traces that flags are derived from."""


@dataclass(frozen=True)
class Plan:
    """An issue order, the flags and barriers that it has, and the event id of every channel.

    `ids` is empty as long as none were given.
    """

    order: Order
    placement: Placement
    ids: tuple[int, ...] = ()


_OrderKey = tuple[tuple[tuple[int, int], tuple[int, ...]], ...]


def _key(order: Order) -> _OrderKey:
    return tuple(sorted(order.items()))


class Planner:
    """What is the same for every plan of a kernel.

    Parameters
    ----------
    kernel : Kernel
        Without flags and barriers, in the order as written.
    setting : Setting
        Arguments and core that plans are compared for.
    machine : Machine
        Costs and rules.
    failing : sequence of Execution
        Executions in which an earlier plan was found wrong; hazards are derived from them too.

    Raises
    ------
    InputError
        If the kernel cannot be traced, or an op that the setting executes has no cost.
    """

    def __init__(self, kernel: Kernel, setting: Setting, machine: Machine, failing: Sequence[Execution] = ()) -> None:
        self.kernel = kernel
        self.setting = setting
        self.machine = machine
        self.shared = shared_pointers(kernel)
        self._rotations = rotations(kernel, setting)
        self._families: dict[_OrderKey, Family] = {}
        self._full: dict[tuple[_OrderKey, Placement], Replay] = {}
        traces = Traces(kernel, setting)
        touches = Touches(kernel)
        self.window: Window = window(kernel, touches.watch(priced(Tracer(kernel, setting), machine, kernel.source)))
        self._window_trace = Marked(kernel).skeleton(setting, self.window)
        self._traces = traces.forced(failing)
        for trace in self._traces:
            for _ in touches.watch(trace.instances):
                pass
        if len(self._window_trace.steps) <= _MOST_PROVEN:
            self._traces = (*self._traces, self._window_trace)
        self.mobility: Mobility = mobility(kernel, touches.found())

    def ordered(self, order: Order) -> Kernel:
        """The kernel in an order."""
        return in_order(self.kernel, self.mobility, order)

    def family(self, order: Order) -> Family:
        """The traces that flags are derived from and proven on."""
        key = _key(order)
        if key not in self._families:
            traces = self._traces
            if order != self.mobility.as_written():
                traces = tuple(reordered(trace, order) for trace in traces)
            self._families[key] = Family(self.ordered(order), traces, self.machine, self.shared, self._rotations)
        return self._families[key]

    def placements(self, order: Order) -> Iterator[Placement]:
        """What each repair policy gives for an order, one after the other, duplicates left out."""
        family = self.family(order)
        derivation = Derivation(family)
        derived: dict[Placement, Placement] = {}
        for policy in POLICIES if self._rotations.slots else POLICIES[:-1]:
            placement = derivation.placement(policy)
            if placement not in derived:
                within = within_ids(family, derivation, placement)
                if within not in derived.values():
                    yield within
                derived[placement] = within

    def proves(self, plan: Plan) -> bool:
        """Whether a plan's flags order all hazards of the family of its order."""
        return proves(self.family(plan.order), plan.placement)

    def in_window(self, plan: Plan, listener: Listener | None = None) -> Replay:
        """Replay of a plan on the window."""
        kernel = self.ordered(plan.order)
        if self.machine.scalar_op:
            # Scalar steps do not stay with the instructions they stood before, so only a new trace has them right.
            trace = Marked(kernel).skeleton(self.setting, self.window)
        else:
            trace = reordered(self._window_trace, plan.order)
        return replay(Flagged(kernel, plan.placement).instances(trace.steps), self.machine, listener)

    def in_full(self, plan: Plan) -> Replay:
        """Replay of a plan on the full shape."""
        key = (_key(plan.order), plan.placement)
        if key not in self._full:
            kernel = self.ordered(plan.order)
            steps = Marked(kernel).steps(self.setting)
            self._full[key] = replay(Flagged(kernel, plan.placement).instances(steps), self.machine)
        return self._full[key]

    def window_trace(self) -> Skeleton:
        """The window in the order as written."""
        return self._window_trace

    @property
    def traces(self) -> tuple[Skeleton, ...]:
        """The window, and the traces that flags are derived from, in the order as written."""
        return (self._window_trace, *self._traces)

    def classes(self) -> list[Order] | None:
        """One order for each relative order of the units of every block, None if there are too many.

        What flags prove depends on the order on each pipe alone; moving a unit among the ops of other pipes changes
        when it is dispatched, not what is known. So a placement is good for all orders of a class or for none, unless
        it has barriers of all pipes.
        """
        blocks, total = self.mobility.blocks, 1
        if any(len(block.units) > _MOST_UNITS for block in blocks):
            return None
        choices: list[list[tuple[int, ...]]] = []
        for block in blocks:
            choices.append([order for units in permutations(block.units) if (order := _with_units(block, units))])
            total *= len(choices[-1])
            if total > MOST_CLASSES:
                return None
        keys = [block.key for block in blocks]
        return [dict(zip(keys, heads, strict=True)) for heads in product(*choices)]


def _with_units(block: BlockHeads, units: Sequence[int]) -> tuple[int, ...] | None:
    """An order of a block with its units in the given relative order, None if its hazards forbid that."""
    rank = {unit: number for number, unit in enumerate(units)}
    written = {head: number for number, head in enumerate(block.heads)}
    left = list(block.heads)
    order: list[int] = []
    while left:
        ready = [head for head in left if not _held(head, left, block, rank, written)]
        if not ready:
            return None
        head = min(ready, key=lambda h: (h not in rank, rank.get(h, 0), written[h]))
        left.remove(head)
        order.append(head)
    return tuple(order)


def _held(
    head: int, left: Sequence[int], block: BlockHeads, rank: Mapping[int, int], written: Mapping[int, int]
) -> bool:
    """Whether another head that is left must come before this one."""
    for other in left:
        if other == head:
            continue
        if (other, head) in block.before:
            return True
        if other in rank and head in rank and rank[other] < rank[head]:
            return True
        if other not in rank and head not in rank and written[other] < written[head]:
            return True
    return False
