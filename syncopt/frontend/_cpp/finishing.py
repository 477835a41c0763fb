"""The tree as it was read, without what loops carry and branches hand out in vain, and numbered in text order."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress, count

from syncopt.ir.kernel import Block, For, Guard, If, Op, Section, Value, Yield, walk
from syncopt.ir.values import operands_of


def finished(body: Block) -> Block:
    """The body of a kernel as downstream rooms expect it."""
    return _Finish(_live_values(body)).block(body)


def _live_values(body: Block) -> frozenset[Value]:
    """Values that an op uses, apart from loops and branches that only hand them on."""
    live: set[Value] = set()
    structured: list[For | If] = []
    for op in walk(body):
        match op:
            case Yield():
                pass
            case For():
                live.update((op.lower, op.upper, op.step))
                structured.append(op)
            case If():
                live.add(op.condition)
                structured.append(op)
            case _:
                live.update(operands_of(op))
    before = -1
    while len(live) != before:
        before = len(live)
        for op in structured:
            live.update(_handed_on(op, live))
    return frozenset(live)


def _handed_on(op: For | If, live: set[Value]) -> Iterable[Value]:
    """What must be handed on for the values of an op that are used."""
    kept = _kept(op, live)
    blocks = (op.body,) if isinstance(op, For) else (op.then, op.orelse)
    for block in blocks:
        last = block.ops[-1] if block is not None and block.ops else None
        if isinstance(last, Yield):
            yield from compress(last.operands, kept)
    if isinstance(op, For):
        yield from compress(op.inits, kept)


def _kept(op: For | If, live: set[Value] | frozenset[Value]) -> list[bool]:
    """Which results of an op stay."""
    if isinstance(op, If):
        return [result in live for result in op.results]
    return [a in live or b in live for a, b in zip(op.carried, op.results, strict=True)]


class _Finish:
    def __init__(self, live: frozenset[Value]) -> None:
        self._live = live
        self._uids = count()

    def block(self, block: Block, kept: Sequence[bool] = ()) -> Block:
        """The block; `kept` tells which operands of its `Yield` stay."""
        ops = [self._op(op, kept) for op in block.ops if not isinstance(op, Yield) or any(kept)]
        return replace(block, ops=tuple(ops))

    def _op(self, op: Op, kept: Sequence[bool]) -> Op:
        uid = next(self._uids)
        match op:
            case Yield():
                return Yield(uid, op.span, tuple(compress(op.operands, kept)))
            case Section():
                return replace(op, uid=uid, body=self.block(op.body))
            case If():
                return self._if(op, uid)
            case For():
                stay = _kept(op, self._live)
                return replace(
                    op,
                    uid=uid,
                    inits=tuple(compress(op.inits, stay)),
                    carried=tuple(compress(op.carried, stay)),
                    results=tuple(compress(op.results, stay)),
                    body=self.block(op.body, stay),
                )
            case _:
                return replace(op, uid=uid)

    def _if(self, op: If, uid: int) -> If:
        stay = _kept(op, self._live)
        then, orelse = self.block(op.then, stay), None if op.orelse is None else self.block(op.orelse, stay)
        is_written = isinstance(op, Guard) or (orelse is not None and orelse.span.start < orelse.span.end)
        if orelse is not None and not orelse.ops and not is_written:
            orelse = None
        return replace(op, uid=uid, results=tuple(compress(op.results, stay)), then=then, orelse=orelse)
