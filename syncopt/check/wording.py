"""How messages name ops and hazards."""

from syncopt.check.memories import HazardKind
from syncopt.check.observer import OpenHazard
from syncopt.ir.kernel import NO_SPAN, Barrier, Block, Flag, For, Kernel, Op, SetFlag, TileOp, regions
from syncopt.ir.pipes import LEGAL_PAIRS, Memory, PipePair
from syncopt.ir.trace import Instance, Iteration

_CLASH = {
    HazardKind.RAW: "may read {space} before {earlier} has written it",
    HazardKind.WAR: "may overwrite {space} before {earlier} has read it",
    HazardKind.WAW: "may overwrite {space} before {earlier} has written it",
}


def line_of(kernel: Kernel, op: Op) -> int:
    """Line of an op in its file, 0 for an op that stands in none."""
    return 0 if op.span == NO_SPAN else kernel.source.line(op.span.start)


def name_of(kernel: Kernel, op: Op, event: int | None = None) -> str:
    """An op in a message: what it is, and its line if it has one."""
    line = line_of(kernel, op)
    return f"{_bare_name(op, event)} (line {line})" if line else _bare_name(op, event)


def _bare_name(op: Op, event: int | None) -> str:
    match op:
        case TileOp():
            return op.name
        case Flag():
            identifier = event if event is not None else op.event
            return f"{'set_flag' if isinstance(op, SetFlag) else 'wait_flag'} {op.pair} id {identifier}"
        case Barrier():
            return f"barrier {op.pipe}"
        case _:
            return type(op).__name__.lower()


class Nest:
    """Names of the loops around every op of a kernel.

    Parameters
    ----------
    kernel : Kernel
        Whose ops.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._loops: dict[int, tuple[str, ...]] = {}
        self._collect(kernel.body, ())

    def place(self, op: Op, iteration: Iteration) -> str:
        """An iteration in words, such as `tile 1, k 0`: how often each loop has gone round before."""
        names = self._loops.get(op.uid, ())
        return ", ".join(f"{name} {ordinal}" for name, ordinal in zip(names, iteration, strict=False))

    def way(self, earlier: Instance, later: Instance) -> str:
        """The iterations of two instances; one if they are the same."""
        first, last = self.place(earlier.op, earlier.iteration), self.place(later.op, later.iteration)
        return first if first == last else f"{first or 'before'} -> {last or 'behind'}"

    def _collect(self, block: Block, names: tuple[str, ...]) -> None:
        for op in block.ops:
            self._loops[op.uid] = names
            inner = (*names, op.induction.name.removeprefix("%")) if isinstance(op, For) else names
            for region in regions(op):
                self._collect(region, inner)


def race_text(kernel: Kernel, hazard: OpenHazard) -> str:
    """What can go wrong between two ops, and what is missing."""
    earlier, later = hazard.earlier.instance, hazard.later
    clash = _CLASH[hazard.kind].format(space=_space(hazard), earlier=name_of(kernel, earlier.op))
    return f"{hazard.kind.value}: {name_of(kernel, later.op)} {clash}: {_missing(earlier, later)}"


def race_hint(kernel: Kernel, hazard: OpenHazard) -> str:
    """What orders two ops."""
    earlier, later = hazard.earlier.instance, hazard.later
    first, last = name_of(kernel, earlier.op), name_of(kernel, later.op)
    if earlier.pipe is later.pipe:
        return f"put barrier {later.pipe} before {last}"
    pair = PipePair(earlier.pipe, later.pipe)
    if pair not in LEGAL_PAIRS:
        return f"put barrier ALL before {last}, or flags that lead through another pipe"
    return f"put set_flag {pair} behind {first} and wait_flag {pair} before {last}"


def _missing(earlier: Instance, later: Instance) -> str:
    if earlier.pipe is later.pipe:
        return f"no barrier {later.pipe} between them"
    pair = PipePair(earlier.pipe, later.pipe)
    if pair not in LEGAL_PAIRS:
        return (
            f"no flags lead from {pair.source} to {pair.target} (through another pipe: {pair} has no flags of its own)"
        )
    return f"no flag {pair} between them"


def _space(hazard: OpenHazard) -> str:
    earlier, later = hazard.earlier.instance.accesses, hazard.later.accesses
    spaces = (
        b.footprint.space for a in earlier for b in later if a.writes | b.writes and a.footprint.meets(b.footprint)
    )
    space = next(spaces, Memory.GM)
    return f"{space} bytes" if isinstance(space, Memory) else f"global memory of {space.name}"
