"""Variables of the CP-SAT model."""

from dataclasses import dataclass

from ortools.sat.python import cp_model, cp_model_helper

from syncopt.ir.kernel import Barrier, SetFlag, TileOp, WaitFlag
from syncopt.ir.pipes import Pipe
from syncopt.model.problem import Decision, Item, Problem

Literal = cp_model_helper.Literal
"""A Boolean variable or its negation."""


@dataclass(frozen=True)
class Variables:
    """Times of the items and decisions of a problem.

    Parameters
    ----------
    ready : list of IntVar
        Dispatch clock after each item's last queue entry.
    start : list of IntVar
        Start of each item on its pipe; of a wait or a barrier, the end of its wait.
    after : dict of Decision to IntVar
        Whether a unit is issued after another head of its block.
    makespan : IntVar
        Latest completion of a tile op.
    """

    ready: list[cp_model.IntVar]
    start: list[cp_model.IntVar]
    after: dict[Decision, cp_model.IntVar]
    makespan: cp_model.IntVar


def variables(model: cp_model.CpModel, problem: Problem, horizon: int) -> Variables:
    """All variables, with times from 0 to `horizon`."""
    return Variables(
        ready=[model.new_int_var(0, horizon, f"ready{n}") for n, _ in enumerate(problem.items)],
        start=[model.new_int_var(0, horizon, f"start{n}") for n, _ in enumerate(problem.items)],
        after={d: model.new_bool_var(f"after{d}") for d in problem.decisions()},
        makespan=model.new_int_var(0, horizon, "makespan"),
    )


def enforce(constraint: cp_model.Constraint, *literals: Literal) -> None:
    """Let a constraint hold only where all literals do."""
    # The stubs of ortools give one overload of this method arguments without a type.
    constraint.only_enforce_if(*literals)  # pyright: ignore[reportUnknownMemberType]


def end(item: Item) -> int:
    """Cycles from an item's start variable to the time from which its pipe takes the next one."""
    if isinstance(item.instance.op, TileOp):
        return item.occupancy
    return 1 if isinstance(item.instance.op, SetFlag) else 0


def done_after(item: Item) -> int:
    """Cycles from an item's start variable to its completion; ops of the scalar pipe are done at that variable."""
    if item.pipe is Pipe.S:
        return 0
    return end(item) + item.latency


def leave(item: Item) -> int:
    """Cycles from an item's start variable to the time at which its queue entries leave."""
    return 1 if isinstance(item.instance.op, SetFlag) else 0


def queued(item: Item) -> bool:
    """Whether an item goes through the queue of a pipe."""
    return item.pipe not in (Pipe.S, Pipe.ALL)


def is_wait(item: Item) -> bool:
    """Whether an item is a wait."""
    return isinstance(item.instance.op, WaitFlag)


def is_set(item: Item) -> bool:
    """Whether an item is a set."""
    return isinstance(item.instance.op, SetFlag)


def is_tile_op(item: Item) -> bool:
    """Whether an item is a tile op."""
    return isinstance(item.instance.op, TileOp)


def is_barrier(item: Item) -> bool:
    """Whether an item is a barrier."""
    return isinstance(item.instance.op, Barrier)
