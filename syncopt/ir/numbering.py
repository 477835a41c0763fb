"""Which values of a kernel are equal, and which values they are computed from."""

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property

from syncopt.ir.kernel import Block, For, If, Kernel, Op, Scalar, Value, Yield, regions, walk
from syncopt.ir.scalars import CASTS
from syncopt.ir.values import results_of


def number(kernel: Kernel) -> Mapping[Value, int]:
    """A number for every value; values with one number are equal wherever both are known.

    Scalar ops with the same name, attribute, result type and operand numbers make the same value, and ops that change
    nothing (a sum with 0, a product with or a quotient by 1) that of their operand. Arguments, loop variables, carried
    values and the results of loops and branches are equal only to themselves.
    """
    numbers: dict[Value, int] = {}
    known: dict[Hashable, int] = {}
    constants = _constants(kernel)
    for value in kernel.arguments:
        numbers[value] = len(numbers)
    for op in walk(kernel.body):
        if isinstance(op, For):
            for value in (op.induction, *op.carried):
                numbers[value] = len(numbers)
        for position, value in enumerate(results_of(op)):
            fresh = len(numbers)
            same = same_as(op, constants) if isinstance(op, Scalar) else None
            if same is not None:
                numbers[value] = numbers[same]
                continue
            key = _key(op, position, numbers) if isinstance(op, Scalar) else None
            numbers[value] = fresh if key is None else known.setdefault(key, fresh)
    return numbers


def same_as(op: Scalar, constants: Mapping[Value, int]) -> Value | None:
    """The operand that an op hands on unchanged, if it does."""
    neutral = _NEUTRAL.get(op.name)
    if neutral is not None and constants.get(op.operands[1]) == neutral:
        return op.operands[0]
    if op.name in _EITHER_WAY and constants.get(op.operands[0]) == neutral:
        return op.operands[1]
    return None


def _constants(kernel: Kernel) -> Mapping[Value, int]:
    return {
        op.results[0]: op.attribute
        for op in walk(kernel.body)
        if isinstance(op, Scalar) and op.name == "arith.constant" and isinstance(op.attribute, int)
    }


_NEUTRAL = {"arith.addi": 0, "arith.subi": 0} | dict.fromkeys(
    ("arith.muli", "arith.divsi", "arith.divui", "arith.ceildivsi", "arith.ceildivui", "arith.floordivsi"), 1
)
_EITHER_WAY = frozenset({"arith.addi", "arith.muli"})


def _key(op: Scalar, position: int, numbers: Mapping[Value, int]) -> Hashable:
    operands = tuple(numbers[value] for value in op.operands)
    return op.name, type(op.attribute), op.attribute, op.results[position].type, position, operands


class Definitions:
    """What every value of a kernel is computed from.

    Parameters
    ----------
    kernel : Kernel
        Where the values are.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.arguments = frozenset(kernel.arguments)
        self._kernel = kernel
        self._ops: dict[Value, Op] = {value: op for op in walk(kernel.body) for value in results_of(op)}
        self._ancestry: dict[Value, frozenset[Value]] = {}
        self._constants = _constants(kernel)

    def scalar(self, value: Value) -> Scalar | None:
        """The scalar op that makes a value, None if anything else makes it."""
        op = self._ops.get(value)
        return op if isinstance(op, Scalar) else None

    def maker(self, value: Value) -> Op | None:
        """The op that makes a value; None for arguments, loop variables and carried values."""
        return self._ops.get(value)

    def behind_casts(self, value: Value) -> Value:
        """The value that a chain of casts, and of ops that change nothing, hands on."""
        while (op := self.scalar(value)) is not None:
            source = op.operands[0] if op.name in CASTS else same_as(op, self._constants)
            if source is None:
                break
            value = source
        return value

    def is_constant(self, value: Value) -> bool:
        """Whether a value stands in the text as a constant."""
        op = self.scalar(value)
        return op is not None and op.name == "arith.constant"

    def ancestry(self, value: Value) -> frozenset[Value]:
        """The value and all that it is computed from; what a loop hands out is taken as given."""
        found = self._ancestry.get(value)
        if found is None:
            found = frozenset({value}).union(*(self.ancestry(source) for source in self.sources(value)))
            self._ancestry[value] = found
        return found

    @cached_property
    def numbers(self) -> Mapping[Value, int]:
        """A number for every value; values with one number are equal (see `number`)."""
        return number(self._kernel)

    @cached_property
    def loop_values(self) -> frozenset[Value]:
        """Loop variables, carried values and results of loops."""
        loops = [op for op in walk(self._kernel.body) if isinstance(op, For)]
        return frozenset(value for op in loops for value in (op.induction, *op.carried, *op.results))

    def varies(self, value: Value) -> bool:
        """Whether a value can change from iteration to iteration of a loop, or is the work of a loop."""
        return not self.loop_values.isdisjoint(self.ancestry(value))

    def sources(self, value: Value) -> tuple[Value, ...]:
        """What a scalar op or a branch makes a value of; nothing for what loops make, which is taken as given."""
        op = self._ops.get(value)
        if isinstance(op, Scalar):
            return op.operands
        if isinstance(op, If):
            at = op.results.index(value)
            return (op.condition, *(last.operands[at] for last in _yields(op)))
        return ()


def _yields(op: If) -> Iterator[Yield]:
    for block in regions(op):
        last = _last(block)
        if isinstance(last, Yield):
            yield last


def _last(block: Block) -> Op | None:
    return block.ops[-1] if block.ops else None
