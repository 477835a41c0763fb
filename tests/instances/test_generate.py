"""The kernels in instances/gemm are what the generator writes, and hold what a reader expects of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from instances.generate import VARIANTS, generate, write_all

FOLDER = Path(__file__).parents[2] / "instances" / "gemm"


def code_of(name: str) -> list[str]:
    """The lines of a kernel without comments and indentation."""
    lines = (line.strip() for line in generate(name).splitlines())
    return [line for line in lines if not line.startswith("//")]


def count_ops(lines: list[str]) -> Counter[str]:
    """How often each `pto` op stands in the text."""
    return Counter(match[0] for line in lines if (match := re.match(r"pto\.[\w.]+", line)))


@pytest.mark.parametrize("name", VARIANTS)
def test_files_are_what_the_generator_writes(name: str) -> None:
    assert (FOLDER / f"{name}.pto").read_bytes().decode() == generate(name)


def test_no_file_without_a_variant(tmp_path: Path) -> None:
    write_all(tmp_path)
    assert {path.name for path in FOLDER.glob("*.pto")} == {path.name for path in tmp_path.iterdir()}


def test_single_buffered_uses_one_tile_for_each_operand() -> None:
    """A first, two halves of B, A next: four loads. Eight phases, the first in two forms."""
    lines = code_of("single_buffered")
    ops = count_ops(lines)
    assert sum("pto.alloc_tile" in line for line in lines) == 5
    assert ops["pto.tload"] == 4
    assert ops["pto.textract"] == 16
    assert (ops["pto.tmatmul"], ops["pto.tmatmul.acc"]) == (1, 8)
    assert ops["pto.tstore"] == 1


def test_double_buffered_holds_both_parities_of_the_k_step() -> None:
    """Two branches with three loads each, and the first A of the tile."""
    lines = code_of("double_buffered")
    ops = count_ops(lines)
    assert sum("pto.alloc_tile" in line for line in lines) == 9
    assert ops["pto.tload"] == 7
    assert ops["pto.textract"] == 32
    assert (ops["pto.tmatmul"], ops["pto.tmatmul.acc"]) == (2, 16)


@pytest.mark.parametrize("name", ["single_buffered", "double_buffered"])
def test_kernels_to_be_synchronised_hold_no_flag_and_no_barrier(name: str) -> None:
    assert not [line for line in code_of(name) if re.search(r"event|flag|barrier", line)]


def test_hand_synchronised_is_the_double_buffered_kernel_with_flags() -> None:
    """Without flags, the two guards around them and what the guards compute, the two kernels are the same text."""
    text = "\n".join(code_of("hand_synchronised")).replace("hand_synchronised", "double_buffered")
    text = re.sub(r"pto\.(record_event|wait_event|barrier).*\n", "", text)
    text = re.sub(r"scf\.if .*\{\n\}\n", "", text)
    text = re.sub(r"%(not_first_tile|next_tile|has_next_tile) = .*\n", "", text)
    assert text == "\n".join(code_of("double_buffered"))


def test_hand_synchronised_pairs_every_event() -> None:
    """Each event that is recorded is waited for, in the text and with the ids that the head of the file promises."""
    events = Counter(
        (kind, source, target, int(event))
        for kind, source, target, event in re.findall(
            r"pto\.(record|wait)_event\[#pto\.sync_op_type<(\w+)>, #pto\.sync_op_type<(\w+)>, <EVENT_ID(\d)>\]",
            generate("hand_synchronised"),
        )
    )
    ids: dict[tuple[str, str], set[int]] = {}
    for kind, source, target, event in events:
        ids.setdefault((source, target), set()).add(event)
        assert events["wait" if kind == "record" else "record", source, target, event], (kind, source, target, event)
    assert ids == {
        ("TMATMUL", "TMOV_M2L"): {0, 1},
        ("TMOV_M2L", "TLOAD"): {0, 1, 2, 3},
        ("TLOAD", "TMOV_M2L"): {0, 1, 2, 3},
        ("TMOV_M2L", "TMATMUL"): {0},
        ("TMATMUL", "TSTORE_ACC"): {0},
        ("TSTORE_ACC", "TMATMUL"): {0},
    }
