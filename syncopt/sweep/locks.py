"""Locks on files, which a process that dies lets go of."""

import sys
from typing import IO

from syncopt.api import InputError

if sys.platform != "win32":
    import fcntl


def wait_for(file: IO[bytes]) -> None:
    """Lock a file until it is closed; wait while another process holds it."""
    _refuse_windows()
    fcntl.flock(file, fcntl.LOCK_EX)


def take(file: IO[bytes]) -> bool:
    """Lock a file until it is closed; False if another process holds it."""
    _refuse_windows()
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _refuse_windows() -> None:
    if sys.platform == "win32":
        raise InputError("a sweep needs file locks, which are not written for Windows", help="use it under WSL")
