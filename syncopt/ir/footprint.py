"""Which bytes an access touches, and when two accesses conflict."""

from functools import lru_cache
from typing import NamedTuple

from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory

_UNBOUNDED = 1 << 62
_MANY = 64
_Dims = tuple[tuple[int, int], ...]


class Footprint(NamedTuple):
    """Runs of `width` bytes at `start` + i0*stride0 + i1*stride1 + ... in one space.

    Parameters
    ----------
    space : Memory or Value
        An on-chip memory, or the pointer argument that global memory is reached through. Footprints in different
        spaces never meet: different pointer arguments are assumed not to alias.
    start : int
        First byte.
    width : int
        Bytes of one run, at least 1.
    dims : tuple of (count, stride)
        Counts of at least 2 and strides in bytes, all different, largest stride first.
    """

    space: Memory | Value
    start: int
    width: int
    dims: tuple[tuple[int, int], ...] = ()

    @property
    def end(self) -> int:
        """The byte behind the last one."""
        if not self.dims:
            return self.start + self.width
        return self.start + sum((count - 1) * stride for count, stride in self.dims) + self.width

    def meets(self, other: "Footprint") -> bool:
        """Whether the two share a byte; True as well where their strides differ and their ranges meet."""
        if self.space is not other.space or self.end <= other.start or other.end <= self.start:
            return False
        if not self.dims and not other.dims:
            return True
        mine, theirs = _counts(self.dims), _counts(other.dims)
        if self.dims and other.dims and mine.keys() != theirs.keys():
            return True
        distance = other.start - self.start
        steps = tuple((-(theirs.get(s, 1) - 1), mine.get(s, 1) - 1, s) for s in sorted({*mine, *theirs}, reverse=True))
        return _reaches(steps, distance - self.width, distance + other.width)


class Access(NamedTuple):
    """Bytes that an instruction reads or writes."""

    footprint: Footprint
    writes: bool


def whole(space: Memory | Value) -> Footprint:
    """The footprint of an access of which nothing but the space is known."""
    return Footprint(space, -_UNBOUNDED, 2 * _UNBOUNDED)


def strided(space: Memory | Value, start: int, size: int, dims: tuple[tuple[int, int], ...]) -> Footprint:
    """Footprint of elements of `size` bytes at `start` with (count, stride in bytes) per dimension, merged to runs.

    Strides are not negative. Dimensions that continue each other become one run; an empty dimension makes a footprint
    of no interest, which is kept as a single element.
    """
    return Footprint(space, start, *_runs(size, dims))


@lru_cache(maxsize=1024)
def _runs(size: int, dims: _Dims) -> tuple[int, _Dims]:
    """Width of a run, and the dimensions over which it repeats."""
    width, kept = size, list[tuple[int, int]]()
    for count, stride in sorted((d for d in dims if d[0] > 1), key=lambda d: d[1]):
        if not kept and stride <= width:
            width += (count - 1) * stride
        elif kept and stride == kept[-1][1]:
            kept[-1] = (kept[-1][0] + count - 1, stride)
        elif kept and stride == kept[-1][0] * kept[-1][1]:
            kept[-1] = (kept[-1][0] * count, kept[-1][1])
        else:
            kept.append((count, stride))
    return width, tuple(reversed(kept))


def _counts(dims: _Dims) -> dict[int, int]:
    return {stride: count for count, stride in dims}


def _reaches(steps: tuple[tuple[int, int, int], ...], low: int, high: int) -> bool:
    """Whether a sum of d*stride with d in lowest..highest per step lies strictly between `low` and `high`."""
    if not steps:
        return low < 0 < high
    (lowest, highest, stride), rest = steps[0], steps[1:]
    most = sum(top * s for _, top, s in rest)
    least = sum(bottom * s for bottom, _, s in rest)
    first = max(lowest, -((most - low) // stride))
    last = min(highest, (high - least) // stride)
    if last - first > _MANY:
        return True
    return any(_reaches(rest, low - d * stride, high - d * stride) for d in range(first, last + 1))
