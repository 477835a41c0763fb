"""Intervals of values under assumptions, and the trip counts that they leave."""

import pytest

from syncopt.frontend import parse_module
from syncopt.ir.intervals import Interval, Intervals, parse_assumptions, trip_interval
from syncopt.ir.kernel import For, Kernel, Value, walk
from syncopt.ir.numbering import Definitions
from syncopt.ir.source import InputError, Source
from syncopt.ir.values import results_of


def kernel_of(body: str) -> Kernel:
    text = (
        "func.func @f(%p: !pto.ptr<f16>, %K: i32, %n: index, %s: f32) {\n%c0 = arith.constant 0 : index\n"
        "%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n%c512 = arith.constant 512 : index\n"
        f"%cm1 = arith.constant -1 : index\n%k = arith.index_cast %K : i32 to index\n{body}\nreturn\n}}\n"
    )
    return parse_module(Source("f.pto", text.encode())).kernel()


def intervals_of(kernel: Kernel, *assumed: str) -> Intervals:
    return Intervals(Definitions(kernel), parse_assumptions(assumed, kernel))


def value(kernel: Kernel, name: str) -> Value:
    return next(result for op in walk(kernel.body) for result in results_of(op) if result.name == name)


@pytest.mark.parametrize(
    ("expression", "assumed", "expected"),
    [
        ("arith.divsi %k, %c512 : index", "K>=512", (1, None)),
        ("arith.divsi %k, %c512 : index", "K >= 511", (0, None)),
        ("arith.divsi %k, %c512 : index", "K > 511 and K <= 1535", (1, 2)),
        ("arith.divsi %k, %c2 : index", "K >= -3, K <= -3", (-1, -1)),
        ("arith.floordivsi %k, %c2 : index", "K == -3", (-2, -2)),
        ("arith.ceildivsi %k, %c512 : index", "K >= 1", (1, None)),
        ("arith.addi %k, %n : index", "K >= 3 and n < 5", (None, None)),
        ("arith.subi %k, %n : index", "K >= 3 and n < 5", (-1, None)),
        ("arith.muli %k, %cm1 : index", "K >= 3", (None, -3)),
        ("arith.muli %k, %c0 : index", "K >= 3", (0, 0)),
        ("arith.remsi %k, %c512 : index", "K >= 3", (0, 511)),
        ("arith.remsi %k, %c512 : index", "K < 3", (-511, 2)),
        ("arith.minsi %k, %c512 : index", "K >= 3", (3, 512)),
        ("arith.maxsi %k, %c512 : index", "K < 5", (512, 512)),
        ("arith.shli %k, %c2 : index", "K == 5", (None, None)),
    ],
)
def test_arithmetic(expression: str, assumed: str, expected: tuple[int | None, int | None]) -> None:
    kernel = kernel_of(f"%r = {expression}")
    low, high = expected
    wanted = Interval(*(float("-inf") if low is None else low, float("inf") if high is None else high))
    assert intervals_of(kernel, assumed).of(value(kernel, "%r")) == wanted


def test_select_takes_the_branch_that_is_certain_and_else_both() -> None:
    kernel = kernel_of("%small = arith.cmpi slt, %k, %c2 : index\n%r = arith.select %small, %c1, %c512 : index")
    of = value(kernel, "%r")
    assert intervals_of(kernel, "K < 2").of(of) == (1, 1)
    assert intervals_of(kernel, "K >= 2").of(of) == (512, 512)
    assert intervals_of(kernel).of(of) == (1, 512)


@pytest.mark.parametrize(
    ("predicate", "assumed", "expected"),
    [
        ("eq", "K == 512", (1, 1)),
        ("eq", "K > 512", (0, 0)),
        ("ne", "K > 512", (1, 1)),
        ("ne", "K >= 512", (0, 1)),
        ("sge", "K >= 512", (1, 1)),
        ("sle", "K >= 512", (0, 1)),
        ("sgt", "K <= 512", (0, 0)),
        ("ult", "K < 512", (0, 1)),
        ("ult", "K >= 0 and K < 512", (1, 1)),
    ],
)
def test_comparisons(predicate: str, assumed: str, expected: tuple[int, int]) -> None:
    kernel = kernel_of(f"%r = arith.cmpi {predicate}, %k, %c512 : index")
    assert intervals_of(kernel, assumed).of(value(kernel, "%r")) == expected


