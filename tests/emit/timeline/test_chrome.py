"""Trace events for Perfetto and chrome://tracing, as text.

guarded.pto on a 910B2, which issues in 2 cycles. The load is ready at 2, takes ceil(16384 / 58.6) = 280 cycles and 264
more to complete: 546. Its flag is up 8 later, at 554, and holds V from 6 on. The sum takes 2 * 64 cycles, to 682, and
24 more to complete: 706; its flag is up at 714 and holds MTE3 from 12 on. The store takes 100 + ceil(16384 / 109) = 251
cycles. The last barrier is met at clock 14 and ends at 965 + 5; 2 of its cycles are those of its issue.
"""

import io
import json
import tracemalloc
from collections.abc import Iterator
from copy import copy

from syncopt.emit.timeline import Cycles, write_chrome
from syncopt.ir.pipes import Pipe
from syncopt.ir.trace import Instance
from tests.emit.timeline.drawing import guarded_version, text_of, toy_version
from tests.sim.programs import load, matmul, set_flag, toy, wait_flag

ABOUT = {"kernel": "guarded in guarded.pto", "machine": "910b2"}
SLICES = """\
{"ph":"X","cat":"op","name":"tload","pid":1,"tid":12,"ts":2,"dur":280,"args":{"line":15,"stall":"2 cycles: dispatch","done":546}},
{"ph":"X","cat":"set","name":"set MTE2->V id 0","pid":1,"tid":12,"ts":282,"dur":1,"args":{"line":16,"flag":"MTE2->V id 0","done":554}},
{"ph":"X","cat":"wait","name":"wait MTE2->V id 0","pid":1,"tid":15,"ts":6,"dur":548,"args":{"line":18,"flag":"MTE2->V id 0","set at line":16,"stall":"6 cycles: dispatch; 548 cycles: MTE2->V id 0"}},
{"ph":"s","cat":"flag","name":"MTE2->V id 0","id":1,"pid":1,"tid":12,"ts":282},
{"ph":"f","bp":"e","cat":"flag","name":"MTE2->V id 0","id":1,"pid":1,"tid":15,"ts":553},
{"ph":"X","cat":"op","name":"tadd","pid":1,"tid":15,"ts":554,"dur":128,"args":{"line":19,"done":706}},
{"ph":"X","cat":"set","name":"set V->MTE3 id 0","pid":1,"tid":15,"ts":682,"dur":1,"args":{"line":20,"flag":"V->MTE3 id 0","done":714}},
{"ph":"X","cat":"wait","name":"wait V->MTE3 id 0","pid":1,"tid":17,"ts":12,"dur":702,"args":{"line":21,"flag":"V->MTE3 id 0","set at line":20,"stall":"12 cycles: dispatch; 702 cycles: V->MTE3 id 0"}},
{"ph":"s","cat":"flag","name":"V->MTE3 id 0","id":2,"pid":1,"tid":15,"ts":682},
{"ph":"f","bp":"e","cat":"flag","name":"V->MTE3 id 0","id":2,"pid":1,"tid":17,"ts":713},
{"ph":"X","cat":"op","name":"tstore","pid":1,"tid":17,"ts":714,"dur":251,"args":{"line":22}},
{"ph":"X","cat":"barrier","name":"barrier ALL","pid":1,"tid":11,"ts":14,"dur":956,"args":{"line":23,"stall":"954 cycles: barrier ALL"}},
"""  # noqa: E501 - the exact text of a file


def test_text_of_a_small_kernel() -> None:
    out = io.StringIO()
    write_chrome(out, [guarded_version()], ABOUT)
    lines = text_of(out)
    assert lines[0] == (
        '{"displayTimeUnit":"ns","otherData":{"kernel":"guarded in guarded.pto","machine":"910b2",'
        '"time":"1 us on the time axis is 1 cycle"},"traceEvents":['
    )
    assert lines[1:3] == [
        '{"ph":"M","name":"process_name","pid":1,"args":{"name":"as written"}},',
        '{"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":1}},',
    ]
    assert lines[17:-2] == SLICES.splitlines()
    assert lines[-2:] == [
        '{"ph":"M","name":"process_labels","pid":1,'
        '"args":{"labels":"the full run, 965 cycles: all 8 instructions shown"}}',
        "]}",
    ]


