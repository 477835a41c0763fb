"""`gen gemm`."""

from pathlib import Path

import pytest

from tests.cli.running import document, refusal, syncopt

SMALL = ("--l1", "64x64x64", "--l0", "64x64x32")


def test_kernel_on_stdout() -> None:
    result = syncopt("gen", "gemm", *SMALL, "--name", "small")
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout.splitlines()[6:8] == [
        "module {",
        "  func.func @small(%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %c: !pto.ptr<f16>, %M: i32, %N: i32, %K: i32) {",
    ]
    assert result.stdout.endswith("    return\n  }\n}\n")


@pytest.mark.parametrize("option", ["-o", "--out", "--output"])
def test_kernel_in_a_file(option: str, tmp_path: Path) -> None:
    """(64 + 64) * 64 fp16 twice in L1, 64 * 32 twice in L0A and L0B, 64 * 64 fp32 in L0C."""
    path = tmp_path / "small.pto"
    result = syncopt("gen", "gemm", *SMALL, option, path)
    assert result.exit_code == 0
    assert [line.split()[:6] for line in result.stdout.splitlines()[:5]] == [
        ["memory", "bytes", "of", "share", "tiles"],
        ["L1", "32,768", "524,288", "6.2", "%", "2"],
        ["L0A", "8,192", "65,536", "12.5", "%", "2"],
        ["L0B", "8,192", "65,536", "12.5", "%", "2"],
        ["L0C", "16,384", "131,072", "12.5", "%", "1"],
    ]
    assert "".join(result.stdout.split()).endswith(f"@gemm_f16_64x64x64writtento{path}.")
    assert path.read_text() == syncopt("gen", "gemm", *SMALL).stdout


def test_existing_file_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "small.pto"
    path.write_text("kept")
    message = refusal(syncopt("gen", "gemm", *SMALL, "-o", path))
    assert message == f"error: {path} exists already\n   help: --force overwrites it"
    assert path.read_text() == "kept"
    assert syncopt("gen", "gemm", *SMALL, "-o", path, "--force").exit_code == 0
    assert path.read_text().startswith("// GEMM")


def test_nothing_is_written_of_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.pto"
    message = refusal(syncopt("gen", "gemm", "--b-parts", "1", "-o", path))
    assert message.splitlines() == [
        "error: the tiles do not fit L1 (mat): 786,432 of 524,288 bytes (262,144 too many): "
        "2 x A of 131,072, 2 x B of 262,144",
        "   help: use smaller tiles in L1, one buffer for A or B, or more parts of B",
    ]
    assert not path.exists()


def test_what_is_left_open_is_chosen_to_fit() -> None:
    """Two parts of B fit L1, 64 of K fit L0B: the published kernel."""
    found = document(syncopt("gen", "gemm", "--json"))
    assert (found["l1"], found["l0"], found["b_parts"]) == ([128, 256, 512], [128, 256, 64], 2)
    assert found["buffers"] == {"a": 2, "b": 2, "l0a": 2, "l0b": 2, "l0c": 1}
    assert (found["dtype"], found["accumulator"], found["c_dtype"]) == ("f16", "f32", "f16")
    assert found["memory"]["L1"] == {"used": 524288, "bytes": 524288}
    assert found["text"] == syncopt("gen", "gemm").stdout


