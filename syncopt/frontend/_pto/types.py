"""Types of the IR from their text."""

import re
from collections.abc import Mapping
from typing import TypeVar

from syncopt.frontend._pto.lexer import Kind, Token
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError, Source
from syncopt.ir.types import (
    DTYPES,
    Compact,
    DType,
    Layout,
    MultiTileType,
    Pad,
    PointerType,
    ScalarType,
    TileType,
    ValueType,
    ViewType,
)

_T = TypeVar("_T")

_SCALAR = re.compile(r"index|[us]?i[1-9]\d*|bf16|f16|f32|f64")
_BODIED = re.compile(r"!pto\.(\w+)<(.*)>", re.DOTALL)
_NESTED_TILE = re.compile(r"!pto\.tile_buf<([^<>]*)>")
_DIMENSIONS = re.compile(r"((?:(?:[0-9]{1,18}|\?)x)+)([\w!.]+)")
_POSITIVE = re.compile(r"[1-9][0-9]{0,17}")
_SIZE = re.compile(r"[0-9]{1,18}|\?")
_COMMENT = re.compile(r"//[^\n]*")
_TILE_KEYS = frozenset(("loc", "dtype", "rows", "cols", "v_row", "v_col", "valid", "blayout", "slayout", "count"))
_OTHER_TILE_KEYS = frozenset(("fractal", "pad", "compact"))
_MEMORIES = {memory.value: memory for memory in Memory if memory is not Memory.GM}
_BLAYOUTS = {layout.value: layout for layout in (Layout.ROW_MAJOR, Layout.COL_MAJOR)}
_SLAYOUTS = {layout.value: layout for layout in Layout}
_PADS = {str(pad.value): pad for pad in Pad}
_COMPACTS = {str(compact.value): compact for compact in Compact}


class Types:
    """Reads types; `aliases` are the `!name = ...` definitions of the file."""

    def __init__(self, source: Source, aliases: Mapping[str, str]) -> None:
        self._source = source
        self._aliases = aliases

    def read(self, token: Token) -> ValueType:
        """The type that a token names.

        Raises
        ------
        InputError
            If the type is not one of the IR.
        """
        text = self._plain(token)
        if _SCALAR.fullmatch(text):
            return ScalarType(text)
        match = _BODIED.fullmatch(text)
        if match is None or token.kind not in (Kind.TYPE, Kind.WORD):
            raise self._unknown(token)
        name, body = match.groups()
        match name:
            case "ptr":
                return self._pointer(body, token)
            case "tensor_view" | "partition_tensor_view":
                return self._view(body, token)
            case "tile_buf":
                return self._tile(self._fields(body, token), token)
            case "multi_tile_buf":
                return self._multi_tile(_NESTED_TILE.sub(r"\1", body), token)
            case _:
                raise self._unknown(token)

    def _plain(self, token: Token) -> str:
        text, seen = token.text, set[str]()
        while text in self._aliases and text not in seen:
            seen.add(text)
            text = self._aliases[text]
        return "".join(_COMMENT.sub("", text).split())

    def _unknown(self, token: Token, what: str = "") -> InputError:
        reason = f": {what}" if what else ""
        return InputError(f"type {' '.join(token.text.split())} is not modelled{reason}", self._source, token.span)

    def _dtype(self, text: str, token: Token) -> DType:
        if text not in DTYPES:
            raise self._unknown(token, f"element type {text}")
        return DTYPES[text]

    def _pointer(self, body: str, token: Token) -> PointerType:
        element, _, memory = body.partition(",")
        if memory not in ("", "gm"):
            raise self._unknown(token, f"a pointer into {memory}")
        return PointerType(self._dtype(element, token))

    def _view(self, body: str, token: Token) -> ViewType:
        shape, element = self._shaped(body, token)
        return ViewType(shape, self._dtype(element, token))

    def _shaped(self, body: str, token: Token) -> tuple[tuple[int | None, ...], str]:
        match = _DIMENSIONS.fullmatch(body)
        if match is None:
            raise self._unknown(token, f"no shape in {body}")
        return tuple(_size(part) for part in match[1].split("x")[:-1]), match[2]

    def _fields(self, body: str, token: Token) -> dict[str, str]:
        """Long or short form as keys of the long form; `valid=` is split as well."""
        parts = body.split(",")
        if len(parts) > 1 and "=" not in parts[0] + parts[1]:
            parts[:2] = [f"loc={parts[0]}", *self._short_shape(parts[1], token)]
        fields: dict[str, str] = {}
        for part in parts:
            key, equals, text = part.partition("=")
            if not equals or key not in _TILE_KEYS | _OTHER_TILE_KEYS or key in fields:
                raise self._unknown(token, part)
            fields[key] = text
        if "valid" in fields:
            fields["v_row"], _, fields["v_col"] = fields.pop("valid").partition("x")
        return fields

    def _short_shape(self, text: str, token: Token) -> list[str]:
        shape, element = self._shaped(text, token)
        if len(shape) != 2 or None in shape:
            raise self._unknown(token, f"{text} is not rows x columns")
        return [f"rows={shape[0]}", f"cols={shape[1]}", f"dtype={element}"]

    def _multi_tile(self, body: str, token: Token) -> MultiTileType:
        fields = self._fields(body, token)
        count = self._extent(fields.pop("count", ""), "count", token)
        return MultiTileType(self._tile(fields, token), count)

    def _tile(self, fields: dict[str, str], token: Token) -> TileType:
        if "count" in fields:
            raise self._unknown(token, f"count={fields['count']}")
        rows, cols = (self._extent(fields.get(key, ""), key, token) for key in ("rows", "cols"))
        return TileType(
            memory=self._choice(_MEMORIES, "loc", fields, token),
            dtype=self._dtype(fields.get("dtype", ""), token),
            rows=rows,
            cols=cols,
            valid_rows=self._valid(fields, "v_row", rows, token),
            valid_cols=self._valid(fields, "v_col", cols, token),
            blayout=self._choice(_BLAYOUTS, "blayout", {"blayout": "row_major", **fields}, token),
            slayout=self._choice(_SLAYOUTS, "slayout", {"slayout": "none_box", **fields}, token),
            fractal=self._extent(fields.get("fractal", "512"), "fractal", token),
            pad=self._choice(_PADS, "pad", {"pad": "0", **fields}, token),
            compact=self._choice(_COMPACTS, "compact", {"compact": "0", **fields}, token),
        )

    def _extent(self, text: str, key: str, token: Token) -> int:
        if _POSITIVE.fullmatch(text) is None:
            raise self._unknown(token, f"{key}={text}")
        return int(text)

    def _valid(self, fields: dict[str, str], key: str, default: int, token: Token) -> int | None:
        text = fields.get(key, str(default))
        if _SIZE.fullmatch(text) is None:
            raise self._unknown(token, f"{key}={text}")
        return _size(text)

    def _choice(self, choices: Mapping[str, _T], key: str, fields: Mapping[str, str], token: Token) -> _T:
        text = fields.get(key, "")
        if text not in choices:
            raise self._unknown(token, f"{key}={text}")
        return choices[text]


def _size(text: str) -> int | None:
    return None if text == "?" else int(text)
