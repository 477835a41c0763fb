"""What `check --execute` prints of the orders that it executed."""

import math

from syncopt.api import Checked, Executions, Outcome, difference_text, hang_text
from syncopt.api.words import counted
from syncopt.cli._page import BAD, DOUBTFUL, GOOD, QUIET, Page, table


def print_executed(page: Page, checked: Checked) -> None:
    """The orders, each with its first wrong number; nothing if none was executed."""
    executions = checked.executions
    if executions is None:
        return
    page.line()
    pointers = counted(len(executions.program.sizes), "pointer")
    instructions = counted(len(executions.program.instances), "instruction")
    page.line(f"executed on numbers: {instructions}, {pointers}, compared with program order", QUIET)
    rows = table("order", "outcome")
    for outcome in executions.outcomes:
        rows.add_row(str(outcome.schedule), _text(executions, outcome), style=_style(outcome))
    page.table(rows)


def _text(executions: Executions, outcome: Outcome) -> str:
    if outcome.left_out:
        return f"not executed: {outcome.left_out}"
    if outcome.blocked:
        return hang_text(executions.program.kernel, outcome)
    return "; ".join(difference_text(executions.program.kernel, found) for found in outcome.differences) or "equal"


def _style(outcome: Outcome) -> str:
    if outcome.left_out:
        return DOUBTFUL
    return BAD if outcome.blocked or outcome.differences else GOOD


def executed_document(checked: Checked) -> dict[str, object]:
    """The key `executed`: null if nothing was, else every order with its outcome."""
    executions = checked.executions
    if executions is None:
        return {"executed": None}
    document: dict[str, object] = {
        "instructions": len(executions.program.instances),
        "bytes": {pointer.name.removeprefix("%"): size for pointer, size in executions.program.sizes.items()},
        "orders": [_order(executions, outcome) for outcome in executions.outcomes],
    }
    return {"executed": document}


def _order(executions: Executions, outcome: Outcome) -> dict[str, object]:
    kind = "wrong" if outcome.differences else "equal"
    kind = "hangs" if outcome.blocked else "not executed" if outcome.left_out else kind
    return {
        "order": str(outcome.schedule),
        "outcome": kind,
        "message": _text(executions, outcome),
        "differences": [
            {
                "pointer": found.pointer.name.removeprefix("%"),
                "index": found.index,
                "got": _number(found.got),
                "expected": _number(found.expected),
                "elements": found.elements,
            }
            for found in outcome.differences
        ],
    }


def _number(number: int | float) -> int | float | str:
    """JSON has no infinities and NaNs."""
    return number if math.isfinite(number) else str(number)
