"""Whether two texts of a kernel do the same: instruction by instruction, on the same bytes, with the same flags."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import TypeVar

from syncopt.ir.footprint import Footprint
from syncopt.ir.intervals import Assumptions
from syncopt.ir.kernel import Barrier, Kernel, Op, SetFlag, TileOp, Value, WaitFlag
from syncopt.ir.scalars import ScalarValue, Unknown
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.ir.types import DTYPES
from syncopt.ir.work import Operand, Work

_T = TypeVar("_T")
_ROUNDING = 2**-8
"""What a number of 8 bits, as in bf16, can be off, as a fraction."""
_VALUE = re.compile(r"(\w+)\s*>?\s*(?=[,}])")
_WORD = re.compile(r"(\w+)\s*(?=[,}])")
_DEFAULTS = frozenset({"norelu", "atomicnone", "unspecified", "false", "0"})
"""Attributes that say what is so without them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two traces part.

    Parameters
    ----------
    number : int
        Of the instruction, counted from 0.
    one, other : str
        What each of them executes there.
    """

    number: int
    one: str
    other: str

    def __str__(self) -> str:
        return f"instruction {self.number} is {self.one} in one text and {self.other} in the other"


class Renaming:
    """The arguments of a kernel under the names that they have in another text of it.

    Parameters
    ----------
    kernel, other : Kernel
        With the same arguments in the same places.
    """

    def __init__(self, kernel: Kernel, other: Kernel) -> None:
        self._names = {
            here.name.removeprefix("%"): there.name.removeprefix("%")
            for here, there in zip(kernel.arguments, other.arguments, strict=True)
        }

    def setting(self, setting: Setting) -> Setting:
        """The same world for the other text, whose tiles all carry their addresses."""
        return replace(setting, arguments=self._renamed(setting.arguments), addresses={})

    def assumptions(self, assumptions: Assumptions) -> Assumptions:
        """The same restrictions for the other text."""
        return replace(assumptions, arguments=self._renamed(assumptions.arguments))

    def _renamed(self, arguments: Mapping[str, _T]) -> Mapping[str, _T]:
        return {self._names[name]: content for name, content in arguments.items()}


def first_difference(kernel: Kernel, other: Kernel, setting: Setting) -> Difference | None:
    """Where one execution of two texts of a kernel parts; None if they execute the same.

    The other text may touch less than the kernel where it begins at the same byte: a part of a tile counts with all of
    its size in `.pto`, with its valid size in C++.

    Parameters
    ----------
    kernel, other : Kernel
        With the same arguments in the same places.
    setting : Setting
        For `kernel`.
    """
    roots = {there: here for here, there in zip(kernel.arguments, other.arguments, strict=True)}
    there = Renaming(kernel, other).setting(setting)
    for number, (one, two) in enumerate(zip_longest(Tracer(kernel, setting), Tracer(other, there))):
        if one is None or two is None or not _is_same(one, two, roots):
            return Difference(number, _told(one), _told(two))
    return None


def _is_same(one: Instance, two: Instance, roots: Mapping[Value, Value]) -> bool:
    if (type(one.op), one.pipe, one.iteration, one.event) != (type(two.op), two.pipe, two.iteration, two.event):
        return False
    if one.work != two.work and (one.work and _signless(one.work)) != two.work:
        return False
    if not _are_same_numbers(one.numbers, two.numbers) or not _mean_the_same(one.op, two.op):
        return False
    return len(one.accesses) == len(two.accesses) and all(
        a.writes == b.writes and _holds(a.footprint, _known(b.footprint, roots))
        for a, b in zip(one.accesses, two.accesses, strict=True)
    )


def _are_same_numbers(ones: Sequence[ScalarValue], others: Sequence[ScalarValue]) -> bool:
    """Whether scalar operands are the same, as far as both are known."""
    return len(ones) == len(others) and all(map(_is_same_number, ones, others))


def _is_same_number(one: ScalarValue, two: ScalarValue) -> bool:
    """Constants of a short floating-point type are rounded to it in C++."""
    if isinstance(one, Unknown) or isinstance(two, Unknown) or one == two:
        return True
    if math.isnan(one) or math.isnan(two):
        return math.isnan(one) and math.isnan(two)
    return isinstance(one, float) and isinstance(two, float) and math.isclose(one, two, rel_tol=_ROUNDING)


@lru_cache(maxsize=1024)
def _mean_the_same(one: Op, two: Op) -> bool:
    """Whether every attribute of a tile op stands among the enumerators of its call."""
    if not isinstance(one, TileOp) or not isinstance(two, TileOp) or one.attributes == two.attributes:
        return True
    words = {_plain(word) for word in _WORD.findall(two.attributes)}
    return all(_plain(word) in words | _DEFAULTS for word in _VALUE.findall(one.attributes))


def _plain(word: str) -> str:
    """An enumerator in either spelling: `atomic_add` and `AtomicAdd`, `ROUND` and `CAST_ROUND`."""
    return word.lower().removeprefix("cast_").replace("_", "").replace("true", "1")


@lru_cache(maxsize=1024)
def _signless(work: Work) -> Work:
    """The same with signed integers as those without a sign of their own, which C++ does not tell apart."""
    return replace(work, ins=tuple(map(_signless_operand, work.ins)), outs=tuple(map(_signless_operand, work.outs)))


def _signless_operand(operand: Operand) -> Operand:
    return replace(operand, dtype=DTYPES[operand.dtype.spelling.removeprefix("s")])


def _known(footprint: Footprint, roots: Mapping[Value, Value]) -> Footprint:
    """A footprint of the other text, its pointer as the first text knows it."""
    space = footprint.space
    return footprint._replace(space=roots.get(space, space)) if isinstance(space, Value) else footprint


def _holds(whole: Footprint, part: Footprint) -> bool:
    """Whether a footprint that begins where another one does stays inside it."""
    if whole.space is not part.space or whole.start != part.start:
        return False
    if not whole.dims:
        return part.end <= whole.end
    counts = {stride: count for count, stride in whole.dims}
    return part.width <= whole.width and all(count <= counts.get(stride, 0) for count, stride in part.dims)


def _told(instance: Instance | None) -> str:
    """An instruction in words."""
    match instance:
        case None:
            return "missing"
        case Instance(op=TileOp(name=name, attributes=attributes)):
            places = [f"{'to' if a.writes else 'from'} {_place(a.footprint)}" for a in instance.accesses]
            words = ["with", *map(str, instance.numbers)] if instance.numbers else []
            return " ".join([name, *places, *words, *([attributes] if attributes else [])])
        case Instance(op=Barrier()):
            return f"a barrier of {instance.pipe}"
        case Instance(op=SetFlag() | WaitFlag() as flag):
            word = "set" if isinstance(flag, SetFlag) else "wait"
            return f"{word} {flag.pair} {instance.event}"
        case _:
            return type(instance.op).__name__


def _place(footprint: Footprint) -> str:
    runs = "".join(f" {count} times every {stride}" for count, stride in footprint.dims)
    return f"{footprint.space} {footprint.start}+{footprint.width}{runs}"
