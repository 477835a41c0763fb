"""`check --execute`: does every legal order of a kernel give the numbers of program order?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from syncopt.api._job import Job, Subject
from syncopt.check import Branches, Execution, Finding, FindingKind, Severity
from syncopt.check.wording import line_of, name_of
from syncopt.execute import (
    Constraints,
    Difference,
    Program,
    Schedule,
    constraints_of,
    differences,
    execute,
    order_of,
    read_program,
    schedules_of,
)
from syncopt.execute import Execution as Executed
from syncopt.hwmodel import UnmodelledWork
from syncopt.ir.kernel import Kernel, Op
from syncopt.ir.trace import Instance, Iteration


@dataclass(frozen=True)
class Outcome:
    """What one order gives.

    Parameters
    ----------
    schedule : Schedule
        The order.
    differences : tuple of Difference
        Where its numbers are not those of program order, one entry per pointer.
    blocked : tuple of Instance
        Waits that hold their pipes for ever: the kernel hangs.
    left_out : str
        Why it was not executed; empty if it was.
    """

    schedule: Schedule
    differences: tuple[Difference, ...] = ()
    blocked: tuple[Instance, ...] = ()
    left_out: str = ""


@dataclass(frozen=True)
class Executions:
    """A program executed in several orders.

    Parameters
    ----------
    program : Program
        The kernel with the given arguments.
    outcomes : tuple of Outcome
        Every order but program order, which the others are compared with.
    """

    program: Program
    outcomes: tuple[Outcome, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Wrong numbers and hangs as errors: one per op that goes wrong first, from the first order that shows it."""
        found: dict[tuple[object, ...], Finding] = {}
        for outcome in self.outcomes:
            for finding in self._findings(outcome):
                found.setdefault((finding.kind, *finding.ops), finding)
        return tuple(found.values())

    def _findings(self, outcome: Outcome) -> Iterator[Finding]:
        kernel = self.program.kernel
        if outcome.blocked:
            ops = tuple(instance.op for instance in outcome.blocked)
            yield self._finding(FindingKind.DEADLOCK, outcome, ops, hang_text(kernel, outcome))
        for difference in outcome.differences[:1]:
            involved = (difference.store, difference.origin)
            ops = tuple(instance.op for instance in involved if instance is not None)
            text = f"wrong number: {difference_text(kernel, difference)}"
            yield self._finding(FindingKind.RACE, outcome, ops, text)

    def _finding(self, kind: FindingKind, outcome: Outcome, ops: tuple[Op, ...], text: str) -> Finding:
        kernel, instructions = self.program.kernel, len(self.program.instances)
        name = f"the given arguments, {outcome.schedule}"
        execution = Execution({}, {}, Branches.THEN, instructions, name)
        line = line_of(kernel, ops[-1]) if ops else 0
        return Finding(kind, Severity.ERROR, tuple(op.uid for op in ops), line, text, execution)


def hang_text(kernel: Kernel, outcome: Outcome) -> str:
    """Which waits hold a kernel for ever."""
    names = ", ".join(name_of(kernel, instance.op, instance.event) for instance in outcome.blocked)
    return f"hangs when executed: {names} never ends"


def difference_text(kernel: Kernel, difference: Difference) -> str:
    """The first wrong number, where it comes from, and what computed something else first."""
    wrong = f"{difference.pointer}[{difference.index}] is {difference.got}, not {difference.expected}"
    others = f" ({difference.elements:,} elements differ)" if difference.elements > 1 else ""
    stored = f"; stored by {_where(kernel, difference.store)}" if difference.store is not None else ""
    if difference.origin is None:
        return f"{wrong}{others}{stored}; every op computed the same, but their writes came in another order"
    return f"{wrong}{others}{stored}; the first op to go wrong is {_where(kernel, difference.origin)}"


def _where(kernel: Kernel, instance: Instance) -> str:
    return f"{name_of(kernel, instance.op)}{_round(instance.iteration)}"


def _round(iteration: Iteration) -> str:
    return f" in iteration {', '.join(map(str, iteration))}" if iteration else ""


def execute_orders(
    job: Job, subject: Subject, random_orders: int, stage: Callable[[str], None] = lambda _: None
) -> Executions:
    """Execute a kernel with its arguments in program order, as replayed, at random and as late as flags allow.

    Parameters
    ----------
    job : Job
        The machine.
    subject : Subject
        The kernel and its setting.
    random_orders : int
        How many random orders.
    stage : callable
        Is told in words what begins.

    Raises
    ------
    InputError
        If an op has no numeric meaning here, or there is too much to execute.
    """
    program = read_program(subject.kernel, subject.setting, job.machine)
    constraints = constraints_of(program)
    first, *others = schedules_of(program.instances, random_orders)
    stage(f"executing in {first}")
    expected = execute(program, order_of(constraints, first))
    outcomes: list[Outcome] = []
    for number, schedule in enumerate(others, 1):
        stage(f"executing order {number} of {len(others)}: {schedule}")
        outcomes.append(_outcome(constraints, schedule, expected))
    return Executions(program, tuple(outcomes))


def _outcome(constraints: Constraints, schedule: Schedule, expected: Executed) -> Outcome:
    program = constraints.program
    try:
        order = order_of(constraints, schedule)
    except UnmodelledWork as error:
        return Outcome(schedule, left_out=error.message)
    if order.blocked:
        return Outcome(schedule, blocked=order.blocked)
    return Outcome(schedule, differences(program, expected, execute(program, order)))