def test_lanes_stand_in_the_order_of_the_pipes() -> None:
    out = io.StringIO()
    write_chrome(out, [guarded_version()], ABOUT)
    events = json.loads(out.getvalue())["traceEvents"]
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    ranks = {event["tid"]: event["args"]["sort_index"] for event in events if event["name"] == "thread_sort_index"}
    in_order = ["S", "MTE2", "MTE1", "M", "V", "FIX", "MTE3"]
    assert [names[tid] for tid in sorted(names)] == in_order
    assert [names[tid] for tid in sorted(ranks, key=lambda tid: ranks[tid])] == in_order


def test_versions_are_processes_with_flows_of_their_own() -> None:
    out = io.StringIO()
    shown = write_chrome(out, [guarded_version("as written"), guarded_version("plan")], ABOUT)
    events = json.loads(out.getvalue())["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {1: "as written", 2: "plan"}
    flows = [(event["id"], event["pid"]) for event in events if event["ph"] == "s"]
    assert flows == [(1, 1), (2, 1), (3, 2), (4, 2)]
    assert {event["pid"] for event in events if event.get("tid", 10) // 10 == 2} == {2}
    assert [one.version.name for one in shown] == ["as written", "plan"]


def test_arrow_needs_both_of_its_ends() -> None:
    """Load 1 to 11, set 11 to 12, wait 3 to 19, matmul 19 to 22: only the last two touch cycle 13 or later."""
    flag = (Pipe.MTE2, Pipe.M)
    program = [load(10), set_flag(*flag), wait_flag(*flag), matmul(3)]
    out = io.StringIO()
    [shown] = write_chrome(out, [toy_version(toy(), program, Cycles(13))], {})
    events = json.loads(out.getvalue())["traceEvents"]
    assert [event["name"] for event in events if event["ph"] == "X"] == ["wait MTE2->M id 0", "tmatmul"]
    assert not [event for event in events if event["ph"] in "sf"]
    assert shown.statement == "the full run, 22 cycles: 2 of 4 instructions shown (cycles 13 to the end)"
    labels = [event["args"]["labels"] for event in events if event["name"] == "process_labels"]
    assert labels == [shown.statement]


def test_arrow_to_a_wait_that_holds_nothing_ends_at_its_start() -> None:
    """The flag is up at 1 + 8; the wait is ready at 12, after ten matmuls."""
    flag = (Pipe.MTE2, Pipe.M)
    program = [set_flag(*flag), *(matmul(1) for _ in range(10)), wait_flag(*flag)]
    out = io.StringIO()
    write_chrome(out, [toy_version(toy(), program)], {})
    events = json.loads(out.getvalue())["traceEvents"]
    [wait] = [event for event in events if event.get("cat") == "wait"]
    [end] = [event for event in events if event["ph"] == "f"]
    assert (wait["ts"], wait["dur"], end["ts"]) == (12, 0, 12)


def test_stall_of_one_cycle_is_not_called_cycles() -> None:
    """Dispatch takes one cycle: the load is ready at 1, and so is its pipe."""
    out = io.StringIO()
    write_chrome(out, [toy_version(toy(), [load(10)])], {})
    [piece] = [event for event in json.loads(out.getvalue())["traceEvents"] if event["ph"] == "X"]
    assert piece["args"]["stall"] == "1 cycle: dispatch"


class Nowhere(io.StringIO):
    """A file that keeps nothing."""

    def write(self, text: str, /) -> int:
        return len(text)


class Rounds:
    """The same ops so many times over: a load and a matmul, with flags both ways; no instance is kept."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __iter__(self) -> Iterator[Instance]:
        there, back = (Pipe.MTE2, Pipe.M), (Pipe.M, Pipe.MTE2)
        ops = (load(10), set_flag(*there), wait_flag(*there), matmul(10), set_flag(*back), wait_flag(*back))
        for _ in range(self._count):
            yield from map(copy, ops)


def peak(rounds: int) -> int:
    """Most bytes in use while a trace of so many rounds is written."""
    tracemalloc.start()
    try:
        [shown] = write_chrome(Nowhere(), [toy_version(toy(), Rounds(rounds))], {})
        assert shown.slices == 6 * rounds
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_trace() -> None:
    peak(10)  # what is made once
    assert peak(500) < 1.5 * peak(50)
