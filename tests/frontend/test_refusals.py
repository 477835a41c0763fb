"""Everything that is not modelled is refused by name where it stands."""

import pytest

from syncopt.frontend import parse_module
from syncopt.ir.source import InputError, Source

HEAD = """func.func @k(%p: !pto.ptr<f32>, %i: index, %n: i32, %c: i1) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %m = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 16x16xf32, count=2>
  %v = pto.make_tensor_view %p, shape = [%i, %i], strides = [%i, %i] : !pto.tensor_view<?x?xf32>
"""
T, V = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tensor_view<?x?xf32>"
WHOLE = "!pto.tile_buf<vec, 16x16xf32, valid=8x16>"


def refusal(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        parse_module(Source("k.pto", text.encode())).kernel("k")
    return caught.value


# Each op stands in line 5, its first byte in column 3.
@pytest.mark.parametrize(
    ("op", "column", "message"),
    [
        # ops that are not modelled
        ("scf.while : () -> () { }", 3, "scf.while is not modelled"),
        ("%a = memref.alloc() : memref<4xf32>", 8, "memref.alloc is not modelled"),
        ("func.call @f() : () -> ()", 3, "func.call is not modelled"),
        ("cf.br ^bb1", 3, "cf.br is not modelled"),
        ("pto.sync.set <PIPE_V>, 3", 3, "pto.sync.set is not modelled"),
        ("pto.sync.wait <PIPE_V>, 3", 3, "pto.sync.wait is not modelled"),
        (f"pto.tpush_to_aiv(%t : {T}) {{split = 1}}", 3, "pto.tpush_to_aiv is not modelled"),
        (f"%a = pto.tpop_from_aic {{split = 1}} -> {T}", 8, "pto.tpop_from_aic is not modelled"),
        (f"pto.set_validshape %t, %i, %i : {T}", 3, "pto.set_validshape is not modelled"),
        (f"pto.tabs in(%t : {T}) outs(%t : {T})", 3, "pto.tabs: expected `ins(...) outs(...)` behind the name"),
        (f"pto.tabs ins(%t : {T})", 3, "pto.tabs: expected `ins(...) outs(...)` behind the name"),
        (f"pto.tprint ins(%t : {T})", 3, "pto.tprint is not modelled"),
        ("%a = pto.load_scalar %p[%i] : !pto.ptr<f32> -> f32", 8, "pto.load_scalar is not modelled"),
        ("%a = math.exp %n : f32", 8, "math.exp is not modelled"),
        ("%a, %b = arith.mulsi_extended %n, %n : i32", 12, "arith.mulsi_extended is not modelled"),
        ('"pto.tadd"(%t, %t, %t) : () -> ()', 3, '"pto.tadd" in generic form is not modelled'),
        ('pto.barrier <PIPE_V>\n  %g = "pto.foo"(%t) : () -> i32', 8, '"pto.foo" in generic form is not modelled'),
        (f"%a = pto.tgetval ins(%t, %i : {T}, index) outs : f32", 8, "pto.tgetval with a result is not modelled"),
        # types
        ("%a = pto.alloc_tile : memref<4xf32>", 25, "type memref<4xf32> is not modelled"),
        ("%a = pto.alloc_tile : !missing", 25, "type !missing is not modelled"),
        ("%a = pto.alloc_tile : !pto.vreg<64xf32>", 25, "type !pto.vreg<64xf32> is not modelled"),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf8E4M3FN>",
            25,
            "type !pto.tile_buf<vec, 8x8xf8E4M3FN> is not modelled: element type f8E4M3FN",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<l9, 8x8xf32>",
            25,
            "type !pto.tile_buf<l9, 8x8xf32> is not modelled: loc=l9",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32, pad=4>",
            25,
            "type !pto.tile_buf<vec, 8x8xf32, pad=4> is not modelled: pad=4",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32, compact=row>",
            25,
            "type !pto.tile_buf<vec, 8x8xf32, compact=row> is not modelled: compact=row",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32, fractal=0>",
            25,
            "type !pto.tile_buf<vec, 8x8xf32, fractal=0> is not modelled: fractal=0",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8xf32>",
            25,
            "type !pto.tile_buf<vec, 8xf32> is not modelled: 8xf32 is not rows x columns",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 0x8xf32>",
            25,
            "type !pto.tile_buf<vec, 0x8xf32> is not modelled: rows=0",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32, valid=8>",
            25,
            "type !pto.tile_buf<vec, 8x8xf32, valid=8> is not modelled: v_col=",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32, mood=1>",
            25,
            "type !pto.tile_buf<vec, 8x8xf32, mood=1> is not modelled: mood=1",
        ),
        (
            "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32, blayout=none_box>",
            25,
            "type !pto.tile_buf<vec, 8x8xf32, blayout=none_box> is not modelled: blayout=none_box",
        ),
        (
            "%a = pto.alloc_multi_tile : !pto.multi_tile_buf<vec, 8x8xf32>",
            31,
            "type !pto.multi_tile_buf<vec, 8x8xf32> is not modelled: count=",
        ),
        (
            "%a = pto.addptr %p, %i : !pto.ptr<f32> -> !pto.ptr<f32, ub>",
            45,
            "type !pto.ptr<f32, ub> is not modelled: a pointer into ub",
        ),
        ("%a = arith.constant dense<1> : vector<4xi32>", 23, "arith.constant dense<1> is not modelled"),
        ("%a = arith.addi %n, %n : vector<4xi32>", 28, "type vector<4xi32> is not modelled"),
        (f"%a = arith.addi %n, %n : {T}", 28, "arith.addi: expected the type of a scalar"),
        # names
        ("%a = arith.addi %n, %z : i32", 23, "%z is not defined here"),
        ("%t = arith.addi %n, %n : i32", 3, "%t is defined twice"),
        ("scf.for %t = %i to %i step %i { }", 11, "%t is defined twice"),
        ("%a:2 = arith.addi %n, %n : i32", 10, "arith.addi has 1 result(s), the text names 2"),
        ("%a:99999 = arith.addi %n, %n : i32", 6, "arith.addi: 99999 is no number of results"),
        ("arith.addi %n, %n : i32", 3, "arith.addi has 1 result(s), the text names 0"),
        ("%a = pto.barrier <PIPE_V>", 8, "pto.barrier has 0 result(s), the text names 1"),
        ("scf.if %c { %in = arith.addi %n, %n : i32 }\n  %a = arith.negf %in : f32", 19, "%in is not defined here"),
        # operands
        ("%a = arith.addi %t, %n : i32", 19, "arith.addi: %t is a tile, expected a scalar"),
        ("%a = arith.addi %n : i32", 22, "arith.addi: expected `,`, found ':'"),
        ("%a = arith.addi %n, %n : i32 i32", 32, "arith.addi: expected the end of the op, found 'i32'"),
        ("%a = arith.addi %n, %n", 24, "arith.addi: expected `:` at its end"),
        ("%a = arith.cmpi lt, %n, %n : i32", 19, "arith.cmpi: no predicate 'lt'"),
        ("%a = arith.constant 1.5 : i32", 23, "arith.constant: 1.5 is no number of type i32"),
        ("%a = arith.constant 0x1FFFFFFFF : f32", 23, "arith.constant: 0x1FFFFFFFF does not fit f32"),
        (
            f"%a = pto.multi_tile_get %t[%i] : {T} -> {T}",
            27,
            "pto.multi_tile_get: %t is a tile, expected a multi-buffered tile",
        ),
        (
            f"%a = pto.subview %m[%i, %i] sizes [8, 8] : {T}",
            20,
            "pto.subview: %m is a multi-buffered tile, expected a tile",
        ),
        (f"%a = pto.subview %t[%i] sizes [8] : {T}", 8, "pto.subview: expected 2 offsets and 2 sizes, found 1 and 1"),
        (f"%a = pto.subview %t[%i, %i] sizes [8, -1] : {T}", 41, "pto.subview: -1 is no size"),
        (
            f"%a = pto.subview %t[%i, %i] sizes [8, 8] : {WHOLE}",
            8,
            "pto.subview: part of a partly valid tile without a result type",
        ),
        ("%a = pto.addptr %v, %i : !x -> !x", 19, "pto.addptr: %v is a view of global memory, expected a pointer"),
        (
            f"%a = pto.make_tensor_view %p, shape = [%i], strides = [%i, %i] : {V}",
            8,
            "pto.make_tensor_view: 1 sizes and 2 strides",
        ),
        (
            f"%a = pto.make_tensor_view %p, shape = [%i], strides = [%i] {{layout = #pto.layout<zz>}} : {V}",
            72,
            "pto.make_tensor_view: layout zz is not modelled",
        ),
        (
            f"%a = pto.make_tensor_view %p, shape = [%i], strides = [%i] {{cache = 1}} : {V}",
            63,
            "pto.make_tensor_view: attribute cache is not modelled",
        ),
        (
            f"%a = pto.partition_view %v, offsets = [%i], sizes = [%i, %i] : {V}",
            8,
            "pto.partition_view: 1 offsets and 2 sizes",
        ),
        (f"%a = pto.alloc_tile addr = %i, addr = %i : {T}", 34, "pto.alloc_tile: addr is given twice"),
        (f"%a = pto.alloc_tile {{hot}} : {T}", 23, "pto.alloc_tile: expected `:`, found '{'"),
        (f"pto.tadd ins(%t : {T}) mode(%t : {T}) outs(%t : {T})", 52, "pto.tadd: expected `outs`, found 'mode'"),
        ("pto.tadd ins(%t : ) outs(%t : !x)", 21, "pto.tadd: expected a type, found ')'"),
        # flags and barriers
        ("pto.set_flag[<PIPE_V>, <PIPE_MTE4>, <EVENT_ID0>]", 27, "pto.set_flag: pipe PIPE_MTE4 is not modelled"),
        (
            "pto.set_flag[<PIPE_V>, <PIPE_M>, <EVENT_ID8>]",
            37,
            "pto.set_flag: no event id EVENT_ID8, expected EVENT_ID0 to EVENT_ID7",
        ),
        (
            "pto.wait_flag[<PIPE_ALL>, <PIPE_M>, <EVENT_ID0>]",
            17,
            "pto.wait_flag: a flag is between two pipes, not PIPE_ALL",
        ),
        ("pto.record_event[<TFOO>, <TVEC>, <EVENT_ID0>]", 21, "pto.record_event: op class TFOO is not modelled"),
        ("pto.barrier_sync [<PIPE_V>]", 22, "pto.barrier_sync: op class PIPE_V is not modelled"),
        ("pto.barrier", 13, "pto.barrier: expected a pipe at its end"),
        # loops, branches, sections
        ("%a = scf.for %j = %i to %i step %i iter_args(%x = %n) { }", 8, "scf.for: 1 iter_args but 0 result type(s)"),
        (
            "%a = scf.for %j = %i to %i step %i iter_args(%x = %n) -> i32 { scf.yield }",
            66,
            "scf.for: scf.yield hands out 0 value(s), expected 1",
        ),
        ("%a = scf.if %c -> i32 { scf.yield %n : i32 }", 8, "scf.if: results without an else branch"),
        ("scf.if %t { }", 10, "scf.if: %t is a tile, expected a scalar"),
        ("scf.if %c { return }", 15, "return may not stand here"),
        ("scf.yield", 3, "scf.yield may not stand here"),
        ("pto.section.cube { scf.yield }", 22, "scf.yield may not stand here"),
        ("return\n  return", 3, "return may not stand here"),
        ("return %n : i32", 10, "return: expected the end of the op, found '%n'"),
        ("scf.for %j = %i to %i step %i { } {unroll = 2}", 37, "scf.for: expected the end of the op, found '{'"),
        ("pto.section.simt { }", 3, "pto.section.simt is not modelled"),
    ],
)
def test_refused_by_name_at_its_place(op: str, column: int, message: str) -> None:
    found = refusal(f"{HEAD}  {op}\n  return\n}}\n")
    assert str(found).splitlines()[0].endswith(f":{column}: error: {message}")
    assert str(found).startswith(("k.pto:5:", "k.pto:6:"))


