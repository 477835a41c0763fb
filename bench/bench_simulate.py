"""What a replay costs beside the bare rules: `simulate` of the full hand-synchronised GEMM against a bare loop.

The bare loop applies the rules of the machine to instructions that were prepared as tuples: dispatch, queues, in-order
pipes, flags, barriers. It evaluates no scalars, keeps no book, and knows neither hangs nor waits before their set.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

from syncopt.frontend import read_module
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import Barrier, SetFlag, TileOp
from syncopt.ir.pipes import PIPES, Pipe, PipePair
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.model.addresses import place
from syncopt.sim import replay

GEMM = Path(__file__).parents[1] / "instances" / "gemm" / "hand_synchronised.pto"
MOST = 6
ROUNDS = 25
TILE, SET, WAIT, BARRIER, BARRIER_ALL = range(5)

Code = tuple[int, int, int, int, int]
"""Kind, pipe, queue entries; then occupancy and latency of a tile op, number of a flag, cost of a barrier."""


@dataclass(frozen=True)
class Figures:
    """What the bare loop needs of a machine, with one queue depth for all pipes."""

    issue: int
    hop: int
    depth: int
    flags: int


def test_simulate_takes_at_most_six_times_the_bare_rules() -> None:
    """Both run in turns in one process; the median of the ratios of neighbours counts."""
    kernel, machine = read_module(GEMM).kernel(), load_machine("910b2")
    setting = Setting({"M": 2176, "N": 8192, "K": 8192}, 0, 24, addresses=place(kernel, machine))
    code, figures = prepared(list(Tracer(kernel, setting)), machine)
    assert bare(code, figures) == replay(Tracer(kernel, setting), machine).cycles
    times = [
        (seconds(lambda: bare(code, figures)), seconds(lambda: replay(Tracer(kernel, setting), machine)))
        for _ in range(ROUNDS)
    ]
    ratio = median(whole / rules for rules, whole in times)
    rules, whole = (median(column) * 1e3 for column in zip(*times, strict=True))
    print(f"\n{len(code):,} instructions: bare rules {rules:.1f} ms, simulate {whole:.1f} ms, ratio {ratio:.2f}")
    assert ratio <= MOST


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = process_time()
    work()
    return process_time() - start


def prepared(trace: Sequence[Instance], machine: Machine) -> tuple[list[Code], Figures]:
    """A trace as tuples of numbers."""
    flags: dict[tuple[PipePair, int], int] = {}
    code: list[Code] = []
    for instance in trace:
        op, pipe = instance.op, PIPES.index(instance.pipe) if instance.pipe in PIPES else 0
        match op:
            case TileOp():
                assert instance.work is not None
                cost = machine.cost(instance.work)
                code.append((TILE, pipe, cost.entries, cost.occupancy, cost.latency))
            case Barrier():
                kind = BARRIER_ALL if op.pipe is Pipe.ALL else BARRIER
                code.append((kind, pipe, 1, machine.barrier_cost(op.pipe), 0))
            case _:
                flag = flags.setdefault((op.pair, instance.event), len(flags))
                kind = SET if isinstance(op, SetFlag) else WAIT
                code.append((kind, pipe, 1, flag, 0))
    return code, Figures(machine.issue, machine.hop, machine.queue_depth(Pipe.M), len(flags))


def bare(code: Sequence[Code], figures: Figures) -> int:
    """Cycles of a kernel whose waits all stand behind their sets."""
    issue, hop, depth = figures.issue, figures.hop, figures.depth
    clock = cycles = 0
    end, done = [0] * len(PIPES), [0] * len(PIPES)
    leaves = [deque([0] * depth, depth) for _ in PIPES]
    rises = [deque[int]() for _ in range(figures.flags)]
    for kind, pipe, entries, first, latency in code:
        if kind == BARRIER_ALL:
            clock = max(clock + issue, *end, *done) + first
            continue
        queue = leaves[pipe]
        for entry in range(entries):
            clock += issue
            clock = queue[entry] if queue[entry] > clock else clock
        start = end[pipe] if end[pipe] > clock else clock
        if kind == TILE:
            end[pipe] = start + first
            completion = start + first + latency
            done[pipe] = completion if completion > done[pipe] else done[pipe]
            cycles = completion if completion > cycles else cycles
            for _ in range(entries):
                queue.append(start)
            continue
        if kind == SET:
            rises[first].append((done[pipe] if done[pipe] > start else start) + hop)
            leave = start + 1
        elif kind == WAIT:
            rise = rises[first].popleft()
            leave = rise if rise > start else start
        else:
            leave = (done[pipe] if done[pipe] > start else start) + first
        end[pipe] = leave
        queue.append(leave)
    return cycles
