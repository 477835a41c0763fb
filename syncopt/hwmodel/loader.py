"""Machines from TOML files: the ones that come with syncopt, and a user's own that change some figures of them."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from fractions import Fraction
from importlib import resources
from pathlib import Path
from typing import cast

from syncopt.hwmodel.figures import GROUPS, SPECS, Figure, Kind, Spec
from syncopt.hwmodel.machine import Machine
from syncopt.ir.source import InputError, Source, Span

Table = Mapping[str, object]
"""A TOML table as parsed."""

_BASE = "ascend910b"
_LARGEST_EXPONENT = 18
_ENTRY_KEYS = ("value", "unit", "source", "informational")
_HEADER = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_ASSIGNMENT = re.compile(r"\s*([\w.\-]+)\s*=")


def machine_names() -> tuple[str, ...]:
    """The machines that come with syncopt."""
    folder = resources.files("syncopt.hwmodel").joinpath("machines")
    stems = (entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted(stem for stem in stems if stem != _BASE))


def load_machine(name_or_path: str, overrides: Sequence[str] = ()) -> Machine:
    """The machine of a name or a TOML file.

    Parameters
    ----------
    name_or_path : str
        A name such as `910b2`, or the path of a file that ends in `.toml`.
    overrides : sequence of str
        `KEY=VALUE` each, for figures that are to be different; later ones win.

    Raises
    ------
    InputError
        If there is no such machine or file, the file is not what it should be, or an override is impossible.
    """
    loaded = _load(_find(name_or_path, machine_names(), Path()), ())
    missing = [key for key in SPECS if key not in loaded.figures]
    if missing:
        what = f"{missing[0]} and {len(missing) - 1} more figures are" if len(missing) > 1 else f"{missing[0]} is"
        help = 'add extends = "910b2" to take what is missing from there'
        raise InputError(f"{what} missing", loaded.source, help=help)
    figures = dict(loaded.figures)
    for override in overrides:
        figures.update(_override(override, figures))
    return Machine(loaded.name, tuple(figures[key] for key in SPECS))


@dataclass(frozen=True)
class _Loaded:
    name: str
    source: Source
    figures: dict[str, Figure]


def _find(name: str, names: tuple[str, ...], folder: Path) -> Source:
    """The file of a machine: one of `names`, or a path seen from `folder`."""
    if name.endswith(".toml"):
        return _read(folder / name)
    if name in names:
        entry = resources.files("syncopt.hwmodel").joinpath("machines", f"{name}.toml")
        return Source(str(entry), entry.read_bytes())
    raise InputError(
        f"unknown machine {name!r}",
        help=f"known machines: {', '.join(machine_names())}; or give a file that ends in .toml",
    )


def _read(path: Path) -> Source:
    try:
        return Source(str(path), path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read machine file {path}: {error.strerror}") from error


def _load(source: Source, below: tuple[str, ...]) -> _Loaded:
    """The figures of a file over those of the file that it extends; `below` are the files that extend this one."""
    table = _parse(source)
    name = _text(table, "name", source) or Path(source.path).stem
    figures: dict[str, Figure] = {}
    parent = _text(table, "extends", source)
    if parent is not None:
        figures.update(_load(_parent(parent, source, (*below, _identity(source))), (*below, _identity(source))).figures)
    own = {key: entry for key, entry in table.items() if key not in ("name", "extends")}
    for key, entry in _flatten(own, source).items():
        figures.update(_entry(key, entry, source))
    return _Loaded(name, source, figures)


def _parent(parent: str, source: Source, below: tuple[str, ...]) -> Source:
    try:
        found = _find(parent, (*machine_names(), _BASE), Path(source.path).parent)
    except InputError as error:
        raise InputError(error.message, source, _locate(source, "extends"), error.help) from error
    if _identity(found) in below:
        raise InputError(
            f"{parent} extends itself", source, _locate(source, "extends"), "extend a machine such as 910b2"
        )
    return found


def _identity(source: Source) -> str:
    return str(Path(source.path).resolve())


def _parse(source: Source) -> Table:
    try:
        return tomllib.loads(source.data.decode("utf-8"), parse_float=_decimal)
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8 text", source, Span(error.start, error.end), "save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits is a plain ValueError
        message, span = _syntax_error(str(error), source)
        raise InputError(message, source, span, "see toml.io for the syntax") from error


def _decimal(written: str) -> Decimal:
    try:
        return Decimal(written)
    except InvalidOperation as error:
        raise ValueError(f"{written} is out of every range") from error


def _syntax_error(message: str, source: Source) -> tuple[str, Span]:
    """The parser's words and the place that it names at the end of them."""
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    words = message[: place.start()] if place else message
    words = f"not TOML: {words[:1].lower()}{words[1:]}"
    if place is None or place[1] is None:
        return words, Span(len(source.data), len(source.data))
    lines = source.data.decode("utf-8").replace("\r\n", "\n").split("\n")
    line, column = int(place[1]), int(place[2])
    ahead = source.data.split(b"\n")[: line - 1]
    start = sum(len(text) + 1 for text in ahead) + len(lines[line - 1][: column - 1].encode("utf-8"))
    return words, Span(start, start + 1)


