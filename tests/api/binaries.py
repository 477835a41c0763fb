"""Binaries that behave as ptoas does, and know no PTO."""

import sys
from pathlib import Path

FAKE = """\
#!{python}
# Prints as much as ptoas does, then writes what it was told to: it knows no PTO.
import pathlib, sys
print("debug: module on stdout")
print("warning: debug on stderr", file=sys.stderr)
pathlib.Path({log!r}).open("a").write(" ".join(sys.argv[1:-1]) + chr(10))
output = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
with_sync = "--enable-insert-sync" in sys.argv
{body}
"""
WRITES = "output.write_text(pathlib.Path({with_sync!r} if with_sync else {without!r}).read_text())"


def fake(folder: Path, body: str) -> Path:
    """An executable of this body."""
    path = folder / "ptoas"
    path.write_text(FAKE.format(python=sys.executable, log=str(folder / "log"), body=body))
    path.chmod(0o755)
    return path


def writing(folder: Path, without: str, with_sync: str) -> Path:
    """An executable that writes one text without and another one with flags of its own."""
    (folder / "without").write_text(without)
    (folder / "with").write_text(with_sync)
    return fake(folder, WRITES.format(without=str(folder / "without"), with_sync=str(folder / "with")))
