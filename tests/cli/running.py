"""Runs the command line as a user does, in one process."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from syncopt.cli import app

KERNELS = Path(__file__).parent / "kernels"
STREAM = KERNELS / "stream.pto"
GUARDED = KERNELS / "guarded.pto"
GEMM = Path(__file__).parents[2] / "instances" / "gemm"
HAND = GEMM / "hand_synchronised.pto"


def syncopt(*arguments: str | Path, columns: str | None = None) -> Result:
    """What a command line prints and returns, whatever terminal the tests run in; lines end only where it says so."""
    return CliRunner(env={"COLUMNS": columns}).invoke(
        app(), [str(argument) for argument in arguments], prog_name="syncopt"
    )


def document(result: Result) -> dict[str, Any]:
    """The one JSON document on stdout."""
    return json.loads(result.stdout)


def refusal(result: Result) -> str:
    """The message of bad input: nothing on stdout, exit status 2."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return without_progress(result.stderr)


def without_progress(text: str) -> str:
    """Messages on stderr without the lines that tell the time."""
    return "\n".join(line for line in text.splitlines() if not line.lstrip()[:1].isdigit() or " | " in line)
