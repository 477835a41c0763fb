"""Statements and blocks: every statement of a kernel becomes ops, or is refused."""

import re
from collections.abc import Callable, Mapping, Sequence

from tree_sitter import Node

from syncopt.frontend._cpp.arithmetic import binary, literal
from syncopt.frontend._cpp.bindings import Operand, Variable, parts
from syncopt.frontend._cpp.branches import read_braces, read_guard, read_if, read_under
from syncopt.frontend._cpp.calls import read_call
from syncopt.frontend._cpp.context import Context
from syncopt.frontend._cpp.declarations import DECLARATIONS, as_type, renamed
from syncopt.frontend._cpp.expressions import WORDS
from syncopt.frontend._cpp.jumps import Jump, always_jumps, is_empty, is_in_loop, is_jump, is_last, jumps_in
from syncopt.frontend._cpp.loops import read_for, read_while
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
    "do_statement": ("do", "write the loop as for (T i = a; i < b; i += s)"),
    "for_range_loop": ("for over a range", "write the loop as for (T i = a; i < b; i += s)"),
    "switch_statement": ("switch", "write the branches with if"),
    "goto_statement": ("goto", ""),
    "break_statement": ("break", ""),
    "preproc_call": ("a directive", ""),
    "preproc_def": ("#define inside a function", "move it in front of the function"),
    "template_declaration": ("a template inside a function", ""),
}
_HARMLESS_ATTRIBUTES = ("[[likely]]", "[[unlikely]]", "[[maybe_unused]]")
_LOOPS_AND_BRANCHES = ("if_statement", "for_statement", "while_statement")
_MACROS = {"__PTO_AUTO__": False, "__CPU_SIM": False, "__CCE_AICORE__": True}
"""Macros by whether they are defined: flags are the compiler's under `__PTO_AUTO__`."""
_DEFINED = re.compile(r"(#ifn?def)\s+(\w+)\s*(?://.*)?$|#if\s+(!?)\s*defined\s*\(\s*(\w+)\s*\)\s*(?://.*)?$")
_DIRECTIVES = ("preproc_if", "preproc_ifdef")


def read_block(ctx: Context, node: Node) -> Block:
    """The statements between the braces of `node`, or `node` itself if it is a single statement.

    A jump that ends them is no part of the block: whatever is added to that stands in front of it.
    """
    if ctx.blocks > _MAX_DEPTH:
        ctx.fail(f"blocks are nested deeper than {_MAX_DEPTH}", node)
    ctx.open_block()
    with ctx.inner_scope():
        if node.type == "compound_statement":
            end = _read_statements(ctx, named(node), node.end_byte - 1)
            return ctx.close_block(Span(node.start_byte + 1, end))
        _read_statements(ctx, [node], node.end_byte)
    return ctx.close_block(ctx.tree.span(node))


def _read_statements(ctx: Context, nodes: Sequence[Node], end: int) -> int:
    """Reads statements in front of byte `end`; where they end, if a jump ends them in front of that."""
    at = 0
    while at < len(nodes):
        start = ctx.tree.start(nodes[at])
        while _is_pragma(ctx, nodes[at]) and at + 1 < len(nodes):
            # What it says is about the statement behind it, so it stays in front of that.
            at += 1
        node, behind = nodes[at], nodes[at + 1 :]
        if ctx.jump is not None and is_jump(node, ctx.jump) and (ctx.blocks > 1 or behind):
            _check_jump(ctx, node, behind)
            return start
        if _is_guard(ctx, node):
            stop = ctx.tree.line_end(nodes[-1].end_byte, end)
            with ctx.statement(Span(start, stop)):
                _read_guard(ctx, node, behind, stop)
            return end
        if node.type in _LOOPS_AND_BRANCHES and behind and is_empty(behind[0]):
            # `};` is one statement for a reader: it goes when the loop or branch goes.
            at += 1
        with ctx.statement(Span(start, nodes[at].end_byte)), ctx.ended_by(_jump_behind(ctx, node, behind)):
            _read_statement(ctx, node)
        at += 1
    return end


