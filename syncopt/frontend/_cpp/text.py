"""C++ text as tree-sitter nodes.

The qualifiers of the kernel language (`__gm__`, `AICORE`, ...) are no C++: they are blanked out before the text is
parsed, and read off the text where they matter. The grammar knows no names and takes `a < b && c > (d)` for a call of
a template: a `<` behind a name and a blank is parsed as a `>`, which has the same rank; the text of the operator stays.
The templates that kernels use are known by name.
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
_HEADER_WORDS = frozenset({"AICORE", "PTO_INTERNAL", "PTO_INST"})
_QUALIFIERS = frozenset({GLOBAL_MEMORY, ENTRY, *ON_CHIP, *_HEADER_WORDS, "__aicore__", "[aicore]", "__in__", "__out__"})
_TEMPLATES = rb"template|\w+_cast|Tile(?:Left|Right|Acc)?(?:Compact)?|Shape|Stride|GlobalTensor"
_REPLACED = re.compile(
    rb"^[ \t]*#[^\n]*|\b(?:__[a-z]+__|AICORE|PTO_INTERNAL|PTO_INST)\b|\[aicore\]|\b(?!(?:"
    + _TEMPLATES
    + rb")\b)\w+[ \t]+<(?![<=])",
    re.MULTILINE,
)
_LAST_WORD = re.compile(rb"(\[aicore\]|\w+)\s*\Z")
_FIRST_WORD = re.compile(rb"\s*(\[aicore\]|\w+)")
_REST_OF_LINE = re.compile(rb"[^\S\n]*(?:/\*[^\n]*?\*/[^\S\n]*)*(?://[^\n]*)?\n")
_LONGEST_WORD = 80


def span_of(node: Node) -> Span:
    """Bytes of a node."""
    return Span(node.start_byte, node.end_byte)


def named(node: Node) -> list[Node]:
    """The named children of a node, comments left out."""
    return [child for child in node.named_children if child.type != "comment"]


def declared(pointer: Node) -> list[Node]:
    """What a pointer declarator declares; `const` and `__restrict__` do not matter."""
    return [child for child in named(pointer) if child.type != "type_qualifier"]


def field(node: Node, name: str) -> Node | None:
    """The child that has a name in the grammar."""
    return node.child_by_field_name(name)


def descendants(node: Node, without: frozenset[str] = frozenset()) -> Iterator[Node]:
    """A node and all below it in text order, apart from nodes of some types and what is below them."""
    waiting = [node]
    while waiting:
        now = waiting.pop()
        if now.type in without:
            continue
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
        self._text = _REPLACED.sub(_replacement, source.data)
        # Trees must outlive their nodes.
        self._trees = [tree_sitter.Parser(_LANGUAGE).parse(self._text)]
        self.root = self._trees[0].root_node

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
        """The blanked words around a node, with `const` between them or not."""
        found: set[str] = set()
        at = node.start_byte
        while (match := _LAST_WORD.search(self.source.data[max(0, at - _LONGEST_WORD) : at])) is not None:
            word = match[1].decode()
            if word not in _QUALIFIERS and word != "const":
                break
            found.add(word)
            at -= len(match[0])
        match = _FIRST_WORD.match(self.source.data, node.end_byte)
        return frozenset(found | {match[1].decode()} if match is not None else found) & _QUALIFIERS

    def start(self, node: Node) -> int:
        """Where a node begins, blanked words in front of it included."""
        at = node.start_byte
        while (match := _LAST_WORD.search(self.source.data[max(0, at - _LONGEST_WORD) : at])) is not None:
            if match[1].decode() not in _QUALIFIERS:
                break
            at -= len(match[0])
        return at

    def span(self, node: Node) -> Span:
        """Bytes of a node, blanked words in front of it included."""
        return Span(self.start(node), node.end_byte)

    def line_end(self, at: int, end: int) -> int:
        """The end of the line of byte `at`, if that comes before `end` and nothing but a comment does; else `at`."""
        match = _REST_OF_LINE.match(self.source.data, at, end)
        return match.end() if match is not None else at

    def as_call(self, node: Node) -> Node | None:
        """A node of the form `name(...)` as a call, whatever the grammar took it for; None if it is no call."""
        before = b"void f(){"
        start = node.start_byte
        text = before + b" " * (start - len(before)) + self._text[start : node.end_byte] + b";}"
        tree = tree_sitter.Parser(_LANGUAGE).parse(text)
        self._trees.append(tree)
        found = (n for n in descendants(tree.root_node) if n.type == "call_expression" and n.start_byte == start)
        return None if tree.root_node.has_error else next(found, None)

    def errors(self) -> Iterator[Span]:
        """Where tree-sitter could not read the text, or put in a token to go on."""
        if not self.root.has_error:
            return
        for node in descendants(self.root):
            if node.is_error or node.is_missing:
                yield Span(node.start_byte, max(node.end_byte, node.start_byte + 1))


def _replacement(match: re.Match[bytes]) -> bytes:
    """What is parsed in the place of a directive (itself), a qualifier (blanks) or a name and `<`."""
    text = match[0]
    if text.endswith(b"<") and not text.lstrip().startswith(b"#"):
        return text[:-1] + b">"
    return b" " * len(text) if text.decode() in _QUALIFIERS else text