def _text(table: Table, key: str, source: Source) -> str | None:
    found = table.get(key)
    if found is None or isinstance(found, str):
        return found
    raise InputError(f"{key} is {_shown(found)}, expected a text in quotes", source, _locate(source, key))


def _flatten(table: Table, source: Source, prefix: str = "") -> dict[str, object]:
    """Figures by their dotted keys; a table with a `value` is one figure."""
    entries: dict[str, object] = {}
    for name, found in table.items():
        key = f"{prefix}{name}"
        inner = cast(Table, found) if isinstance(found, dict) else None
        if inner is None or key in SPECS or key in GROUPS:
            entries[key] = found
        elif not any(known.startswith(f"{key}.") for known in SPECS):
            raise _unknown(key, source)
        else:
            entries.update(_flatten(inner, source, f"{key}."))
    return entries


def _entry(key: str, entry: object, source: Source) -> dict[str, Figure]:
    """The figure, or the group of figures, that a key of a file sets."""
    where = _locate(source, key)
    if key not in SPECS and key not in GROUPS:
        raise _unknown(key, source)
    table = cast(Table, entry) if isinstance(entry, dict) else {"value": entry, "source": f"set in {source.path}"}
    for name in ("value", "source"):
        if name not in table:
            raise InputError(f"{key} has no {name}", source, where, f"write {_example(key)}")
    for name in table:
        if name not in _ENTRY_KEYS:
            raise InputError(f"{key} has an unknown entry {name}", source, where, f"write {_example(key)}")
    figures: dict[str, Figure] = {}
    for single in GROUPS.get(key, (key,)):
        spec = SPECS[single]
        _check_entry(spec, key, table, source, where)
        value = _value(spec, key, table["value"], source, where)
        figures[single] = Figure(single, value, spec.unit, str(table["source"]), spec.informational)
    return figures


def _example(key: str) -> str:
    spec = SPECS[GROUPS.get(key, (key,))[0]]
    return f'{key} = {{ value = ..., unit = "{spec.unit}", source = "..." }}'


def _check_entry(spec: Spec, key: str, table: Table, source: Source, where: Span | None) -> None:
    if table.get("unit", spec.unit) != spec.unit:
        message = f"{key} has the unit {_shown(table['unit'])}, expected {spec.unit!r}"
        raise InputError(message, source, where, f"give the value in {spec.unit}")
    if not isinstance(table["source"], str) or not table["source"].strip():
        raise InputError(f"{key} has an empty source", source, where, "say where the value comes from")
    if table.get("informational", spec.informational) is not spec.informational:
        wanted = "is informational" if spec.informational else "is used by the model"
        raise InputError(f"{key} {wanted}, the file says otherwise", source, where, "leave informational out")


