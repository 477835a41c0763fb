"""Kernels in C++: the same answers as for their `.pto` twins, and plans written as C++."""

from pathlib import Path

import pytest

from tests.cli.running import KERNELS, STREAM, document, refusal, syncopt

CPP = KERNELS / "stream.cpp"
SHALLOW = ("--machine-set", "queue_depth=2")


def without_text(found: dict[str, object]) -> dict[str, object]:
    """What does not depend on how the kernel is written."""
    kept = ("status", "window", "cycles", "lower_bound", "baseline", "busy", "stalls", "sync", "sensitivity")
    return {key: found[key] for key in kept}


def test_plan_of_cpp_is_that_of_pto() -> None:
    found = [document(syncopt("solve", path, "--args", "6", *SHALLOW, "--json")) for path in (CPP, STREAM)]
    assert without_text(found[0]) == without_text(found[1])
    assert found[0]["arguments"] == {"n": 6}
    [move] = found[0]["moved"]
    assert (move["op"], move["line"], move["from"], move["to"]) == ("pto.tload", 26, 3, 1)


def test_plan_is_written_as_cpp(tmp_path: Path) -> None:
    """The view of the second stream moves up with its load; nothing else of the text changes, but for added lines."""
    output = tmp_path / "o.cpp"
    found = document(syncopt("solve", CPP, "--args", "6", *SHALLOW, "--json", "-o", output))
    assert found["outputs"] == {"cpp": str(output)}
    before, after = CPP.read_text().splitlines(), output.read_text().splitlines()
    flags = ("set_flag(", "wait_flag(", "pipe_barrier(")
    kept = [line for line in after if not line.strip().startswith(flags)]
    assert sorted(kept) == sorted(before)
    loads = [line for line in kept if "TLOAD" in line or "View" in line or "TADD" in line][1:]
    assert loads[:5] == [
        "    View from(x + at);",
        "    TLOAD(a, from);",
        "    View from2 = View(x2 + at);  // the second stream",
        "    TLOAD(c, from2);",
        "    TADD(b, a, a);",
    ]
    assert document(syncopt("check", output, "--json"))["verdict"] == "clean"
    replay = syncopt("simulate", output, "--args", "6", *SHALLOW, "--json")
    assert replay.exit_code == 0
    assert document(replay)["cycles"] == found["cycles"]
    again = document(syncopt("solve", output, "--args", "6", *SHALLOW, "--json"))
    assert again["cycles"] == found["cycles"]
    assert again["baseline"] == {"cycles": found["cycles"], "kind": "as-written", "valid": True, "errors": []}


AHEAD = """__global__ AICORE void ahead(__gm__ float *x, __gm__ float *y, int32_t n) {
  using View = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
  Tile<TileType::Vec, float, 64, 64> a, b;
  View from(x), to(y);
  TLOAD(a, from);
  for (size_t i = 0; i < (size_t) n; ++i) {
    TADD(b, a, a);
    TSTORE(to, b);
    if (i + 1 < n) {
      View next(x + i * 4096 + 4096);
      TLOAD(a, next);
    }
  }
}
"""


def test_loop_bound_that_has_lost_its_name_is_asked_for_by_another(tmp_path: Path) -> None:
    """Behind the loop `n` is 1 whatever the bound was; the bound is still `m`."""
    path, output = tmp_path / "k.cpp", tmp_path / "o.cpp"
    text = AHEAD.replace("  View from(x)", "  int32_t m = n;\n  n = 1;\n  View from(x)")
    path.write_text(
        text.replace("(size_t i = 0; i < (size_t) n;", "(int32_t i = 0; i < m;").replace("i + 1 < n", "i + 1 < m")
    )
    found = document(syncopt("solve", path, "--args", "3", "--json", "-o", output))
    assert found["check"]["verdict"] == "clean"
    assert "  const bool no_trip = (int32_t) 0 >= (int32_t) m;\n" in output.read_text()


