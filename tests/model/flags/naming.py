"""Ops and channels of a kernel by names that a reader can follow."""

from syncopt.ir.kernel import For, If, Kernel, Section, TileOp, walk
from syncopt.model.flags.channels import Placement
from syncopt.model.rewrite import Side, Site

Named = tuple[str, bool, list[str], list[str]]
"""Pair, whether primed, ops behind which it is set, ops before which it is waited for."""


def labels(kernel: Kernel) -> dict[int, str]:
    """Name of each op: `load0` is the first load, `for0` the first loop."""
    found: dict[int, str] = {}
    count: dict[str, int] = {}
    for op in walk(kernel.body):
        kind = op.name.removeprefix("pto.t") if isinstance(op, TileOp) else type(op).__name__.lower()
        if isinstance(op, TileOp | For | If | Section):
            found[op.uid] = f"{kind}{count.get(kind, 0)}"
            count[kind] = count.get(kind, 0) + 1
    return found


def named(kernel: Kernel, placement: Placement) -> list[Named]:
    """(pair, primed, sets, waits) of every channel; sets stand behind the op named, waits before it."""
    names = labels(kernel)

    def text(site: Site) -> str:
        assert site.side in (Side.AFTER, Side.BEFORE)
        return names[site.uid]

    return [(str(c.pair), c.primed, [*map(text, c.sets)], [*map(text, c.waits)]) for c in placement.channels]
