"""C++ text as tree-sitter nodes.

The qualifiers of the kernel language (`__gm__`, `AICORE`, ...) are no C++: they are blanked out before the text is
parsed, and read off the text where they matter.
"""

import re
from collections.abc import Iterator

import tree_sitter
import tree_sitter_cpp
from tree_sitter import Node

from syncopt.ir.source import InputError, Source, Span

_LANGUAGE = tree_sitter.Language(tree_sitter_cpp.language())
GLOBAL_MEMORY = "__gm__"
ENTRY = "__global__"
ON_CHIP = frozenset({"__ubuf__", "__cbuf__", "__ca__", "__cb__", "__cc__", "__fbuf__", "__biasbuf__"})
_QUALIFIERS = frozenset({GLOBAL_MEMORY, ENTRY, *ON_CHIP, "AICORE", "__aicore__", "[aicore]"})
_QUALIFIER = re.compile(rb"(?<![\w])(?:__\w+__|AICORE)(?![\w])|\[aicore\]")
_LAST_WORD = re.compile(rb"(\[aicore\]|\w+)\s*\Z")
_FIRST_WORD = re.compile(rb"\s*(\[aicore\]|\w+)")
_LONGEST_WORD = 80


def span_of(node: Node) -> Span:
    """Bytes of a node."""
    return Span(node.start_byte, node.end_byte)


def named(node: Node) -> list[Node]:
    """The named children of a node, comments left out."""
    return [child for child in node.named_children if child.type != "comment"]


def field(node: Node, name: str) -> Node | None:
    """The child that has a name in the grammar."""
    return node.child_by_field_name(name)


def descendants(node: Node) -> Iterator[Node]:
    """A node and all below it, in text order."""
    waiting = [node]
    while waiting:
        now = waiting.pop()
        yield now
        waiting.extend(reversed(now.children))


class Tree:
    """A parsed file.

    Parameters
    ----------
    source : Source
        The file.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        blanked = _QUALIFIER.sub(_blanks, source.data)
        # The tree must outlive its nodes.
        self._tree = tree_sitter.Parser(_LANGUAGE).parse(blanked)
        self.root = self._tree.root_node

    def text(self, node: Node) -> str:
        """Text of a node as it stands in the file."""
        return self.source.data[node.start_byte : node.end_byte].decode()

    def phrase(self, node: Node) -> str:
        """Text of a node on one line, without comments."""
        if any(child.type == "comment" for child in descendants(node)):
            return " ".join(self.phrase(child) for child in node.children if child.type != "comment")
        return " ".join(self.text(node).split())

    def refusal(self, message: str, node: Node, hint: str = "") -> InputError:
        """An error about a node."""
        return InputError(message, self.source, span_of(node), hint)

    def qualifiers(self, node: Node) -> frozenset[str]:
        """The blanked words right before and right behind a node."""
        found: set[str] = set()
        at = node.start_byte
        while (match := _LAST_WORD.search(self.source.data[max(0, at - _LONGEST_WORD) : at])) is not None:
            word = match[1].decode()
            if word not in _QUALIFIERS:
                break
            found.add(word)
            at -= len(match[0])
        match = _FIRST_WORD.match(self.source.data, node.end_byte)
        if match is not None and match[1].decode() in _QUALIFIERS:
            found.add(match[1].decode())
        return frozenset(found)

    def errors(self) -> Iterator[Span]:
        """Where tree-sitter could not read the text, or put in a token to go on."""
        if not self.root.has_error:
            return
        for node in descendants(self.root):
            if node.is_error or node.is_missing:
                yield Span(node.start_byte, max(node.end_byte, node.start_byte + 1))


def _blanks(match: re.Match[bytes]) -> bytes:
    word = match[0].decode()
    return b" " * len(word) if word in _QUALIFIERS else match[0]