def _value(spec: Spec, key: str, found: object, source: Source | None, where: Span | None) -> Fraction | str:
    """A value of the right kind within its limits."""
    if spec.kind is Kind.TEXT:
        if isinstance(found, str):
            return found
        raise InputError(f"{key} is {_shown(found)}, expected {spec.kind.value}", source, where)
    if not _is_number(found):
        raise InputError(f"{key} is {_shown(found)}, expected {spec.kind.value}", source, where, f"unit: {spec.unit}")
    value = Fraction(cast(int | Decimal, found))
    if spec.kind is Kind.INTEGER and value.denominator != 1:
        raise InputError(f"{key} is {found}, expected {spec.kind.value}", source, where, f"unit: {spec.unit}")
    if not spec.allows(value):
        raise InputError(f"{key} is {found}, expected {spec.limits()}", source, where, f"unit: {spec.unit}")
    return value


def _is_number(found: object) -> bool:
    """Whether it is a finite number with an exponent that exact arithmetic can bear."""
    if isinstance(found, bool) or not isinstance(found, int | Decimal):
        return False
    number = Decimal(found)
    return number.is_finite() and (number == 0 or abs(number.adjusted()) <= _LARGEST_EXPONENT)


def _shown(found: object) -> str:
    """A value as its writer wrote it, more or less."""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, dict):
        return "a table"
    if isinstance(found, list):
        return "a list"
    return repr(found) if isinstance(found, str) else str(found)


def _unknown(key: str, source: Source | None) -> InputError:
    where = _locate(source, key) if source else None
    return InputError(f"unknown figure {key}", source, where, _near(key))


def _near(key: str) -> str:
    """What the writer may have meant."""
    known = (*(spec.key for spec in SPECS.values() if not spec.informational), *GROUPS)
    section = key.partition(".")[0]
    beside = [name for name in known if name.startswith(f"{section}.")]
    inside = [name for name in known if name.endswith(f".{key}")]
    close = [] if key == section else get_close_matches(key, beside or known, n=3, cutoff=0.8)
    near = close or beside[:6] or inside[:6]
    return f"near: {', '.join(near)}" if near else "syncopt machine 910b2 lists all figures"


def _override(text: str, figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """The figures that one `KEY=VALUE` sets."""
    key, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not key or not written:
        help = "for example --machine-set gm_to_mat.bytes_per_cycle=75"
        raise InputError(f"machine setting {text!r} is not KEY=VALUE", help=help)
    if key not in SPECS and key not in GROUPS:
        raise _unknown(key, None)
    if key in SPECS and SPECS[key].informational:
        raise InputError(f"{key} is informational: the model does not use it", help=_near(key.partition(".")[0]))
    changed: dict[str, Figure] = {}
    for single in GROUPS.get(key, (key,)):
        value = _value(SPECS[single], key, _number(written), None, None)
        changed[single] = replace(figures[single], value=value, source="set by --machine-set")
    return changed


def _number(written: str) -> object:
    try:
        return Decimal(written)
    except InvalidOperation:
        return written


def _locate(source: Source, key: str) -> Span | None:
    """Where a file sets a key: the longest part of it that stands before an equals sign or in a table header."""
    section, offset, header = "", 0, None
    for line in source.data.decode("utf-8", "replace").split("\n"):
        if match := _HEADER.match(line):
            section = f"{match[1]}."
            if header is None and (f"{key}.".startswith(section) or section.startswith(f"{key}.")):
                header = _span(line, match, offset)
        elif (match := _ASSIGNMENT.match(line)) and f"{key}.".startswith(f"{section}{match[1]}."):
            return _span(line, match, offset)
        offset += len(line.encode("utf-8")) + 1
    return header


def _span(line: str, match: re.Match[str], offset: int) -> Span:
    start, end = (len(line[: match.start(1)].encode("utf-8")), len(line[: match.end(1)].encode("utf-8")))
    return Span(offset + start, offset + end)
