"""Traces for MindStudio Insight, as text, and its reader's rules. The cycles are worked out in test_chrome.py."""

import io
import json
from typing import Any

from syncopt.emit.timeline import Cycles, write_mindstudio
from syncopt.ir.pipes import Pipe
from tests.emit.timeline.drawing import guarded_version, text_of, toy_version
from tests.sim.programs import load, matmul, set_flag, toy, wait_flag

ABOUT = {"kernel": "guarded in [a] guarded.pto", "machine": "910b2"}
PLACE = '"pid":"core0.veccore0 as written","tid"'
SLICES = f"""\
{{"args":{{"code":"guarded.pto:15","detail":"STALL:2 cycles dispatch"}},"cname":"op","name":"TLOAD",{PLACE}:"MTE2","ts":0.002,"dur":0.28,"ph":"X"}},
{{"args":{{"code":"guarded.pto:16","detail":"PIPE:MTE2,TRIGGERPIPE:V,FLAGID:0"}},"cname":"set","name":"SET_FLAG",{PLACE}:"MTE2","id":0,"ts":0.282,"ph":"B"}},
{{"args":{{}},"name":"SET_FLAG",{PLACE}:"MTE2","id":0,"ts":0.283,"ph":"E"}},
{{"args":{{"code":"guarded.pto:18","detail":"PIPE:MTE2,TRIGGERPIPE:V,FLAGID:0,SETLINE:16,STALL:6 cycles dispatch,STALL:548 cycles MTE2->V id 0"}},"cname":"wait","name":"WAIT_FLAG",{PLACE}:"VECTOR","id":0,"ts":0.006,"ph":"B"}},
{{"args":{{}},"name":"WAIT_FLAG",{PLACE}:"VECTOR","id":0,"ts":0.554,"ph":"E"}},
{{"cat":"MTE2->V","name":"MTE2->V id 0","id":0,{PLACE}:"MTE2","ts":0.282,"ph":"s"}},
{{"cat":"MTE2->V","name":"MTE2->V id 0","id":0,{PLACE}:"VECTOR","ts":0.554,"ph":"t"}},
{{"args":{{"code":"guarded.pto:19","detail":""}},"cname":"op","name":"TADD",{PLACE}:"VECTOR","ts":0.554,"dur":0.128,"ph":"X"}},
{{"args":{{"code":"guarded.pto:20","detail":"PIPE:V,TRIGGERPIPE:MTE3,FLAGID:0"}},"cname":"set","name":"SET_FLAG",{PLACE}:"VECTOR","id":1,"ts":0.682,"ph":"B"}},
{{"args":{{}},"name":"SET_FLAG",{PLACE}:"VECTOR","id":1,"ts":0.683,"ph":"E"}},
{{"args":{{"code":"guarded.pto:21","detail":"PIPE:V,TRIGGERPIPE:MTE3,FLAGID:0,SETLINE:20,STALL:12 cycles dispatch,STALL:702 cycles V->MTE3 id 0"}},"cname":"wait","name":"WAIT_FLAG",{PLACE}:"MTE3","id":1,"ts":0.012,"ph":"B"}},
{{"args":{{}},"name":"WAIT_FLAG",{PLACE}:"MTE3","id":1,"ts":0.714,"ph":"E"}},
{{"cat":"V->MTE3","name":"V->MTE3 id 0","id":1,{PLACE}:"VECTOR","ts":0.682,"ph":"s"}},
{{"cat":"V->MTE3","name":"V->MTE3 id 0","id":1,{PLACE}:"MTE3","ts":0.714,"ph":"t"}},
{{"args":{{"code":"guarded.pto:22","detail":""}},"cname":"op","name":"TSTORE",{PLACE}:"MTE3","ts":0.714,"dur":0.251,"ph":"X"}},
{{"args":{{"code":"guarded.pto:23","detail":"PIPE:ALL,STALL:954 cycles barrier ALL"}},"cname":"barrier","name":"BARRIER",{PLACE}:"SCALAR","ts":0.014,"dur":0.956,"ph":"X"}},
"""  # noqa: E501 - the exact text of a file


