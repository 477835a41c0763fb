"""A `.pto` or C++ file with its functions; a function is converted only when it is asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from syncopt.frontend._cpp.functions import File
from syncopt.frontend._cpp.text import Tree as CppTree
from syncopt.frontend._cpp.text import span_of
from syncopt.frontend._pto.functions import functions_of, read_kernel
from syncopt.frontend._pto.tree import parse
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError, Language, Source, Span

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
        Whether its body holds tile ops or sections, not only scalar work and calls; in C++ whether it is `__global__`.
    """

    name: str
    span: Span
    has_body: bool
    is_kernel: bool


@dataclass(frozen=True, eq=False, slots=True)
class _Function:
    """A function, where its name stands, what messages call it, and how to convert it."""

    ref: FunctionRef
    name: Span
    title: str
    read: Callable[[], Kernel]


class Module:
    """A kernel file as read.

    Parameters
    ----------
    source : Source
        The file.
    functions : tuple of FunctionRef
        Its functions in text order.
    """

    def __init__(self, source: Source, functions: Sequence[_Function]) -> None:
        self.source = source
        self.functions = tuple(function.ref for function in functions)
        self._functions = functions

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
        return (self._named(name) if name is not None else self._only()).read()

    def _named(self, name: str) -> _Function:
        named = [function for function in self._functions if function.ref.name == name]
        with_body = [function for function in named if function.ref.has_body]
        if len(with_body) > 1:
            raise self._refusal(f"{len(with_body)} functions are named {named[0].title}", with_body[1].name)
        if named and not with_body:
            raise self._refusal(f"{named[0].title} is declared here without a body", named[0].name)
        if not named:
            sigil = "@" if self.source.language is Language.PTO else ""
            raise self._refusal(f"no function {sigil}{name}", _TOP, f"functions here: {_titles(self._functions)}")
        return with_body[0]

    def _only(self) -> _Function:
        with_body = [function for function in self._functions if function.ref.has_body]
        kernels = [function for function in with_body if function.ref.is_kernel]
        found = kernels or with_body
        if not found:
            raise self._refusal("no function with a body", self._functions[0].name)
        if len(found) > 1:
            what = "kernels" if kernels else "functions, none with tile ops,"
            message = f"{len(found)} {what} in this file: {_titles(found)}"
            raise self._refusal(message, found[1].name, "choose one with --func")
        return found[0]

    def _refusal(self, message: str, span: Span, hint: str = "") -> InputError:
        return InputError(message, self.source, span, hint)


def _titles(functions: Sequence[_Function]) -> str:
    return ", ".join(function.title for function in functions)


def parse_module(source: Source) -> Module:
    """Reads the text of a kernel file: C++ if its name ends like that, else `.pto`.

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
    return _parse_cpp(source) if source.language is Language.CPP else _parse_pto(source)


def _parse_pto(source: Source) -> Module:
    tree = parse(source)
    if not tree.functions:
        raise InputError("no func.func in this file: not a .pto kernel", source, _TOP)
    functions = [
        _Function(
            FunctionRef(text.name, text.raw.span, text.body is not None, text.is_kernel),
            text.raw.name.span,
            f"@{text.name}",
            lambda text=text: read_kernel(tree, text),
        )
        for text in functions_of(tree)
    ]
    return Module(source, functions)


def _parse_cpp(source: Source) -> Module:
    file = File(CppTree(source))
    outside = file.error_outside_functions()
    if outside is not None:
        raise InputError("syntax error", source, outside)
    if not file.functions:
        raise InputError("no function in this file: not a C++ kernel", source, _TOP)
    functions = [
        _Function(
            FunctionRef(text.name, file.tree.span(text.node), text.body is not None, text.is_entry),
            span_of(text.declarator),
            text.name,
            lambda text=text: file.kernel(text),
        )
        for text in file.functions
    ]
    return Module(source, functions)


def read_module(path: Path) -> Module:
    """Reads a kernel file.

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
        raise InputError(f"{path} is a folder, expected a .pto or C++ file") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {error}") from error
    return parse_module(Source(str(path), data))