def _check_jump(ctx: Context, node: Node, behind: Sequence[Node]) -> None:
    if any(inner.type == "return_statement" and named(inner) for inner in (node, *named(node))):
        ctx.fail("a kernel that returns a value is not modelled", node)
    if behind:
        ctx.fail(f"nothing comes to what stands behind this {ctx.tree.phrase(node)}", behind[0], "remove it")


def _is_guard(ctx: Context, node: Node) -> bool:
    return ctx.jump is not None and node.type == "if_statement" and any(jumps_in(node, ctx.jump))


def _read_guard(ctx: Context, node: Node, behind: Sequence[Node], end: int) -> None:
    """A branch with a jump: what stands behind it runs if the branch does not jump."""
    then = field(node, "consequence")
    assert then is not None and ctx.jump is not None
    if field(node, "alternative") is None and always_jumps(then, ctx.jump):
        read_guard(ctx, node, lambda: _read_behind(ctx, node, behind, end))
    elif is_last(behind, ctx.jump):
        read_guard(ctx, node)
    else:
        message = f"a {ctx.jump.value} on one of several ways through a branch is not modelled"
        hint = "give what stands behind the branch an else, or leave out the else of a branch that always jumps"
        ctx.fail(message, next(jumps_in(node, ctx.jump)), hint)


def _read_behind(ctx: Context, node: Node, behind: Sequence[Node], end: int) -> Block:
    """What stands behind a branch, in the scope that the branch stands in."""
    if ctx.blocks > _MAX_DEPTH:
        ctx.fail(f"blocks are nested deeper than {_MAX_DEPTH}", node)
    ctx.open_block()
    end = _read_statements(ctx, behind, end)
    return ctx.close_block(Span(node.end_byte, end))


def _jump_behind(ctx: Context, node: Node, behind: Sequence[Node]) -> Jump | None:
    """The jump that comes to the same as the end of a statement."""
    own = _section_kind(ctx, node)
    if own is not None:
        # Behind the section of one kind of core, that of another one means nothing to the first.
        behind = [other for other in behind if _section_kind(ctx, other) in (None, own)]
    return ctx.jump if is_last(behind, ctx.jump) else None


def _is_pragma(ctx: Context, node: Node) -> bool:
    directive = field(node, "directive")
    return node.type == "preproc_call" and directive is not None and ctx.tree.text(directive) == "#pragma"


def _read_statement(ctx: Context, node: Node) -> None:
    reader = _READERS.get(node.type)
    if reader is None:
        word, hint = _WORDS.get(node.type, (node.type.replace("_", " "), ""))
        ctx.fail(f"{word} is not modelled", node, hint)
    reader(ctx, node)


def _expression_statement(ctx: Context, node: Node) -> None:
    if is_empty(node):
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
    """The end of a kernel; elsewhere the statements that a jump ends are read without it."""
    if named(node):
        ctx.fail("a kernel that returns a value is not modelled", node)
    if ctx.jump is not Jump.RETURN:
        what = "return inside a loop is not modelled" if is_in_loop(node) else "return is not modelled here"
        ctx.fail(what, node, "put the rest of the kernel into an if")
    ctx.add(Return(ctx.uid(), ctx.span))


def _continue(ctx: Context, node: Node) -> None:
    ctx.fail("continue is not modelled here", node, "put the rest of the body into an if")


def _section_kind(ctx: Context, node: Node) -> SectionKind | None:
    """The kind of core that sees the text under a directive, None if it is no such directive."""
    asked = field(node, "condition") or field(node, "name")
    if node.type not in _DIRECTIVES or asked is None:
        return None
    inner = named(asked)
    name = ctx.tree.text(inner[0]) if asked.type == "preproc_defined" and inner else ctx.tree.text(asked)
    is_definite = asked.type == "preproc_defined" or ctx.tree.text(node).startswith("#ifdef")
    return _SECTIONS.get(name) if is_definite else None


