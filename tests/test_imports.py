"""Who may import whom: the table of the design, room by room, and the length of modules."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "syncopt"
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted(PACKAGE.parent.glob("tests/**/*.py"))
MAX_LINES = 400


@dataclass(frozen=True, slots=True)
class Rights:
    """What the modules of one room may import besides the standard library and their own room."""

    rooms: frozenset[str]
    packages: frozenset[str] = frozenset()


def rights(rooms: str = "", packages: str = "") -> Rights:
    return Rights(frozenset(rooms.split()), frozenset(packages.split()))


CORE = "ir frontend hwmodel sim check execute model solve emit gen"
TABLE = {
    "ir": rights(),
    "frontend": rights("ir", "tree_sitter tree_sitter_mlir tree_sitter_cpp"),
    "hwmodel": rights("ir"),
    "sim": rights("ir hwmodel"),
    "check": rights("ir hwmodel sim"),
    "execute": rights("ir hwmodel sim", "numpy"),
    "model": rights("ir hwmodel sim check", "networkx"),
    "solve": rights("ir hwmodel sim check model", "ortools"),
    "emit": rights("ir hwmodel sim model", "plotly"),
    "gen": rights("ir hwmodel"),
    "api": rights(CORE),
    "sweep": rights("api gen", "dask distributed pyarrow matplotlib"),
    "cli": rights("api sweep gen", "typer rich"),
    "__init__": rights("api"),
    "__main__": rights("cli"),
}


def rooms_of_the_page() -> dict[str, set[str]]:
    """What docs/rooms.md says of every room: the rooms that it imports, as far as they are listed by name."""
    page = (PACKAGE.parent / "docs" / "rooms.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.count("|") == 4]
    return {cells[0].strip("`"): set(cells[2].split(", ")) for cells in rows if cells[0].startswith("`")}


def imported_names(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and dotted path of everything a module imports, relative imports resolved against its `package`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            if base == ("syncopt",):
                for alias in node.names:
                    yield node.lineno, ("syncopt", alias.name)
            else:
                yield node.lineno, base


def violations(source: str, module: Path) -> list[str]:
    """What `source` imports against the table, if it stood at `module` (relative to the folder of `syncopt`)."""
    room = module.with_suffix("").parts[1]
    if room not in TABLE:
        return [f"{module}: {room} is no room of the design"]
    found: list[str] = []
    for line, name in imported_names(ast.parse(source), module.parent.parts):
        if not is_allowed(name, room):
            found.append(f"{module}:{line}: {room} may not import {'.'.join(name)}")
    return found


def is_allowed(name: tuple[str, ...], room: str) -> bool:
    """Whether a module of `room` may import `name`."""
    top = name[0]
    if top in sys.stdlib_module_names:
        return True
    if top != "syncopt":
        return top in TABLE[room].packages
    target = name[1] if len(name) > 1 else "__init__"
    return target == room or target in TABLE[room].rooms


def test_page_of_the_rooms_says_what_the_table_says() -> None:
    spelled = {
        "nothing": set[str](),
        "all of the above": set(CORE.split()),
        "what model imports": set(TABLE["model"].rooms),
    }
    told = {
        room: {name for word in words for name in spelled.get(word, {word})}
        for room, words in rooms_of_the_page().items()
    }
    assert told == {room: set(right.rooms) for room, right in TABLE.items() if not room.startswith("__")}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_import_what_the_design_allows(module: Path) -> None:
    assert violations(module.read_text(encoding="utf-8"), module.relative_to(PACKAGE.parent)) == []


@pytest.mark.parametrize("module", [*MODULES, *TESTS], ids=lambda path: str(path.relative_to(PACKAGE.parent)))
def test_modules_stay_short(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("room", ["ir", "frontend", "hwmodel", "sim", "check"])
def test_trusted_rooms_stay_apart_from_the_solver(room: str) -> None:
    """The proof must not rest on what it proves."""
    assert "solve" not in TABLE[room].rooms
    assert "ortools" not in TABLE[room].packages


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("syncopt/ir/kernel.py", "from syncopt.sim import simulate"),
        ("syncopt/ir/kernel.py", "import numpy as np"),
        ("syncopt/check/proof.py", "import ortools.sat.python.cp_model"),
        ("syncopt/check/proof.py", "from syncopt import solve"),
        ("syncopt/check/proof.py", "from ..solve import driver"),
        ("syncopt/check/proof.py", "from .. import solve"),
        ("syncopt/check/deep/proof.py", "from ...solve.driver import solve"),
        ("syncopt/check/proof.py", "def late():\n    import syncopt.solve.driver"),
        ("syncopt/sim/replay.py", "import syncopt"),
        ("syncopt/model/problem.py", "from tree_sitter import Parser"),
        ("syncopt/solve/driver.py", "from rich.console import Console"),
        ("syncopt/api.py", "import typer"),
        ("syncopt/sweep/jobs.py", "from syncopt.solve import driver"),
        ("syncopt/helpers/misc.py", "import sys"),
    ],
)
def test_violation_is_found(module: str, source: str) -> None:
    assert len(violations(source, Path(module))) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "syncopt/solve/cpsat/variables.py",
            "from ortools.sat.python import cp_model\nfrom syncopt.model import Problem",
        ),
        ("syncopt/solve/cpsat/variables.py", "from . import names\nfrom .names import Name\nfrom ..driver import run"),
        (
            "syncopt/ir/kernel.py",
            "from __future__ import annotations\nimport dataclasses\nfrom syncopt.ir.pipes import Pipe",
        ),
        ("syncopt/api.py", "from syncopt import check, solve"),
        ("syncopt/cli.py", "import typer\nfrom syncopt import api"),
        ("syncopt/__init__.py", "from syncopt.api import solve"),
        ("syncopt/__init__.py", "from .api import solve"),
    ],
)
def test_what_the_table_allows_is_no_violation(module: str, source: str) -> None:
    assert violations(source, Path(module)) == []
