"""What one row of a sweep is about, and the key that it is known by."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256

from syncopt.api import Budget, Job, Machine, OrderMode, figures
from syncopt.sweep.versions import Versions


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked.

    Parameters
    ----------
    kernel : str
        File of the kernel, or the name of a generated one.
    kernel_hash : str
        Of its text.
    function : str
        Name of the kernel in a file of several; empty if none was given.
    tiling : str
        Of a generated kernel, else empty.
    arguments : mapping of name to int
        As given; others were left open.
    assume : tuple of str
        Restrictions of the arguments for the proof.
    core : int
        Block index.
    cores : int
        Block number, 0 for all cores of the machine.
    machine, machine_hash : str
        Its name, and a hash of the figures that the model uses.
    order : str
        `free` or `fixed`.
    budget : float
        Seconds.
    work : float or None
        Deterministic time.
    seed : int
        Of the search.
    versions : Versions
        Of the code that answers.
    """

    kernel: str
    kernel_hash: str
    function: str
    tiling: str
    arguments: Mapping[str, int]
    assume: tuple[str, ...]
    core: int
    cores: int
    machine: str
    machine_hash: str
    order: str
    budget: float
    work: float | None
    seed: int
    versions: Versions

    @cached_property
    def key(self) -> str:
        """The same for what has the same answer: names of kernel, tiling and machine do not count."""
        return self._hash("kernel", "tiling", "machine")

    @cached_property
    def question(self) -> str:
        """The same as `key` for whatever version answers."""
        return self._hash("kernel", "tiling", "machine", "versions")

    def _hash(self, *without: str) -> str:
        counted = {name: value for name, value in asdict(self).items() if name not in without}
        counted["arguments"] = sorted(self.arguments.items())
        return sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Task:
    """One solve of a sweep.

    Parameters
    ----------
    job : Job
        With the text of its kernel.
    order : OrderMode
        Whether the issue order is open.
    budget : Budget
        For the search, with one worker.
    tiling : str
        Of a generated kernel, else empty.
    versions : Versions
        Those that the sweep was begun with.
    """

    job: Job
    order: OrderMode
    budget: Budget
    tiling: str
    versions: Versions

    @cached_property
    def asked(self) -> Asked:
        """What its row is about."""
        job = self.job
        assert job.text is not None
        return Asked(
            kernel=str(job.path),
            kernel_hash=sha256(job.text).hexdigest()[:16],
            function=job.function or "",
            tiling=self.tiling,
            arguments=dict(job.named),
            assume=job.assume,
            core=job.core,
            cores=job.cores or 0,
            machine=job.machine.name,
            machine_hash=machine_hash(job.machine),
            order=self.order.value,
            budget=float(self.budget.seconds),
            work=None if self.budget.work is None else float(self.budget.work),
            seed=self.budget.seed,
            versions=self.versions,
        )


def machine_hash(machine: Machine) -> str:
    """A hash of the figures that the model uses; names and sources do not count."""
    used = [(figure.key, str(figure.value)) for figure in figures(machine) if not figure.informational]
    return sha256(json.dumps(used).encode()).hexdigest()[:16]
