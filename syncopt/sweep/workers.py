"""Where the tasks of a sweep are solved."""

import os
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

from syncopt.sweep.cluster import dask_cluster
from syncopt.sweep.local import local_processes

_MOST_ON_A_CLUSTER = 256


@dataclass(frozen=True)
class Workers:
    """Something that opens an executor.

    Parameters
    ----------
    open : callable
        Opens it.
    most : int
        Tasks that it is given at a time.
    """

    open: Callable[[], AbstractContextManager[Executor]]
    most: int


def processors() -> int:
    """Processors that this process may use."""
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def local_workers(processes: int) -> Workers:
    """So many processes on this machine."""
    return Workers(partial(local_processes, processes), processes)


def dask_workers(address: str) -> Workers:
    """Those of the Dask scheduler at an address."""
    return Workers(partial(dask_cluster, address), _MOST_ON_A_CLUSTER)
