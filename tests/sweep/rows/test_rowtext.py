"""Rows as lines of text."""

import json
from dataclasses import replace

import pytest

from syncopt.sweep.rows.row import Figures, OnMachine, Outcome, Row, tflops_of
from syncopt.sweep.rows.rowtext import BEGIN, document, reread, written
from tests.sweep.made import ASKED, FIGURES, failed, row

KINDS = [
    row(),
    replace(row(), outcome=Outcome.FEASIBLE),
    replace(row(), figures=replace(FIGURES, operand_bytes=None, beyond_l2=None, tflops=None)),
    replace(row(), asked=replace(ASKED, work=0.5, tiling="128x256x512/128x256x64/b2/c1")),
    replace(row(), figures=replace(FIGURES, baseline_hangs=True, sensitivity=(OnMachine("d", 1, 0, False, None),))),
    *(failed(outcome=outcome) for outcome in Outcome if not outcome.solved),
]


@pytest.mark.parametrize("kind", KINDS)
def test_row_comes_back_as_it_was(kind: Row) -> None:
    line = written(kind)
    assert line.encode().startswith(BEGIN)
    assert "\n" not in line
    assert reread(line) == kind


def test_document_says_what_follows_from_the_rest() -> None:
    """(1000 - 800) / 800, 1500 / 1000, and the least and the greatest of 1.5, 1.1 and 2.0."""
    found = document(row())
    assert (found["status"], found["key"]) == ("optimal", row().key)
    assert (found["gap"], found["speedup"], found["speedup_range"]) == (0.25, 1.5, [1.1, 2.0])
    assert document(failed())["status"] == "bad-input"


def test_nothing_follows_where_nothing_compares() -> None:
    hangs = replace(FIGURES, baseline_hangs=True, sensitivity=(OnMachine("d", 1, 0, False, None),))
    assert (hangs.speedup, hangs.speedups) == (None, None)


NONE_OF_OURS = [
    "",
    "{",
    "[]",
    "{}",
    "1",
    written(row())[:-1],
    written(row()).replace('"M":128', '"M":129'),
    written(row()).replace('"cycles":1000,', "", 1),
    written(row()).replace('"status":"optimal"', '"status":"fine"'),
    written(row()).replace('"cycles":1000', '"cycles":"many"', 1),
    written(row()).replace('"cycles":1000', '"cycles":null', 1),
    written(row()).replace('"cycles":1000', '"cycles":900', 1),
    written(row()).replace('"speedup":1.5,"speedup_range"', '"speedup":1.6,"speedup_range"'),
    written(row()).replace('"tflops":3.25', '"tflops":"fast"'),
    written(row()).replace('"busy":{"MTE2":0.9,"M":0.5}', '"busy":7'),
]


@pytest.mark.parametrize("line", NONE_OF_OURS)
def test_line_that_is_no_row_is_refused(line: str) -> None:
    """Among them some that somebody changed: their key, or what follows from their figures, is not their own."""
    assert line != written(row())
    with pytest.raises(ValueError, match="not a row"):
        reread(line)


def test_keys_of_a_document_are_those_of_the_classes() -> None:
    """A reader finds every field under its name."""
    found = json.loads(written(row()))
    assert set(Figures.__dataclass_fields__) <= found.keys()
    assert found["versions"] == {"syncopt": "0.1.0", "code": "89ab", "ortools": "9.15"}


@pytest.mark.parametrize(
    ("arguments", "products", "expected"),
    [
        ({"M": 1000, "N": 2000, "K": 3000}, 10**9, 12.0),
        ({"m": 1000, "n": 2000, "k": 3000}, 10**9, 12.0),
        ({"M": 1000, "N": 2000, "K": 3000}, 10**9 - 1, None),
        ({"M": 1000, "N": 2000}, 10**9, None),
        ({"M": 1000, "N": 2000, "K": 3000, "B": 1}, 10**9, None),
        ({"M": 0, "N": 2000, "K": 3000}, 10**9, None),
    ],
)
def test_tflops(arguments: dict[str, int], products: int, expected: float | None) -> None:
    """2 * 1000 * 2000 * 3000 operations in 1 ms; six cores with 10^9 products each do just that many, none to spare."""
    assert tflops_of(arguments, products, 6, 1e-3) == expected
