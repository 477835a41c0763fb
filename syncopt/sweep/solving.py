"""What a worker does: one solve, one row."""

import time
from pathlib import Path

from syncopt.api import InputError, NoPlan, Request, Solved, WrongPlan, solve, traffic
from syncopt.sweep.asked import Task
from syncopt.sweep.plans import PlanFolder
from syncopt.sweep.rows.row import Figures, OnMachine, Outcome, Row, tflops_of
from syncopt.sweep.versions import versions


def solved_row(task: Task, folder: Path | None) -> Row:
    """Solve a task.

    Parameters
    ----------
    task : Task
        What to solve.
    folder : Path or None
        Where plans are kept; None to do every search.

    Raises
    ------
    InputError
        If this worker runs other code than the sweep was begun with, or plans cannot be kept. What is wrong with the
        task itself is told in its row.
    """
    if versions() != task.versions:
        message = f"a worker runs {versions()}, the sweep was begun with {task.versions}"
        raise InputError(message, help="install the same version everywhere; begin again after a change of the code")
    plans = None if folder is None else PlanFolder(folder, task.versions)
    began = time.monotonic()
    outcome, figures, error = _outcome(task, plans)
    return Row(task.asked, outcome, time.monotonic() - began, figures, error)


def _outcome(task: Task, plans: PlanFolder | None) -> tuple[Outcome, Figures | None, str]:
    try:
        solved = solve(task.job, Request(task.order, task.budget, plans=plans))
        return Outcome.OPTIMAL if solved.solution.optimal else Outcome.FEASIBLE, _figures(solved), ""
    except InputError as error:
        return Outcome.BAD_INPUT, None, str(error)
    except NoPlan:
        return Outcome.NO_PLAN, None, "the budget was spent before there was a valid plan"
    except WrongPlan as error:
        return Outcome.WRONG_PLAN, None, str(error)


def _figures(solved: Solved) -> Figures:
    machine, setting, run = solved.job.machine, solved.subject.setting, solved.replay
    counted, solution, baseline = traffic(solved.subject), solved.solution, solved.baseline
    seconds = machine.seconds(run.cycles)
    operands = counted.operand_bytes
    return Figures(
        name=solved.subject.kernel.name,
        cycles=run.cycles,
        lower_bound=solved.bound.cycles,
        bound_by=solved.bound.bound_by,
        window_ops=solution.window_ops,
        window_makespan=solution.makespan,
        window_bound=solution.bound,
        baseline=baseline.cycles,
        baseline_kind=baseline.kind.value,
        baseline_valid=baseline.valid,
        baseline_hangs=baseline.hangs,
        sensitivity=tuple(
            OnMachine(row.machine, row.cycles, row.baseline, row.valid, row.speedup) for row in solved.sensitivity
        ),
        busy={str(pipe): cycles / run.cycles for pipe, cycles in run.busy.items()} if run.cycles else {},
        sets=run.sets,
        waits=run.waits,
        barriers=run.barriers,
        matmuls=counted.matmuls,
        loads=counted.loads,
        loaded_bytes=counted.loaded_bytes,
        operand_bytes=operands,
        beyond_l2=None if operands is None else operands > machine.l2_bytes,
        microseconds=seconds * 1e6,
        tflops=tflops_of(setting.arguments, counted.products, setting.block_num, seconds),
        remembered=solved.remembered,
        search_seconds=solution.search_seconds,
    )
