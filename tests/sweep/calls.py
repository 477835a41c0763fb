"""What worker processes of the tests are asked to do."""

import os
import sys
import time
from pathlib import Path


def double(number: int) -> int:
    return 2 * number


def process() -> int:
    return os.getpid()


def fail(message: str) -> None:
    raise ValueError(message)


def leave(status: int) -> None:
    sys.stdout.flush()
    os._exit(status)


def sleep(began: str) -> None:
    """Write the process id to a file, then do nothing for an hour."""
    Path(began).write_text(f"{os.getpid()}\n")
    time.sleep(3600)
