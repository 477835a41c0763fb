"""`compare`: its tables, its document and its exit status."""

from pathlib import Path
from typing import Any

import pytest

from tests.api.binaries import fake, writing
from tests.api.kernels import BARRIERS, FIGURES, FIRST_LINE, FLAGS, HANGING, PLAIN, REUSED
from tests.cli.running import GEMM, GUARDED, STREAM, document, refusal, syncopt, without_progress

MACHINE = tuple(part for figure in FIGURES for part in ("--machine-set", figure))
ROW_KEYS = {"name", "kind", "cycles", "ratio_to_best", "percent_of_optimum", "busy", "sync", "verdict"}
MACHINES = ["default", "depth 16", "depth 40", "60 B/cycle", "110 B/cycle", "75 B/cycle, depth 40"]


def files(folder: Path, **kernels: str) -> list[str]:
    """Kernels in files of these names."""
    paths = [folder / f"{name}.pto" for name in kernels]
    for path, kernel in zip(paths, kernels.values(), strict=True):
        path.write_text(kernel)
    return [str(path) for path in paths]


def line(text: str, start: str) -> str:
    """The line that begins so, its columns one blank apart."""
    return next(" ".join(line.split()) for line in text.splitlines() if line.strip().startswith(start))


def test_document_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    result = syncopt("compare", *files(tmp_path, slow=BARRIERS, fast=FLAGS), *MACHINE, "--args", "5", "--json")
    assert result.exit_code == 0
    found = document(result)
    assert found.keys() >= {"machine", "arguments", "rows"}
    assert all(row.keys() >= ROW_KEYS for row in found["rows"])
    assert (found["machine"], found["arguments"], found["best"]) == ("910b2", {"n": 5}, "fast.pto")
    slow, fast = found["rows"]
    assert (slow["name"], slow["kind"], slow["cycles"], slow["verdict"]) == ("slow.pto", "as-written", 1431, "clean")
    assert (slow["ratio_to_best"], fast["ratio_to_best"]) == (1431 / 974, 1)
    assert slow["percent_of_optimum"] is None
    assert slow["busy"] == {"MTE2": 512 / 1431, "V": 128 / 1431, "MTE3": 512 / 1431}
    assert slow["sync"] == {"sets": 0, "waits": 0, "barriers": 6, "ids": {}}
    assert fast["sync"] == {"sets": 4, "waits": 4, "barriers": 1, "ids": {"MTE2->V": 2, "V->MTE3": 2}}
    assert found["same_work"] is True
    assert [row["machine"] for row in found["sensitivity"]] == MACHINES
    assert [version["ratio"] for version in found["sensitivity"][0]["versions"]] == [1431 / 974, 1]
    assert "why" not in found
    assert without_progress(result.stderr) == ""


def test_table(tmp_path: Path) -> None:
    result = syncopt("compare", *files(tmp_path, slow=BARRIERS, fast=FLAGS), *MACHINE, "--args", "5")
    assert result.exit_code == 0
    assert line(result.stdout, "version") == "version kind cycles to the best check"
    assert line(result.stdout, "slow.pto") == "slow.pto as-written 1,431 1.469 clean"
    assert line(result.stdout, "fast.pto") == "fast.pto as-written 974 1.000 clean"
    assert line(result.stdout, "busy") == "busy MTE2 V MTE3 sets waits barriers"
    assert "slow.pto 35.8 % 8.9 % 35.8 % 0 0 6" in [" ".join(row.split()) for row in result.stdout.splitlines()]
    assert line(result.stdout, "event ids") == "event ids slow.pto fast.pto"
    assert line(result.stdout, "MTE2->V") == "MTE2->V 0 2"
    assert "slow.pto takes 1.469 times the cycles of fast.pto, on all of them." in result.stdout
    assert "\x1b" not in result.output


