"""Plans that were found, in a folder that several processes share."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import astuple
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from syncopt.api import InputError
from syncopt.sweep.locks import wait_for
from syncopt.sweep.versions import Versions


class PlanFolder:
    """Keeps what proven searches found, one file each.

    Parameters
    ----------
    folder : Path
        Made if it is not there.
    versions : Versions
        What another version found is not looked at.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """

    def __init__(self, folder: Path, versions: Versions) -> None:
        self._folder = folder / sha256("\0".join(astuple(versions)).encode()).hexdigest()[:16]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            help = "name another folder with --cache, or do without one with --no-cache"
            raise InputError(f"cannot keep plans in {folder}: {error.strerror}", help=help) from error

    @contextmanager
    def alone(self, key: str) -> Generator[None]:
        """Keep other processes from searching the same: they wait, and find what was found.

        A process that dies lets go of what it held.
        """
        with self._path(key, ".lock").open("ab") as held:
            wait_for(held)
            yield

    def get(self, key: str) -> str | None:
        """What was found, None if nothing was."""
        try:
            return self._path(key, ".json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def put(self, key: str, text: str) -> None:
        """Keep what was found; it is there as a whole or not at all."""
        with NamedTemporaryFile("w", encoding="utf-8", dir=self._folder, suffix=".tmp", delete=False) as out:
            out.write(text)
        Path(out.name).replace(self._path(key, ".json"))

    def _path(self, key: str, suffix: str) -> Path:
        return self._folder / (sha256(key.encode()).hexdigest()[:32] + suffix)


def default_folder() -> Path:
    """`syncopt` in the user's folder for caches (`XDG_CACHE_HOME`, else `~/.cache`)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if given else Path.home() / ".cache") / "syncopt"