@pytest.mark.parametrize(
    ("loop", "assumed", "expected"),
    [
        ("%i = %c0 to %k step %c1", "K >= 1", (1, None)),
        ("%i = %c0 to %k step %c2", "K >= 3 and K <= 7", (2, 4)),
        ("%i = %c0 to %k step %c2", "K <= 0", (0, 0)),
        ("%i = %k to %c512 step %c1", "K >= 510", (0, 2)),
        ("%i = %c0 to %k step %n", "K >= 10 and n <= 4", (3, None)),
        ("%i = %c0 to %k step %n", "K >= 10", (1, None)),
        ("%i = %c0 to %c512 step %c2", "K >= 0", (256, 256)),
        ("%i = %c0 to %k step %c1", "n >= 1", (0, None)),
    ],
)
def test_trip_counts(loop: str, assumed: str, expected: tuple[int, int | None]) -> None:
    kernel = kernel_of(f"scf.for {loop} {{\n}}")
    op = next(op for op in walk(kernel.body) if isinstance(op, For))
    assert trip_interval(op, intervals_of(kernel, assumed)) == expected


def test_blocks_are_at_least_one_and_their_index_is_not_negative() -> None:
    """From block index to 0 in steps of the number of blocks: no round."""
    kernel = kernel_of(
        "%b = pto.get_block_idx\n%bi = arith.index_cast %b : i64 to index\n%bn = pto.get_block_num\n"
        "%si = arith.index_cast %bn : i64 to index\nscf.for %i = %bi to %c0 step %si {\n}"
    )
    op = next(op for op in walk(kernel.body) if isinstance(op, For))
    assert trip_interval(op, intervals_of(kernel)) == (0, 0)


def test_a_condition_tells_of_its_argument() -> None:
    """512 <= K chosen true: K >= 512; chosen false: K < 512. K == 0 chosen false tells nothing that is an interval."""
    kernel = kernel_of("%a = arith.cmpi sle, %c512, %k : index\n%b = arith.cmpi eq, %k, %c0 : index")
    intervals = intervals_of(kernel)
    k = value(kernel, "%k")
    assert intervals.assuming(value(kernel, "%a"), True).of(k) == (512, float("inf"))
    assert intervals.assuming(value(kernel, "%a"), False).of(k) == (float("-inf"), 511)
    assert intervals.assuming(value(kernel, "%b"), True).of(k) == (0, 0)
    assert intervals.assuming(value(kernel, "%b"), False).of(k) == Interval()
    both = intervals.assuming(value(kernel, "%a"), True).assuming(value(kernel, "%b"), True)
    assert both.is_contradiction


def test_a_condition_tells_of_what_it_compares_and_of_all_that_is_equal() -> None:
    """Of K >= 0, K % 2 is 0 or 1, so that not 0 is 1; else it can be -1. A quotient that is small bounds its double."""
    kernel = kernel_of(
        "%r = arith.remsi %k, %c2 : index\n%same = arith.remsi %k, %c2 : index\n%q = arith.divsi %k, %c512 : index\n"
        "%even = arith.cmpi eq, %r, %c0 : index\n%odd = arith.cmpi eq, %same, %c1 : index\n"
        "%few = arith.cmpi slt, %q, %c2 : index\n%twice = arith.muli %q, %c2 : index"
    )
    even, odd, few = (value(kernel, name) for name in ("%even", "%odd", "%few"))
    intervals = intervals_of(kernel, "K >= 0")
    assert intervals.assuming(even, False).of(value(kernel, "%same")) == (1, 1)
    assert intervals.assuming(even, True).assuming(odd, True).is_contradiction
    assert intervals.assuming(even, False).assuming(odd, False).is_contradiction
    assert not intervals.assuming(even, True).assuming(odd, False).is_contradiction
    assert not intervals_of(kernel).assuming(even, False).assuming(odd, False).is_contradiction
    assert intervals.assuming(few, True).of(value(kernel, "%twice")) == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("K%256==0", "remainders are not followed"),
        ("K >= n", "is not understood"),
        ("K", "is not understood"),
        ("", "is not understood"),
        ("Q >= 1", "no integer argument Q"),
        ("p >= 1", "no integer argument p"),
        ("s >= 1", "no integer argument s"),
        ("K >= 5 and K < 5", "contradicts"),
    ],
)
def test_bad_assumptions_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_assumptions([text], kernel_of(""))


def test_assumptions_keep_their_text() -> None:
    assumptions = parse_assumptions(["%K>=512", " n == 3 "], kernel_of(""))
    assert assumptions.texts == ("%K>=512", "n == 3")
    assert assumptions.of("n") == (3, 3)
