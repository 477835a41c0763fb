"""`return` and `continue`: where they do no more than end the statements that they stand behind."""

from collections.abc import Iterator, Sequence
from enum import Enum

from tree_sitter import Node

from syncopt.frontend._cpp.text import descendants, field, named

LOOPS = frozenset({"for_statement", "for_range_loop", "while_statement", "do_statement"})
_ELSEWHERE = LOOPS | {"lambda_expression"}


class Jump(Enum):
    """A statement that ends a function or a round of a loop; the value is how it is written."""

    RETURN = "return"
    CONTINUE = "continue"


def is_jump(node: Node, jump: Jump) -> bool:
    """Whether a statement, its attributes left aside, is a jump."""
    return _bare(node).type == f"{jump.value}_statement"


def is_empty(node: Node) -> bool:
    """Whether a statement is nothing but its semicolon."""
    return node.type == "expression_statement" and not named(node)


def jumps_in(node: Node, jump: Jump) -> Iterator[Node]:
    """The jumps below a node, apart from those in loops, which mean something else there."""
    return (inner for inner in descendants(node, _ELSEWHERE) if inner.type == f"{jump.value}_statement")


def always_jumps(node: Node, jump: Jump) -> bool:
    """Whether every way through a statement ends in a jump at its end."""
    node = _bare(node)
    match node.type:
        case "compound_statement":
            inner = [child for child in named(node) if not is_empty(child)]
            return bool(inner) and always_jumps(inner[-1], jump)
        case "if_statement":
            then, orelse = field(node, "consequence"), field(node, "alternative")
            return then is not None and orelse is not None and all(always_jumps(arm, jump) for arm in (then, orelse))
        case "else_clause":
            return always_jumps(named(node)[-1], jump)
        case _:
            return is_jump(node, jump)


def is_last(behind: Sequence[Node], jump: Jump | None) -> bool:
    """Whether nothing but a jump stands behind a statement."""
    return all(is_empty(node) or (jump is not None and is_jump(node, jump)) for node in behind)


def is_in_loop(node: Node) -> bool:
    """Whether a loop stands around a node."""
    around = node.parent
    while around is not None and around.type not in LOOPS:
        around = around.parent
    return around is not None


def _bare(node: Node) -> Node:
    while node.type == "attributed_statement":
        node = named(node)[-1]
    return node
