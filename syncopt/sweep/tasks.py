"""From kernels, tilings and shapes to the solves of a sweep."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from syncopt.api import OPEN_ARGUMENT, Budget, InputError, Job, Machine, OrderMode, argument_names
from syncopt.sweep.asked import Task
from syncopt.sweep.axes import Shape
from syncopt.sweep.tilings import GemmForm, file_name, in_text, kernel_text, tilings_of
from syncopt.sweep.versions import Versions, versions

_SIZES = ("M", "N", "K")
"""Arguments of a generated GEMM."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all solves of a sweep have in common.

    Parameters
    ----------
    machine : Machine
        The chip.
    budget : Budget
        For each search; one worker.
    order : OrderMode
        Whether issue orders are open.
    function : str or None
        The kernel's name in files that hold several.
    assume : tuple of str
        Restrictions of the arguments for the proof.
    core : int
        Block index.
    cores : int or None
        Block number, None for all cores of the machine.
    """

    machine: Machine
    budget: Budget
    order: OrderMode = OrderMode.FREE
    function: str | None = None
    assume: tuple[str, ...] = ()
    core: int = 0
    cores: int | None = None


@dataclass(frozen=True)
class Tasks:
    """Solves to do, and in words what was assumed or left out on the way."""

    tasks: tuple[Task, ...]
    notes: tuple[str, ...] = ()


def kernel_files(targets: Sequence[str]) -> tuple[Path, ...]:
    """The files that paths, folders (their `.pto` files) and patterns such as `kernels/*.pto` stand for, each once.

    Raises
    ------
    InputError
        If there is no such file.
    """
    found: dict[Path, None] = {}
    for target in targets:
        paths = list(_files(target))
        if not paths:
            raise InputError(
                f"no kernel at {target}", help="name .pto or C++ files, folders of .pto files, or patterns in quotes"
            )
        found.update(dict.fromkeys(paths))
    return tuple(found)


def _files(target: str) -> Iterator[Path]:
    path = Path(target)
    if path.is_dir():
        yield from sorted(path.glob("*.pto"))
    elif path.exists():
        yield path
    else:
        found = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
        yield from sorted(file for file in found if file.is_file())


def kernel_tasks(paths: Iterable[Path], shapes: Sequence[Shape], setup: Setup) -> Tasks:
    """A solve for every kernel and shape, shape by shape.

    Names of arguments are taken in the case of the kernel where only the case differs. Integer arguments that a shape
    leaves open are taken as 4096.

    Raises
    ------
    InputError
        If a file cannot be read, or no kernel has an argument that a shape names. What is wrong with a kernel is found
        when it is solved.
    """
    kernels = [_Kernel(path, _text(path), setup) for path in paths]
    if all(kernel.is_read for kernel in kernels):
        _refuse_unknown(shapes, [name for kernel in kernels for name in kernel.names])
    known = versions()
    tasks = [
        _task(setup, kernel.path, kernel.text, kernel.arguments(shape), "", known)
        for shape, kernel in product(shapes, kernels)
    ]
    notes = dict.fromkeys(note for kernel in kernels for shape in shapes[:1] for note in kernel.notes(shape))
    return Tasks(tuple(tasks), tuple(notes))


def gemm_tasks(form: GemmForm, tilings: Sequence[str], shapes: Sequence[Shape], setup: Setup) -> Tasks:
    """A solve for every shape and every tiling that divides it, shape by shape.

    Parameters
    ----------
    form : GemmForm
        What all kernels have in common.
    tilings : sequence of str
        Each as `tilings_of` takes it.
    shapes : sequence of mapping
        With M, N and K, in any case.
    setup : Setup
        The machine, and how to solve.

    Raises
    ------
    InputError
        If a shape lacks a size or names something else, a tiling is illegal, or none divides a shape.
    """
    _refuse_unknown(shapes, _SIZES)
    known = versions()
    texts: dict[str, bytes] = {}
    found: list[Task] = []
    divided = dict.fromkeys(tilings, 0)
    for shape in shapes:
        sizes = _named(shape, _SIZES)
        fitting = {text: tilings_of(form, text, sizes, setup.machine) for text in tilings}
        for text, some in fitting.items():
            divided[text] += bool(some)
        for tiling in dict.fromkeys(tiling for some in fitting.values() for tiling in some):
            label = in_text(tiling)
            if label not in texts:
                texts[label] = kernel_text(form, tiling, setup.machine).encode()
            found.append(_task(setup, Path(file_name(form, tiling)), texts[label], sizes, label, known))
        if not any(fitting.values()):
            given = ", ".join(f"{name}={value}" for name, value in sizes.items())
            raise InputError(f"no tiling of {', '.join(tilings)} divides {given}", help="leave that shape out")
    notes = [f"tiling {text} divides {n} of {len(shapes)} shapes" for text, n in divided.items() if n < len(shapes)]
    return Tasks(tuple(found), tuple(notes))


class _Kernel:
    """A kernel of a sweep: its text, and the names of its arguments as far as they can be read."""

    def __init__(self, path: Path, text: bytes, setup: Setup) -> None:
        self.path = path
        self.text = text
        self.is_read = True
        try:
            self.names = argument_names(Job(path, setup.machine, setup.function, text=text))
        except InputError:
            self.is_read, self.names = False, ()

    def arguments(self, shape: Shape) -> Shape:
        """A shape in the names of the kernel, with what it leaves open."""
        return {**dict.fromkeys(self.names, OPEN_ARGUMENT), **_named(shape, self.names)}

    def notes(self, shape: Shape) -> Iterator[str]:
        """What a shape leaves open."""
        given = _named(shape, self.names)
        yield from (f"{self.path}: {name} = {OPEN_ARGUMENT} (not given)" for name in self.names if name not in given)


def _refuse_unknown(shapes: Sequence[Shape], names: Sequence[str]) -> None:
    """Refuse a name that no kernel knows, rather than in every row."""
    known = dict.fromkeys(names)
    folded = {name.casefold() for name in known}
    for name in dict.fromkeys(name for shape in shapes for name in shape):
        if name.casefold() not in folded:
            listed = f"there are {', '.join(known)}" if known else "there are no integer arguments"
            raise InputError(f"no kernel of the sweep has an integer argument {name}", help=listed)


def _named(shape: Shape, names: Sequence[str]) -> Shape:
    """A shape with names that differ in case alone taken from `names`."""
    folded = {name.casefold(): name for name in names}
    return {name if name in names else folded.get(name.casefold(), name): value for name, value in shape.items()}


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _task(setup: Setup, path: Path, text: bytes, arguments: Mapping[str, int], tiling: str, known: Versions) -> Task:
    job = Job(
        path=path,
        machine=setup.machine,
        function=setup.function if not tiling else None,
        named=arguments,
        assume=setup.assume,
        core=setup.core,
        cores=setup.cores,
        text=text,
    )
    return Task(job, setup.order, setup.budget, tiling, known)
