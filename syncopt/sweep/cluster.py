"""Workers of a Dask cluster."""

import importlib
import logging
from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from syncopt.api import InputError

_SECONDS_TO_ANSWER = 10


@contextmanager
def dask_cluster(address: str) -> Generator[Executor]:
    """The workers of the Dask scheduler at an address, such as `tcp://10.0.0.5:8786`, as an executor.

    What a worker was doing when it died is done by another one; work that ends several workers fails with what
    Dask raises then.

    Raises
    ------
    InputError
        If dask.distributed is not installed, or no scheduler answers at that address.
    """
    distributed = _distributed()
    # Made in two steps: a client that cannot be connected has a thread, and waits for it at the end of the process.
    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(address, timeout=_SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        client.close()
        help = "start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`"
        raise InputError(f"no Dask scheduler answers at {address}: {error}", help=help) from error
    # What goes wrong is told by the futures; the client would print it as well, with tracebacks.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    executor = client.get_executor(pure=False)
    try:
        yield executor
    finally:
        # Takes back what no worker has begun.
        executor.shutdown(wait=False)
        client.close()


def _distributed() -> Any:
    """The package, which has no types."""
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        message = "--dask needs the package distributed, which is not installed"
        raise InputError(message, help="pip install 'syncopt[cluster]'") from error
