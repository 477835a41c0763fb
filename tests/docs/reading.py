"""Reads the pages under docs/ and the README: their commands, what they quote, and their figures.

A page is read so:

- an indented block (four spaces) holds commands, one a line, continued behind a backslash, `#` starts a comment;
- a `text` block holds what the command above it prints. `...` stands for any text within a line, and alone on a line
  for any lines;
- an `mlir` block is an excerpt: its first line names the file and the lines;
- a `toml` block is a file: its first line names it;
- a `python` block is a program.
"""

import math
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and where it stands."""

    where: str
    text: str

    @property
    def words(self) -> list[str]:
        """Program and arguments."""
        return shlex.split(self.text)


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block, and where it stands."""

    where: str
    language: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """Its lines as a text."""
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True, slots=True)
class Page:
    """A page in the order in which it is read; `prose` is what stands in no block."""

    name: str
    blocks: tuple[Command | Fence, ...]
    prose: str

    @property
    def commands(self) -> tuple[Command, ...]:
        """The commands of its indented blocks."""
        return tuple(block for block in self.blocks if isinstance(block, Command))


def page_names() -> list[str]:
    """All pages, as paths seen from the root."""
    return ["README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md")))]


def read(name: str) -> Page:
    """A page of the repository.

    Raises
    ------
    ValueError
        If a fence has no end.
    """
    blocks: list[Command | Fence] = []
    prose: list[str] = []
    lines = iter(enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        where = f"{name}:{number}"
        if line.startswith("```"):
            inside: list[str] = []
            for _, inner in lines:
                if inner == "```":
                    break
                inside.append(inner)
            else:
                raise ValueError(f"{where}: the block has no end")
            blocks.append(Fence(where, line.removeprefix("```"), tuple(inside)))
        elif line.startswith("    "):
            text = line.strip()
            while text.endswith("\\"):
                text = f"{text[:-1].strip()} {next(lines)[1].strip()}"
            blocks.append(Command(where, re.sub(r"\s+# .*", "", text)))
        else:
            prose.append(line)
    return Page(name, tuple(blocks), "\n".join(prose))


_ELLIPSIS = re.compile(r"(?<!\.)\.{3}(?!\.)")
"""Exactly three points: rows of a timeline hold longer and shorter ones."""


def missing(quoted: tuple[str, ...], printed: list[str]) -> str | None:
    """The first quoted line that does not follow in what was printed; None if all do."""
    at, gap = 0, True
    found: int | None
    for line in (line.rstrip() for line in quoted):
        if line.strip() == "...":
            gap = True
            continue
        pattern = re.compile(".*".join(re.escape(part) for part in _ELLIPSIS.split(line)))
        ahead = range(at, len(printed)) if gap else range(at, min(at + 1, len(printed)))
        found = next((number for number in ahead if pattern.fullmatch(printed[number].rstrip())), None)
        if found is None:
            return line
        at, gap = found + 1, False
    return None


_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d+"
_SUM = re.compile(r"`([^`=]+) = (" + _NUMBER + r")`")
_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+|(?<![\d.])\d\.\d{3}(?!\d)|\d+(?:\.\d+)?(?= %)|(?<![\d.,])\d+(?= cycles)")


def sums(prose: str) -> list[tuple[str, str]]:
    """What is worked out in code spans, such as `2 + 280 = 282`: the terms and the result, as written."""
    spans = (match.groups() for match in _SUM.finditer(prose))
    return [(terms, result) for terms, result in spans if re.fullmatch(r"(?:[\d.,\s+*/()-]|ceil)+", terms)]


def worked_out(terms: str, result: str) -> bool:
    """Whether the terms give the result, rounded to the digits that it shows."""
    value = eval(re.sub(r"(?<=\d),(?=\d{3})", "", terms), {"__builtins__": {}}, {"ceil": math.ceil})
    digits = len(result.partition(".")[2])
    return f"{value:.{digits}f}" == result.replace(",", "")


def figures(text: str) -> set[str]:
    """Numbers that a machine must have printed: with thousands, ratios of three digits, percents, cycles."""
    return set(_FIGURE.findall(text))


def numbers(text: str) -> set[str]:
    """All numbers of a text, as written."""
    return set(re.findall(_NUMBER, text))
