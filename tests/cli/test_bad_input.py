"""Bad input: an exact message on stderr, nothing on stdout, exit status 2 (3 if the budget was too short)."""

from pathlib import Path

import pytest

from tests.cli.running import GUARDED, STREAM, refusal, syncopt, without_progress

COMMANDS = ["solve", "simulate", "check"]


def edited(tmp_path: Path, old: str, new: str) -> Path:
    """The stream kernel with another text in one place."""
    text = STREAM.read_text()
    assert old in text
    path = tmp_path / "kernel.pto"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_no_such_file(command: str) -> None:
    assert refusal(syncopt(command, "no/such.pto")) == "error: no such file: no/such.pto"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", "1: error: no func.func in this file: not a .pto kernel"),
        ("int main() { return 0; }\n", "22: error: syntax error"),
    ],
)
def test_not_mlir(command: str, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "k.pto"
    path.write_text(text)
    assert refusal(syncopt(command, path)).splitlines()[0] == f"{path}:1:{message}"


def test_binary_file(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_bytes(b"\x7fELF\xff\xfe")
    assert refusal(syncopt("check", path)).startswith(f"{path}:1:5: error: the file is not UTF-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_empty_file(command: str, tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    path.write_text("")
    assert refusal(syncopt(command, path)).startswith(f"{path}:1:1: error: the file is empty")


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_tile_op(command: str, tmp_path: Path) -> None:
    path = edited(tmp_path, "pto.tadd", "pto.tfly")
    message = refusal(syncopt(command, path)).splitlines()
    assert message[0] == f"{path}:20:7: error: op pto.tfly is not modelled"
    assert message[1].startswith("   20 |       pto.tfly ins(%a, %a")


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_type(command: str, tmp_path: Path) -> None:
    path = edited(tmp_path, "alloc_tile : !pto.tile_buf<vec, 64x64xf32>", "alloc_tile : memref<4xf32>")
    assert refusal(syncopt(command, path)).splitlines() == [
        f"{path}:12:27: error: type memref<4xf32> is not modelled",
        "   12 |     %a = pto.alloc_tile : memref<4xf32>",
        "      |                           ^^^^^^^^^^^^^",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_unset_argument_that_is_no_integer(command: str, tmp_path: Path) -> None:
    path = edited(tmp_path, "%n: index) {", "%n: index, %s: f32) {\n  %q = arith.negf %s : f32")
    assert refusal(syncopt(command, path)).splitlines() == [
        f"{path}:3:3: error: argument %s is f32, not an integer: it has no value here",
        "    3 |   %q = arith.negf %s : f32",
        "      |   ^^^^^^^^^^^^^^^^^^^^^^^^",
        "   help: only operands of tile ops may depend on such an argument",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_tiles_that_do_not_fit(command: str, tmp_path: Path) -> None:
    path = tmp_path / "big.pto"
    path.write_text(STREAM.read_text().replace("alloc_tile : !pto.tile_buf<vec, 64x64xf32>", ALLOCATION))
    message = refusal(syncopt(command, path)).splitlines()
    assert message[0] == (
        f"{path}:12:5: error: %a, %b, %c and %d do not fit vec: 4,194,304 of 196,608 bytes (3,997,696 too many)"
    )
    assert message[-1] == "   help: use smaller tiles, fewer tiles, or fewer slots per rotating tile"


ALLOCATION = "alloc_tile : !pto.tile_buf<vec, 512x512xf32>"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("section", "tile", "message"),
    [
        ("pto.section.cube", "vec, 16x16xf32", "%t is a tile in vec, which a cube core does not have"),
        ("pto.section.vector", "mat, 16x16xf32", "%t is a tile in mat, which a vector core does not have"),
        ("scf.if %yes", "vec, 16x16xf32", "%t is a tile in vec, which a cube core does not have"),
    ],
)
def test_tiles_of_another_core(command: str, tmp_path: Path, section: str, tile: str, message: str) -> None:
    """Without a section the tile in L1 makes it a cube kernel."""
    other = "  %l1 = pto.alloc_tile : !pto.tile_buf<mat, 16x16xf32>\n" if section.startswith("scf") else ""
    path = tmp_path / "k.pto"
    path.write_text(
        f"func.func @k() {{\n  %yes = arith.constant true\n  {section} {{\n"
        f"  %t = pto.alloc_tile : !pto.tile_buf<{tile}>\n{other}  }}\n  return\n}}\n"
    )
    first, *_, last = refusal(syncopt(command, path)).splitlines()
    assert first == f"{path}:4:3: error: {message}"
    assert last == "   help: put cube and vector work into kernels of their own"


@pytest.mark.parametrize("command", COMMANDS)
def test_several_kernels(command: str, tmp_path: Path) -> None:
    path = tmp_path / "two.pto"
    path.write_text(STREAM.read_text() + GUARDED.read_text())
    message = refusal(syncopt(command, path)).splitlines()
    assert message[0] == f"{path}:33:1: error: 2 kernels in this file: @stream, @guarded"
    assert message[-1] == "   help: choose one with --func"
    assert "no function @third" in refusal(syncopt(command, path, "--func", "third"))


def test_func_chooses_the_kernel(tmp_path: Path) -> None:
    path = tmp_path / "two.pto"
    path.write_text(STREAM.read_text() + GUARDED.read_text())
    assert syncopt("simulate", path, "--func", "guarded").exit_code == 0


@pytest.mark.parametrize("budget", ["0s", "0.001ms"])
def test_budget_too_short_for_any_plan(budget: str) -> None:
    result = syncopt("solve", STREAM, "--args", "6", "--budget", budget)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert without_progress(result.stderr).splitlines() == [
        "error: the budget was spent before there was a valid plan",
        "   help: give more with --budget",
    ]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("no/out.pto", "error: cannot write {output}: no folder {output.parent}"),
        (".", "error: cannot write {output}: it is a folder"),
        ("file/out.pto", "error: cannot write {output}: no folder {output.parent}"),
        ("/dev/null", "error: /dev/null exists already"),
        ("file", "error: {output} exists already"),
        ("x" * 300, "error: cannot write {output}: File name too long"),
        (str(STREAM), "error: {output} is the kernel itself"),
    ],
)
def test_unwritable_output(tmp_path: Path, output: str, message: str) -> None:
    """Found out before the solve begins: a budget that is too short is not complained about."""
    (tmp_path / "file").write_text("kept")
    path = tmp_path / output
    before = STREAM.read_bytes()
    result = syncopt("solve", STREAM, "--budget", "0s", "-o", path)
    assert refusal(result).splitlines()[0] == message.format(output=path)
    assert STREAM.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_device_is_not_overwritten_by_force() -> None:
    message = refusal(syncopt("solve", STREAM, "-o", "/dev/null", "--force"))
    assert message.splitlines()[0] == "error: cannot write /dev/null: it is no regular file"


def test_in_place_and_another_output(tmp_path: Path) -> None:
    message = refusal(syncopt("solve", STREAM, "--in-place", "-o", tmp_path / "o.pto"))
    assert message.splitlines()[0] == f"error: --in-place and -o {tmp_path / 'o.pto'} name two files"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--machine", "910x"], "error: unknown machine '910x'"),
        (["--machine-set", "queue"], "error: machine setting 'queue' is not KEY=VALUE"),
        (["--machine-set", "queue.M=many"], "error: queue.M is 'many', expected an integer"),
        (["--machine-set", "queue.X=3"], "error: unknown figure queue.X"),
        (["--set", "k=3"], f"error: {STREAM}: kernel stream has no integer argument k"),
        (["--set", "n"], "error: --set 'n' is not NAME=INT"),
        (["--set", "n=x"], "error: --set 'n=x': 'x' is not an integer"),
        (["--args", "1,2"], "error: 2 arguments given, kernel stream has 1 integer argument"),
        (["--args", "4", "--set", "n=4"], "error: argument n is given twice, in order and by name"),
        (["--args", "4", "--assume", "n>=8"], "error: n = 4 is not what --assume says of it: n>=8"),
        (["--assume", "n<=8"], "error: n = 4096 is not what --assume says of it: n<=8"),
        (["--args", "many"], "error: --args 'many': 'many' is not an integer"),
        (["--assume", "n ~ 3"], "error: --assume 'n ~ 3' is not understood"),
        (["--assume", "k>3"], "error: --assume 'k>3': no integer argument k"),
        (["--core", "48"], "error: core 48 is not one of 48 cores"),
        (["--core", "one"], "error: --core 'one': 'one' is not an integer"),
    ],
)
def test_bad_options(options: list[str], message: str) -> None:
    for command in COMMANDS:
        assert refusal(syncopt(command, STREAM, *options)).splitlines()[0] == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--core", "all"], "error: --core all: a plan is solved for one core"),
        (["--budget", "soon"], "error: --budget 'soon' is not a duration"),
        (["--budget", "-1s"], "error: --budget '-1s' is not a duration"),
        (["--also-args", "x"], "error: --also-args 'x': 'x' is not an integer"),
        (["--require-speedup", "nan"], "error: --require-speedup nan is not a finite number"),
    ],
)
def test_bad_options_of_solve(options: list[str], message: str) -> None:
    assert refusal(syncopt("solve", STREAM, *options)).splitlines()[0] == message


