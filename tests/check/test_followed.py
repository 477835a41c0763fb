"""What decides in a loop, by which arithmetic: what is followed exactly, and what must be named as not followed.

A flag that nobody waits for is set where the last value is what a constant is. Each first comes true far beyond the
counts that are run in any case.
"""

import pytest

from syncopt.check import Report, Verdict, check_kernel
from syncopt.hwmodel import Machine, load_machine
from tests.check.kernels import setting, vector_kernel

HEAD = "".join(f"%c{number} = arith.constant {number} : index\n" for number in (3, 4, 7, 9, 15, 16, 20, 100))


@pytest.fixture(scope="module")
def machine() -> Machine:
    return load_machine("910b2")


def check(body: str, machine: Machine) -> Report:
    return check_kernel(vector_kernel(f"{HEAD}{body}\nbarrier ALL"), setting(), machine)


def loop(lines: str, wanted: str, before: str = "", carried: tuple[str, str] | None = None) -> str:
    """A loop of n rounds that may carry %x; the fault comes where %v is what `wanted` names."""
    start = "" if carried is None else f" iter_args(%held = {carried[0]}) -> (index)"
    end = "" if carried is None else f"scf.yield {carried[1]} : index\n"
    made = "%end = " if carried is not None else ""
    fault = f"%bad = arith.cmpi eq, %v, {wanted} : index\nscf.if %bad {{\nset MTE2 V 5\n}}\n"
    return f"{before}{made}scf.for %i = %c0 to %n step %c1{start} {{\n{lines}\n{fault}{end}}}"


PARITY = "%p = arith.remsi %i, %c2 : index\n"
EVEN = f"{PARITY}%even = arith.cmpi eq, %p, %c0 : index\n"


@pytest.mark.parametrize(
    ("body", "rounds"),
    [
        (loop("%v = arith.maxsi %i, %c3 : index", "%c20"), 21),
        (loop("%w = arith.minsi %i, %c3 : index\n%v = arith.subi %i, %w : index", "%c9"), 13),
        (loop("%w = arith.subi %n, %i : index\n%v = arith.maxsi %w, %c3 : index", "%c9"), 9),
        (loop(f"{PARITY}%w = arith.muli %p, %c7 : index\n%s = arith.addi %n, %w : index\n"
              "%v = arith.remsi %s, %c7 : index", "%c6_", "%c6_ = arith.constant 6 : index\n"), 6),
    ],
    ids=["20 above 3", "3 less", "9 before the end", "n by 7"],
)  # fmt: skip
def test_what_is_followed_is_found(body: str, rounds: int, machine: Machine) -> None:
    assert str(check(body, machine).failing) == f"i loop x{rounds}"


UNSIGNED = {
    "comparison": "%v = arith.addi %w, %c0 : index\n%ok = arith.cmpi ult, %v, %c1000 : index\n",
    "least": "%v = arith.minui %w, %c1000 : index\n%ok = arith.cmpi slt, %v, %c1000 : index\n",
    "extension": "%narrow = arith.index_cast %w : index to i32\n%wide = arith.extui %narrow : i32 to i64\n"
    "%v = arith.index_cast %wide : i64 to index\n%ok = arith.cmpi slt, %v, %c1000 : index\n",
}


@pytest.mark.parametrize("op", UNSIGNED)
def test_negative_values_are_large_unsigned_ones(op: str, machine: Machine) -> None:
    """100 - i is below 1000, until it is below 0."""
    down = "%c1000 = arith.constant 1000 : index\n%w = arith.subi %c100, %i : index\n"
    fault = "scf.if %ok {\n} else {\nset MTE2 V 5\n}\n"
    report = check(f"scf.for %i = %c0 to %n step %c1 {{\n{down}{UNSIGNED[op]}{fault}}}", machine)
    assert report.unproven == ("more than 5 trips of the i loop: condition %ok does not repeat",)


@pytest.mark.parametrize("op", UNSIGNED)
def test_unsigned_values_that_stay_positive_are_followed(op: str, machine: Machine) -> None:
    """n - i is above 3 but for the last three rounds."""
    down = "%c1000 = arith.addi %c3, %c0 : index\n%w = arith.subi %n, %i : index\n"
    fault = "scf.if %ok {\nload t0\n}\n"
    report = check(f"scf.for %i = %c0 to %n step %c1 {{\n{down}{UNSIGNED[op]}{fault}}}", machine)
    assert report.proven == ("all trip counts >= 0 of the i loop, period 1",)


