"""Whole kernels: their C++ to the letter, and what loops, branches, flags and sections become."""

from pathlib import Path

import pytest

from syncopt.ir.source import InputError
from tests.emit.cpp.texts import body_of, cpp_of

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.pto"))
T = "!pto.tile_buf<vec, 8x16xf32>"
S = "!pto.tile_buf<vec, 8x16xf32, valid=4x16>"
V = "!pto.tensor_view<8x16xf32>"


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_text_is_as_expected(path: Path) -> None:
    assert cpp_of(path.read_bytes()) == path.with_suffix(".cpp").read_text()


def test_two_texts_are_the_same() -> None:
    text = KERNELS[0].read_bytes()
    assert cpp_of(text) == cpp_of(text)


def test_signature_has_a_type_for_every_argument() -> None:
    arguments = "%0: !pto.ptr<bf16>, %1: !pto.ptr<i8, gm>, %2: i1, %3: i16, %4: index, %5: f16, %6: bf16, %7: ui32"
    text = cpp_of(f"func.func @_kernel({arguments}) {{\n}}\n")
    expected = (
        "__gm__ bfloat16_t* v0, __gm__ int8_t* v1, bool v2, int16_t v3, int64_t v4, half v5, bfloat16_t v6, uint32_t v7"
    )
    assert f"void _kernel({expected}) {{\n}}\n" in text


def test_carried_values_that_change_places_go_through_others() -> None:
    lines = """%a:2 = scf.for %k = %n to %n step %n iter_args(%b = %n, %d = %n) -> (index, index) {
      scf.yield %d, %b : index, index
    }
    %e = arith.muli %a#0, %a#1 : index"""
    assert body_of(lines) == [
        "int64_t b = n;",
        "int64_t d = n;",
        "for (int64_t k = n; k < n; k += n) {",
        "int64_t b_next = d;",
        "int64_t d_next = b;",
        "b = b_next;",
        "d = d_next;",
        "}",
        "int64_t e = (int64_t) ((uint64_t) b * (uint64_t) d);",
    ]


def test_carried_value_that_stays_is_not_assigned() -> None:
    lines = """%a = scf.for %k = %i to %i step %i iter_args(%b = %n) -> (index) : i32 {
      scf.yield %b : index
    }"""
    assert body_of(lines) == ["int64_t b = n;", "for (int32_t k = i; k < i; k += i) {", "}"]


def test_branch_without_results_or_else() -> None:
    assert body_of("scf.if %c { pto.barrier <PIPE_M> }") == ["if (c) {", "pipe_barrier(PIPE_M);", "}"]


def test_result_of_a_branch_is_not_hidden_by_a_name_inside() -> None:
    lines = """%a = scf.if %c -> (index) {
      %a = arith.addi %n, %n : index
      scf.yield %a : index
    } else {
      scf.yield %n : index
    }"""
    assert body_of(lines) == [
        "int64_t a;",
        "if (c) {",
        "int64_t a_2 = (int64_t) ((uint64_t) n + (uint64_t) n);",
        "a = a_2;",
        "} else {",
        "a = n;",
        "}",
    ]


def test_flags_and_barriers() -> None:
    lines = """pto.record_event[#pto.sync_op_type<TLOAD>, #pto.sync_op_type<TVEC>, <EVENT_ID7>]
    pto.wait_flag_dyn[<PIPE_MTE2>, <PIPE_V>, %i]
    pto.barrier_sync[<TVEC>]
    pto.barrier <PIPE_ALL>"""
    assert body_of(lines) == [
        "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID7);",
        "wait_flag(PIPE_MTE2, PIPE_V, (event_t) i);",
        "pipe_barrier(PIPE_V);",
        "pipe_barrier(PIPE_ALL);",
    ]


def test_section_is_for_its_kind_of_core() -> None:
    lines = """pto.section.cube { pto.barrier <PIPE_M> }
    pto.section.vector { pto.barrier <PIPE_V> }
    return"""
    assert [line for line in body_of(lines) if line] == [
        "#if defined(__DAV_CUBE__)",
        "pipe_barrier(PIPE_M);",
        "#endif // __DAV_CUBE__",
        "#if defined(__DAV_VEC__)",
        "set_mask_norm();",
        "set_vector_mask(-1, -1);",
        "pipe_barrier(PIPE_V);",
        "#endif // __DAV_VEC__",
        "return;",
    ]


