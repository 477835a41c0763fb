"""Tiles at their addresses, slots of rotating tiles, parts of tiles."""

import pytest

from syncopt.ir.source import InputError
from tests.emit.cpp.texts import body_of, cpp_of

TILE = "!pto.tile_buf<vec, 8x16xf32{}>"
FULL = TILE.format("")
NZ = "!pto.tile_buf<mat, 32x64xf16, blayout=col_major, slayout=row_major>"
ZN = "!pto.tile_buf<mat, 32x64xf16, blayout=row_major, slayout=col_major>"
CONSTANTS = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 2, 3, 8, 16, 20))


def types_of(lines: str) -> list[str]:
    """The tile types that lines declare."""
    text = cpp_of(f"func.func @f(%n: index, %m: i32) {{\n{CONSTANTS}\n{lines}\n}}\n")
    return [line.strip().split("> ")[0] + ">" for line in text.splitlines() if line.strip().startswith("Tile<")]


def test_type_spells_everything_that_the_text_says() -> None:
    tile = "loc=acc, dtype=f32, rows=32, cols=16, v_row=20, v_col=16"
    [found] = types_of(
        f"%t = pto.alloc_tile : !pto.tile_buf<{tile}, blayout=col_major, slayout=row_major, fractal=1024, pad=3>"
    )
    layouts = "BLayout::ColMajor, 20, 16, SLayout::RowMajor, 1024, PadValue::Min, CompactMode::Null"
    assert found == f"Tile<TileType::Acc, float, 32, 16, {layouts}>"


@pytest.mark.parametrize(
    ("valid", "given", "expected", "constructor"),
    [
        ("", "", "8, 16", ""),
        (", valid=4x16", "", "4, 16", ""),
        (", valid=?x16", "valid_row = %n", "-1, 16", "(n)"),
        (", valid=8x?", "valid_col = %n", "8, -1", "(n)"),
        (", valid=?x?", "valid_row = %n valid_col = %m", "-1, -1", "(n, (int64_t) m)"),
        (", valid=?x?", "valid_row = %c2 valid_col = %n", "2, -1", "(n)"),
        (", valid=?x16", "valid_row = %c3", "3, 16", ""),
        # none is valid, or more than there are: not among the static sizes
        (", valid=0x16", "", "-1, 16", "(0)"),
        (", valid=?x16", "valid_row = %c20", "-1, 16", "(20)"),
    ],
)
def test_valid_sizes_are_static_where_the_text_says_them(
    valid: str, given: str, expected: str, constructor: str
) -> None:
    lines = f"{CONSTANTS}\n%t = pto.alloc_tile {given} : {TILE.format(valid)}"
    [found] = types_of(f"%t = pto.alloc_tile {given} : {TILE.format(valid)}")
    assert found.split("BLayout::RowMajor, ")[1].startswith(f"{expected}, SLayout")
    declared = body_of(lines, "%n: index, %m: i32")[-2]
    assert declared == ("Tile t;" if not constructor else f"Tile t = Tile{constructor};")


def test_addresses_come_from_the_text_or_the_setting() -> None:
    lines = f"""%at = arith.constant 4096 : i64
    %t = pto.alloc_tile addr = %at : {FULL}
    %u = pto.alloc_tile : {FULL}"""
    assert body_of(lines)[1:] == ["Tile t;", "TASSIGN(t, at);", "Tile u;", "TASSIGN(u, 0);"]


def test_slots_begin_at_aligned_addresses() -> None:
    """A slot of 1 x 8 f32 takes 32 bytes, and every 512th is an address of the left memory."""
    slot = "!pto.tile_buf<left, 1x8xf32>"
    slots = f"!pto.multi_tile_buf<{slot}, count=3>"
    lines = f"""{CONSTANTS}
    %at = arith.constant 1024 : i64
    %s = pto.alloc_multi_tile addr = %at : {slots}
    %r = pto.alloc_multi_tile : {slots}
    %a = pto.multi_tile_get %s[%c2] : {slots} -> {slot}
    %b = pto.multi_tile_get %s[%n] : {slots} -> {slot}
    %d = pto.multi_tile_get %r[%c2] : {slots} -> {slot}
    %e = pto.multi_tile_get %r[%n] : {slots} -> {slot}"""
    assert [line for line in body_of(lines) if line.startswith("TASSIGN")] == [
        "TASSIGN(a, at + 1024);",
        "TASSIGN(b, at + n * 512);",
        "TASSIGN(d, 3584);",
        "TASSIGN(e, n * 512 + 2560);",
    ]


def test_slots_have_the_valid_size_of_the_whole() -> None:
    slot = TILE.format(", valid=?x16")
    slots = f"!pto.multi_tile_buf<{slot}, count=2>"
    lines = f"""%s = pto.alloc_multi_tile valid_row = %n : {slots}
    %a = pto.multi_tile_get %s[%n] : {slots} -> {slot}"""
    assert body_of(lines)[0] == "Tile a = Tile(n);"


def part(whole: str, offsets: str, sizes: str, result: str, valid: str = "") -> list[str]:
    """The statements of a part, with the whole type of its tile."""
    text = cpp_of(f"""func.func @f(%n: index) {{
    {CONSTANTS}
    %t = pto.alloc_tile : {whole}
    %s = pto.subview %t[{offsets}] sizes [{sizes}] {valid} : {whole} -> {result}
    }}\n""")
    return [
        line.strip()
        for line in text.splitlines()
        if line.strip().startswith(("Tile<", "__", "int64_t s", "uint64_t", "TASSIGN"))
    ][2:]


