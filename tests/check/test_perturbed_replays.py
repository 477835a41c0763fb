"""Plans and clean verdicts against replays in which every instance takes a time of its own.

What is judged here comes from the times of each instance and from the bytes it touches, pair by pair. Nothing of the
proof by happens-before is used, so that the two can only agree by being right.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from pathlib import Path
from random import Random

import pytest

from syncopt.api import Budget, Job, OrderMode, Request, solve
from syncopt.check import FindingKind, check_kernel
from syncopt.emit import render
from syncopt.frontend import parse_module
from syncopt.hwmodel import Cost, Machine, load_machine
from syncopt.ir.kernel import Kernel, TileOp
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import Source
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.ir.work import Work
from syncopt.sim import Timing, replay
from tests.check.kernels import setting, vector_kernel

MACHINE = load_machine("910b2")
SHAPES = tuple(product((0, 1, 2, 3, 5), (0, 1, 2)))
"""Values of %n and %m."""

LATE_LOADS = """
load t0
scf.for %i = %c0 to %n step %c1 {
  add t1 t0
  store t1
  %next = arith.addi %i, %c1 : index
  %more = arith.cmpi slt, %next, %n : index
  scf.if %more {
    load t0
  }
  scf.for %j = %c0 to %m step %c1 {
    load t2
    add t3 t2
    add t1 t3
  }
}
scf.for %k = %c0 to %m step %c1 {
  load t0
  store t0
}
"""
BY_PARITY = """
scf.for %i = %c0 to %n step %c1 {
  %rest = arith.remsi %i, %c2 : index
  %even = arith.cmpi eq, %rest, %c0 : index
  scf.if %even {
    load t0
    add t1 t0
  } else {
    load t2 y
    add t3 t2
    store t3
  }
  store t1
}
"""
FLAGS = ("pto.set_flag", "pto.wait_flag")


def cube_kernel() -> Kernel:
    """A product in %m tiles of %n steps: loads of the next step are guarded and go to the other half by parity."""

    def tile(memory: str, blayout: str, slayout: str, fractal: int = 512, dtype: str = "f16") -> str:
        shape = "rows=16, cols=16, v_row=16, v_col=16"
        layout = f"blayout={blayout}_major, slayout={slayout}_major, fractal={fractal}, pad=0"
        return f"!pto.tile_buf<loc={memory}, dtype={dtype}, {shape}, {layout}>"

    mat, left, right = tile("mat", "col", "row"), tile("left", "row", "row"), tile("right", "row", "col")
    acc = tile("acc", "col", "row", 1024, "f32")
    view = "!pto.partition_tensor_view<16x16xf16>"

    def load(half: int) -> list[str]:
        return [f"pto.tload ins(%xp : {view}) outs(%{name}{half} : {mat})" for name in "ab"]

    def step(half: int) -> list[str]:
        return [
            "scf.if %more {",
            *load(1 - half),
            "}",
            f"pto.textract ins(%a{half}, %c0, %c0 : {mat}, index, index) outs(%l{half} : {left})",
            f"pto.textract ins(%b{half}, %c0, %c0 : {mat}, index, index) outs(%r : {right})",
            "scf.if %first {",
            f"pto.tmatmul ins(%l{half}, %r : {left}, {right}) outs(%c : {acc})",
            "} else {",
            f"pto.tmatmul.acc ins(%c, %l{half}, %r : {acc}, {left}, {right}) outs(%c : {acc})",
            "}",
        ]

    types = {"a0": mat, "a1": mat, "b0": mat, "b1": mat, "l0": left, "l1": left, "r": right, "c": acc}
    lines = [
        "func.func @cube(%x: !pto.ptr<f16>, %y: !pto.ptr<f16>, %n: index, %m: index) {",
        *(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 2, 16)),
        "pto.section.cube {",
        *(f"%{name} = pto.alloc_tile : {type_}" for name, type_ in types.items()),
    ]
    for pointer in "xy":
        shape = "shape = [%c16, %c16], strides = [%c16, %c1]"
        lines += [
            f"%{pointer}v = pto.make_tensor_view %{pointer}, {shape} : !pto.tensor_view<?x?xf16>",
            f"%{pointer}p = pto.partition_view %{pointer}v, offsets = [%c0, %c0], sizes = [%c16, %c16]"
            f" : !pto.tensor_view<?x?xf16> -> {view}",
        ]
    lines += [
        "scf.for %t = %c0 to %m step %c1 {",
        *load(0),
        "scf.for %k = %c0 to %n step %c1 {",
        "%rest = arith.remsi %k, %c2 : index",
        "%even = arith.cmpi eq, %rest, %c0 : index",
        "%first = arith.cmpi eq, %k, %c0 : index",
        "%next = arith.addi %k, %c1 : index",
        "%more = arith.cmpi slt, %next, %n : index",
        "scf.if %even {",
        *step(0),
        "} else {",
        *step(1),
        "}",
        "}",
        f"pto.tstore ins(%c : {acc}) outs(%yp : {view})",
        *["}", "}", "return", "}"],
    ]
    return parse_module(Source("cube.pto", "\n".join([*lines, ""]).encode())).kernel()


@dataclass(frozen=True)
class Rough(Machine):
    """A machine whose every instance takes a time of its own.

    A flag takes at least a cycle: without any, a set that follows from a wait rises in the cycle in which that wait
    ends, which the replay cannot tell from a set that came too early.
    """

    random: Random = field(default_factory=Random, compare=False)
    depth: int = 32
    lag: int = 8
    factors: dict[Pipe, float] = field(default_factory=dict[Pipe, float], compare=False)

    @property
    def hop(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Cycles of a flag."""
        return self.lag

    def queue_depth(self, pipe: Pipe) -> int:
        """The same for all pipes."""
        del pipe
        return self.depth

    def cost(self, work: Work) -> Cost:
        """Another one at each call."""
        cost = MACHINE.cost(work)
        factor = self.factors[work.pipe] * self.random.choice((0.1, 0.3, 1, 3, 10))
        latency = self.random.choice((0, cost.latency, 100, 10_000))
        return Cost(int(cost.occupancy * factor), latency, cost.entries)