def test_sections_share_the_names_of_the_function() -> None:
    lines = """pto.section.cube { %a = arith.constant 1 : index }
    %a = arith.constant 2 : index"""
    assert [line for line in body_of(lines) if line.startswith("const")] == [
        "const int64_t a = 1;",
        "const int64_t a_2 = 2;",
    ]


def test_tiles_change_places_between_rounds() -> None:
    lines = f"""%t = pto.alloc_tile : {T}
    %u = pto.alloc_tile : {T}
    %a:2 = scf.for %k = %n to %n step %n iter_args(%b = %t, %d = %u) -> ({T}, {T}) {{
      pto.tabs ins(%b : {T}) outs(%d : {T})
      scf.yield %d, %b : {T}, {T}
    }}
    pto.tneg ins(%a#0 : {T}) outs(%a#1 : {T})"""
    assert body_of(lines)[4:] == [
        "Tile b = t;",
        "Tile d = u;",
        "for (int64_t k = n; k < n; k += n) {",
        "TABS(d, b);",
        "Tile b_next = d;",
        "Tile d_next = b;",
        "b = b_next;",
        "d = d_next;",
        "}",
        "TNEG(d, b);",
    ]


def test_view_that_is_handed_on_as_it_is_stays_one() -> None:
    """By both branches, and round after round."""
    lines = f"""%c1 = arith.constant 1 : index
    %t = pto.alloc_tile : {T}
    %v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %c1] : {V}
    %w = scf.for %k = %n to %n step %n iter_args(%u = %v) -> ({V}) {{
      %x1 = scf.if %c -> ({V}) {{
        pto.tload ins(%u : {V}) outs(%t : {T})
        scf.yield %u : {V}
      }} else {{
        scf.yield %u : {V}
      }}
      scf.yield %x1 : {V}
    }}
    pto.tstore ins(%t : {T}) outs(%w : {V})"""
    assert body_of(lines)[6:] == [
        "for (int64_t k = n; k < n; k += n) {",
        "if (c) {",
        "TLOAD(t, v);",
        "} else {",
        "}",
        "}",
        "TSTORE(v, t);",
    ]


# The line of the op is 2.
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("%a = arith.remf %x, %x : f32", "2:1: error: no C++ for arith.remf on f32, f32"),
        ("%a = arith.constant 1 : i128", "2:1: error: no C++ for arith.constant"),
        (f"%a = pto.alloc_tile : {T[:-1]}, valid=?x16>", "2:1: error: no C++ for a tile whose valid size is `?`"),
    ],
)
def test_what_has_no_form_is_refused_where_it_stands(lines: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        body_of(lines)
    assert str(caught.value).startswith(f"kernel.pto:{message}")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            f"""%v = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %n] : {V}
            %w = pto.make_tensor_view %p, shape = [%n, %n], strides = [%n, %n] : {V}
            %a = scf.if %c -> ({V}) {{
              scf.yield %v : {V}
            }} else {{
              scf.yield %w : {V}
            }}""",
            "no C++ for %a: a view or a rotating tile that comes out of a loop or branch",
        ),
        (
            f"""%a = scf.if %c -> ({T}) {{
              %t = pto.alloc_tile : {T}
              scf.yield %t : {T}
            }} else {{
              %t = pto.alloc_tile : {T}
              scf.yield %t : {T}
            }}""",
            "no C++ for %a: a tile that is made inside the branch it comes out of",
        ),
        (
            f"""%t = pto.alloc_tile : {T}
            %u = pto.alloc_tile : {S}
            %a = scf.if %c -> ({T}) {{
              scf.yield %t : {T}
            }} else {{
              scf.yield %u : {S}
            }}""",
            "no C++ for %a and %u: tiles of two types in one variable",
        ),
    ],
)
def test_what_a_branch_cannot_hand_out(lines: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        body_of(lines)
    assert caught.value.message == message
    assert caught.value.span is not None


def test_argument_without_a_type_is_refused() -> None:
    with pytest.raises(InputError, match=r"kernel.pto:1:1: error: no C\+\+ for argument %z : i7"):
        cpp_of("func.func @f(%z: i7) {\n}\n")