def test_part_keeps_the_step_from_row_to_row() -> None:
    found = part(FULL, "%n, %c8", "2, 8", "!pto.tile_buf<vec, 2x8xf32>")
    sizes, rest = "2, 16, BLayout::RowMajor, 2, 8", "SLayout::NoneBox, 512, PadValue::Null, CompactMode::Null"
    assert found[1:] == [
        f"Tile<TileType::Vec, float, {sizes}, {rest}> s;",
        "__ubuf__ float* s_base = t.data();",
        "uint64_t s_address = reinterpret_cast<uint64_t>(s_base + (n * 16 + 8));",
        "TASSIGN(s, s_address);",
    ]


def test_part_of_a_column_major_tile() -> None:
    whole = "!pto.tile_buf<vec, 8x16xf32, blayout=col_major>"
    found = part(whole, "%c2, %n", "2, 4", "!pto.tile_buf<vec, 2x4xf32, blayout=col_major>")
    assert "float, 8, 4, BLayout::ColMajor, 2, 4," in found[1]
    assert found[3] == "uint64_t s_address = reinterpret_cast<uint64_t>(s_base + (n * 8 + 2));"


@pytest.mark.parametrize(
    ("whole", "sizes", "expected"),
    [
        (FULL, "1, 8", "1, 8, BLayout::RowMajor"),
        # 16 bytes are no row of a tile
        (FULL, "1, 4", "1, 16, BLayout::RowMajor"),
        ("!pto.tile_buf<vec, 16x8xf32, blayout=col_major>", "8, 1", "8, 1, BLayout::ColMajor"),
    ],
)
def test_single_row_needs_no_step(whole: str, sizes: str, expected: str) -> None:
    rows, cols = sizes.split(", ")
    result = whole.replace("8x16", f"{rows}x{cols}").replace("16x8", f"{rows}x{cols}")
    assert f"Tile<TileType::Vec, float, {expected}" in part(whole, "%c2, %n", sizes, result)[1]


@pytest.mark.parametrize(
    ("whole", "offsets", "sizes", "expected"),
    [
        # columns of 16 x 16 fractals follow each other: 16 of them are 32 rows of 16
        (NZ, "%c0, %c16", "32, 16", "s_base + 512"),
        (ZN, "%n, %c0", "16, 64", "s_base + (n * 64)"),
    ],
)
def test_part_of_a_tile_with_fractals(whole: str, offsets: str, sizes: str, expected: str) -> None:
    rows, cols = sizes.split(", ")
    result = whole.replace(
        "rows=32, cols=64, v_row=32, v_col=64", f"rows={rows}, cols={cols}, v_row={rows}, v_col={cols}"
    )
    assert f"reinterpret_cast<uint64_t>({expected})" in part(whole, offsets, sizes, result)[3]


def test_part_with_a_valid_size_of_its_own() -> None:
    found = part(FULL, "%c0, %c0", "2, 8", TILE.format(", valid=?x8").replace("8x16xf32", "2x8xf32"), "valid [%n, %c8]")
    assert "BLayout::RowMajor, -1, 8," in found[1]
    assert found[1].endswith("CompactMode::Null>(n);")


def test_part_without_a_valid_size_has_what_is_left_of_its_tile() -> None:
    found = part(FULL, "%n, %c0", "2, 16", TILE.format(", valid=?x16").replace("8x16xf32", "2x16xf32"))
    assert found[1] == "int64_t s_rows = (int64_t) t.GetValidRow() - n % (int64_t) t.GetValidRow();"
    assert "BLayout::RowMajor, -1, 16," in found[2]
    assert found[2].endswith("CompactMode::Null>(s_rows < 2 ? s_rows : 2);")
    with pytest.raises(InputError, match="valid width is known at run time only"):
        part(FULL, "%c0, %c0", "2, 8", TILE.format(", valid=2x?").replace("8x16xf32", "2x8xf32"))


def test_part_whose_width_nobody_could_tell_is_refused() -> None:
    with pytest.raises(InputError, match="valid width is known at run time only"):
        part(FULL, "%c0, %c0", "2, 8", "!pto.tile_buf<vec, 2x8xf32, valid=2x?>", "valid [%c2, %n]")


@pytest.mark.parametrize(
    ("whole", "offsets", "sizes", "result", "message"),
    [
        (
            NZ,
            "%n, %c0",
            "32, 16",
            NZ.replace("32x64", "32x16"),
            "no C++ for %s: part of a tile with fractals that leaves out rows",
        ),
        (
            ZN,
            "%c0, %c0",
            "32, 32",
            ZN.replace("32x64", "32x32"),
            "no C++ for %s: part of a tile with fractals that leaves out columns",
        ),
        (
            FULL,
            "%c0, %c0",
            "2, 8",
            "!pto.tile_buf<vec, 2x8xf16>",
            "no C++ for %s: part of a tile of another layout or with other elements",
        ),
        (
            TILE.format(", compact=2"),
            "%c0, %c0",
            "2, 8",
            "!pto.tile_buf<vec, 2x8xf32>",
            "no C++ for %s: part of a tile that is packed row plus one",
        ),
        (
            "!pto.tile_buf<bias, 1x64xf32>",
            "%c0, %c0",
            "1, 8",
            "!pto.tile_buf<bias, 1x8xf32>",
            "no C++ for %s: part of a tile in bias",
        ),
    ],
)
def test_part_without_a_form_is_refused(whole: str, offsets: str, sizes: str, result: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        part(whole, offsets, sizes, result)
    assert caught.value.message == message
    assert caught.value.span is not None
