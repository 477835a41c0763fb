"""Which values are equal, and what they are computed from."""

from syncopt.frontend import parse_module
from syncopt.ir.kernel import For, Kernel, Scalar, Value, walk
from syncopt.ir.numbering import Definitions, number
from syncopt.ir.source import Source
from syncopt.ir.values import results_of

BODY = """\
func.func @f(%n: i32, %m: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : index
  %true = arith.constant true
  %n0 = arith.index_cast %n : i32 to index
  %n1 = arith.index_cast %n : i32 to index
  %wide = arith.extsi %n : i32 to i64
  %a = arith.addi %n0, %c1 : index
  %b = arith.addi %n1, %one : index
  %swapped = arith.addi %c1, %n0 : index
  %less = arith.cmpi slt, %a, %c1 : index
  %more = arith.cmpi sgt, %a, %c1 : index
  %sum = scf.for %i = %c0 to %a step %c1 iter_args(%x = %c0) -> index {
    %next = arith.addi %x, %i : index
    scf.yield %next : index
  }
  %picked = scf.if %less -> index {
    scf.yield %a : index
  } else {
    scf.yield %sum : index
  }
  %same = scf.if %less -> index {
    scf.yield %a : index
  } else {
    scf.yield %c0 : index
  }
  return
}
"""


NEUTRAL = """\
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = arith.addi %n, %c0 : index
  %b = arith.addi %c0, %n : index
  %c = arith.subi %n, %c0 : index
  %d = arith.muli %c1, %n : index
  %e = arith.divsi %n, %c1 : index
  %f = arith.subi %c0, %n : index
  %g = arith.divsi %c1, %n : index
  return
}
"""


def kernel(text: str = BODY) -> Kernel:
    return parse_module(Source("f.pto", text.encode())).kernel()


def values(of: Kernel) -> dict[str, Value]:
    found = {value.name: value for value in of.arguments}
    for op in walk(of.body):
        inner = (op.induction, *op.carried) if isinstance(op, For) else ()
        found.update({value.name: value for value in (*results_of(op), *inner)})
    return found


def test_equal_expressions_have_one_number() -> None:
    """%one equals %c1 and %n1 equals %n0, so %b equals %a."""
    made = kernel()
    numbers, names = number(made), values(made)
    for a, b in (("%c1", "%one"), ("%n0", "%n1"), ("%a", "%b")):
        assert numbers[names[a]] == numbers[names[b]]


def test_other_attributes_types_and_operands_have_other_numbers() -> None:
    """1 : index is not true : i1 although both hold 1; slt is not sgt; operands have an order."""
    made = kernel()
    numbers, names = number(made), values(made)
    for a, b in (("%c1", "%true"), ("%n0", "%wide"), ("%less", "%more"), ("%a", "%swapped"), ("%n", "%m")):
        assert numbers[names[a]] != numbers[names[b]]


def test_neutral_operands_stand_where_they_change_nothing() -> None:
    """x + 0, 0 + x, x - 0, 1 * x and x / 1 are x; 0 - x and 1 / x are not."""
    made = kernel(NEUTRAL)
    numbers, names = number(made), values(made)
    assert {numbers[names[name]] for name in ("%a", "%b", "%c", "%d", "%e")} == {numbers[names["%n"]]}
    assert len({numbers[names[name]] for name in ("%n", "%f", "%g")}) == 3


def test_what_loops_and_branches_make_is_equal_to_nothing_else() -> None:
    made = kernel()
    numbers, names = number(made), values(made)
    assert len(numbers) == len(names)
    own = [numbers[names[name]] for name in ("%n", "%m", "%i", "%x", "%sum", "%picked", "%same")]
    assert all(list(numbers.values()).count(n) == 1 for n in own)


def test_ancestry_goes_through_scalars_and_branches_but_not_through_loops() -> None:
    """%same is %a or %c0 by %less; %picked may be %sum, behind which the loop is not looked into."""
    made = kernel()
    names = values(made)
    definitions = Definitions(made)
    assert {names[n] for n in ("%same", "%less", "%a", "%n0", "%c1", "%n", "%c0")} == definitions.ancestry(
        names["%same"]
    )
    assert names["%next"] not in definitions.ancestry(names["%picked"])
    assert definitions.varies(names["%picked"])
    assert not definitions.varies(names["%same"])


def test_casts_hand_on_the_value_behind_them() -> None:
    made = kernel()
    names = values(made)
    definitions = Definitions(made)
    assert definitions.behind_casts(names["%n1"]) is names["%n"]
    assert definitions.behind_casts(names["%a"]) is names["%a"]
    assert definitions.is_constant(names["%c0"])
    assert not definitions.is_constant(names["%n"])
    assert isinstance(definitions.scalar(names["%a"]), Scalar)
    assert definitions.scalar(names["%sum"]) is None
