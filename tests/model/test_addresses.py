"""Addresses of tiles: first fit around what has an address, refusals, and the constants that carry them."""

from collections.abc import Iterator
from itertools import islice

import pytest

from syncopt.emit import render
from syncopt.frontend import parse_module
from syncopt.hwmodel import Machine, load_machine
from syncopt.ir.kernel import AllocMultiTile, AllocTile, Kernel, walk
from syncopt.ir.source import InputError, Source
from syncopt.model.addresses import fresh_name, fresh_uids, names_in, place, with_addresses


@pytest.fixture(name="machine")
def _machine() -> Machine:
    return load_machine("910b2")


def kernel_of(*lines: str) -> Kernel:
    body = "\n".join(f"    {line}" for line in lines)
    text = f"func.func @f(%base: i64, %n: index, %run: i1) {{\n{body}\n    return\n}}\n"
    return parse_module(Source("kernel.pto", text.encode())).kernel()


def tile(name: str, rows: int, cols: int, memory: str = "vec", addr: str = "") -> str:
    """An allocation of `rows` x `cols` f16 elements."""
    return f"{name} = pto.alloc_tile {addr}: !pto.tile_buf<{memory}, {rows}x{cols}xf16>"


def allocations(kernel: Kernel) -> Iterator[AllocTile | AllocMultiTile]:
    return (op for op in walk(kernel.body) if isinstance(op, AllocTile | AllocMultiTile))


def by_name(kernel: Kernel, machine: Machine) -> dict[str, int]:
    """Addresses by the name of the tile."""
    addresses = place(kernel, machine)
    return {op.result.name: addresses[op.uid] for op in allocations(kernel) if op.uid in addresses}


def test_tiles_of_a_memory_stand_one_behind_the_other(machine: Machine) -> None:
    kernel = kernel_of(
        tile("%a", 16, 16),
        tile("%l", 16, 16, "left"),
        tile("%b", 16, 32),
        tile("%c", 16, 16),
        tile("%m", 16, 16, "left"),
    )
    assert by_name(kernel, machine) == {"%a": 0, "%b": 512, "%c": 1536, "%l": 0, "%m": 512}


def test_addresses_are_aligned(machine: Machine) -> None:
    """24 bytes: the next multiple of 32 in vec, of 512 in left."""
    kernel = kernel_of(*(tile(f"%{memory}{i}", 1, 12, memory) for memory in ("vec", "left") for i in (0, 1)))
    assert by_name(kernel, machine) == {"%vec0": 0, "%vec1": 32, "%left0": 0, "%left1": 512}


def test_tiles_inside_regions_are_placed_too(machine: Machine) -> None:
    kernel = kernel_of("scf.if %run {", tile("%a", 16, 16), "} else {", tile("%b", 16, 16), "}", tile("%c", 16, 16))
    assert by_name(kernel, machine) == {"%a": 0, "%b": 512, "%c": 1024}


def test_rotating_tile_takes_all_its_slots(machine: Machine) -> None:
    kernel = kernel_of("%m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x16xf16, count=3>", tile("%a", 16, 16))
    assert by_name(kernel, machine) == {"%m": 0, "%a": 1536}


def test_slots_of_a_rotating_tile_are_aligned(machine: Machine) -> None:
    """Slots of 24 bytes stand 512 bytes apart in left, so two take 536 bytes."""
    kernel = kernel_of(
        "%m = pto.alloc_multi_tile : !pto.multi_tile_buf<left, 1x12xf16, count=2>", tile("%a", 16, 16, "left")
    )
    assert by_name(kernel, machine) == {"%m": 0, "%a": 1024}


def test_gaps_between_given_addresses_are_used(machine: Machine) -> None:
    """%f takes 512 to 1024 and %g 1536 to 2048: %a fits before, %b (1024 bytes) only behind, %c between."""
    kernel = kernel_of(
        "%at = arith.constant 512 : index",
        "%at32 = arith.index_cast %at : index to i32",
        "%at64 = arith.extsi %at32 : i32 to i64",
        tile("%a", 16, 16),
        tile("%b", 16, 32),
        tile("%c", 16, 16),
        tile("%f", 16, 16, addr="addr = %at64 "),
        "%more = arith.constant 1024 : i64",
        "%sum = arith.addi %at64, %more : i64",
        tile("%g", 16, 16, addr="addr = %sum "),
    )
    assert by_name(kernel, machine) == {"%a": 0, "%b": 2048, "%c": 1024}


def test_nothing_to_place(machine: Machine) -> None:
    assert place(kernel_of(tile("%a", 16, 16, addr="addr = %base ")), machine) == {}


def test_address_that_is_no_constant_is_refused_only_where_it_matters(machine: Machine) -> None:
    given = tile("%a", 16, 16, addr="addr = %base ")
    assert by_name(kernel_of(given, tile("%l", 16, 16, "left")), machine) == {"%l": 0}
    with pytest.raises(InputError) as error:
        place(kernel_of(given, tile("%b", 16, 16)), machine)
    assert error.value.message == "the address of %a is not a constant, so no other tile of vec can be placed"


