"""Flags, barriers, and functions of the file that hold nothing else, which are read where they are called."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

from tree_sitter import Node

from syncopt.frontend._cpp.bindings import Constant
from syncopt.frontend._cpp.context import Context, Scope
from syncopt.frontend._cpp.inlining import INLINE
from syncopt.frontend._cpp.objects import integer
from syncopt.frontend._cpp.text import descendants, field, named
from syncopt.frontend._cpp.types import INT
from syncopt.ir.kernel import Barrier, SetFlag, Value, WaitFlag
from syncopt.ir.pipes import EVENT_IDS, Pipe, PipePair

_OTHER_STATEMENTS = frozenset({"if_statement", "for_statement", "while_statement", "declaration", "preproc_if"})
_PIPES = {f"PIPE_{pipe.value}": pipe for pipe in Pipe}


def read_flag_call(ctx: Context, name: str, given: Sequence[Node], node: Node) -> None:
    """`set_flag`, `wait_flag` or `pipe_barrier`."""
    FLAG_CALLS[name](ctx, given, node)


def _flag(make: type[SetFlag] | type[WaitFlag], name: str) -> Callable[[Context, Sequence[Node], Node], None]:
    def read(ctx: Context, given: Sequence[Node], node: Node) -> None:
        if len(given) != len(("source", "target", "event")):
            ctx.fail(f"{name} takes two pipes and an event id", node)
        source, target = _pipe(ctx, given[0]), _pipe(ctx, given[1])
        for pipe, argument in ((source, given[0]), (target, given[1])):
            if pipe is Pipe.ALL:
                ctx.fail(f"{name}: a flag is between two pipes, not PIPE_ALL", argument)
        event = _event(ctx, name, given[2])
        ctx.add(make(ctx.uid(), ctx.span, PipePair(source, target), event))

    return read


def _barrier(ctx: Context, given: Sequence[Node], node: Node) -> None:
    if len(given) != 1:
        ctx.fail("pipe_barrier takes one pipe", node)
    ctx.add(Barrier(ctx.uid(), ctx.span, _pipe(ctx, given[0])))


def _pipe(ctx: Context, node: Node) -> Pipe:
    text = ctx.tree.phrase(node).removeprefix("pipe_t::")
    if text not in _PIPES:
        ctx.fail(f"pipe {text} is not modelled", node)
    return _PIPES[text]


def _event(ctx: Context, name: str, node: Node) -> int | Value:
    number = ctx.constant_or_none(node)
    if number is None:
        return integer(ctx, node).value
    if not 0 <= number < EVENT_IDS:
        ctx.fail(f"{name}: no event id {number}, expected 0 to {EVENT_IDS - 1}", node)
    return number


def read_pair(ctx: Context, function: Node, given: Sequence[Node], node: Node) -> None:
    """`PtoSetWaitFlag<source, target>(set, wait)` of the headers; an id that is not given is 0."""
    arguments = field(function, "arguments")
    pipes = named(arguments) if arguments is not None and function.type == "template_function" else []
    if len(pipes) != len(("source", "target")) or len(given) > len(("set", "wait")):
        ctx.fail("PtoSetWaitFlag takes two pipes in <> and at most two event ids", node)
    pair = PipePair(*(_pipe(ctx, pipe) for pipe in pipes))
    events = [_event(ctx, "PtoSetWaitFlag", argument) for argument in given] + [0] * (2 - len(given))
    for make, event in zip((SetFlag, WaitFlag), events, strict=True):
        ctx.add(make(ctx.uid(), ctx.span, pair, event))


FLAG_CALLS: Mapping[str, Callable[[Context, Sequence[Node], Node], None]] = {
    "set_flag": _flag(SetFlag, "set_flag"),
    "wait_flag": _flag(WaitFlag, "wait_flag"),
    "pipe_barrier": _barrier,
}


# -- functions that synchronise ----------------------------------------------------------------------------------------


def read_sync_function(ctx: Context, name: str, given: Sequence[Node], node: Node) -> None:
    """The flags and barriers of a function of the file, as ops of the call."""
    callee = ctx.functions[name]
    body, declarator = field(callee.node, "body"), field(callee.node, "declarator")
    if callee.fault or body is None or declarator is None:
        ctx.fail(f"a call of {name} is not modelled: {callee.fault}", node, INLINE)
    numbers = [ctx.constant_or_none(argument) for argument in given]
    with ctx.names_of_the_file() as own:
        if not _bind_parameters(ctx, own, declarator, numbers):
            ctx.fail(f"a call of {name} is not modelled", node, INLINE)
        for call in _sync_calls(ctx, named(body), name, node):
            function, arguments = field(call, "function"), field(call, "arguments")
            assert function is not None and arguments is not None
            read_flag_call(ctx, ctx.tree.text(function), named(arguments), call)


def synchronises(ctx: Context, name: str) -> bool:
    """Whether a function of the file, which is no template, has nothing but flags and barriers for statements."""
    callee = ctx.functions[name]
    body = field(callee.node, "body")
    if callee.fault or body is None or callee.template is not None:
        return False
    calls = [inner for inner in descendants(body) if inner.type == "call_expression"]
    others = [inner for inner in descendants(body) if inner.type in _OTHER_STATEMENTS]
    return bool(calls) and not others and all(_is_sync_call(ctx, call) for call in calls)


def _bind_parameters(ctx: Context, own: Scope, declarator: Node, given: Sequence[int | None]) -> bool:
    """Gives the parameters their numbers, if all are known here."""
    parameters = field(declarator, "parameters")
    listed = named(parameters) if parameters is not None else []
    if len(given) > len(listed):
        return False
    for at, parameter in enumerate(listed):
        name, default = field(parameter, "declarator"), field(parameter, "default_value")
        number = given[at] if at < len(given) else None if default is None else ctx.constant_or_none(default)
        if name is None or name.type != "identifier" or number is None:
            return False
        own.entries[ctx.tree.text(name)] = Constant(INT, number)
    return True


def _sync_calls(ctx: Context, statements: Sequence[Node], name: str, node: Node) -> list[Node]:
    """The calls that are executed, up to the first `return`."""
    calls: list[Node] = []
    for statement in takewhile(lambda one: not _is_return(one), _in_a_row(ctx, statements, name, node)):
        inner = named(statement)
        if statement.type != "expression_statement" or len(inner) != 1 or not _is_sync_call(ctx, inner[0]):
            more = f"it does more than synchronise in line {ctx.tree.source.line(statement.start_byte)}"
            ctx.fail(f"a call of {name} is not modelled: {more}", node, INLINE)
        calls.append(inner[0])
    return calls


def _in_a_row(ctx: Context, statements: Sequence[Node], name: str, node: Node) -> Iterator[Node]:
    """The statements in the order of their execution: of a `switch`, those of the case that its number chooses."""
    for statement in statements:
        if statement.type == "switch_statement":
            yield from _in_a_row(ctx, _chosen_case(ctx, statement, name, node), name, node)
        else:
            yield statement


def _is_return(statement: Node) -> bool:
    return statement.type == "return_statement" and not named(statement)


def _is_sync_call(ctx: Context, node: Node) -> bool:
    function = field(node, "function")
    return function is not None and ctx.tree.text(function) in FLAG_CALLS


def _chosen_case(ctx: Context, switch: Node, name: str, node: Node) -> list[Node]:
    """The statements from the case that a `switch` chooses to its `break`."""
    asked, body = field(switch, "condition"), field(switch, "body")
    assert asked is not None and body is not None
    number, cases = ctx.constant(asked), named(body)
    labels = [field(case, "value") for case in cases]
    matching = [at for at, label in enumerate(labels) if label is not None and ctx.constant(label) == number]
    default = [at for at, case in enumerate(cases) if case.type == "case_statement" and labels[at] is None]
    if any(case.type != "case_statement" for case in cases):
        ctx.fail(f"a call of {name} is not modelled", node)
    start = (matching or default or [len(cases)])[0]
    rest = [child for at in range(start, len(cases)) for child in named(cases[at]) if child != labels[at]]
    return list(takewhile(lambda child: child.type != "break_statement", rest))
