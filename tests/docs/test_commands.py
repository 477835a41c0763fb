"""Every command of the pages is run, every quoted output is what it prints, every figure is printed or worked out.

`reading.py` says how pages are read. Each page is one session: its `syncopt` commands run in order, in one process, in
a temporary folder that holds copies of `docs` and `instances`. They must end with status 0, or with 1 where `FAULTY`
lists them. Files such as `kernel.pto` stand for kernels of the reader; `STAND_INS` says which kernels they are here.

What is done otherwise:

- `make` targets: the `syncopt` lines that `make -n` prints are run, once for all pages; not the making of `.venv`.
- `NOT_RUN` lists commands that are not run, each with its reason, and `NOT_RUN_PAGES` whole pages. What is `syncopt` or
  `make` among them is still read: command, options and targets must exist. Code spans within a sentence, such as
  `syncopt solve KERNEL`, are read in the same way.

Nothing may be quoted from a command that is not run, and an entry of a list that no page has is an error.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from syncopt.cli import app
from tests.cli.running import syncopt
from tests.docs.reading import (
    ROOT,
    Command,
    Fence,
    Page,
    figures,
    missing,
    numbers,
    page_names,
    read,
    sums,
    worked_out,
)

KERNELS = Path(__file__).parent / "kernels"

STAND_INS = {
    "kernel.pto": "kernel.pto",
    "hand.pto": "kernel.pto",
    "kernel.cpp": "kernel.cpp",
    "auto.cpp": "kernel.cpp",
    "kernels/kernel.pto": "kernel.pto",
}
"""Kernels of the reader, and what they are copies of here."""

FAULTY = frozenset(
    {
        "syncopt simulate docs/kernels/polynomial.pto --args 16",
        "syncopt check docs/kernels/forgotten.pto",
        "syncopt check docs/kernels/forgotten.pto --execute --args 4",
        "syncopt check instances/gemm/hand_synchronised.pto",
    }
)
"""Commands that find the fault that their page is about: they end with status 1."""

NOT_RUN: Mapping[str, str] = {
    "make table": "solves and replays eight large shapes, which takes minutes",
    "make test": "runs these tests, among others",
    "source .venv/bin/activate": "changes the shell of the reader",
    "pip install 'syncopt[report]'": "needs the network; the tests run where it is installed",
    "ptoas --pto-level=level3 --pto-arch=a3 build/polynomial.pto -o build/from_ptoas.cpp": "a program of others",
    "syncopt compare build/polynomial.pto build/from_ptoas.cpp --args 16": "reads what ptoas writes",
    "syncopt compare kernel.pto --ptoas path/to/ptoas": "runs ptoas, a program of others",
    "syncopt sweep gemm --m 4096 --n 4096 --k 4096 --tilings auto -o rows.jsonl": "takes minutes; see tests/sweep",
    "dask scheduler": "a program of others that runs until it is ended",
    "dask worker ADDRESS --nthreads 1 --nworkers 8": "a program of others that runs until it is ended",
    "syncopt sweep gemm ... --dask ADDRESS": "needs the cluster; not all of it is written out",
}
"""Commands that are not run, and why."""

NOT_RUN_PAGES: Mapping[str, str] = {
    "docs/gauge.md": "written by `make gauge`, which runs the commands on kernels that are not in the repository",
}
"""Pages none of whose commands are run, and why."""

ELSEWHERE: Mapping[str, frozenset[str]] = {
    "README.md": frozenset({"4,033,306", "1,829,113", "8,147"}),
}
"""Figures of a page that none of the commands run here prints. Those of the README are printed by `make table`."""

WITH_FIGURES = ("README.md", "docs/calibrate.md", "docs/model.md", "docs/stalls.md", "docs/tutorial.md")
"""Pages whose figures all come from their commands. The figures of the others are limits and settings."""


class Workshop:
    """A copy of what the commands of the pages read, and what they printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("docs", "instances"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for made in ("build", "kernels"):
            (folder / made).mkdir()
        for name, path in STAND_INS.items():
            shutil.copy(KERNELS / path, folder / name)

    def run(self, text: str, wanted: int = 0) -> list[str]:
        """The lines that a `syncopt` command prints; it has to end with the status that is wanted."""
        with chdir(self.folder):
            result = syncopt(*shlex.split(text)[1:])
        assert result.exit_code == wanted, f"{text}\n{result.output}"
        return result.stdout.splitlines()


class Targets:
    """What `make` makes, once for all pages: the `syncopt` lines of its recipes are run in a workshop."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._printed: dict[str, list[str]] = {}

    def make(self, target: str, folder: Path) -> list[str]:
        """What is printed for a target; what it writes is copied to the folder of a page."""
        if target not in self._printed:
            lines = [line for line in _recipe(target) if line.startswith("syncopt ")]
            self._printed[target] = [printed for line in lines for printed in self._workshop.run(line)]
        shutil.copytree(self._workshop.folder / "build", folder / "build", dirs_exist_ok=True)
        return self._printed[target]


class Session:
    """The commands of one page, run one after the other."""

    def __init__(self, workshop: Workshop, targets: Targets) -> None:
        self._workshop = workshop
        self._targets = targets
        self.printed: dict[str, list[str]] = {}

    @property
    def folder(self) -> Path:
        """Where its commands run."""
        return self._workshop.folder

    def run(self, command: Command) -> None:
        """Run a command, unless it is one of those that are not run."""
        if command.text in NOT_RUN or command.where.partition(":")[0] in NOT_RUN_PAGES:
            _read_only(command)
            return
        match command.words:
            case ["syncopt", *_]:
                status = 1 if command.text in FAULTY else 0
                lines = self._workshop.run(command.text, status)
            case ["make", target]:
                lines = self._targets.make(target, self.folder)
            case _:
                pytest.fail(f"{command.where}: {command.text} is nothing that the tests know how to run; see NOT_RUN")
        self.printed[command.text] = lines

    def quote(self, command: Command | None, fence: Fence) -> None:
        """Compare what a page quotes with what the command above it printed."""
        assert command is not None, f"{fence.where}: no command stands above"
        assert command.text in self.printed, f"{fence.where}: quotes a command that is not run"
        line = missing(fence.lines, self.printed[command.text])
        everything = "\n".join(self.printed[command.text])
        assert line is None, f"{fence.where}: {command.text} does not print\n{line}\nbut\n{everything}"

    def save(self, fence: Fence) -> None:
        """Write the file that a block holds; its first line names it."""
        path = self.folder / fence.lines[0].removeprefix("# ")
        path.write_text(fence.text, encoding="utf-8")


@cache
def _recipe(target: str) -> list[str]:
    """What `make` would run for a target, with time enough for a slow machine."""
    run = subprocess.run(["make", "-n", target, "BUDGET=600s"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = run.stdout.replace("\\\n", " ").splitlines()
    return [" ".join(line.split()).removeprefix(".venv/bin/") for line in lines]


def _read_only(command: Command) -> None:
    match command.words:
        case ["syncopt", *arguments]:
            _must_exist(arguments, command.where)
        case ["make", target]:
            assert _recipe(target), command.where
        case _:
            pass


def _must_exist(arguments: list[str], where: str) -> None:
    """A command, its subcommand and its options are known to the program."""
    found = get_command(app())
    while isinstance(found, TyperGroup) and arguments and not arguments[0].startswith("-"):
        assert arguments[0] in found.commands, f"{where}: no command {arguments[0]}"
        found, arguments = found.commands[arguments[0]], arguments[1:]
    known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for option in (word.partition("=")[0] for word in arguments if re.match(r"-{1,2}[a-z]", word)):
        assert option in {*known, "--help", "-h"}, f"{where}: {found.name} has no option {option}"


def _excerpt(fence: Fence) -> None:
    """An excerpt of a kernel is what stands in its file, in the lines that it names."""
    place = re.fullmatch(r"// (\S+), lines? (\d+)(?: to (\d+))?", fence.lines[0])
    assert place is not None, f"{fence.where}: the first line of an excerpt names file and lines"
    first, last = int(place[2]), int(place[3] or place[2])
    lines = [line.strip() for line in (ROOT / place[1]).read_text(encoding="utf-8").splitlines()[first - 1 : last]]
    shown = tuple(line.strip() for line in fence.lines[1:])
    assert missing(shown, lines) is None, f"{fence.where}: line {missing(shown, lines)!r} is not in {place[1]}"
    assert len(shown) == len(lines) or "..." in shown, f"{fence.where}: lines are missing"


def _python(fence: Fence, folder: Path) -> None:
    """Run a program as a reader does: it may start processes that import it."""
    path = folder / "page.py"
    path.write_text(fence.text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(path)]
    run = subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, f"{fence.where}: {run.stderr}"


def _walk(page: Page, session: Session) -> None:
    last: Command | None = None
    fences: Mapping[str, Callable[[Fence], None]] = {
        "text": lambda fence: session.quote(last, fence),
        "mlir": _excerpt,
        "toml": session.save,
        "python": lambda fence: _python(fence, session.folder),
    }
    for block in page.blocks:
        if isinstance(block, Command):
            session.run(block)
            last = block
        else:
            assert block.language in fences, f"{block.where}: a block of {block.language or 'no language'}"
            fences[block.language](block)


def _check_figures(page: Page, session: Session) -> None:
    """Every figure of the sentences was printed, worked out beside it, or is in `ELSEWHERE`."""
    known = {number for lines in session.printed.values() for number in numbers("\n".join(lines))}
    known |= ELSEWHERE.get(page.name, frozenset())
    for terms, result in sums(page.prose):
        assert worked_out(terms, result), f"{page.name}: {terms} is not {result}"
        known.add(result)
    unknown = figures(page.prose) - known
    assert not unknown, f"{page.name}: no command of the page prints {', '.join(sorted(unknown))}"


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Targets:
    return Targets(Workshop(tmp_path_factory.mktemp("make")))


@pytest.mark.parametrize("name", page_names())
def test_page(name: str, tmp_path: Path, targets: Targets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    session = Session(Workshop(tmp_path), targets)
    page = read(name)
    _walk(page, session)
    if name in WITH_FIGURES:
        _check_figures(page, session)


@pytest.mark.parametrize("name", page_names())
def test_commands_within_sentences_exist(name: str) -> None:
    for span in re.findall(r"`(syncopt [^`]*)`", read(name).prose):
        _must_exist(shlex.split(span)[1:], name)


@pytest.mark.parametrize("name", page_names())
def test_links_lead_somewhere(name: str) -> None:
    folder = (ROOT / name).parent
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / name).read_text(encoding="utf-8"))
    assert [target for target in targets if not (folder / target).exists()] == []


@pytest.mark.parametrize("name", page_names())
def test_modules_that_are_named_exist(name: str) -> None:
    """Seen from the root of the repository or of the package."""
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*)`", read(name).prose)
    homes = {"bench", "docs", "instances", "syncopt", "tests", *(path.name for path in (ROOT / "syncopt").iterdir())}
    modules = [path for path in named if path.partition("/")[0] in homes]
    assert [path for path in modules if not ((ROOT / path).exists() or (ROOT / "syncopt" / path).exists())] == []


def test_readme_links_every_page() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in page_names() if name.startswith("docs/") and f"]({name})" not in text] == []


def test_lists_name_commands_of_the_pages() -> None:
    commands = {command.text for name in page_names() for command in read(name).commands}
    assert {*FAULTY, *NOT_RUN} - commands == set()
    assert NOT_RUN_PAGES.keys() - page_names() == set()
