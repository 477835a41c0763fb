"""States at the heads of loops: what makes two of them differ, and what does not.

The instructions of one kernel are taken in several orders. Where the same instructions behind them show other faults,
the states must differ; where they only differ in what nothing later can tell, they must be equal.
"""

from collections.abc import Hashable, Iterable

import pytest

from syncopt.check.clocks import LANE
from syncopt.check.happens_before import HappensBefore
from syncopt.check.memories import Record
from syncopt.check.observer import Observer
from syncopt.check.state import Canonical
from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.ir.pipes import Memory
from syncopt.ir.pointers import pipes_by_space, shared_pointers
from syncopt.ir.trace import Instance, Setting, Tracer
from tests.check.kernels import cube_kernel, setting, vector_kernel

CUBE = ("left l0 a0", "left l0 a1", "set MTE1 M 0", "wait MTE1 M 0", "load a0", "mul l0 r0", "set M FIX 0", "barrier M")
OPS = ("load t0", "load t1", "add t1 t0", "add t0 t1", "add t3 t3", "store t0", "store t2", "barrier V", "barrier ALL")
PAIRS = ("MTE2 V", "V MTE2", "V MTE3", "MTE3 V", "MTE3 MTE2", "MTE2 MTE3", "MTE2 S", "MTE3 S", "S V")
LINES = (*OPS, *(f"{what} {pair} {event}" for pair in PAIRS for event in range(2) for what in ("set", "wait")))
KERNEL = vector_kernel("\n".join(LINES))
INSTANCES = dict(zip(LINES, Tracer(KERNEL, setting()), strict=True))


class _Stores(Observer):
    """The last store of each pipe."""

    def __init__(self) -> None:
        self.last: dict[int, Record] = {}

    def started(self, record: Record) -> None:
        work = record.instance.work
        if work is not None and any(operand.memory is Memory.GM for operand in work.outs):
            self.last[LANE[record.instance.pipe]] = record


def state(text: str) -> Hashable:
    """The canonical state behind instructions with commas between; `MTE2 > V` stands for a set and its wait on id 0."""
    names: list[str] = []
    for line in text.split(", ") if text else ():
        pair = line.replace(" > ", " ")
        names += (f"set {pair} 0", f"wait {pair} 0") if " > " in line else (line,)
    return state_of(KERNEL, [INSTANCES[name] for name in names])