def rough(random: Random, depths: Sequence[int]) -> Rough:
    """A machine with costs, latencies and hops anywhere, and one of the given depths of queues."""
    factors = {pipe: random.choice((0.01, 1, 1, 100)) for pipe in Pipe}
    return Rough("rough", MACHINE.figures, random, random.choice(depths), random.choice((1, 8, 1000)), factors)


def instances(kernel: Kernel, where: Setting) -> list[Instance]:
    """The trace with a work of its own in each instance, so that the replay asks for the cost of each."""
    return [i if i.work is None else replace(i, work=copy(i.work)) for i in Tracer(kernel, where)]


def conflicts(trace: Iterable[Instance]) -> Iterator[tuple[Instance, Instance]]:
    """Pairs in program order that share bytes, one of them writing, where the order on one pipe is not enough."""
    for earlier, later in combinations([i for i in trace if isinstance(i.op, TileOp)], 2):
        meet = any(
            (a.writes or b.writes) and a.footprint.meets(b.footprint) for a in earlier.accesses for b in later.accesses
        )
        if meet and (earlier.pipe is not later.pipe or _needs_barrier(earlier, later)):
            yield earlier, later


def _needs_barrier(earlier: Instance, later: Instance) -> bool:
    assert earlier.work is not None
    assert later.work is not None
    return MACHINE.same_pipe_barrier_needed(earlier.work, later.work)


