"""What stands in a file outside of functions, and under which directives."""

from collections.abc import Iterator

from tree_sitter import Node

from syncopt.frontend._cpp.text import Tree, field, named

Directives = tuple[Node, ...]
"""The `#if`, `#elif` and `#else` that decide whether the compiler sees a piece of text, from the outside in."""

_CONDITIONAL = ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef")
_ALTERNATIVES = ("preproc_else", "preproc_elif", "preproc_elifdef")
_TRANSPARENT = ("namespace_definition", "linkage_specification", "declaration_list")
_TRUTHS = {"0": False, "false": False, "1": True, "true": True}


def outside_functions(node: Node, under: Directives = ()) -> Iterator[tuple[Node, Directives]]:
    """Every declaration, definition and macro of a file, with the directives around it; `#if 0` leaves out its text."""
    for child in named(node):
        if child.type in _TRANSPARENT:
            body = field(child, "body")
            if body is not None and body.type != "declaration_list":
                yield body, under
            else:
                yield from outside_functions(child if body is None else body, under)
        elif child.type in _CONDITIONAL and child.type not in _ALTERNATIVES:
            yield from _branches(child, under)
        elif child.type not in _ALTERNATIVES:
            yield child, under


def first_line(tree: Tree, under: Directives) -> str:
    """The outermost directive of some as it is written, for an `#else` the `#if` that it belongs to."""
    node = under[0]
    while node.type in _ALTERNATIVES and node.parent is not None:
        node = node.parent
    return tree.text(node).splitlines()[0]


def _branches(node: Node, under: Directives) -> Iterator[tuple[Node, Directives]]:
    """What stands under a directive and under its alternatives."""
    truth, alternative = _truth(node), field(node, "alternative")
    if truth is not False:
        yield from outside_functions(node, under if truth else (*under, node))
    if alternative is not None and not truth:
        yield from _branches(alternative, under if truth is False else (*under, alternative))


def _truth(node: Node) -> bool | None:
    """Whether the text under a directive is there, None if that depends on how the file is compiled."""
    condition = field(node, "condition")
    if node.type == "preproc_else" or _is_guard(node):
        return True
    return _TRUTHS.get(condition.text.decode()) if condition is not None and condition.text else None


def _is_guard(node: Node) -> bool:
    """`#ifndef NAME`, `#define NAME` around a whole file."""
    inner = named(node)
    if node.type != "preproc_ifdef" or len(inner) < len(("name", "define")) or inner[1].type != "preproc_def":
        return False
    name = field(inner[1], "name")
    return name is not None and name.text == inner[0].text and field(inner[1], "value") is None