def test_nothing_is_cut_off_in_a_terminal_of_80_columns() -> None:
    """Six pairs of pipes with ids, which are more than a line holds."""
    versions = (GEMM / "hand_synchronised.pto", GEMM / "single_buffered.pto")
    text = syncopt(
        "compare", *versions, "--args", "128,256,512", "--cores", "1", "--assume", "K>=512", columns="80"
    ).stdout
    assert "MTE1->MTE2" in text
    assert "\u2026" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_optimum_adds_the_plan_with_its_range(tmp_path: Path) -> None:
    paths = files(tmp_path, slow=BARRIERS)
    result = syncopt("compare", *paths, *MACHINE, "--args", "5", "--optimum", "--budget", "600s", "--json")
    assert result.exit_code == 0
    slow, plan = document(result)["rows"]
    assert (plan["name"], plan["kind"], plan["cycles"], plan["status"]) == ("optimum", "optimum", 974, "optimal")
    assert (slow["percent_of_optimum"], plan["percent_of_optimum"]) == (100 * 974 / 1431, 100)
    machines = document(result)["sensitivity"]
    assert [machine["reference"] for machine in machines] == ["optimum"] * 6
    assert all(version["valid"] for machine in machines for version in machine["versions"])
    text = syncopt("compare", *paths, *MACHINE, "--args", "5", "--optimum").stdout
    assert line(text, "slow.pto") == "slow.pto as-written 1,431 1.469 68.1 clean"
    assert "The optimum is proven: " in text
    assert all(machine in text for machine in MACHINES)


def test_optimum_that_is_not_proven_says_so() -> None:
    """No search at all: the plan is the best of those that were there before it."""
    options = ("--args", "6", "--optimum", "--work", "0")
    assert document(syncopt("compare", STREAM, *options, "--json"))["rows"][-1]["status"] == "feasible"
    text = syncopt("compare", STREAM, *options).stdout
    assert line(text, "optimum").startswith("optimum optimum (not proven) ")
    assert "The optimum is not proven, a better plan may exist." in text


def test_findings_of_each_version_are_listed() -> None:
    """The guarded kernel hangs where the guard is false, with these arguments it does not."""
    result = syncopt("compare", GUARDED, "--args", "1", "--json")
    assert result.exit_code == 1
    [row] = document(result)["rows"]
    assert (row["verdict"], row["valid"], row["hangs"]) == ("deadlock", True, False)
    finding = next(one for one in row["findings"] if one["kind"] == "deadlock")
    assert finding.keys() >= {"kind", "severity", "line", "message", "execution"}
    assert finding["line"] == 18
    text = syncopt("compare", GUARDED, "--args", "1").stdout
    assert "guarded.pto: deadlock: 1 error" in text
    assert line(text, "18").startswith("18 deadlock error hangs: no set answers wait_flag MTE2->V id 0 (line 18)")


def test_missing_final_barrier_and_hang_both_show(tmp_path: Path) -> None:
    text = GUARDED.read_text()
    path = tmp_path / "k.pto"
    path.write_text(text.replace("    pto.barrier <PIPE_ALL>\n", ""))
    result = syncopt("compare", path, "--args", "1")
    assert result.exit_code == 1
    assert "k.pto: deadlock: 2 errors in" in result.stdout
    assert line(result.stdout, "18").startswith("18 deadlock error")
    assert line(result.stdout, "22").startswith("22 unbalanced error pto.tstore (line 22)")


def test_ids_that_only_timing_keeps_apart_are_one_line(tmp_path: Path) -> None:
    [path] = files(tmp_path, k=REUSED)
    result = syncopt("compare", path, *MACHINE, "--args", "5")
    assert result.exit_code == 0
    assert "k.pto: clean: 1 warning in" in result.stdout
    where = FIRST_LINE + 3
    expected = f"id-reuse: 1 set of an id without proof that the wait before has taken the flag down (lines {where})"
    assert line(result.stdout, "id-reuse") == expected
    full = syncopt("compare", path, *MACHINE, "--args", "5", "-v").stdout
    assert line(full, str(where)).startswith(f"{where} id-reuse warning set_flag MTE2->V id 0")


