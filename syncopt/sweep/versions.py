"""What a result depends on besides its input: the code that found it, and the solver."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_NO_ROW_DEPENDS_ON = ("cli", "sweep")
"""Rooms of the package that handle rows, but have no part in what they say."""
_BUT_ON = ("sweep/rows/row.py", "sweep/solving.py")
"""The modules in them that have."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions of syncopt and ortools, and a hash of the code that rows depend on: a version has many states of it."""

    syncopt: str
    code: str
    ortools: str


@cache
def versions() -> Versions:
    """Those that run here."""
    return Versions(_version("syncopt"), _code(), _version("ortools"))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _code() -> str:
    hashed = sha256()
    modules = {path.relative_to(_PACKAGE).as_posix() for path in _PACKAGE.rglob("*.py")}
    rooms = {module for module in modules if module.partition("/")[0] not in _NO_ROW_DEPENDS_ON}
    for module in sorted(rooms.union(_BUT_ON)):
        hashed.update(f"{module}\0".encode())
        hashed.update((_PACKAGE / module).read_bytes())
    return hashed.hexdigest()[:16]
