"""Several kernels, one set of options: which of the options apply to which kernel.

Integer arguments in order apply to every kernel. What names something (a function, an argument, an assumption) applies
to the kernels that have a thing of that name, and is an error if none has.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syncopt.api._job import Job, integer_arguments
from syncopt.frontend import Module, read_module
from syncopt.ir.intervals import parse_assumptions
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import InputError


@dataclass(frozen=True)
class Fitted:
    """Jobs with the options that apply to each, and what is to be said of those that do not."""

    jobs: tuple[Job, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Candidate:
    job: Job
    kernel: Kernel

    @property
    def names(self) -> tuple[str, ...]:
        return integer_arguments(self.kernel)


def fit(jobs: Sequence[Job]) -> Fitted:
    """Give every job the options that apply to it; all jobs carry the same ones.

    Raises
    ------
    InputError
        Bad input, or an option that applies to no kernel.
    """
    candidates = [_Candidate(job, module.kernel(job.function)) for job, module in _with_functions(jobs)]
    notes: list[str] = []
    for name in jobs[0].named:
        has = [name in candidate.names for candidate in candidates]
        if not any(has):
            lists = "; ".join(f"{one.job.path}: {', '.join(one.names) or 'none'}" for one in candidates)
            raise InputError(f"--set {name}: no kernel has an integer argument {name}", help=f"they have {lists}")
        notes += [
            f"{one.job.path}: --set {name} does not apply, its arguments are {', '.join(one.names) or 'none'}"
            for one, applies in zip(candidates, has, strict=True)
            if not applies
        ]
    assumed = _assumptions(candidates, notes)
    fitted = (
        replace(one.job, named={k: v for k, v in one.job.named.items() if k in one.names}, assume=texts)
        for one, texts in zip(candidates, assumed, strict=True)
    )
    return Fitted(tuple(fitted), tuple(notes))


def _with_functions(jobs: Sequence[Job]) -> list[tuple[Job, Module]]:
    """Every job with its file; a function is asked for in the files that have it."""
    modules = [read_module(job.path) for job in jobs]
    wanted = jobs[0].function
    if wanted is None:
        return list(zip(jobs, modules, strict=True))
    has = [any(function.name == wanted for function in module.functions) for module in modules]
    if not any(has):
        raise InputError(f"--func {wanted}: no file has a function {wanted}", help=f"in {_paths(jobs)}")
    return [
        (job if applies else replace(job, function=None), module)
        for job, module, applies in zip(jobs, modules, has, strict=True)
    ]


def _paths(jobs: Sequence[Job]) -> str:
    return ", ".join(str(path) for path in dict.fromkeys(job.path for job in jobs))


def _assumptions(candidates: Sequence[_Candidate], notes: list[str]) -> list[tuple[str, ...]]:
    """For every kernel the assumptions that it can be read with."""
    applying: list[tuple[str, ...]] = [() for _ in candidates]
    for text in candidates[0].job.assume:
        widened = [_with_assumption(one.kernel, texts, text) for one, texts in zip(candidates, applying, strict=True)]
        refusals = [wider if isinstance(wider, InputError) else None for wider in widened]
        if all(refusals) and refusals[0] is not None:
            raise refusals[0]
        applying = [
            texts if isinstance(wider, InputError) else wider for texts, wider in zip(applying, widened, strict=True)
        ]
        notes += [
            f"{one.job.path}: does not apply: {refusal.message}"
            for one, refusal in zip(candidates, refusals, strict=True)
            if refusal is not None
        ]
    return applying


def _with_assumption(kernel: Kernel, texts: tuple[str, ...], text: str) -> tuple[str, ...] | InputError:
    """The assumptions of a kernel and one more, or why it cannot be made."""
    try:
        parse_assumptions([*texts, text], kernel)
    except InputError as error:
        return error
    return (*texts, text)