def test_version_that_hangs_here(tmp_path: Path) -> None:
    paths = files(tmp_path, hanging=HANGING, fast=FLAGS)
    result = syncopt("compare", *paths, *MACHINE, "--why")
    assert result.exit_code == 1
    assert line(result.stdout, "hanging.pto").startswith("hanging.pto as-written")
    assert line(result.stdout, "hanging.pto").endswith("- deadlock hangs here")
    assert "hanging.pto hangs" in result.stdout
    assert "Nothing to explain: no version that ends is slower" in result.stdout
    assert document(syncopt("compare", *paths, *MACHINE, "--why", "--json"))["why"] is None


def test_no_version_is_right(tmp_path: Path) -> None:
    result = syncopt("compare", *files(tmp_path, hanging=HANGING), "--json")
    assert result.exit_code == 1
    found = document(result)
    assert (found["best"], found["rows"][0]["ratio_to_best"]) == (None, None)
    assert "there is no best one" in syncopt("compare", *files(tmp_path, hanging=HANGING)).stdout


def test_other_work_is_said_on_stderr(tmp_path: Path) -> None:
    other = FLAGS.replace("pto.tadd ins(%c", "pto.tmul ins(%c")
    result = syncopt("compare", *files(tmp_path, one=FLAGS, two=other), "--args", "5", "--json")
    assert result.exit_code == 0
    assert without_progress(result.stderr).splitlines() == [
        "warning: not the same work: two.pto: pto.tadd executed: 1 instead of 2",
        "warning: not the same work: two.pto: pto.tmul executed: 1 instead of 0",
    ]
    found = document(result)
    assert found["same_work"] is False
    assert found["differences"][0] == {"name": "two.pto", "text": "pto.tadd executed: 1 instead of 2"}
    text = syncopt("compare", *files(tmp_path, one=FLAGS, two=other), "--args", "5").stdout
    assert "The versions do not do the same work, so their cycles do not compare:" in text


def why(folder: Path) -> dict[str, Any]:
    paths = files(folder, slow=BARRIERS, fast=FLAGS)
    return document(syncopt("compare", *paths, *MACHINE, "--why", "--json"))["why"]


def test_why_names_op_line_and_flag(tmp_path: Path) -> None:
    """The rows are worked out in the tests of the function behind."""
    found = why(tmp_path)
    assert (found["slowest"], found["best"], found["difference"]) == ("slow.pto", "fast.pto", 457)
    assert sum(step["more"] for step in [*found["stalls"], *found["work"]]) == 457
    assert {step["cause"] for step in found["work"]} == {"work"}
    assert sum(total["cycles"] for total in found["totals"]) == 1431
    assert found["stalls"][0] == {
        "cause": "barrier",
        "link": "barrier",
        "op": {"name": "pto.tload", "pipe": "MTE2", "line": FIRST_LINE + 2},
        "behind": {"name": "pto.tload", "pipe": "MTE2", "line": FIRST_LINE},
        "via": [{"name": "barrier ALL", "pipe": "ALL", "line": FIRST_LINE + 1}],
        "also_lines": [],
        "cycles": 106,
        "cycles_of_best": 0,
        "more": 106,
    }


def test_why_says_what_the_busiest_pipe_does(tmp_path: Path) -> None:
    found = why(tmp_path)["busiest_pipe"]
    assert (found["pipe"], found["work"], found["work_of_best"]) == ("MTE2", 512, 512)
    assert found["pauses"][1] == {
        "kind": "dispatch",
        "cause": "barrier ALL",
        "op": {"name": "pto.tload", "pipe": "MTE2", "line": FIRST_LINE + 2},
        "lines": [],
        "cycles": 106,
        "cycles_of_best": 0,
        "more": 106,
    }