def shown(kernel: Kernel, where: Setting, machines: Iterable[Machine]) -> set[str]:
    """The kinds of fault that the replays of one execution show."""
    trace = instances(kernel, where)
    pairs = list(conflicts(trace))
    found: set[str] = set()
    for machine in machines:
        times: dict[int, Timing] = {}

        def note(timing: Timing, times: dict[int, Timing] = times) -> None:
            times[id(timing.instance)] = timing

        result = replay(trace, machine, note)
        faults = {
            "deadlock": result.deadlock is not None,
            "double set": bool(result.double_sets),
            "flag left": bool(result.flags_left),
            "race": any(
                times[id(later)].start < times[id(earlier)].done
                for earlier, later in pairs
                if id(earlier) in times and id(later) in times
            ),
        }
        found |= {name for name, is_shown in faults.items() if is_shown}
    return found


def parsed(lines: Iterable[str]) -> Kernel:
    return parse_module(Source("changed.pto", "\n".join([*lines, ""]).encode())).kernel()


@pytest.fixture(name="plans", scope="module")
def _plans(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Lines of the plans of all kernels, each in its best order."""
    kernels = [vector_kernel(LATE_LOADS), vector_kernel(BY_PARITY), cube_kernel()]
    return [planned(kernel, tmp_path_factory.mktemp("kernels") / "kernel.pto") for kernel in kernels]


def planned(kernel: Kernel, path: Path) -> list[str]:
    """Lines of the plan of a kernel."""
    path.write_bytes(render(kernel, kernel))
    job = Job(path, MACHINE, named={"n": 3, "m": 2})
    return solve(job, Request(OrderMode.FREE, Budget(60, work=0.5))).text.decode().splitlines()


def test_no_time_breaks_a_plan(plans: list[list[str]]):
    """Whatever instances and hops take: conflicting instances keep their order, nothing hangs, no set is lost."""
    random = Random(1)
    for lines in plans:
        kernel = parsed(lines)
        for n, m in SHAPES:
            machines = [rough(random, (4, 8, 32)) for _ in range(3)]
            assert not shown(kernel, setting(n=n, m=m), machines), (kernel.name, n, m)


def test_no_flag_of_a_plan_can_be_left_out(plans: list[list[str]]):
    """Every flag of each plan, one at a time; in a branch that no arguments lead to it is a warning."""
    for lines in plans:
        for place in flags_in(lines):
            kernel = parsed([*lines[:place], *lines[place + 1 :]])
            assert check_kernel(kernel, setting(), MACHINE, limit=3).findings, lines[place]


def test_what_is_called_clean_shows_no_fault(plans: list[list[str]]):
    """Flags moved or left out in pairs: a clean verdict holds in every replay, most others show as faults."""
    random = Random(3)
    clean = caught = missed = 0
    for lines in plans * 10:
        text = changed(lines, random)
        kernel = parsed(text)
        report = check_kernel(kernel, setting(), MACHINE, limit=4)
        found: set[str] = set()
        for n, m in SHAPES:
            # of the depth that was checked: where a wait stands before its set, fewer entries may hang
            found |= shown(kernel, setting(n=n, m=m), [rough(random, (32,)) for _ in range(2)])
        if report.errors:
            caught += bool(found)
            missed += not found
        else:
            clean += 1
            warned = {"double set"} if any(f.kind is FindingKind.ID_REUSE for f in report.findings) else set[str]()
            assert found <= warned, "\n".join(text)
    assert clean > 5
    assert caught > missed


def flags_in(lines: Sequence[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line.strip().startswith(FLAGS)]


def changed(lines: Sequence[str], random: Random) -> list[str]:
    """One flag some lines away, or all flags of one pair and id left out."""
    place = random.choice(flags_in(lines))
    flag = lines[place]
    if random.random() < 0.2:
        name = flag[flag.index("[") :]
        return [line for number, line in enumerate(lines) if number not in flags_in(lines) or not line.endswith(name)]
    rest = [*lines[:place], *lines[place + 1 :]]
    there = place + random.choice((-3, -2, -1, 1, 2, 3))
    return [*rest[:there], flag, *rest[there:]]
