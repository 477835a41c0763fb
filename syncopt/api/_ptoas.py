"""What a ptoas binary makes of a `.pto` file."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syncopt.frontend import read_module
from syncopt.ir.kernel import AllocMultiTile, AllocTile, walk
from syncopt.ir.source import InputError, Language, language_of

SYNC = "--enable-insert-sync"
"""The option with which ptoas places flags."""

_LEVEL = "--pto-level=level3"
"""The level at which tiles carry their addresses; at any other one ptoas refuses them."""

_SECONDS = 300
_LONG = 200


@dataclass(frozen=True)
class Compiled:
    """A file that ptoas wrote, and the option with which it did."""

    options: tuple[str, ...]
    path: Path

    @property
    def label(self) -> str:
        """What made it."""
        return " ".join(("ptoas", *self.options))


def compiled(ptoas: Path, kernel: Path, function: str | None, folder: Path) -> tuple[Compiled, Compiled]:
    """Run ptoas on a kernel, without and with its own flags.

    Parameters
    ----------
    ptoas : Path
        The binary.
    kernel : Path
        The `.pto` file.
    function : str or None
        The kernel in a file of several.
    folder : Path
        An empty folder for its output.

    Raises
    ------
    InputError
        If the kernel is no `.pto` file, the binary cannot be run, ends with another status than 0, or does not write
        exactly one file. What it prints counts for nothing.
    """
    if language_of(kernel) is Language.CPP:
        raise InputError(f"--ptoas needs a .pto file first, {kernel} is none")
    level = (_LEVEL,) if _has_addresses(kernel, function) else ()
    plain = _compiled(ptoas, kernel, level, (), folder / "plain")
    return plain, _compiled(ptoas, kernel, level, (SYNC,), folder / "sync")


def _has_addresses(kernel: Path, function: str | None) -> bool:
    ops = walk(read_module(kernel).kernel(function).body)
    return any(isinstance(op, AllocTile | AllocMultiTile) and op.address is not None for op in ops)


def _compiled(ptoas: Path, kernel: Path, level: Sequence[str], options: tuple[str, ...], folder: Path) -> Compiled:
    folder.mkdir()
    output = folder / f"{kernel.stem}.cpp"
    command = [str(ptoas), str(kernel), *level, *options, "-o", str(output)]
    shown = " ".join(command[:-2])
    try:
        run = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{shown}: not done after {_SECONDS} s") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot run {ptoas}: {reason}", help="--ptoas takes the path of the binary") from error
    written = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    if run.returncode or len(written) != 1:
        files = "1 file" if len(written) == 1 else f"{len(written)} files"
        raise InputError(f"{shown}: exit status {run.returncode}, {files} written", help=_last_words(run.stderr))
    return Compiled(options, _named_by_text(written[0]))


def _last_words(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return f"its last words were: {lines[-1][:_LONG]}" if lines else "it said nothing"


def _named_by_text(path: Path) -> Path:
    """The file under a name that says what it holds: ptoas can be built or told to write `.pto` instead of C++."""
    if b"func.func" not in path.read_bytes():
        return path
    return path.rename(path.with_suffix(".pto"))
