"""Names out of attributes: `<PIPE_V>`, `"PIPE_V"`, `#pto.pipe<PIPE_V>`, `#pto<pipe PIPE_V>` and aliases of them."""

import re

from syncopt.frontend._pto.context import OpReader
from syncopt.frontend._pto.lexer import Kind, Token

_PRETTY = re.compile(r"#pto\.\w+<\s*(\w+)\s*>")
_OPAQUE = re.compile(r"#pto<\s*\w+\s+(\w+)\s*>")


def take_name(op: OpReader, expected: str) -> Token:
    """Takes a name in any spelling; the token's text is the bare name."""
    if op.take_if("<"):
        token = op.take_kind(Kind.WORD, expected)
        op.take(">")
        return token
    if not op.sees_kind(Kind.STRING, Kind.WORD, Kind.ATTRIBUTE):
        op.unexpected(expected)
    token = op.next(expected)
    return Token(Kind.WORD, bare_name(op, token), token.span)


def bare_name(op: OpReader, token: Token) -> str:
    """The name in an attribute, a string or a word."""
    text = op.function.attributes.get(token.text, token.text)
    match = _PRETTY.fullmatch(text) or _OPAQUE.fullmatch(text)
    return match[1] if match else text.strip('"')
