"""Kernels from text, their trees changed by hand, and their ops as text."""

from collections.abc import Callable
from dataclasses import replace

from syncopt.frontend import parse_module
from syncopt.ir.kernel import NO_SPAN, Barrier, Block, Kernel, Op, SetFlag, TileOp, WaitFlag, regions, walk
from syncopt.ir.pipes import Pipe, PipePair
from syncopt.ir.source import Source
from syncopt.model.rewrite import with_regions

Ops = tuple[Op, ...]


def kernel_of(text: str | bytes) -> Kernel:
    """The only kernel of a text."""
    return parse_module(Source("kernel.pto", text.encode() if isinstance(text, str) else text)).kernel()


def in_function(body: str, name: str = "f") -> str:
    """A file with one function around `body`, which begins with a line end or stands on the line of the brace."""
    return f"module {{\n  func.func @{name}(%p: !pto.ptr<f16>, %n: index, %run: i1) {{{body}}}\n}}\n"


def change(kernel: Kernel, how: Callable[[Ops], Ops]) -> Kernel:
    """The kernel with `how` applied to the ops of every block, inner blocks first."""
    return replace(kernel, body=_changed(kernel.body, how))


def _changed(block: Block, how: Callable[[Ops], Ops]) -> Block:
    inner = tuple(with_regions(op, [_changed(region, how) for region in regions(op)]) for op in block.ops)
    return Block(how(inner), block.span)


def without(*kinds: type[Op]) -> Callable[[Ops], Ops]:
    """Leaves out the ops of some kinds."""
    return lambda ops: tuple(op for op in ops if not isinstance(op, kinds))


def set_flag(event: int = 0, uid: int = -1) -> Op:
    return SetFlag(uid, NO_SPAN, PipePair(Pipe.MTE2, Pipe.MTE1), event)


def wait_flag(event: int = 0, uid: int = -2) -> Op:
    return WaitFlag(uid, NO_SPAN, PipePair(Pipe.MTE2, Pipe.MTE1), event)


def barrier_all(uid: int = -3) -> Op:
    return Barrier(uid, NO_SPAN, Pipe.ALL)


def flagged(ops: Ops) -> Ops:
    """A wait before and a set behind every tile op, the ops of a branch without flags as they were."""
    found: list[Ops] = [(wait_flag(), op, set_flag()) if isinstance(op, TileOp) else (op,) for op in ops]
    return tuple(op for group in found for op in group)


def text_of(kernel: Kernel, op: Op) -> str:
    """An op as its file spells it."""
    return kernel.source.data[op.span.start : op.span.end].decode()


def shapes(kernel: Kernel) -> list[str]:
    """What every op is, with its names and events but without its place: equal for kernels with the same ops."""
    return [f"{len(regions(op))} {_shape(op)}" for op in walk(kernel.body)]


def _shape(op: Op) -> str:
    hidden = ("uid", "span", "body", "then", "orelse")
    names = [name for cls in reversed(type(op).__mro__) for name in getattr(cls, "__slots__", ()) if name not in hidden]
    return f"{type(op).__name__} {[getattr(op, name) for name in names]}"