@pytest.mark.parametrize(
    ("header", "column", "message"),
    [
        ("@k(%a: !pto.tile_buf<vec, 8x8xf32>)", 18, "an argument of type !pto.tile_buf<vec, 8x8xf32> is not modelled"),
        ("@k(%a: memref<4xf32>)", 18, "type memref<4xf32> is not modelled"),
        ("@k(%a: i32) -> i32", 23, "a kernel that returns values is not modelled"),
        ("@k(%a: i32, %a: i32)", 23, "%a is defined twice"),
    ],
)
def test_header_is_refused_at_its_place(header: str, column: int, message: str) -> None:
    found = refusal(f"func.func {header} {{\n  return\n}}\n")
    assert str(found).splitlines()[0] == f"k.pto:1:{column}: error: {message}"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("func.func @k() {\n  pto.tadd ins(\n  return\n", "k.pto:"),
        ("module {\n  func.func @k() {\n    return\n  }\n", "k.pto:"),
        ("func.func @k() {\n  return\n", "k.pto:"),
        ("func.func @k() {\n  ~\n  return\n}\n", "k.pto:2:3: error: syntax error"),
        ("func.func @k() {\n  = arith.constant 1 : i32\n  return\n}\n", "k.pto:1:17: error: syntax error"),
        ("func.func @k() {\n  %a = = arith.constant 1 : i32\n  return\n}\n", "k.pto:2:"),
        ("func.func @k() {\n  ) return\n}\n", "k.pto:2:3: error: syntax error"),
        ("func.func @k() {\n  pto.section.cube {\n  return\n}\n", "k.pto:4:2: error: syntax error: expected `}`"),
    ],
)
def test_broken_text_is_a_syntax_error(text: str, place: str) -> None:
    found = str(refusal(text)).splitlines()[0]
    assert found.startswith(place)
    assert "syntax error" in found


def test_hint_says_what_to_do() -> None:
    assert refusal(f"{HEAD}  scf.while : () -> () {{ }}\n  return\n}}\n").help == "write the loop as scf.for"