def test_tiles_that_do_not_fit_are_refused_at_the_first_of_them(machine: Machine) -> None:
    """512 x 512 x 2 bytes fill mat exactly, 131072 bytes are too many."""
    kernel = kernel_of(tile("%a_l1", 512, 512, "mat"), tile("%b_l1", 256, 256, "mat"))
    with pytest.raises(InputError) as error:
        place(kernel, machine)
    assert str(error.value) == "\n".join(
        [
            "kernel.pto:3:5: error: %a_l1 and %b_l1 do not fit mat: 655,360 of 524,288 bytes (131,072 too many)",
            "    3 |     %b_l1 = pto.alloc_tile : !pto.tile_buf<mat, 256x256xf16>",
            "      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
            "   help: use smaller tiles, fewer tiles, or fewer slots per rotating tile",
        ]
    )


def test_memory_may_be_full(machine: Machine) -> None:
    kernel = kernel_of(tile("%a", 256, 512, "mat"), tile("%b", 256, 512, "mat"))
    assert by_name(kernel, machine) == {"%a": 0, "%b": 262144}


def test_long_lists_of_tiles_are_cut_short(machine: Machine) -> None:
    with pytest.raises(InputError, match="%t0, %t1, %t2, %t3 and 2 more do not fit left: 196,608 of 65,536 bytes"):
        place(kernel_of(*(tile(f"%t{i}", 128, 128, "left") for i in range(6))), machine)
    with pytest.raises(InputError, match="%t does not fit left"):
        place(kernel_of(tile("%t", 256, 256, "left")), machine)


def test_addresses_are_written_as_constants(machine: Machine) -> None:
    """%addr_0 is taken by a comment, and the two tiles at 0 share a constant; the branch has its own."""
    kernel = kernel_of(
        "// %addr_0 is taken",
        tile("%a", 16, 16),
        tile("%l", 16, 16, "left"),
        "scf.if %run {",
        f"  {tile('%b', 16, 16)}",
        "}",
        "%m = pto.alloc_multi_tile : !pto.multi_tile_buf<right, 16x16xf16, count=2>",
    )
    addressed = with_addresses(kernel, place(kernel, machine))
    assert render(kernel, addressed).decode() == (
        """func.func @f(%base: i64, %n: index, %run: i1) {
    %addr_0_1 = arith.constant 0 : i64
    // %addr_0 is taken
    %a = pto.alloc_tile addr = %addr_0_1 : !pto.tile_buf<vec, 16x16xf16>
    %l = pto.alloc_tile addr = %addr_0_1 : !pto.tile_buf<left, 16x16xf16>
    scf.if %run {
      %addr_512 = arith.constant 512 : i64
      %b = pto.alloc_tile addr = %addr_512 : !pto.tile_buf<vec, 16x16xf16>
    }
    %m = pto.alloc_multi_tile addr = %addr_0_1 : !pto.multi_tile_buf<right, 16x16xf16, count=2>
    return
}
"""
    )


def test_written_addresses_are_those_that_were_placed(machine: Machine) -> None:
    kernel = kernel_of(tile("%a", 16, 16), "scf.if %run {", tile("%b", 16, 16), "}", tile("%c", 16, 16))
    addressed = with_addresses(kernel, place(kernel, machine))
    again = parse_module(Source("again.pto", render(kernel, addressed))).kernel()
    assert [op.address is None for op in allocations(again)] == [False] * 3
    assert [op.address.name for op in allocations(again) if op.address] == ["%addr_0", "%addr_512", "%addr_1024"]
    assert place(again, machine) == {}


def test_constant_that_was_added_before_is_shared() -> None:
    kernel = kernel_of(tile("%a", 16, 16), tile("%l", 16, 16, "left"))
    first, second = (op.uid for op in allocations(kernel))
    twice = with_addresses(with_addresses(kernel, {first: 64}), {second: 64})
    assert [op.uid for op in walk(twice.body)][:3] == [-1, first, second]
    assert len({op.address for op in allocations(twice)}) == 1


def test_kernel_without_allocations_stays() -> None:
    kernel = kernel_of("scf.if %run {}")
    assert with_addresses(kernel, {}) is kernel


def test_names_in_the_file_and_in_the_tree_are_taken() -> None:
    kernel = kernel_of("// %x->%y-z, %r#1", "%t-1 = arith.constant 0 : i64", tile("%a", 16, 16))
    names = {"%base", "%n", "%run", "%x", "%y-z", "%r", "%t-1", "%a"}
    assert names_in(kernel) == names
    (uid,) = (op.uid for op in allocations(kernel))
    addressed = with_addresses(kernel, {uid: 32})
    assert names_in(addressed) == {*names, "%addr_32"}
    assert list(islice(fresh_uids(kernel), 2)) == [-1, -2]
    assert next(fresh_uids(addressed)) == -2


def test_fresh_names_are_taken_at_once() -> None:
    taken = {"%x", "%x_1"}
    assert [fresh_name(taken, base) for base in ("%x", "%x", "%y", "%y")] == ["%x_2", "%x_3", "%y", "%y_1"]
    assert taken == {"%x", "%x_1", "%x_2", "%x_3", "%y", "%y_1"}
