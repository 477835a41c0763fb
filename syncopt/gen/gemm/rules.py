"""What a GEMM kernel must hold to: one small check per rule."""

import re
from collections.abc import Callable, Iterator, Mapping

from syncopt.gen.gemm.flags import event_ids, in_pairs
from syncopt.gen.gemm.kernel import ACCUMULATORS, OUTPUTS, GemmKernel, GlobalLayout, Sync, not_multiplied
from syncopt.gen.gemm.tiles import MemoryUse, memory_use
from syncopt.hwmodel import Machine
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError

MAX_MATMULS = 256
"""Matmuls per K step, which are all written out: above, the text of a kernel is beyond what a person can read."""

FRACTAL_ROWS = 16
"""Rows of a fractal, 16 x 32 bytes [O]."""
FRACTAL_ROW_BYTES = 32
"""Bytes of a row of a fractal [O]."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_Rule = Callable[[GemmKernel, Machine], Iterator[InputError]]


def broken(kernel: GemmKernel, machine: Machine) -> InputError | None:
    """The first rule that a kernel breaks on a machine, None if it is legal."""
    return next((error for rule in _RULES for error in rule(kernel, machine)), None)


def check(kernel: GemmKernel, machine: Machine) -> None:
    """Refuse a kernel that is not legal on a machine.

    Raises
    ------
    InputError
        The first rule that it breaks: what was found, what was expected.
    """
    error = broken(kernel, machine)
    if error is not None:
        raise error


def _name_is_one_of_a_function(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    if _NAME.fullmatch(kernel.name) is None:
        help = "use letters, digits and underscores, no digit in front"
        yield InputError(f"{kernel.name!r} is not the name of a function", help=help)


def _types_are_those_of_the_cube(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    """Products of one type are summed in one type, and only some types are stored of that."""
    if kernel.dtype not in ACCUMULATORS:
        yield not_multiplied(kernel.dtype.spelling)
        return
    known = OUTPUTS[kernel.accumulator]
    if kernel.stored not in known:
        what = f"{kernel.stored.spelling} from an accumulator of {kernel.accumulator.spelling}"
        help = f"C may be {', '.join(dtype.spelling for dtype in known)}"
        yield InputError(f"a store that makes {what} is not modelled", help=help)


def _partial_sums_stay_as_accumulated(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    if kernel.splits > 1 and kernel.stored is not kernel.accumulator:
        message = f"{kernel.splits} slices of K leave partial sums, which are stored as {kernel.accumulator.spelling}"
        help = f"not {kernel.stored.spelling}: convert when the slices are summed up"
        yield InputError(message, help=help)


def _sizes_divide_each_other(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    l1, l0, parts = kernel.tiling.l1, kernel.tiling.l0, kernel.tiling.b_parts
    for name, small, large in (("M", l0.m, l1.m), ("N", l0.n, l1.n)):
        if large % small:
            message = f"{name} = {large} in L1 is not a multiple of {name} = {small} in L0"
            yield InputError(message, help=f"{_below(small, large)} is the next size below that divides it")
    if l1.k % parts:
        help = f"{_below(parts, l1.k)} parts would"
        yield InputError(f"{parts} parts of B do not divide K = {l1.k} in L1", help=help)
    elif kernel.tiling.b_k % l0.k:
        what = f"K = {l1.k} in L1" if parts == 1 else f"a part of B with K = {kernel.tiling.b_k} in L1"
        message = f"{what} is not a multiple of K = {l0.k} in L0"
        yield InputError(message, help=f"{_below(l0.k, kernel.tiling.b_k)} is the next size below that divides it")


def _below(size: int, whole: int) -> int:
    """The largest divisor of `whole` up to `size`."""
    return next(divisor for divisor in range(min(size, whole), 0, -1) if whole % divisor == 0)


def _sizes_are_whole_fractals(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    return fractal_faults(kernel)


def fractal_faults(kernel: GemmKernel) -> Iterator[InputError]:
    """The sizes of a matmul that are not whole fractals.

    Those have 16 rows of 32 bytes; an extract that transposes works on squares, 32 x 32 for one byte per element.

    The sizes in L1 are multiples of those in L0. Source of the squares: the PTO-ISA headers (textract).
    """
    l0 = kernel.tiling.l0
    inner = FRACTAL_ROW_BYTES // kernel.dtype.size
    square = max(FRACTAL_ROWS, inner)
    a, b = kernel.a_layout, kernel.b_layout
    for operand, transposed, name, outer in (
        ("A", a is GlobalLayout.DN, "M", l0.m),
        ("B", b is GlobalLayout.ND, "N", l0.n),
    ):
        multiples = (
            (name, outer, square if transposed else FRACTAL_ROWS),
            ("K", l0.k, square if transposed else inner),
        )
        for size_name, size, multiple in multiples:
            if size % multiple:
                layout = (a if operand == "A" else b).value.upper()
                message = f"{size_name} = {size} in L0 is not a multiple of {multiple}"
                why = f"{operand} in layout {layout} is extracted in whole fractals of {kernel.dtype.spelling}"
                yield InputError(f"{message}: {why}")


def _tiles_fit(kernel: GemmKernel, machine: Machine) -> Iterator[InputError]:
    for use in memory_use(kernel, machine):
        if use.used > use.size:
            sizes = f"{use.used:,} of {use.size:,} bytes ({use.used - use.size:,} too many)"
            message = f"the tiles do not fit {use.name} ({use.memory}): {sizes}: {_listed(use)}"
            yield InputError(message, help=_FIT_HELP[use.memory])


_FIT_HELP: Mapping[Memory, str] = {
    Memory.MAT: "use smaller tiles in L1, one buffer for A or B, or more parts of B",
    Memory.LEFT: "use a smaller M or K in L0, or one buffer for L0A",
    Memory.RIGHT: "use a smaller K or N in L0, or one buffer for L0B",
    Memory.ACC: "use a smaller M or N in L1, or one buffer for L0C",
}


def _listed(use: MemoryUse) -> str:
    return ", ".join(f"{count} x {role} of {size:,}" for role, count, size in use.parts)


def _a_step_can_be_written_out(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    matmuls = kernel.tiling.matmuls
    if matmuls > MAX_MATMULS:
        message = f"a K step of {kernel.tiling.l1} takes {matmuls:,} matmuls of {kernel.tiling.l0}"
        yield InputError(f"{message}, which are all written out", help=f"use sizes that take {MAX_MATMULS} or fewer")


def _event_ids_suffice(kernel: GemmKernel, machine: Machine) -> Iterator[InputError]:
    for pair, needed in event_ids(kernel):
        if needed > machine.event_ids:
            message = f"flags placed by hand need {needed} event ids {pair}, {machine.name} has {machine.event_ids}"
            yield InputError(message, help="use fewer buffers, or no flags")


def _shared_id_needs_pairs(kernel: GemmKernel, _machine: Machine) -> Iterator[InputError]:
    """Without pairs, the extracts of a matmul do not wait for the matmul before the last one."""
    if kernel.sync is Sync.HAND_SHARED and not in_pairs(kernel):
        message = "one event id for all MTE1->M flags has no form without pairs of tiles in L0A and L0B"
        yield InputError(message, help="use as many buffers in both and M and N of L1 in L0, or ids for each buffer")


_RULES: tuple[_Rule, ...] = (
    _name_is_one_of_a_function,
    _types_are_those_of_the_cube,
    _partial_sums_stay_as_accumulated,
    _sizes_divide_each_other,
    _sizes_are_whole_fractals,
    _tiles_fit,
    _a_step_can_be_written_out,
    _event_ids_suffice,
    _shared_id_needs_pairs,
)
