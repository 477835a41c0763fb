"""The tokens of a stretch of MLIR text, with byte offsets. Types and attributes are one token each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from syncopt.ir.source import InputError, Source, Span


class Kind(Enum):
    """What a token is."""

    VALUE = "value"
    SYMBOL = "symbol"
    TYPE = "type"
    ATTRIBUTE = "attribute"
    STRING = "string"
    NUMBER = "number"
    WORD = "word"
    LABEL = "block label"
    PUNCTUATION = "punctuation"
    REGION = "region"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; of a region, the text is `{` and the span runs from brace to brace."""

    kind: Kind
    text: str
    span: Span


_BLANK = re.compile(rb"(?:\s+|//[^\n]*)+")
_BODIED_WORDS = frozenset({"memref", "vector", "tensor", "tuple", "complex", "strided", "affine_map", "dense", "array"})
_PATTERNS = (
    (Kind.VALUE, rb"%[\w$.]+(?:-(?!>)[\w$.]*)*(?:\#\d+)?"),
    (Kind.SYMBOL, rb'@(?:[A-Za-z_][\w$.]*|"(?:[^"\\\n]|\\.)*")'),
    (Kind.TYPE, rb"![A-Za-z_][\w$.]*"),
    (Kind.ATTRIBUTE, rb"\#[A-Za-z_][\w$.]*"),
    (Kind.STRING, rb'"(?:[^"\\\n]|\\.)*"'),
    (Kind.NUMBER, rb"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"),
    (Kind.WORD, rb"[A-Za-z_][\w$.]*"),
    (Kind.LABEL, rb"\^[\w$.]+"),
    (Kind.PUNCTUATION, rb"->|::|[-=:,()\[\]{}<>?+*/|]"),
)
_TOKEN = re.compile(b"|".join(b"(?P<%s>%s)" % (kind.name.encode(), pattern) for kind, pattern in _PATTERNS))
_BODY_PART = re.compile(rb'->|[<>]|"(?:[^"\\\n]|\\.)*"|//[^\n]*')


def tokens(source: Source, start: int, end: int, regions: Sequence[Span] = ()) -> tuple[Token, ...]:
    """All tokens of bytes `start` to `end`; each of `regions` (in text order) becomes one token."""
    found: list[Token] = []
    at = start
    for region in regions:
        found.extend(_flat_tokens(source, at, region.start))
        found.append(Token(Kind.REGION, "{", region))
        at = region.end
    found.extend(_flat_tokens(source, at, end))
    return tuple(found)


def _flat_tokens(source: Source, start: int, end: int) -> list[Token]:
    found: list[Token] = []
    at = _skip_blank(source.data, start, end)
    while at < end:
        token = _token(source, at, end)
        found.append(token)
        at = _skip_blank(source.data, token.span.end, end)
    return found


def _skip_blank(data: bytes, at: int, end: int) -> int:
    match = _BLANK.match(data, at, end)
    return match.end() if match else at


def _token(source: Source, at: int, end: int) -> Token:
    match = _TOKEN.match(source.data, at, end)
    if match is None or match.lastgroup is None:
        raise InputError("syntax error", source, Span(at, at + 1))
    kind, stop = Kind[match.lastgroup], match.end()
    word = match.group().decode()
    if source.data[stop : stop + 1] == b"<" and _takes_body(kind, word):
        stop = _body_end(source, stop, end)
        kind = Kind.TYPE if kind is Kind.WORD else kind
    return Token(kind, source.data[at:stop].decode(), Span(at, stop))


def _takes_body(kind: Kind, word: str) -> bool:
    return kind in (Kind.TYPE, Kind.ATTRIBUTE) or (kind is Kind.WORD and word in _BODIED_WORDS)


def _body_end(source: Source, at: int, end: int) -> int:
    """The byte behind the `>` that closes the `<` at `at`."""
    depth = 0
    for match in _BODY_PART.finditer(source.data, at, end):
        depth += {b"<": 1, b">": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    raise InputError("syntax error: `<` without `>`", source, Span(at, at + 1))