@pytest.mark.parametrize(
    "arguments", [["solve"], ["solve", "--nope"], ["nope"], ["solve", str(STREAM), "--order", "any"]]
)
def test_bad_usage(arguments: list[str]) -> None:
    assert "Usage: syncopt" in refusal(syncopt(*arguments))


def test_debug_adds_the_traceback() -> None:
    message = refusal(syncopt("check", "no/such.pto", "--debug"))
    assert message.startswith("Traceback")
    assert message.endswith("error: no such file: no/such.pto")


def test_loops_of_one_bound_that_start_apart_are_not_solved(tmp_path: Path) -> None:
    """One from 0 and one from an argument to the same bound: not all pairs of their counts are proven."""
    path = edited(tmp_path, "%n: index)", "%n: index, %m: index)")
    text = path.read_text()
    load = next(line for line in text.splitlines() if "pto.tload" in line)
    view = next(line for line in text.splitlines() if "%xp = " in line).replace("[%row, %c0]", "[%c0, %c0]")
    second = f"    scf.for %j = %m to %n step %c1 {{\n{view}\n{load}\n    }}\n"
    path.write_text(text.replace("    }\n  }\n  return", f"    }}\n{second}  }}\n  return"))
    message = refusal(syncopt("solve", path, "--set", "n=3", "--set", "m=1")).splitlines()
    assert message[0] == f"{path}:29:5: error: loops up to %n start at different values, one of them from an argument"
    assert message[-1].strip() == "help: start them at one value, or at constants"
