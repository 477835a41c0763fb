"""A kernel as a tree: blocks of scalar work, tile ops, flags and barriers inside loops, branches and sections.

The tree is immutable. A changed kernel (moved ops, other flags) is a new tree that keeps the ops that stayed, so the
text of every op that came from a file can still be found by its span.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from syncopt.ir.pipes import Pipe, PipePair, SectionKind
from syncopt.ir.source import Source, Span
from syncopt.ir.types import ValueType

NO_SPAN = Span(-1, -1)
"""The span of an op that stands in no file."""


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """An SSA value; two values are the same only if they are the same object.

    `name` is as in the text, `%` included (`%1#0` for one of several results). In C++ it is the variable, or the
    expression for a value that has no name; converted to the type's width it has the value's bits.
    """

    name: str
    type: ValueType

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """What all ops share.

    Parameters
    ----------
    uid : int
        Number of the op in its file, in text order; stays with the op in a changed tree. Negative for ops that were
        added.
    span : Span
        Bytes of the op's own text in its file, results included, trailing comments not; `NO_SPAN` for added ops. In C++
        the bytes of its statement, which it may share with other ops, or none for what no text stands for.
    """

    uid: int
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of C++ text that stands or moves as a whole.

    Its ops are those of its block with the same span; a statement that only names something has none.

    Parameters
    ----------
    span : Span
        Bytes of its text, those of statements inside it included, trailing comments not.
    reads, writes : frozenset of str
        Names that it uses and that it declares or assigns, without those of the statements inside it.
    """

    span: Span
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Ops in program order.

    Parameters
    ----------
    ops : tuple of Op
        The ops.
    span : Span
        What stands between the braces of the region (or, for a function, its body), braces excluded; the statement
        itself where it has no braces, nothing for a branch that is not written.
    statements : tuple of Statement
        The statements that the text of a C++ block consists of, in order; empty where every op has a text of its own.
    """

    ops: tuple[Op, ...]
    span: Span
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Scalar(Op):
    """Scalar work without side effects.

    Parameters
    ----------
    name : str
        `arith.addi`, `pto.get_block_idx` and so on.
    operands : tuple of Value
        In the order of the text.
    results : tuple of Value
        Mostly one.
    attribute : int, float, str or None
        The value of `arith.constant` (booleans as 0 and 1), the predicate of `arith.cmpi` and `arith.cmpf`.
    """

    name: str
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attribute: int | float | str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class AllocTile(Op):
    """`pto.alloc_tile`: a tile, with its byte address inside its memory where the text gives one."""

    result: Value
    address: Value | None
    valid_row: Value | None
    valid_col: Value | None


@dataclass(frozen=True, eq=False, slots=True)
class AllocMultiTile(Op):
    """`pto.alloc_multi_tile`: several tiles of one type to rotate through, slot after slot."""

    result: Value
    address: Value | None
    valid_row: Value | None
    valid_col: Value | None


@dataclass(frozen=True, eq=False, slots=True)
class MultiTileGet(Op):
    """`pto.multi_tile_get`: the tile in one slot."""

    result: Value
    source: Value
    slot: Value


@dataclass(frozen=True, eq=False, slots=True)
class SubView(Op):
    """`pto.subview` or `pto.subset`: a part of a tile, `sizes` (rows, columns) at `offsets` (row, column).

    `valid` is its valid shape where the text gives one, else empty.
    """

    result: Value
    source: Value
    offsets: tuple[Value, ...]
    sizes: tuple[int, ...]
    valid: tuple[Value, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class AddPtr(Op):
    """`pto.addptr`: a pointer `offset` elements further."""

    result: Value
    pointer: Value
    offset: Value


@dataclass(frozen=True, eq=False, slots=True)
class TensorView(Op):
    """`pto.make_tensor_view`: shape and strides, in elements, over a pointer."""

    result: Value
    pointer: Value
    shape: tuple[Value, ...]
    strides: tuple[Value, ...]
    layout: str


@dataclass(frozen=True, eq=False, slots=True)
class PartitionView(Op):
    """`pto.partition_view`: a box of `sizes` elements at `offsets` elements of a view."""

    result: Value
    source: Value
    offsets: tuple[Value, ...]
    sizes: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class TileOp(Op):
    """An op in destination-passing form: reads `ins`, writes `outs`. `attributes` is their text, braces included."""

    name: str
    ins: tuple[Value, ...]
    outs: tuple[Value, ...]
    attributes: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Flag(Op):
    """`set_flag` or `wait_flag` in any spelling; `event` is the id, a value if it is known at run time only."""

    pair: PipePair
    event: int | Value


@dataclass(frozen=True, eq=False, slots=True)
class SetFlag(Flag):
    """Raises the flag when all earlier instructions of `pair.source` have completed."""


@dataclass(frozen=True, eq=False, slots=True)
class WaitFlag(Flag):
    """Holds `pair.target` until the flag is up, then takes it down."""


@dataclass(frozen=True, eq=False, slots=True)
class Barrier(Op):
    """Later instructions of `pipe` start after all its earlier ones completed (`Pipe.ALL`: of all pipes)."""

    pipe: Pipe


@dataclass(frozen=True, eq=False, slots=True)
class For(Op):
    """`scf.for`: `carried` are the loop-carried block arguments that start as `inits`."""

    induction: Value
    lower: Value
    upper: Value
    step: Value
    inits: tuple[Value, ...]
    carried: tuple[Value, ...]
    results: tuple[Value, ...]
    body: Block


@dataclass(frozen=True, eq=False, slots=True)
class If(Op):
    """`scf.if`; `orelse` is None when there is no else branch."""

    condition: Value
    results: tuple[Value, ...]
    then: Block
    orelse: Block | None


@dataclass(frozen=True, eq=False, slots=True)
class Guard(If):
    """An `if` of C++ with `return` or `continue` inside, the last op of its block apart from a `Yield`.

    What stands behind the branch in the text is its `orelse` if the text has no `else` of its own: no text is behind
    both arms.
    """


@dataclass(frozen=True, eq=False, slots=True)
class Braces(If):
    """A block of its own in C++: an `if` that always holds, has no `orelse`, and hands out results nevertheless."""


@dataclass(frozen=True, eq=False, slots=True)
class Yield(Op):
    """`scf.yield`: what a region hands to its loop or branch."""

    operands: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Return(Op):
    """`return` of a kernel, which hands back nothing."""


@dataclass(frozen=True, eq=False, slots=True)
class Section(Op):
    """`pto.section.cube` or `pto.section.vector`."""

    kind: SectionKind
    body: Block


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """One function of a file.

    Parameters
    ----------
    name : str
        Without `@`.
    arguments : tuple of Value
        In order; pointers and scalars.
    body : Block
        The function's body.
    source : Source
        The file it was read from.
    span : Span
        Bytes of the whole function.
    """

    name: str
    arguments: tuple[Value, ...]
    body: Block
    source: Source
    span: Span


def regions(op: Op) -> tuple[Block, ...]:
    """The blocks directly inside an op."""
    match op:
        case For() | Section():
            return (op.body,)
        case If():
            return (op.then,) if op.orelse is None else (op.then, op.orelse)
        case _:
            return ()


def ends_early(op: Op) -> bool:
    """Whether an op holds a `Guard` such that no text stands behind both its arms, where the op ends either."""
    match op:
        case Guard():
            return True
        case Braces() | Section():
            inside = op.then if isinstance(op, Braces) else op.body
            return any(ends_early(inner) for inner in inside.ops)
        case _:
            return False


def walk(block: Block) -> Iterator[Op]:
    """Every op below a block, in text order, an op before what stands inside it."""
    for op in block.ops:
        yield op
        for region in regions(op):
            yield from walk(region)
