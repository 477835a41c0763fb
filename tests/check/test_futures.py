"""What comes behind equal states is the same.

All short sequences of a few instructions are run, of a vector or a cube kernel. Where two end in equal canonical
states, any sequence behind them must show the same: hazards, early sets, loads that are not fenced, and at the end
waits that stand, flags that are up and stores that are not complete. Of a race both must tell; behind it the pass goes
on as if the two ops were in order, so that what else it tells may differ.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

import pytest

from syncopt.check.clocks import LANE, Clock
from syncopt.check.events import EarlySet
from syncopt.check.happens_before import HappensBefore
from syncopt.check.memories import HazardKind, Record
from syncopt.check.observer import Observer, OpenHazard, UnfencedLoad
from syncopt.check.state import Canonical
from syncopt.check.wording import line_of
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel, WaitFlag
from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.pointers import pipes_by_space, shared_pointers
from syncopt.ir.trace import Instance, Tracer
from tests.check.short_kernels import Pipeline, short_kernel
from tests.check.statements import BARRIERS, FLAGS, PAIRS, arguments

MACHINE = load_machine("910b2")
OPS = {
    Pipeline.VECTOR: ("load t0 x", "load t3 y", "add t1 t0", "add t0 t3", "add t3 t3", "store t0 y", "store t3 w"),
    Pipeline.CUBE: ("load a0 x", "extract l0 a0", "extract l0 b0", "matmul d1 l0 r0", "matmul d0 l0 r0", "store d0 y"),
}
LONGEST = 4
COMPARED = 60
BEHIND = 12


class _Heard(Observer):
    """What a pass tells, from when it is asked to listen."""

    def __init__(self) -> None:
        self.told: list[tuple[object, ...]] = []
        self.stores: dict[int, Record] = {}

    def started(self, record: Record) -> None:
        work = record.instance.work
        if work is not None and any(operand.memory is Memory.GM for operand in work.outs):
            self.stores[LANE[record.instance.pipe]] = record

    def open_hazard(self, hazard: OpenHazard) -> Clock:
        self.told.append((hazard.kind, hazard.earlier.instance.op.uid, hazard.later.op.uid))
        return hazard.earlier.completion

    def early_set(self, early: EarlySet) -> None:
        self.told.append((early.reuse, early.set.op.uid))

    def unfenced(self, load: UnfencedLoad) -> None:
        self.told.append((load.store.instance.op.uid, load.load.op.uid))


class _Pass:
    """A pass over a sequence."""

    def __init__(self, kernel: Kernel) -> None:
        self.heard = _Heard()
        self.run = HappensBefore(MACHINE, shared_pointers(kernel), self.heard)

    def take(self, sequence: Sequence[Instance]) -> bool:
        """Run instructions; False if the scalar unit comes to stand, so that nothing comes behind."""
        for instance in sequence:
            if self._stands(instance):
                return False
            self.run.take(instance)
        return True

    def _stands(self, instance: Instance) -> bool:
        op = instance.op
        if isinstance(op, WaitFlag) and instance.pipe is Pipe.S:
            return not self.run.event_state(op.pair, instance.event)[0]
        return instance.pipe is Pipe.ALL and bool(self.run.blocked)

    def end(self) -> tuple[object, ...]:
        """What is open at the end."""
        clock = self.run.clock(Pipe.S)
        return (
            [instance.op.uid for instance in self.run.blocked],
            {(str(pair), event, raised.op.uid) for pair, event, raised in self.run.flags_up},
            {record.instance.op.uid for lane, record in self.heard.stores.items() if clock[lane] < record.number},
        )


def future(kernel: Kernel, before: Sequence[Instance], behind: Sequence[Instance]) -> object:
    """What a sequence shows behind another one."""
    run = _Pass(kernel)
    run.take(before)
    run.heard.told.clear()
    goes_on = run.take(behind)
    if any(isinstance(told[0], HazardKind) for told in run.heard.told):
        return "race"
    return goes_on, run.heard.told, run.end() if goes_on else ()


def sequences(some: Sequence[Instance]) -> Iterator[tuple[Instance, ...]]:
    """All sequences of some instructions, the short ones first."""
    for length in range(LONGEST + 1):
        yield from product(some, repeat=length)


def with_equal_states(kernel: Kernel, some: Sequence[Instance]) -> Iterator[list[tuple[Instance, ...]]]:
    """Sequences that end in equal states, with each other."""
    canonical = Canonical(pipes_by_space(kernel))
    found: dict[object, list[tuple[Instance, ...]]] = {}
    for sequence in sequences(some):
        run = _Pass(kernel)
        if run.take(sequence):
            state = canonical.of(run.run.state(), run.heard.stores, lambda _: 0)
            found.setdefault(state, []).append(sequence)
    return (same for same in found.values() if len(same) > 1)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pipeline", Pipeline)
def test_equal_states_have_equal_futures(pipeline: Pipeline, seed: int) -> None:
    random = Random(seed)
    flags = [f"{what}{pair} 0" for pair in random.sample(PAIRS[pipeline], 2) for what in FLAGS]
    lines = [*random.sample(OPS[pipeline], 3), *random.sample(flags, 3), random.choice(BARRIERS[pipeline])]
    kernel = short_kernel("\n".join(lines), pipeline)
    some = tuple(Tracer(kernel, arguments()))
    behind = random.sample(list(sequences(some)), BEHIND)
    groups = list(with_equal_states(kernel, some))
    for same in random.choices(groups, k=COMPARED):
        one, other = random.sample(same, 2)
        for more in behind:
            assert future(kernel, one, more) == future(kernel, other, more), [line_of(kernel, i.op) for i in more]