def state_of(kernel: Kernel, instances: Iterable[Instance]) -> Hashable:
    """The canonical state behind instances of a kernel."""
    stores = _Stores()
    run = HappensBefore(load_machine("910b2"), shared_pointers(kernel), stores).run(instances)
    return Canonical(pipes_by_space(kernel)).of(run.state(), stores.last, lambda _: 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # a read, a write: who comes next needs a flag, or not
        ("load t1", "load t0"),
        ("add t1 t0", "add t0 t1"),
        ("load t0, barrier ALL", "load t0"),
        # a write that only a later op of its own pipe must not meet
        ("add t1 t0, V > MTE3, V > MTE2", "add t0 t1, V > MTE3, V > MTE2"),
        # what V knows of the load
        ("load t0, MTE2 > V", "MTE2 > V, load t0"),
        # flags that are up, and what they say
        ("set MTE2 V 0", "set MTE2 V 1"),
        ("load t0, set MTE2 V 0", "set MTE2 V 0, load t0"),
        ("set MTE2 V 0, set MTE2 V 0", "set MTE2 V 0"),
        # whether MTE2 knows that the flag has been taken down, in time for the next set of it
        ("MTE2 > V, V > MTE2", "V > MTE2, MTE2 > V"),
        # waits that stand, what stands behind them, in which order, and what the scalar unit knew when it passed that
        ("wait MTE2 V 0", ""),
        ("wait MTE2 V 0, add t1 t0", "wait MTE2 V 0, add t0 t1"),
        (
            "wait MTE2 V 0, add t1 t0, wait MTE2 MTE3 0, store t0",
            "wait MTE2 MTE3 0, store t0, wait MTE2 V 0, add t1 t0",
        ),
        ("load t0, MTE2 > S, wait MTE2 V 0, add t1 t0", "load t0, wait MTE2 V 0, add t1 t0, MTE2 > S"),
        ("wait MTE2 V 0, load t0, MTE2 > S, add t1 t0", "wait MTE2 V 0, add t1 t0, load t0, MTE2 > S"),
        # whether the scalar unit knows of a store, which all others know to be complete
        ("store t0, MTE3 > V, MTE3 > MTE2", "store t0, MTE3 > S, MTE3 > V, MTE3 > MTE2"),
        ("store t0, MTE3 > V, MTE3 > MTE2", "store t2, MTE3 > V, MTE3 > MTE2"),
        # what the wait stood behind that the next set of its flag must know
        ("add t3 t3, MTE2 > V", "MTE2 > V, add t3 t3"),
        ("MTE3 > V, MTE2 > V", "MTE2 > V, MTE3 > V"),
        # what the next wait stands behind
        ("add t3 t3, barrier V, barrier ALL, MTE3 > V", "add t3 t3, barrier V, barrier ALL, MTE3 > V, barrier V"),
        # whether the next set of a flag can rise with the last one
        ("add t3 t3, V > MTE3, barrier V", "add t3 t3, barrier V, V > MTE3"),
        ("add t3 t3, V > MTE3, barrier V", "add t3 t3, V > MTE3, barrier V, set V MTE2 0, wait V MTE2 0"),
        ("add t3 t3, set V MTE3 0, barrier V", "add t3 t3, barrier V, set V MTE3 0"),
        ("load t0, MTE2 > V, load t1", "load t0, load t1, MTE2 > V"),
        ("load t0, MTE2 > S", "load t1, MTE2 > MTE3, MTE3 > S"),
        ("set MTE3 MTE2 0, store t0", "store t0, set MTE3 MTE2 0, store t0"),
        # which of two loads the flag stands behind
        ("load t0, set MTE2 V 0, load t1", "load t1, set MTE2 V 0, load t0"),
        # whether the flag back was set behind the wait
        ("MTE2 > V, set V MTE2 0", "set V MTE2 0, MTE2 > V"),
        # which pipe stands, and whether a flag is up again
        ("wait MTE2 V 0", "wait V MTE2 0"),
        ("MTE2 > V", "set MTE2 V 0, MTE2 > V"),
    ],
)  # fmt: skip
def test_states_with_other_futures_differ(one: str, other: str) -> None:
    assert state(one) != state(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("", "barrier ALL"),
        ("load t0, barrier ALL", "load t1, add t3 t3, barrier ALL"),
        # more of what all know already
        ("barrier ALL, MTE2 > V", "load t0, add t3 t3, barrier ALL, MTE2 > V"),
        # a wait that the next set of its flag comes behind
        ("MTE2 > V, V > MTE2, barrier ALL", "barrier ALL"),
        # more rounds
        *(
            (", ".join([body] * 2), ", ".join([body] * 5))
            for body in (
                "load t0, MTE2 > V, add t1 t0, barrier V, V > MTE2",
                "load t0, MTE2 > V",
                "add t3 t3, V > MTE3, barrier V",
                "S > V, MTE2 > MTE3, MTE3 > V",
                "store t0, MTE3 > S",
            )
        ),
    ],
)  # fmt: skip
def test_states_with_equal_futures_are_equal(one: str, other: str) -> None:
    assert state(one) == state(other)


def test_reads_count_where_the_write_of_the_same_op_is_known() -> None:
    """M knows the extract complete, MTE2 does not: the next load of what was read has to wait."""
    kernel = cube_kernel("\n".join(CUBE))
    first, second, rise, wait, *_ = Tracer(kernel, Setting({"n": 1}, 0, 1))
    assert state_of(kernel, [first, rise, wait]) != state_of(kernel, [second, rise, wait])


def test_matmul_behind_the_flag_is_not_what_the_flag_is_about() -> None:
    """M knows it complete by the barrier; FIX will know it by the flag, or not."""
    kernel = cube_kernel("\n".join(CUBE))
    *_, multiply, rise, barrier = Tracer(kernel, Setting({"n": 1}, 0, 1))
    assert state_of(kernel, [multiply, rise, barrier]) != state_of(kernel, [rise, multiply, barrier])
