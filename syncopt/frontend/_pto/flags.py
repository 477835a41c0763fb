"""Flags and barriers in every spelling."""

import re
from collections.abc import Callable

from syncopt.frontend._pto.context import OpReader
from syncopt.frontend._pto.lexer import Kind, Token
from syncopt.frontend._pto.names import take_name
from syncopt.ir.kernel import Barrier, Op, SetFlag, Value, WaitFlag
from syncopt.ir.pipes import EVENT_IDS, Pipe, PipePair
from syncopt.ir.types import ScalarType

_PIPES = {f"PIPE_{pipe.value}": pipe for pipe in Pipe}
_CLASSES = {
    "TLOAD": Pipe.MTE2,
    "TSTORE_VEC": Pipe.MTE3,
    "TSTORE_ACC": Pipe.FIX,
    "TMOV_M2L": Pipe.MTE1,
    "TMOV_M2B": Pipe.MTE1,
    "TMOV_M2S": Pipe.FIX,
    "TMOV_M2V": Pipe.V,
    "TMOV_V2M": Pipe.V,
    "TMATMUL": Pipe.M,
    "TVEC": Pipe.V,
}
_EVENT = re.compile(r"EVENT_ID([0-9]{1,3})")


def _pipe(op: OpReader) -> Pipe:
    token = take_name(op, "a pipe")
    if token.text not in _PIPES:
        op.fail(f"{op.name}: pipe {token.text} is not modelled", token.span)
    return _PIPES[token.text]


def _class(op: OpReader) -> Pipe:
    token = take_name(op, "an op class")
    if token.text not in _CLASSES:
        op.fail(f"{op.name}: op class {token.text} is not modelled", token.span)
    return _CLASSES[token.text]


def _event(op: OpReader) -> int | Value:
    if op.sees_kind(Kind.VALUE):
        return op.value(ScalarType)
    token = take_name(op, "an event id")
    return _event_number(op, token)


def _event_number(op: OpReader, token: Token) -> int:
    match = _EVENT.fullmatch(token.text)
    if match is None or int(match[1]) >= EVENT_IDS:
        op.fail(f"{op.name}: no event id {token.text}, expected EVENT_ID0 to EVENT_ID{EVENT_IDS - 1}", token.span)
    return int(match[1])


def _flag(make: type[SetFlag] | type[WaitFlag], end: Callable[[OpReader], Pipe]) -> Callable[[OpReader], Op]:
    def read(op: OpReader) -> Op:
        op.take("[")
        source_span = op.peek()
        source = end(op)
        op.take(",")
        target = end(op)
        op.take(",")
        event = _event(op)
        op.take("]")
        op.done()
        op.results()
        if Pipe.ALL in (source, target):
            op.fail(f"{op.name}: a flag is between two pipes, not PIPE_ALL", source_span.span if source_span else None)
        return make(op.uid, op.span, PipePair(source, target), event)

    return read


def _barrier(op: OpReader) -> Op:
    pipe = _pipe(op)
    op.done()
    op.results()
    return Barrier(op.uid, op.span, pipe)


def _barrier_sync(op: OpReader) -> Op:
    op.take("[")
    pipe = _class(op)
    op.take("]")
    op.done()
    op.results()
    return Barrier(op.uid, op.span, pipe)


READERS: dict[str, Callable[[OpReader], Op]] = {
    "pto.set_flag": _flag(SetFlag, _pipe),
    "pto.wait_flag": _flag(WaitFlag, _pipe),
    "pto.set_flag_dyn": _flag(SetFlag, _pipe),
    "pto.wait_flag_dyn": _flag(WaitFlag, _pipe),
    "pto.record_event": _flag(SetFlag, _class),
    "pto.wait_event": _flag(WaitFlag, _class),
    "pto.barrier": _barrier,
    "pto.barrier_sync": _barrier_sync,
}
"""Readers by op name."""
