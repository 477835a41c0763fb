"""A file with its functions; a function is converted only when it is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syncopt.frontend._pto.functions import FunctionText, functions_of, read_kernel
from syncopt.frontend._pto.tree import Tree, parse
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError, Source, Span

_TOP = Span(0, 0)


@dataclass(frozen=True, eq=False, slots=True)
class FunctionRef:
    """A function of a file.

    Parameters
    ----------
    name : str
        Without `@`.
    span : Span
        Bytes of the whole function.
    has_body : bool
        False for a declaration.
    is_kernel : bool
        Whether its body holds tile ops or sections, not only scalar work and calls.
    """

    name: str
    span: Span
    has_body: bool
    is_kernel: bool


class Module:
    """A `.pto` file as read.

    Parameters
    ----------
    source : Source
        The file.
    functions : tuple of FunctionRef
        Its functions in text order.
    """

    def __init__(self, tree: Tree, functions: tuple[FunctionText, ...]) -> None:
        self.source = tree.source
        self.functions = tuple(
            FunctionRef(text.name, text.raw.span, text.body is not None, text.is_kernel) for text in functions
        )
        self._tree = tree
        self._texts = functions

    def kernel(self, name: str | None = None) -> Kernel:
        """Converts a function.

        Parameters
        ----------
        name : str, optional
            Its name without `@`; without a name, the only kernel of the file.

        Raises
        ------
        InputError
            If there is no such function or more than one, or if it holds anything that is not modelled.
        """
        return read_kernel(self._tree, self._named(name) if name is not None else self._only())

    def _named(self, name: str) -> FunctionText:
        named = [text for text in self._texts if text.name == name]
        with_body = [text for text in named if text.body is not None]
        if len(with_body) > 1:
            raise self._refusal(f"{len(with_body)} functions are named @{name}", with_body[1].raw.name.span)
        if named and not with_body:
            raise self._refusal(f"@{name} is declared here without a body", named[0].raw.name.span)
        if not named:
            raise self._refusal(f"no function @{name}", _TOP, f"functions here: {_names(self._texts)}")
        return with_body[0]

    def _only(self) -> FunctionText:
        with_body = [text for text in self._texts if text.body is not None]
        kernels = [text for text in with_body if text.is_kernel]
        found = kernels or with_body
        if not found:
            raise self._refusal("no function with a body", self._texts[0].raw.name.span)
        if len(found) > 1:
            what = "kernels" if kernels else "functions, none with tile ops,"
            message = f"{len(found)} {what} in this file: {_names(found)}"
            raise self._refusal(message, found[1].raw.name.span, "choose one with --func")
        return found[0]

    def _refusal(self, message: str, span: Span, hint: str = "") -> InputError:
        return InputError(message, self.source, span, hint)


def _names(texts: Sequence[FunctionText]) -> str:
    return ", ".join(f"@{text.name}" for text in texts)


def parse_module(source: Source) -> Module:
    """Reads the text of a `.pto` file.

    Raises
    ------
    InputError
        If it is no UTF-8, holds a syntax error outside functions, or has no function.
    """
    try:
        source.data.decode()
    except UnicodeDecodeError as error:
        raise InputError("the file is not UTF-8", source, Span(error.start, error.end)) from error
    if not source.data.strip():
        raise InputError("the file is empty", source, _TOP)
    tree = parse(source)
    if not tree.functions:
        raise InputError("no func.func in this file: not a .pto kernel", source, _TOP)
    return Module(tree, functions_of(tree))


def read_module(path: Path) -> Module:
    """Reads a `.pto` file.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or `parse_module` refuses it.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"no such file: {path}") from error
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder, expected a .pto file") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    return parse_module(Source(str(path), data))
