"""Conditions on rows, and the best of groups."""

from dataclasses import replace

import pytest

from syncopt.api import InputError
from syncopt.sweep.rows.choosing import best_by, filtered, newest
from syncopt.sweep.rows.columns import column_named, columns_of, shape_of
from syncopt.sweep.rows.row import Row
from syncopt.sweep.versions import Versions
from tests.sweep.made import failed, row

HAND, PLAIN, LARGE = row("hand_gemm", 900, M=128, N=1), row("plain", 1000, M=128, N=1), row("plain", 5000, M=1024, N=1)
WRONG = failed("plain", M=2048, N=1)
ROWS = (HAND, PLAIN, LARGE, WRONG)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("m>=1024", (LARGE, WRONG)),
        ("M = 128", (HAND, PLAIN)),
        ("M==128", (HAND, PLAIN)),
        ("M!=128", (LARGE, WRONG)),
        ("cycles<1000", (HAND,)),
        ("cycles<=1e3", (HAND, PLAIN)),
        ("cycles>1000", (LARGE,)),
        ("kernel=hand*", (HAND,)),
        ("kernel!=hand*", (PLAIN, LARGE, WRONG)),
        ("proven=yes", (HAND, PLAIN, LARGE)),
        ("proven=false", (WRONG,)),
        ("status=bad-input", (WRONG,)),
        ("file=kernels/*", ROWS),
    ],
)
def test_condition(condition: str, expected: tuple[Row, ...]) -> None:
    """A row without a plan has no cycles, so no condition on cycles holds for it."""
    assert filtered(ROWS, [condition]) == expected


def test_all_conditions_hold() -> None:
    assert filtered(ROWS, ["m=128", "cycles>=1000"]) == (PLAIN,)
    assert filtered(ROWS, []) == ROWS


@pytest.mark.parametrize("condition", ["", "m", "m>=", ">=3", "m ~ 3"])
def test_what_is_no_condition_is_refused(condition: str) -> None:
    with pytest.raises(InputError, match="is not a column, a relation and a value"):
        filtered(ROWS, [condition])


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("tflop", "did you mean tflops?"),
        ("Window", "did you mean window_ops or window_bound?"),
        ("depth", "there are kernel, tiling, machine, M, N, status, proven, cycles, lower_bound, gap and 40 more; "),
    ],
)
def test_unknown_column_is_refused_with_those_there_are(name: str, help: str) -> None:
    with pytest.raises(InputError, match=f"no column '{name}'") as refused:
        filtered(ROWS, [f"{name}=3"])
    assert refused.value.help.startswith(help)


def test_texts_have_no_order() -> None:
    with pytest.raises(InputError, match="compares texts by >="):
        filtered(ROWS, ["kernel>=a"])


def test_best_of_each_shape() -> None:
    assert best_by(ROWS, "shape") == (HAND, LARGE)
    assert best_by(ROWS, "M,N") == (HAND, LARGE)


def test_best_of_each_kernel() -> None:
    assert best_by(ROWS, "kernel") == (HAND, PLAIN)


def test_first_of_equal_rows_is_the_best() -> None:
    assert best_by((PLAIN, replace(HAND, figures=PLAIN.figures)), "shape") == (PLAIN,)


def test_machines_are_not_compared() -> None:
    other = replace(PLAIN, asked=replace(PLAIN.asked, machine_hash="f"))
    assert best_by((HAND, other), "shape") == (HAND, other)


def test_latest_version_of_an_answer_counts() -> None:
    """But other options, such as the budget, are another question."""
    older = replace(PLAIN, asked=replace(PLAIN.asked, versions=Versions("0.1.0", "0", "9")))
    longer = replace(PLAIN, asked=replace(PLAIN.asked, budget=600.0))
    assert newest((older, HAND, PLAIN, longer)) == (PLAIN, HAND, longer)


def test_cells() -> None:
    """Of 8 matmuls with 4 loads of 65,536 bytes in all."""
    columns = columns_of(ROWS)

    def cell(name: str, of: Row) -> object:
        return column_named(name, columns).of(of)

    assert cell("speedup", PLAIN) == 1.5
    assert (cell("speedup_min", PLAIN), cell("speedup_max", PLAIN)) == (1.1, 2.0)
    assert (cell("loads_per_matmul", PLAIN), cell("bytes_per_matmul", PLAIN)) == (0.5, 8192)
    assert (cell("busy_MTE2", PLAIN), cell("busy_MTE2", WRONG)) == (0.9, None)
    assert (cell("us", PLAIN), cell("gap", PLAIN)) == (10.5, 0.25)
    assert (cell("error", PLAIN), cell("error", WRONG)) == (None, "a.pto:3:1: error: no\n  help: none")
    assert shape_of(PLAIN) == "M=128, N=1"