def test_why_in_words(tmp_path: Path) -> None:
    paths = files(tmp_path, slow=BARRIERS, fast=FLAGS)
    text = syncopt("compare", *paths, *MACHINE, "--why", "-v").stdout
    rows = [" ".join(row.split()) for row in text.splitlines()]
    first = FIRST_LINE
    assert "Why slow.pto takes 457 cycles more than fast.pto:" in rows
    assert rows.count("all cycles 1,431 974 457") == 2
    assert "busiest pipe: MTE2 slow.pto fast.pto more" in rows
    assert "nothing dispatched 107 1 106" in rows
    assert f"106 106 0 before pto.tload (line {first + 2}): not dispatched yet, barrier ALL" in rows
    assert f"-1 0 1 before pto.tload (line {first + 2}): sets of flags" in rows
    assert "352 812 460 behind its last op: what other pipes still do, and its latency" in rows
    load_a, load_c = f"pto.tload (line {first})", f"pto.tload (line {first + 2})"
    store_b, store_d = f"pto.tstore (line {first + 8})", f"pto.tstore (line {first + 10})"
    assert f"256 256 0 {store_b} runs on MTE3; {store_d} waits for it: barrier ALL (line {first + 9})" in rows
    assert f"0 1 1 {load_a} is dispatched behind what stands before it, from the beginning on" in rows
    assert f"106 106 0 {load_c} waits for {load_a}: barrier ALL (line {first + 1})" in rows
    lines = f"(set line {first + 3}, wait line {first + 7})"
    flag = f"pto.tadd (line {first + 8}) waits for {load_c}: flag MTE2->V {lines}"
    assert f"-108 0 108 {flag}" in rows
    assert f"-1 0 1 {load_c} waits for {load_a}: one pipe, flags between them" in rows
    assert any(row.startswith("Each critical path adds up to the cycles of its version: these 598") for row in rows)
    short = syncopt("compare", *paths, *MACHINE, "--why").stdout
    assert " -108 " not in short


def test_ptoas_adds_two_versions(tmp_path: Path) -> None:
    ptoas = writing(tmp_path, PLAIN, BARRIERS)
    result = syncopt("compare", *files(tmp_path, k=PLAIN), *MACHINE, "--args", "5", "--ptoas", ptoas, "--json")
    assert result.exit_code == 0
    assert [(row["name"], row["kind"], row["cycles"]) for row in document(result)["rows"]] == [
        ("k.pto", "fixed-order", 974),
        ("k.pto (ptoas)", "fixed-order", 974),
        ("k.pto (ptoas --enable-insert-sync)", "as-written", 1431),
    ]


def test_ptoas_that_fails_is_one_error(tmp_path: Path) -> None:
    ptoas = fake(tmp_path, "sys.exit('error: no such op')")
    [path] = files(tmp_path, k=PLAIN)
    assert refusal(syncopt("compare", path, "--ptoas", ptoas)).splitlines() == [
        f"error: {ptoas} {path}: exit status 1, 0 files written",
        "   help: its last words were: error: no such op",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["no/such.pto"], "error: no such file: no/such.pto"),
        (["--set", "k=3"], "error: --set k: no kernel has an integer argument k"),
        (["--func", "k"], "error: --func k: no file has a function k"),
        (["--assume", "k>3"], "error: --assume 'k>3': no integer argument k"),
        (["--args", "1,2"], "error: 2 arguments given, kernel guarded has 1 integer argument"),
        (["--args", "many"], "error: --args 'many': 'many' is not an integer"),
        (["--machine", "910x"], "error: unknown machine '910x'"),
        (["--core", "all"], "error: --core all: versions are compared on one core"),
        (["--core", "48"], "error: core 48 is not one of 48 cores"),
        (["--budget", "5s"], "error: --budget limits the search for the optimum"),
        (["--work", "5"], "error: --work limits the search for the optimum"),
        (["--optimum", "--budget", "soon"], "error: --budget 'soon' is not a duration"),
        (["--optimum", "--work", "inf"], "error: --work inf is not a finite number"),
        (["--ptoas", "no/such"], "error: cannot run no/such: No such file or directory"),
    ],
)
def test_bad_options(options: list[str], message: str) -> None:
    assert refusal(syncopt("compare", GUARDED, *options)).splitlines()[0] == message


def test_bad_usage() -> None:
    assert "Usage: syncopt" in refusal(syncopt("compare"))


def test_budget_too_short_for_any_plan(tmp_path: Path) -> None:
    result = syncopt("compare", *files(tmp_path, k=FLAGS), "--optimum", "--budget", "0s")
    assert result.exit_code == 3
    assert result.stdout == ""
