"""Statements and blocks: every statement of a kernel becomes ops, or is refused."""

from collections.abc import Callable, Mapping, Sequence

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import binary, literal
from syncopt.frontend._cpp.bindings import Operand, Variable, parts
from syncopt.frontend._cpp.branches import read_if
from syncopt.frontend._cpp.calls import read_call
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.declarations import DECLARATIONS, as_type, renamed
from syncopt.frontend._cpp.expressions import WORDS
from syncopt.frontend._cpp.loops import read_for
from syncopt.frontend._cpp.objects import operand
from syncopt.frontend._cpp.text import field, named
from syncopt.frontend._cpp.types import INT, describe
from syncopt.ir.kernel import Block, Return, Section
from syncopt.ir.pipes import SectionKind
from syncopt.ir.source import Span

_MAX_DEPTH = 64
_SECTIONS = {
    "__DAV_CUBE__": SectionKind.CUBE,
    "__DAV_C220_CUBE__": SectionKind.CUBE,
    "__DAV_VEC__": SectionKind.VECTOR,
    "__DAV_C220_VEC__": SectionKind.VECTOR,
}
_WORDS = {
    "while_statement": ("while", "write the loop as for (T i = a; i < b; i += s)"),
    "do_statement": ("do", "write the loop as for (T i = a; i < b; i += s)"),
    "for_range_loop": ("for over a range", "write the loop as for (T i = a; i < b; i += s)"),
    "switch_statement": ("switch", "write the branches with if"),
    "goto_statement": ("goto", ""),
    "break_statement": ("break", ""),
    "continue_statement": ("continue", "put the rest of the body into an if"),
    "compound_statement": ("a block of its own", "write its statements without the braces"),
    "preproc_call": ("a directive", ""),
    "preproc_def": ("#define inside a function", "move it in front of the function"),
    "template_declaration": ("a template inside a function", ""),
}
_HARMLESS_ATTRIBUTES = ("[[likely]]", "[[unlikely]]", "[[maybe_unused]]")
_LOOPS_AND_BRANCHES = ("if_statement", "for_statement")


def read_block(ctx: Context, node: Node) -> Block:
    """The statements between the braces of `node`, or `node` itself if it is a single statement."""
    if ctx.scope.depth > _MAX_DEPTH:
        ctx.fail(f"blocks are nested deeper than {_MAX_DEPTH}", node)
    ctx.open_block()
    with ctx.inner_scope():
        if node.type == "compound_statement":
            _read_statements(ctx, named(node))
            span = Span(node.start_byte + 1, node.end_byte - 1)
        else:
            _read_statements(ctx, [node])
            span = ctx.tree.span(node)
    return ctx.close_block(span)


def _read_statements(ctx: Context, nodes: Sequence[Node]) -> None:
    at = 0
    while at < len(nodes):
        start = ctx.tree.start(nodes[at])
        while _is_pragma(ctx, nodes[at]) and at + 1 < len(nodes):
            # What it says is about the statement behind it, so it stays in front of that.
            at += 1
        node, end = nodes[at], nodes[at].end_byte
        if node.type in _LOOPS_AND_BRANCHES and at + 1 < len(nodes) and _is_empty(nodes[at + 1]):
            # `};` is one statement for a reader: it goes when the loop or branch goes.
            at += 1
            end = nodes[at].end_byte
        with ctx.statement(Span(start, end)):
            _read_statement(ctx, node)
        at += 1


def _is_pragma(ctx: Context, node: Node) -> bool:
    directive = field(node, "directive")
    return node.type == "preproc_call" and directive is not None and ctx.tree.text(directive) == "#pragma"


def _is_empty(node: Node) -> bool:
    return node.type == "expression_statement" and not named(node)


def _read_statement(ctx: Context, node: Node) -> None:
    reader = _READERS.get(node.type)
    if reader is None:
        word, hint = _WORDS.get(node.type, (node.type.replace("_", " "), ""))
        ctx.fail(f"{word} is not modelled", node, hint)
    reader(ctx, node)


def _expression_statement(ctx: Context, node: Node) -> None:
    if _is_empty(node):
        return
    inner = named(node)[0]
    match inner.type:
        case "call_expression":
            read_call(ctx, inner)
        case "assignment_expression":
            _assignment(ctx, inner)
        case "update_expression":
            _update(ctx, inner)
        case "cast_expression" if _is_discarded(ctx, inner):
            return
        case _:
            what = WORDS.get(inner.type, inner.type.replace("_", " "))
            ctx.fail(f"{what} as a statement is not modelled", inner)