def test_document_of_a_written_file(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    found = document(syncopt("gen", "gemm", *SMALL, "--splits", "3", "--json", "-o", path))
    assert found["text"] is None
    assert found["outputs"] == {"pto": str(path)}
    assert (found["splits"], found["k_multiple"], found["c_dtype"]) == (3, 192, "f32")


OPTIONS = (
    *("--l1", "64x128x96", "--l0", "64x64x32", "--b-parts", "3", "--a-buffers", "1", "--b-buffers", "2"),
    *("--l0a-buffers", "1", "--l0b-buffers", "2", "--l0c-buffers", "2", "--dtype", "i8", "--c-dtype", "i32"),
    *("--a-layout", "dn", "--b-layout", "nd", "--swizzle", "off", "--splits", "2", "--sync", "hand"),
    *("--name", "all_of_them"),
)


def test_head_names_the_command_that_writes_the_kernel() -> None:
    result = syncopt("gen", "gemm", *OPTIONS)
    comment = " ".join(line.removeprefix("// ") for line in result.stdout.splitlines() if line.startswith("// "))
    command = comment.split("`")[1]
    assert command == " ".join(["syncopt gen gemm", *OPTIONS])
    assert "W (2 x M x N, int32): W[s] is the product over slice s of K; their sum is C (M x N)" in comment
    assert "A (K x M) transposed * B (K x N), int8 with int32 accumulation" in comment
    assert "M, N, K are multiples of 64, 128, 192." in comment


def test_written_kernel_is_simulated_and_clean(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    assert syncopt("gen", "gemm", *SMALL, "--sync", "hand", "-o", path).exit_code == 0
    result = syncopt("simulate", path, "--args", "128,256,256", "--core", "all", "--cores", "3")
    assert result.exit_code == 0
    assert "This execution shows no fault" in result.stdout
    assert "warning" not in result.stdout


def test_kernel_without_flags_is_solved(tmp_path: Path) -> None:
    path = tmp_path / "k.pto"
    assert syncopt("gen", "gemm", *SMALL, "-o", path).exit_code == 0
    found = document(syncopt("solve", path, "--args", "128,256,256", "--cores", "3", "--budget", "600s", "--json"))
    assert found["check"]["verdict"] == "clean"
    assert found["baseline"]["kind"] == "fixed-order"
    assert found["cycles"] <= found["baseline"]["cycles"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--l1", "128x256"], "error: --l1 '128x256' is not MxNxK"),
        (["--l0", "0x16x16"], "error: --l0 '0x16x16' is not MxNxK"),
        (["--swizzle", "wide"], "error: --swizzle 'wide' is neither a number of tile columns nor off"),
        (["--dtype", "half"], "error: the cube does not multiply half"),
        (["--dtype", "i16"], "error: the cube does not multiply i16"),
        (["--c-dtype", "half"], "error: no element type 'half'"),
        (
            ["--dtype", "f16", "--c-dtype", "i32"],
            "error: a store that makes i32 from an accumulator of f32 is not modelled",
        ),
        (["--machine", "910x"], "error: unknown machine '910x'"),
        (["--l0", "100x256x64"], "error: M = 128 in L1 is not a multiple of M = 100 in L0"),
        (["--l1", "100x256x64"], "error: M = 100 in L0 is not a multiple of 16: A in layout ND"),
        (["--l1", "100x256x512"], "error: M = 100 in L0 is not a multiple of 16: A in layout ND"),
        (["--l1", "128x256x500"], "error: K = 250 in L0 is not a multiple of 16: A in layout ND"),
        (["--l1", "4096x4096x64"], "error: the tiles do not fit L1 (mat): 2,097,152 of 524,288 bytes"),
        (["--name", "1st"], "error: '1st' is not the name of a function"),
        (["--machine-set", "memory.acc.bytes=65536"], "error: the tiles do not fit L0C (acc): 131,072 of 65,536 bytes"),
    ],
)
def test_bad_options(options: list[str], message: str) -> None:
    assert refusal(syncopt("gen", "gemm", *options)).splitlines()[0].startswith(message)


@pytest.mark.parametrize(
    "arguments", [["gemm", "--a-buffers", "3"], ["gemm", "--splits", "0"], ["gemm", "--sync", "hand-shared"], ["conv"]]
)
def test_bad_usage(arguments: list[str]) -> None:
    assert "Usage: syncopt gen" in refusal(syncopt("gen", *arguments))


@pytest.mark.parametrize("arguments", [["gen", "--help"], ["gen", "gemm", "--help"]])
def test_help(arguments: list[str]) -> None:
    result = syncopt(*arguments)
    assert result.exit_code == 0
    assert "Usage: syncopt gen" in result.stdout
