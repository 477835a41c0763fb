"""Exit statuses, and what becomes of errors."""

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum

import typer

from syncopt.api import InputError, NoPlan, WrongPlan


class Status(IntEnum):
    """Exit statuses."""

    CLEAN = 0
    WRONG = 1
    BAD_INPUT = 2
    NO_PLAN = 3
    INTERRUPTED = 130


EPILOG = (
    "Exit status: 0 done and clean; 1 the kernel is wrong, or a plan is below --require-speedup; 2 bad input or usage; "
    "3 no plan within the budget."
)

_REPORT = "this is a fault of syncopt: please report it with the kernel and the command line"


@contextmanager
def answering(debug: bool) -> Generator[None]:
    """Turn errors into a message on stderr and an exit status; `debug` adds their traceback."""
    try:
        yield
    except InputError as error:
        raise _exit(Status.BAD_INPUT, str(error), debug) from error
    except NoPlan as error:
        text = "error: the budget was spent before there was a valid plan\n   help: give more with --budget"
        raise _exit(Status.NO_PLAN, text, debug) from error
    except WrongPlan as error:
        text = f"internal error: {error}\n   nothing is written; {_REPORT}"
        raise _exit(Status.NO_PLAN, text, debug) from error
    except KeyboardInterrupt as error:
        raise _exit(Status.INTERRUPTED, "interrupted", debug) from error
    except (typer.Exit, BrokenPipeError):
        raise
    except Exception as error:
        text = f"internal error: {type(error).__name__}: {error}\n   {_REPORT}; --debug shows where"
        raise _exit(Status.NO_PLAN, text, debug) from error


def _exit(status: Status, message: str, debug: bool) -> typer.Exit:
    if debug:
        typer.echo(traceback.format_exc().rstrip(), err=True)
    typer.echo(message, err=True)
    return typer.Exit(status)
