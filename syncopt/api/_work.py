"""Whether two kernels do the same."""

from collections.abc import Iterator
from itertools import zip_longest

from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Kernel, TileOp, Value
from syncopt.ir.trace import Setting, Tracer


def same_work(a: Kernel, b: Kernel, setting: Setting) -> bool:
    """Whether two kernels execute the same tile ops in the same order on the same bytes, whatever their flags are.

    Parameters
    ----------
    a, b : Kernel
        Of arguments with the same names.
    setting : Setting
        What both run with.
    """
    return all(first == second for first, second in zip_longest(_steps(a, setting), _steps(b, setting)))


def _steps(kernel: Kernel, setting: Setting) -> Iterator[object]:
    for instance in Tracer(kernel, setting):
        if isinstance(instance.op, TileOp):
            accesses = tuple((access.writes, _place(access.footprint)) for access in instance.accesses)
            yield instance.work, instance.iteration, accesses


def _place(footprint: Footprint) -> object:
    """Bytes, with the name of the argument in the place of its value, which is another one in another kernel."""
    space = footprint.space.name if isinstance(footprint.space, Value) else footprint.space
    return space, footprint.start, footprint.width, footprint.dims
