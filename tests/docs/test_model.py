"""The kernel that docs/model.md works out by hand takes the times of its table, instruction by instruction."""

import re

from syncopt.api import Job, load_machine, simulate
from syncopt.ir.kernel import Barrier
from syncopt.ir.trace import Tracer
from syncopt.sim import Timing, replay
from tests.docs.reading import ROOT, read

Row = tuple[int, str, int, int, int, int]
"""Line, pipe, dispatched, start, end, complete."""


def rows_of_the_page() -> list[Row]:
    """The table under "One kernel by hand"."""
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in read("docs/model.md").prose.splitlines()
        if re.match(r"\| \d+ \|", line)
    ]
    return [(int(row[0]), row[2], *_four(row[3:7])) for row in cells]


def _four(cells: list[str]) -> tuple[int, int, int, int]:
    ready, start, end, done = map(int, cells)
    return ready, start, end, done


def rows_of_the_replay() -> list[Row]:
    """The same of the machine model; the barrier at the end stands in no row of the page."""
    machine = load_machine("910b2")
    subject = simulate(Job(ROOT / "docs" / "kernels" / "block.pto", machine)).subject
    timings: list[Timing] = []
    replay(Tracer(subject.kernel, subject.setting), machine, timings.append)
    return sorted(
        (subject.kernel.source.line(instance.op.span.start), str(instance.pipe), ready, start, end, done)
        for instance, ready, start, end, done in timings
        if not isinstance(instance.op, Barrier)
    )


def test_hand_worked_times_are_those_of_the_replay() -> None:
    rows = rows_of_the_page()
    assert len(rows) == 8
    assert rows == rows_of_the_replay()
