"""Output files: refused before the work begins, written under another name and renamed."""

import os
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from syncopt.api import InputError, Language, language_of


@dataclass(frozen=True)
class Target:
    """A file to write, found writable: `named` as the user calls it, `path` without links."""

    named: Path
    path: Path

    def write(self, data: bytes) -> None:
        """Write it in one step: it is there as a whole or not at all.

        Raises
        ------
        InputError
            If it cannot be written after all.
        """
        with self.opened() as out:
            out.write(data)

    @contextmanager
    def opened(self) -> Generator[BinaryIO]:
        """Write it piece by piece: it is there as a whole after the last one, or not at all.

        Raises
        ------
        InputError
            If it cannot be written after all.
        """
        try:
            temporary = _temporary(self.path)
            try:
                with temporary.open("wb") as out:
                    yield out
                temporary.chmod(_mode(self.path))
                temporary.replace(self.path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _unwritable(self.named, error) from error


def target(kernel: Path, output: Path | None, force: bool, in_place: bool) -> Target | None:
    """The file that a plan is to be written to in the language of its kernel, None if there is none to write.

    Raises
    ------
    InputError
        If it is there already and may not be overwritten, or cannot be written.
    """
    if output is None:
        return _writable(kernel) if in_place else None
    if _is_same(output, kernel):
        if in_place:
            return _writable(output)
        raise InputError(f"{output} is the kernel itself", help="--in-place overwrites it; or name another file")
    _refuse_another_language(kernel, output)
    if in_place:
        raise InputError(f"--in-place and -o {output} name two files", help="give one of the two")
    return new_target(output, force)


def cpp_target(kernel: Path, output: Path | None, force: bool) -> Target | None:
    """The file that a plan is to be written to as C++, if there is one to write.

    Raises
    ------
    InputError
        If the kernel is C++ itself; and what `separate_target` raises.
    """
    if output is not None and language_of(kernel) is Language.CPP:
        raise InputError(f"{kernel} is C++ already", help="-o writes it with the plan")
    found = separate_target(kernel, output, force)
    if output is not None and output.suffix == ".pto":
        raise InputError(f"{output} would hold C++", help="name a .cpp file")
    return found


def separate_target(kernel: Path, output: Path | None, force: bool) -> Target | None:
    """A file to write that is never the kernel's, if there is one to write.

    Raises
    ------
    InputError
        If it is the kernel's, or there already and may not be overwritten, or cannot be written.
    """
    if output is None:
        return None
    if _is_same(output, kernel):
        raise InputError(f"{output} is the kernel itself", help="name another file")
    return new_target(output, force)


def new_target(output: Path, force: bool) -> Target:
    """A file to write that takes the place of another one only with `force`.

    Raises
    ------
    InputError
        If it is there already and may not be overwritten, or cannot be written.
    """
    if _exists(output) and not output.is_dir() and not force:
        raise InputError(f"{output} exists already", help="--force overwrites it")
    return _writable(output)


def refuse_same_files(*files: Target | None) -> None:
    """Refuse two outputs in one file."""
    seen: dict[Path, Target] = {}
    for file in files:
        if file is None:
            continue
        if file.path in seen:
            raise InputError(f"{file.named} is the file of two outputs", help="name a file for each")
        seen[file.path] = file


def _refuse_another_language(kernel: Path, output: Path) -> None:
    """A plan is written in the language of its kernel, whatever the file is called."""
    is_cpp, names_cpp = (language_of(path) is Language.CPP for path in (kernel, output))
    if is_cpp and output.suffix == ".pto":
        raise InputError(f"{output} would hold C++, since {kernel} does", help="name a .cpp file")
    if names_cpp and not is_cpp:
        raise InputError(f"{output} would hold .pto text, since {kernel} does", help="name a .pto file")


def _writable(named: Path) -> Target:
    """Find out whether a file can be written, by writing another one beside it."""
    try:
        path = named.resolve()
        if path.exists():
            _refuse_what_is_no_file(named, path)
        elif not path.parent.is_dir():
            raise InputError(f"cannot write {named}: no folder {named.parent}", help="make the folder first")
        _temporary(path).unlink()
    except (OSError, ValueError, RuntimeError) as error:  # ValueError: a NUL byte; RuntimeError: links in a circle
        raise _unwritable(named, error) from error
    return Target(named, path)


def _refuse_what_is_no_file(named: Path, path: Path) -> None:
    if path.is_dir():
        raise InputError(f"cannot write {named}: it is a folder", help="name a file")
    if not path.is_file():
        raise InputError(f"cannot write {named}: it is no regular file", help="name a file")
    if not os.access(path, os.W_OK):
        raise InputError(f"cannot write {named}: it is write-protected")


def _temporary(path: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix=".syncopt-", suffix=".tmp", dir=path.parent)
    os.close(handle)
    return Path(name)


def _mode(path: Path) -> int:
    """The permissions of a file, or those that a new file gets."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _unwritable(path: Path, error: Exception) -> InputError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"cannot write {path}: {reason}")
