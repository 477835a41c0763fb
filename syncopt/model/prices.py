"""Which ops of a trace have a cost."""

from collections.abc import Iterable, Iterator

from syncopt.hwmodel import Machine, UnmodelledWork
from syncopt.ir.source import Source
from syncopt.ir.trace import Instance
from syncopt.ir.work import Work


def priced(trace: Iterable[Instance], machine: Machine, source: Source | None) -> Iterator[Instance]:
    """The trace, whose ops all turn out to have a cost.

    Raises
    ------
    UnmodelledWork
        At the first op that has none.
    """
    known: set[Work] = set()
    for instance in trace:
        work = instance.work
        if work is not None and work not in known:
            try:
                machine.cost(work)
            except UnmodelledWork as error:
                raise error.at(source, instance.op.span) from None
            known.add(work)
        yield instance