def test_loop_that_may_not_go_round_is_made_up_for(tmp_path: Path) -> None:
    """Every load is waited for in the next round; without any round the first one must be waited for behind it."""
    path, output = tmp_path / "k.cpp", tmp_path / "o.cpp"
    path.write_text(AHEAD)
    found = document(syncopt("solve", path, "--args", "3", "--json", "-o", output))
    assert found["check"]["verdict"] == "clean"
    assert (
        "  const bool no_trip = (int64_t) ((uint64_t) 0) >= (int64_t) ((size_t) n);\n"
        "  if (no_trip) {\n    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
    ) in output.read_text()
    assert document(syncopt("check", output, "--json"))["verdict"] == "clean"


def test_tiles_without_addresses_are_placed(tmp_path: Path) -> None:
    lines = [line for line in CPP.read_text().splitlines(keepends=True) if "TASSIGN" not in line]
    path, output = tmp_path / "k.cpp", tmp_path / "o.cpp"
    path.write_text("".join(lines))
    syncopt("solve", path, "--args", "6", "-o", output)
    assert "  const int64_t addr_16384 = 16384;\n" in output.read_text()
    assert "  TASSIGN(b, addr_16384);\n" in output.read_text()
    assert document(syncopt("check", output, "--json"))["verdict"] == "clean"


