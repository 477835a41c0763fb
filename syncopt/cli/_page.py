"""Text on stdout: rich on a terminal, plain lines of any length in a pipe."""

import os
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_ENDLESS = 10_000
"""Columns of what is no terminal: nothing is wrapped."""
_PICTURE = 100
"""Columns of a picture there."""
_INSET = 2
"""Columns in front of a table."""
GAP = 2
"""Columns behind every column of a table."""

GOOD, BAD, DOUBTFUL, QUIET, HEADING = "bold green", "bold red", "yellow", "dim", "bold"


class Page:
    """What a command prints."""

    def __init__(self) -> None:
        console = Console(markup=False, highlight=False, emoji=False)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console = Console(markup=False, highlight=False, emoji=False, width=_ENDLESS)
        self._console = console

    @property
    def room(self) -> int:
        """Columns of a table: those of the terminal, any number where there is none."""
        return self._console.width - _INSET

    @property
    def columns(self) -> int:
        """Columns of a picture: those of the terminal."""
        return _PICTURE if self._console.width == _ENDLESS else self._console.width

    def text(self, text: Text) -> None:
        """A line of several styles, never wrapped."""
        self._console.print(text, soft_wrap=True)

    def line(self, text: str = "", style: str = "") -> None:
        """A paragraph."""
        self._console.print(Text(text, style))

    def items(self, texts: Sequence[str]) -> None:
        """A list."""
        for text in texts:
            grid = Table.grid(padding=(0, 1))
            grid.add_row("  -", Text(text))
            self._console.print(grid)

    def table(self, table: RenderableType) -> None:
        """A table, set in by two columns."""
        self._console.print(Padding(table, (0, 0, 0, _INSET), expand=False))

    def raw(self, text: str) -> None:
        """Text as it is, never wrapped."""
        self._console.print(Text(text), soft_wrap=True, end="")

    def diff(self, lines: Sequence[str]) -> None:
        """A unified diff."""
        styles = {"+": "green", "-": "red", "@": "cyan"}
        for line in lines:
            style = HEADING if line.startswith(("+++", "---")) else styles.get(line[:1], "")
            self._console.print(Text(line, style), soft_wrap=True, end="")


def table(*columns: str, title: str = "") -> Table:
    """A plain table; columns named with a leading `>` hold figures. Figures and the first column are never wrapped."""
    made = Table(box=None, padding=(0, GAP, 0, 0), title=title or None, title_justify="left", title_style=HEADING)
    for place, column in enumerate(columns):
        numbers = column.startswith(">")
        made.add_column(
            column.removeprefix(">"),
            justify="right" if numbers else "left",
            no_wrap=numbers or not place,
            header_style=QUIET,
        )
    return made


def side_by_side(*tables: RenderableType) -> RenderableType:
    """Tables beside each other."""
    grid = Table.grid(padding=(0, 4, 0, 0))
    grid.add_row(*tables)
    return Group(grid)