NEGATIVE = "%minus = arith.constant -3 : index\n%less = arith.constant -1 : index\n"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (loop("%w = arith.subi %i, %c100 : index\n%v = arith.remsi %w, %c3 : index", "%c1"), "condition %bad"),
        (loop("%v = arith.remsi %held, %c4 : index\n%down = arith.addi %held, %less : index", "%minus", NEGATIVE,
              ("%c9", "%down")), "condition %bad"),
        (loop(f"{EVEN}%w = arith.select %even, %c0, %i : index\n%v = arith.remsi %w, %c16 : index", "%c15"),
         "condition %bad"),
        (loop(f"{PARITY}%v = arith.addi %p, %n : index", "%c20"), "condition %bad"),
        (loop("%w = arith.divsi %n, %c3 : index\n%s = arith.addi %w, %i : index\n%m4 = arith.remsi %s, %c4 : index\n"
              "%first = arith.cmpi eq, %i, %c0 : index\n%v = arith.select %first, %m4, %c0 : index", "%c3"),
         "condition %bad"),
        (loop("%w = arith.muli %n, %n : index\n%many = arith.cmpi sgt, %w, %c100 : index\n"
              "%first = arith.cmpi eq, %i, %c0 : index\n%both = arith.andi %many, %first : i1\n"
              "%v = arith.select %both, %c1, %c0 : index", "%c1"), "%many"),
        (loop("%v = scf.for %j = %c0 to %c2 step %c1 iter_args(%y = %c0) -> (index) {\nscf.yield %i : index\n}", "%c20"
              ).replace("%y ", "%was "), "condition %bad"),
        (loop("%up = arith.subi %i, %c7 : index\n%late = arith.cmpi sgt, %i, %c4 : index\n"
              "%v = arith.select %late, %up, %i : index", "%c9"), "condition %bad"),
        (loop("%up = arith.subi %i, %c7 : index\n%late = arith.cmpi sgt, %i, %c4 : index\n"
              "%v = scf.if %late -> (index) {\nscf.yield %up : index\n} else {\nscf.yield %i : index\n}", "%c9"),
         "condition %bad"),
        (loop("%wide = arith.index_cast %i : index to i64\n%odd = arith.trunci %wide : i64 to i1\n"
              "%v = arith.select %odd, %c3, %c0 : index", "%c20"), "condition %bad"),
    ],
    ids=["below 0", "counted below 0", "chosen", "n and parity", "part of n", "square of n", "from an inner loop",
         "7 less", "7 less in a branch", "by its last bit"],
)  # fmt: skip
def test_what_is_not_followed_is_named(body: str, value: str, machine: Machine) -> None:
    report = check(body, machine)
    assert report.proven == ()
    assert f"{value} does not repeat" in report.unproven[0]


def test_ids_of_the_round_are_not_proven(machine: Machine) -> None:
    """There is no id 8."""
    report = check("scf.for %i = %c0 to %n step %c1 {\nset MTE2 V %i\nwait MTE2 V %i\n}", machine)
    assert report.unproven == ("more than 5 trips of the i loop: event id %i does not repeat",)


def test_ids_that_mix_the_count_and_the_round_are_not_proven(machine: Machine) -> None:
    """n, or 1 more or less."""
    lines = f"{PARITY}%id = arith.xori %p, %n : index\nset MTE2 V %id\nwait MTE2 V %id\nbarrier ALL\n"
    report = check(f"scf.for %i = %c0 to %n step %c1 {{\n{lines}}}", machine)
    assert report.unproven == ("more than 5 trips of the i loop: event id %id does not repeat",)


def test_number_of_blocks_behind_the_bound_keeps_its_value(machine: Machine) -> None:
    """4 blocks as given: i = 4 comes in round 4 of 8; of other numbers nothing is known."""
    before = "%b = pto.get_block_num\n%blocks = arith.index_cast %b : i64 to index\n"
    lines = "%late = arith.cmpi sge, %i, %blocks : index\nscf.if %late {\nload t0\n}\n"
    report = check(
        f"{before}%up = arith.addi %blocks, %n : index\nscf.for %i = %c0 to %up step %c1 {{\n{lines}}}", machine
    )
    assert report.proven == ()
    assert "%late compares with an argument that keeps its given value" in report.unproven[0]


def test_bound_of_another_loop_against_the_round_is_not_proven(machine: Machine) -> None:
    """m - i = 9: at m = 9 in round 0."""
    lines = "%v = arith.subi %m, %i : index"
    report = check(f"{loop(lines, '%c9')}\nscf.for %j = %c0 to %m step %c1 {{\nload t0\n}}", machine)
    assert [text.split(":")[0] for text in report.unproven] == [
        "more than 5 trips of the i loop",
        "more than 5 trips of the j loop",
    ]


def test_end_that_is_computed_before_the_loop_is_the_end(machine: Machine) -> None:
    """It grows while i < n - 3, as in `tests.check.test_carried`: to 7 at n = 10."""
    lines = "%early = arith.cmpi slt, %i, %near : index\n%up = arith.addi %held, %c1 : index\n"
    lines += "%next = arith.select %early, %up, %held : index\n%v = arith.addi %held, %c0 : index"
    body = loop(lines, "%c7", "%near = arith.subi %n, %c3 : index\n", ("%c0", "%next"))
    assert str(check(body, machine).failing) == "i loop x10"


def test_slot_that_is_carried_tells_states_apart(machine: Machine) -> None:
    """0 to 6 and again: 6 comes in round 6."""
    lines = (
        "%up = arith.addi %held, %c1 : index\n%next = arith.remsi %up, %c7 : index\n%v = arith.addi %next, %c1 : index"
    )
    report = check(loop(lines, "%c7", carried=("%c0", "%next")), machine)
    assert (report.verdict, str(report.failing)) == (Verdict.DOUBLE_SET, "i loop x6")