def test_in_place_and_summary(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_bytes(CPP.read_bytes())
    result = syncopt("solve", path, "--args", "6")
    assert "Nothing is written; -o OUT.cpp writes the kernel with this plan." in result.stdout
    assert syncopt("solve", path, "--args", "6", "--in-place").exit_code == 0
    assert document(syncopt("check", path, "--json"))["verdict"] == "clean"


@pytest.mark.parametrize(
    ("kernel", "output", "message", "hint"),
    [
        (CPP, "o.pto", "would hold C++, since", "name a .cpp file"),
        (STREAM, "o.cpp", "would hold .pto text, since", "name a .pto file"),
    ],
)
def test_output_in_the_other_language_is_refused(
    kernel: Path, output: str, message: str, hint: str, tmp_path: Path
) -> None:
    text = refusal(syncopt("solve", kernel, "--args", "6", "-o", tmp_path / output))
    assert message in text
    assert hint in text
    assert not (tmp_path / output).exists()


EARLY = """__global__ AICORE void early(__gm__ float *x, __gm__ float *y, int32_t n) {
  using View = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
  Tile<TileType::Vec, float, 64, 64> a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 16384);
  View first(x), to(y);
  TLOAD(a, first);
  if (n < 2) {
    TSTORE(to, a);
    return;
  }
  for (int32_t i = n - 1; i > 0; --i) {
    if (i == 3)
      continue;
    View from(x + i * 4096);
    TLOAD(b, from);
    TADD(a, a, b);
  }
  TSTORE(to, a);
}
"""


def test_plan_for_an_early_return_is_read_again_with_the_same_cycles(tmp_path: Path) -> None:
    """The load in front of the branch is waited for on both ways, and no flag is up where the kernel returns."""
    path, output = tmp_path / "k.cpp", tmp_path / "o.cpp"
    path.write_text(EARLY)
    found = document(syncopt("solve", path, "--args", "6", "--json", "-o", output, "--also-args", "1"))
    assert found["check"]["verdict"] == "clean"
    text = output.read_text()
    inside = text[text.index("if (n < 2) {") : text.index("return;")]
    drained = "wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);"
    assert inside.endswith(f"    TSTORE(to, a);\n    {drained}\n    pipe_barrier(PIPE_ALL);\n    ")
    assert text.endswith(f"  TSTORE(to, a);\n  {drained}\n  pipe_barrier(PIPE_ALL);\n}}\n")
    assert document(syncopt("check", output, "--json"))["verdict"] == "clean"
    for arguments, cycles in (("6", found["cycles"]), ("1", found["also"][0]["cycles"])):
        replay = syncopt("simulate", output, "--args", arguments, "--json")
        assert replay.exit_code == 0
        assert document(replay)["cycles"] == cycles


def test_kernel_behind_a_return_has_all_its_flags_there(tmp_path: Path) -> None:
    """A core that has nothing to do sets and waits for nothing."""
    path, output = tmp_path / "k.cpp", tmp_path / "o.cpp"
    guarded = "int32_t n) {\n  const int32_t core = get_block_idx();\n  if (core >= n) return;\n"
    path.write_text(
        EARLY.replace("int32_t n) {\n", guarded).replace("  if (n < 2) {\n    TSTORE(to, a);\n    return;\n  }\n", "")
    )
    found = document(syncopt("solve", path, "--args", "3", "--json", "-o", output))
    assert found["check"]["verdict"] == "clean"
    assert guarded in output.read_text()
    idle = syncopt("simulate", output, "--args", "3", "--core", "5", "--json")
    assert document(idle)["cycles"] == 0


def test_refusal_points_into_the_text(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_text(CPP.read_text().replace("    TADD(b, a, a);\n", "    if (n) { do {} while (1); }\n"))
    text = refusal(syncopt("simulate", path, "--args", "6"))
    assert text.startswith(f"{path}:22:14: error: do is not modelled\n   22 |     if (n) {{ do {{}} while (1); }}\n")


def test_op_without_a_cost_is_named(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_text(CPP.read_text().replace("TADD(b, a, a)", "TGATHER(b, a, a, a)"))
    text = refusal(syncopt("simulate", path, "--args", "6"))
    assert text.startswith(f"{path}:22:5: error: pto.tgather (vec, vec, vec -> vec) has no published cost\n")


def test_loop_to_a_negative_bound_is_refused(tmp_path: Path) -> None:
    """-1 as a size_t is the largest number there is: the loop would go round until the end of the world."""
    path = tmp_path / "k.cpp"
    path.write_text(CPP.read_text().replace("for (int32_t i = 0; i < n;", "for (size_t i = 0; i < (size_t) n;"))
    assert document(syncopt("simulate", path, "--args", "3", "--json"))["cycles"] > 0
    text = refusal(syncopt("simulate", path, "--args=-1"))
    assert text.startswith(f"{path}:18:3: error: for is not known from the arguments\n")


def test_condition_that_is_undefined_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "k.cpp"
    path.write_text(CPP.read_text().replace("    TADD(b, a, a);\n", "    if (7 / (n - 6)) TADD(b, a, a);\n"))
    assert document(syncopt("simulate", path, "--args", "5", "--json"))["cycles"] > 0
    text = refusal(syncopt("simulate", path, "--args", "6"))
    assert text.startswith(f"{path}:22:5: error: the condition of if is not known from the arguments\n")


def test_names_of_arguments_are_those_of_the_text() -> None:
    text = refusal(syncopt("simulate", CPP, "--set", "m=3"))
    assert "has no integer argument m" in text


def test_called_function_is_replayed_and_checked_but_not_planned(tmp_path: Path) -> None:
    """The template waits for nothing between its load and its TADD; a plan would have to change the template."""
    path = tmp_path / "k.cpp"
    body = AHEAD[AHEAD.index("  using View") :]
    function = f"template <typename T> AICORE void work(__gm__ T *x, __gm__ T *y, int32_t n) {{\n{body}"
    path.write_text(
        f"{function}__global__ AICORE void k(__gm__ float *x, __gm__ float *y, int32_t n) {{\n"
        "  work<float>(x, y, n);\n}\n"
    )
    assert document(syncopt("simulate", path, "--args", "3", "--json"))["cycles"] > 0
    found = document(syncopt("check", path, "--json"))
    assert found["verdict"] == "race"
    assert {finding["line"] for finding in found["findings"]} == {16}
    text = refusal(syncopt("solve", path, "--args", "3"))
    assert text.startswith(
        f"{path}:16:3: error: a plan cannot be written into the function that this statement calls\n"
    )
