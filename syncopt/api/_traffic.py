"""What one core multiplies and loads, and whether the operands of all cores fit the L2 cache."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from syncopt.api._job import Subject
from syncopt.ir.kernel import Kernel, TensorView, TileOp, Value, walk
from syncopt.ir.optable import Family, lookup
from syncopt.ir.pipes import Memory
from syncopt.ir.pointers import Roots
from syncopt.ir.runtime import Environment, RuntimeValue
from syncopt.ir.trace import Instance, Overrides, Tracer
from syncopt.ir.types import ViewType
from syncopt.ir.work import Work


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a core does with the memories outside of it, in one execution.

    Parameters
    ----------
    matmuls : int
        Matmuls executed.
    products : int
        Multiplications of two elements in all of them.
    loads, loaded_bytes : int
        Loads from global memory executed, and the bytes of their views.
    operand_bytes : int or None
        Bytes of the whole tensors that are loaded from, those of all cores; None where the arguments do not tell.
    """

    matmuls: int
    products: int
    loads: int
    loaded_bytes: int
    operand_bytes: int | None


class _Sizes(Overrides):
    """Notes the greatest value of every size of a tensor view."""

    def __init__(self, kernel: Kernel) -> None:
        self._views = [op for op in walk(kernel.body) if isinstance(op, TensorView)]
        self._roots = Roots(kernel)
        self._sizes: dict[Value, int | None] = {value: 0 for view in self._views for value in view.shape}

    def value(self, value: Value, computed: RuntimeValue, env: Environment) -> RuntimeValue:
        known = self._sizes.get(value)
        if known is not None:
            self._sizes[value] = max(known, int(computed)) if isinstance(computed, int | bool) else None
        return super().value(value, computed, env)

    def bytes_of(self, pointer: Value) -> int | None:
        """Bytes of the largest view of a pointer argument; None if there is none, or of unknown size."""
        found = [_bytes(view, self._sizes) for view in self._views if self._roots.of(view.result) is pointer]
        known = [size for size in found if size is not None]
        return max(known) if known and len(known) == len(found) else None


def _bytes(view: TensorView, sizes: Mapping[Value, int | None]) -> int | None:
    assert isinstance(view.result.type, ViewType)
    shape = [sizes[value] for value in view.shape]
    known = [size for size in shape if size is not None]
    return prod(known) * view.result.type.dtype.size if len(known) == len(shape) else None


def traffic(subject: Subject) -> Traffic:
    """Count what the core of a subject multiplies and loads."""
    sizes = _Sizes(subject.kernel)
    matmuls = products = loads = loaded = 0
    read: dict[Value, None] = {}
    counted: dict[int, tuple[Work, _Share]] = {}
    for instance in Tracer(subject.kernel, subject.setting, sizes):
        if not isinstance(instance.op, TileOp):
            continue
        assert instance.work is not None
        # Equal works of a trace are one object, which is kept so that its identity stays its own.
        known = counted.get(id(instance.work))
        if known is None:
            known = counted[id(instance.work)] = (instance.work, _share(instance.work))
        share = known[1]
        matmuls += share.is_matmul
        products += share.products
        if share.is_load:
            loads, loaded = loads + 1, loaded + share.loaded
            read.update(dict.fromkeys(_pointers_read(instance)))
    whole = [sizes.bytes_of(pointer) for pointer in read]
    known_sizes = [size for size in whole if size is not None]
    return Traffic(matmuls, products, loads, loaded, sum(known_sizes) if len(known_sizes) == len(whole) else None)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one work adds to the traffic."""

    is_matmul: bool
    is_load: bool
    products: int
    loaded: int


def _share(work: Work) -> _Share:
    row = lookup(work.name)
    family = None if row is None else row.family
    left = next((operand for operand in work.ins if operand.memory is Memory.LEFT), None)
    right = next((operand for operand in work.ins if operand.memory is Memory.RIGHT), None)
    is_matmul = family is Family.MATMUL and left is not None and right is not None
    products = left.rows * left.cols * right.cols if is_matmul and left is not None and right is not None else 0
    loaded = sum(operand.bytes for operand in work.ins if operand.memory is Memory.GM)
    return _Share(is_matmul, family is Family.LOAD and loaded > 0, products, loaded)


def _pointers_read(instance: Instance) -> list[Value]:
    spaces = [access.footprint.space for access in instance.accesses if not access.writes]
    return [space for space in spaces if isinstance(space, Value)]
