"""Footprints against the sets of bytes that they stand for."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncopt.ir.footprint import Footprint, strided, whole
from syncopt.ir.kernel import Value
from syncopt.ir.pipes import Memory
from syncopt.ir.types import DType, PointerType

Dims = tuple[tuple[int, int], ...]
dims = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 40)), max_size=3).map(tuple)
boxes = st.tuples(st.integers(0, 60), st.integers(1, 4), dims)


def elements(start: int, size: int, box: Dims) -> set[int]:
    """The bytes of elements of `size` bytes with (count, stride) per dimension."""
    offsets = product(*(range(0, count * stride, stride) if stride else (0,) for count, stride in box))
    return {start + sum(offset) + byte for offset in offsets for byte in range(size)}


def held(footprint: Footprint) -> set[int]:
    """The bytes of a footprint."""
    return elements(footprint.start, footprint.width, footprint.dims)


@given(boxes)
def test_strided_footprint_holds_the_bytes_of_its_elements(box: tuple[int, int, Dims]) -> None:
    start, size, counts = box
    footprint = strided(Memory.MAT, start, size, counts)
    assert held(footprint) == elements(start, size, counts)
    assert footprint.end == max(held(footprint)) + 1


@given(boxes)
def test_dimensions_are_at_least_two_with_falling_strides(box: tuple[int, int, Dims]) -> None:
    start, size, counts = box
    kept = strided(Memory.MAT, start, size, counts).dims
    strides = [stride for _, stride in kept]
    assert all(count >= 2 for count, _ in kept)
    assert strides == sorted(set(strides), reverse=True)


@given(boxes, boxes)
def test_footprints_that_share_a_byte_meet(one: tuple[int, int, Dims], other: tuple[int, int, Dims]) -> None:
    a, b = strided(Memory.MAT, *one), strided(Memory.MAT, *other)
    shares = not held(a).isdisjoint(held(b))
    assert a.meets(b) == b.meets(a)
    if shares:
        assert a.meets(b)
    if not a.dims or not b.dims or [s for _, s in a.dims] == [s for _, s in b.dims]:
        assert a.meets(b) == shares


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 4), dims)
def test_moved_boxes_meet_only_where_they_share_a_byte(at: int, moved: int, size: int, counts: Dims) -> None:
    a, b = strided(Memory.MAT, at, size, counts), strided(Memory.MAT, moved, size, counts)
    assert a.meets(b) == (not held(a).isdisjoint(held(b)))


def test_column_slices_of_one_tile_do_not_meet() -> None:
    """64 columns each of a 128 x 256 tile of 2 bytes: 128 runs of 128 bytes every 512."""
    slices = [strided(Memory.VEC, 128 * n, 2, ((128, 512), (64, 2))) for n in range(4)]
    assert slices[1] == Footprint(Memory.VEC, 128, 128, ((128, 512),))
    assert [slices[1].meets(other) for other in slices] == [False, True, False, False]


def test_other_strides_meet_if_their_ranges_do() -> None:
    """Even and odd multiples of 10 share nothing, which is not looked for."""
    a, b = strided(Memory.MAT, 0, 1, ((4, 20),)), strided(Memory.MAT, 10, 1, ((2, 40),))
    assert a.meets(b)
    assert not a.meets(strided(Memory.MAT, 61, 1, ((2, 40),)))


@pytest.mark.parametrize(("start", "meets"), [(0, True), (99, True), (100, False), (-4, False), (-3, True)])
def test_plain_ranges(start: int, meets: bool) -> None:
    assert Footprint(Memory.MAT, 0, 100).meets(Footprint(Memory.MAT, start, 4)) is meets


def test_spaces_do_not_meet() -> None:
    """Two memories, two pointers of one type, a memory and a pointer."""
    x, y = Value("%x", PointerType(DType.F16)), Value("%x", PointerType(DType.F16))
    spaces = (Memory.MAT, Memory.VEC, x, y)
    for a, b in product(spaces, spaces):
        assert whole(a).meets(whole(b)) is (a is b)
        assert whole(a).meets(Footprint(b, 12345, 1)) is (a is b)
