"""Statements of a C++ kernel that call functions with tile ops, into which no plan can be written."""

from syncopt.ir.kernel import Barrier, Block, Flag, Kernel, Op, regions, walk
from syncopt.ir.source import InputError, Span
from syncopt.ir.values import is_pure


def check_writable(kernel: Kernel) -> None:
    """A plan adds flags between the ops of a kernel, so each of them must have a text of its own in the kernel.

    Raises
    ------
    InputError
        If a statement of a C++ kernel calls a function that holds several ops, a loop or a branch.
    """
    for block in (kernel.body, *(region for op in walk(kernel.body) for region in regions(op))):
        for statement in block.statements:
            done = [op for op in block.ops if op.span == statement.span and not is_pure(op)]
            if _are_elsewhere(done, statement.span):
                message = "a plan cannot be written into the function that this statement calls"
                hint = "write the body of the called function in its place"
                raise InputError(message, kernel.source, statement.span, hint)


def _are_elsewhere(ops: list[Op], span: Span) -> bool:
    if len(ops) > 1:
        # Flags alone go with the statement as a whole.
        return not all(isinstance(op, Flag | Barrier) for op in ops)
    return any(not _is_inside(region, span) for op in ops for region in regions(op))


def _is_inside(block: Block, span: Span) -> bool:
    return span.start <= block.span.start <= block.span.end <= span.end