def _is_discarded(ctx: Context, node: Node) -> bool:
    """`(void) name`, which keeps the compiler from calling a name unused."""
    type_node, value = field(node, "type"), field(node, "value")
    assert type_node is not None and value is not None
    return ctx.tree.text(type_node) == "void" and value.type == "identifier"


def _target(ctx: Context, node: Node) -> Variable:
    entry = ctx.entry(ctx.tree.text(node), node) if node.type == "identifier" else None
    if not isinstance(entry, Variable):
        ctx.fail(f"an assignment to {ctx.tree.phrase(node)} is not modelled", node)
    return entry


def _assignment(ctx: Context, node: Node) -> None:
    """`name = value` or `name += value`."""
    left, right, operator = field(node, "left"), field(node, "right"), field(node, "operator")
    assert left is not None and right is not None and operator is not None
    variable, sign = _target(ctx, left), ctx.tree.text(operator).removesuffix("=")
    if sign:
        _change(ctx, variable, sign, operand(ctx, right), left, node)
        return
    bound = as_type(ctx, ctx.readers.expression(ctx, right), variable.type, right)
    ctx.assign(variable, renamed(ctx, bound, variable.name))


def _update(ctx: Context, node: Node) -> None:
    """`name++` and the like."""
    argument, operator = field(node, "argument"), field(node, "operator")
    assert argument is not None and operator is not None
    variable = _target(ctx, argument)
    _change(ctx, variable, ctx.tree.text(operator)[0], literal(ctx, INT, 1), argument, node)


def _change(ctx: Context, variable: Variable, sign: str, by: Operand, target: Node, node: Node) -> None:
    before = ctx.value_of(variable, target)
    if not isinstance(before, Operand):
        ctx.fail(f"{sign}= on {describe(before.type)} is not modelled", node)
    after = as_type(ctx, binary(ctx, sign, before, by, node), variable.type, node)
    ctx.assign(variable, renamed(ctx, after, variable.name))


def _return(ctx: Context, node: Node) -> None:
    if named(node):
        ctx.fail("a kernel that returns a value is not modelled", node)
    ctx.add(Return(ctx.uid(), ctx.span))


def _section(ctx: Context, node: Node) -> None:
    """`#if defined(__DAV_CUBE__)` to `#endif`: what one kind of core does."""
    asked = field(node, "condition") or field(node, "name")
    assert asked is not None
    inner = named(asked)
    name = ctx.tree.text(inner[0]) if asked.type == "preproc_defined" and inner else ctx.tree.text(asked)
    is_definite = asked.type == "preproc_defined" or ctx.tree.text(node).startswith("#ifdef")
    if name not in _SECTIONS or not is_definite:
        line = ctx.tree.text(node).splitlines()[0]
        ctx.fail(f"{line} is not modelled", node, f"expected #if defined({' or '.join(_SECTIONS)})")
    alternative = field(node, "alternative")
    if alternative is not None:
        ctx.fail("#else and #elif are not modelled", alternative, "end the section with #endif")
    uid, before = ctx.uid(), dict(ctx.bound)
    ctx.open_block()
    with ctx.inner_scope():
        _read_statements(ctx, [child for child in named(node) if child != asked])
    block = ctx.close_block(Span(asked.end_byte, node.children[-1].start_byte))
    for variable, bound in before.items():
        # The other kind of core does not run this, so a variable that it changed has no one value behind it.
        if parts(ctx.bound[variable]) != parts(bound):
            del ctx.bound[variable]
    ctx.add(Section(uid, ctx.span, _SECTIONS[name], block))


def _with_attributes(ctx: Context, node: Node) -> None:
    """`[[likely]] STATEMENT`: what the compiler may do with a statement does not change what the statement does."""
    *attributes, statement = named(node)
    for attribute in attributes:
        if ctx.tree.text(attribute) not in _HARMLESS_ATTRIBUTES:
            ctx.fail(f"{ctx.tree.text(attribute)} is not modelled", attribute)
    _read_statement(ctx, statement)


_READERS: Mapping[str, Callable[[Context, Node], None]] = {
    **DECLARATIONS,
    "expression_statement": _expression_statement,
    "if_statement": read_if,
    "for_statement": read_for,
    "return_statement": _return,
    "attributed_statement": _with_attributes,
    "preproc_if": _section,
    "preproc_ifdef": _section,
}
