"""The program: its commands registered with Typer."""

import inspect
import io
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, fields
from importlib import metadata
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import typer

from syncopt.cli import _commands, _gen, _results, _sweep
from syncopt.cli._compare import CompareOptions, run_compare
from syncopt.cli._exits import EPILOG, answering
from syncopt.cli._options import AnswerOptions, CheckOptions, MachineOptions, SimulateOptions, SolveOptions

OptionsT = TypeVar("OptionsT", bound=AnswerOptions)


def app(decorated: bool = False) -> typer.Typer:
    """The program; `decorated` help and usage errors come in colours and frames."""
    program = typer.Typer(
        name="syncopt",
        help="Provably best instruction order, flags and event ids for Ascend 910B kernels written in PTO.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich" if decorated else None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_global_options)
    _register(
        program,
        "solve",
        SolveOptions,
        _commands.run_solve,
        "Find the best plan and print what it gains, with its proof.",
    )
    _register(
        program,
        "simulate",
        SimulateOptions,
        _commands.run_simulate,
        "Replay a kernel as written: cycles, busy, stalls.",
    )
    _register(
        program,
        "check",
        CheckOptions,
        _commands.run_check,
        "Prove a kernel free of races, deadlocks and flags left up, or show how it fails.",
    )
    _register(
        program,
        "compare",
        CompareOptions,
        run_compare,
        "Replay and check several versions of a kernel side by side. --args applies to every version; what is given by "
        "name (--set, --func, --assume) applies to those that have a thing of that name.",
    )
    _register(
        program,
        "machine",
        MachineOptions,
        _commands.run_machine,
        "Print the figures of a machine with the source of each.",
    )
    _register_gen(program, decorated)
    _register(
        program,
        "sweep",
        _sweep.SweepOptions,
        _sweep.run_sweep,
        "Solve many shapes, kernels or tilings side by side, one row each; goes on where it was ended.",
    )
    _register(
        program,
        "results",
        _results.ResultsOptions,
        _results.run_results,
        "Print, filter, export and plot the rows of a sweep.",
    )
    return program


def _register_gen(program: typer.Typer, decorated: bool) -> None:
    """`gen` and the kinds of kernels that it writes."""
    kinds = typer.Typer(
        name="gen",
        help="Write a kernel for a tiling.",
        epilog=EPILOG,
        no_args_is_help=True,
        rich_markup_mode="rich" if decorated else None,
    )
    _register(kinds, "gemm", _gen.GemmOptions, _gen.run_gemm, "Write a GEMM kernel: C = A * B, tile by tile.")
    program.add_typer(kinds)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # text of a kernel may not fit the terminal's encoding
    app(decorated=sys.stdout.isatty() and sys.stderr.isatty())()


def _version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        number = metadata.version("syncopt")
    except metadata.PackageNotFoundError:
        number = "(not installed)"
    typer.echo(f"syncopt {number}")
    raise typer.Exit


def _global_options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


def _register(
    program: typer.Typer, name: str, options: type[OptionsT], run: Callable[[OptionsT], None], help: str
) -> None:
    """Make a command whose parameters are the fields of a dataclass."""
    hints = get_type_hints(options, include_extras=True)

    def command(**values: Any) -> None:
        given = options(**values)
        with answering(given.debug):
            run(given)

    parameters = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[field.name], default=_default(field)
        )
        for field in _own_first(options)
    ]
    cast(Any, command).__signature__ = inspect.Signature(parameters)
    program.command(name, help=help, epilog=EPILOG)(command)


def _own_first(options: type[AnswerOptions]) -> Iterable[Field[Any]]:
    """The fields of a command in the order of its help: what all commands have comes last."""
    common = {field.name for field in fields(AnswerOptions)}
    return sorted(fields(options), key=lambda field: field.name in common)


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default