def written(*versions: str) -> str:
    out = io.StringIO()
    write_mindstudio(out, [guarded_version(name) for name in versions], ABOUT, "core0.veccore0")
    return out.getvalue()


def events_of(text: str) -> list[dict[str, Any]]:
    return json.loads(text)["traceEvents"]


def test_text_of_a_small_kernel() -> None:
    lines = written("as written").splitlines()
    assert lines[0] == (
        '{"profilingType":"op","schemaVersion":1,"displayTimeUnit":"ns","kernel":"guarded in (a) guarded.pto",'
        '"machine":"910b2","time":"1 ns on the time axis is 1 cycle","traceEvents":['
    )
    assert lines[1] == (
        '{"args":{"sort_index":1},"name":"process_sort_index","pid":"core0.veccore0 as written","ph":"M"},'
    )
    assert lines[9:-2] == SLICES.splitlines()
    assert lines[-2:] == [
        '{"args":{"labels":"the full run, 965 cycles: all 8 instructions shown"},"name":"process_labels",'
        '"pid":"core0.veccore0 as written","ph":"M"}',
        "]}",
    ]


def test_reader_knows_the_file_by_what_stands_before_the_first_bracket() -> None:
    """Also where the name of the kernel's file has a bracket."""
    header = written("as written").partition("[")[0]
    assert '"profilingType":"op"' in header
    assert header.endswith('"traceEvents":')


def test_lanes_have_the_names_and_the_order_of_the_pipes() -> None:
    events = events_of(written("as written"))
    lanes = [event["tid"] for event in events if event["name"] == "thread_sort_index"]
    assert lanes == ["SCALAR", "MTE2", "MTE1", "CUBE", "VECTOR", "FIXP", "MTE3"]


def test_reader_pairs_sets_and_waits_by_their_ids() -> None:
    """It keeps one begin per id, in one table for sets and one for waits, over all processes of a file."""
    found: dict[tuple[str, int], list[float]] = {}
    for event in events_of(written("as written", "plan")):
        if event["ph"] in "BE":
            found.setdefault((event["name"], event["id"]), []).append(event["ts"])
    assert found == {
        **{("SET_FLAG", number): [0.282, 0.283] for number in (0, 2)},
        **{("SET_FLAG", number): [0.682, 0.683] for number in (1, 3)},
        **{("WAIT_FLAG", number): [0.006, 0.554] for number in (0, 2)},
        **{("WAIT_FLAG", number): [0.012, 0.714] for number in (1, 3)},
    }


def test_arrows_have_the_ids_of_their_flags() -> None:
    events = events_of(written("as written", "plan"))
    starts, ends = ([event["id"] for event in events if event["ph"] == kind] for kind in "st")
    assert starts == ends == [0, 1, 2, 3]


def test_reader_finds_the_end_of_the_last_event() -> None:
    """It looks for the last "ph" of the file and takes the first closing brace behind it that has no opening one."""
    text = written("as } {{ written")
    behind = text[text.rindex('"ph"') :]
    assert behind == '"ph":"M"}\n]}\n'


def test_stall_of_one_cycle_is_not_called_cycles() -> None:
    out = io.StringIO()
    write_mindstudio(out, [toy_version(toy(), [load(10)])], {}, "core0.cubecore0")
    assert '"detail":"STALL:1 cycle dispatch"' in out.getvalue()


def test_arrow_needs_both_of_its_ends() -> None:
    """As in test_chrome.py: from cycle 13 on there is the wait, not the set. Its begin and its end are there."""
    flag = (Pipe.MTE2, Pipe.M)
    program = [load(10), set_flag(*flag), wait_flag(*flag), matmul(3)]
    out = io.StringIO()
    write_mindstudio(out, [toy_version(toy(), program, Cycles(13))], {}, "core0.cubecore0")
    kinds = [line.rpartition('"ph":')[2][1] for line in text_of(out)[9:-2]]
    assert kinds == ["B", "E", "X"]