def _is_seen(ctx: Context, node: Node) -> bool | None:
    """Whether the text under a directive is there when a kernel with flags of its own is compiled for the device."""
    asked = field(node, "condition") or field(node, "name")
    line = ctx.tree.text(node).partition("\n")[0] if asked is not None else ""
    match = _DEFINED.match(line)
    macro = None if match is None else match[2] or match[4]
    if match is None or macro not in _MACROS:
        return None
    return _MACROS[macro] is not (match[1] == "#ifndef" or match[3] == "!")


def _read_seen(ctx: Context, node: Node, is_seen: bool) -> None:
    """The text under a directive, or under its `#else`; it is a block of its own, so that flags can be added in it."""
    alternative = field(node, "alternative")
    if alternative is not None and alternative.type != "preproc_else":
        ctx.fail("#elif is not modelled", alternative)
    asked = field(node, "condition") or field(node, "name")
    assert asked is not None
    head, end = asked, (alternative or node.children[-1]).start_byte
    nodes = [child for child in named(node) if child not in (asked, alternative)]
    if not is_seen:
        if alternative is None:
            return
        head, end, nodes = alternative.children[0], node.children[-1].start_byte, named(alternative)
    if ctx.calls:
        _read_statements(ctx, nodes, end)
        return
    read_under(ctx, lambda: _under(ctx, head, nodes, end))


def _under(ctx: Context, head: Node, nodes: Sequence[Node], end: int) -> Block:
    ctx.open_block()
    with ctx.inner_scope():
        end = _read_statements(ctx, nodes, end)
    return ctx.close_block(Span(head.end_byte, end))


def _section(ctx: Context, node: Node) -> None:
    """`#if defined(__DAV_CUBE__)` to `#endif`: what one kind of core does."""
    kind = _section_kind(ctx, node)
    asked = field(node, "condition") or field(node, "name")
    is_seen = _is_seen(ctx, node)
    if is_seen is not None:
        _read_seen(ctx, node, is_seen)
        return
    if kind is None or asked is None:
        line = ctx.tree.text(node).splitlines()[0]
        ctx.fail(f"{line} is not modelled", node, f"expected #if defined({' or '.join(_SECTIONS)})")
    alternative = field(node, "alternative")
    if alternative is not None:
        ctx.fail("#else and #elif are not modelled", alternative, "end the section with #endif")
    uid, before = ctx.uid(), dict(ctx.bound)
    ctx.open_block()
    with ctx.inner_scope():
        nodes = [child for child in named(node) if child != asked]
        end = _read_statements(ctx, nodes, node.children[-1].start_byte)
    block = ctx.close_block(Span(asked.end_byte, end))
    for variable, bound in before.items():
        # The other kind of core does not run this, so a variable that it changed has no one value behind it.
        inside = ctx.bound.get(variable)
        if inside is not None and parts(inside) != parts(bound):
            del ctx.bound[variable]
    ctx.add(Section(uid, ctx.span, kind, block))


def _with_attributes(ctx: Context, node: Node) -> None:
    """`[[likely]] STATEMENT`: what the compiler may do with a statement does not change what the statement does."""
    *attributes, statement = named(node)
    for attribute in attributes:
        if ctx.tree.text(attribute) not in _HARMLESS_ATTRIBUTES:
            ctx.fail(f"{ctx.tree.text(attribute)} is not modelled", attribute)
    if _is_guard(ctx, statement):
        ctx.fail("a branch with return or continue behind attributes is not modelled", statement)
    _read_statement(ctx, statement)


_READERS: Mapping[str, Callable[[Context, Node], None]] = {
    **DECLARATIONS,
    "expression_statement": _expression_statement,
    "if_statement": read_if,
    "for_statement": read_for,
    "while_statement": read_while,
    "compound_statement": read_braces,
    "return_statement": _return,
    "continue_statement": _continue,
    "attributed_statement": _with_attributes,
    "preproc_if": _section,
    "preproc_ifdef": _section,
}
