"""The window: a trace with whole periods of middle iterations cut from its loops (docs/plan.md section 5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Block, For, Kernel, regions
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Instance, Iteration, Overrides

_KEEP = 3
_Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Iterations `first` to `first + count - 1` of a loop are left out of `total`."""

    first: int
    count: int
    total: int


class Window(Overrides):
    """Leaves the cut iterations out of a trace; everything else has the values of the full shape."""

    def __init__(self, cuts: Mapping[int, Cut]) -> None:
        self.cuts = cuts

    def skips(self, loop: For, ordinal: int) -> bool:
        cut = self.cuts.get(loop.uid)
        return cut is not None and cut.first <= ordinal < cut.first + cut.count


@dataclass(slots=True)
class _Rounds:
    """What each iteration did, for every run of one loop."""

    runs: dict[Iteration, dict[int, list[int]]] = field(default_factory=dict[Iteration, dict[int, list[int]]])

    def signatures(self) -> list[list[_Signature]]:
        return [[tuple(rounds.get(n, ())) for n in range(max(rounds) + 1)] for _, rounds in sorted(self.runs.items())]


def window(kernel: Kernel, trace: Iterable[Instance]) -> Window:
    """The window of a kernel's full trace.

    The period of a loop is the smallest after which its middle iterations repeat: the same ops on the same tiles. The
    first and the last iteration, the remainder modulo the period, at least three iterations and two periods stay.
    """
    enclosing = _enclosing_loops(kernel)
    rounds: dict[int, _Rounds] = {}
    ids: dict[tuple[int, tuple[Footprint, ...]], int] = {}
    for instance in trace:
        tiles = tuple(a.footprint for a in instance.accesses if isinstance(a.footprint.space, Memory))
        mark = ids.setdefault((instance.op.uid, tiles), len(ids))
        for depth, loop in enumerate(enclosing[instance.op.uid]):
            runs = rounds.setdefault(loop, _Rounds()).runs
            runs.setdefault(instance.iteration[:depth], {}).setdefault(instance.iteration[depth], []).append(mark)
    cuts = {loop: cut for loop, found in rounds.items() if (cut := _cut(found.signatures())) is not None}
    return Window(cuts)


def _enclosing_loops(kernel: Kernel) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}

    def note(block: Block, loops: tuple[int, ...]) -> None:
        for op in block.ops:
            found[op.uid] = loops
            for region in regions(op):
                note(region, (*loops, op.uid) if isinstance(op, For) else loops)

    note(kernel.body, ())
    return found


def _cut(runs: Sequence[Sequence[_Signature]]) -> Cut | None:
    total = len(runs[0])
    if any(len(run) != total for run in runs):
        return None
    period = next((p for p in range(1, total // 2 + 1) if all(_repeats(run, p) for run in runs)), None)
    if period is None:
        return None
    kept = max(_KEEP, 2 * period)
    kept += (total - kept) % period
    if kept >= total:
        return None
    return Cut(max(1, kept // 2), total - kept, total)


def _repeats(run: Sequence[_Signature], period: int) -> bool:
    """Whether the middle iterations of a run repeat with a period; there must be at least one full repeat."""
    middle = run[1:-1]
    return len(middle) > period and all(a == b for a, b in zip(middle, middle[period:], strict=False))
