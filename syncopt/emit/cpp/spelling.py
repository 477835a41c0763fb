"""Types and literals of the tree in C++."""

import math

from syncopt.ir.pipes import Memory
from syncopt.ir.scalars import bits_of, rounded, wrapped
from syncopt.ir.types import Compact, DType, Layout, Pad, ScalarType, TileType

_FLOATS = {"f16": "half", "bf16": "bfloat16_t", "f32": "float", "f64": "double"}
_WIDTHS = (8, 16, 32, 64)
_MEMORIES = {
    Memory.MAT: ("Mat", "__cbuf__"),
    Memory.LEFT: ("Left", "__ca__"),
    Memory.RIGHT: ("Right", "__cb__"),
    Memory.ACC: ("Acc", "__cc__"),
    Memory.VEC: ("Vec", "__ubuf__"),
    Memory.BIAS: ("Bias", ""),
    Memory.SCALING: ("Scaling", "__fbuf__"),
}
"""Name of the tile type and qualifier of pointers, where there are such pointers."""
_LAYOUTS = {Layout.ROW_MAJOR: "RowMajor", Layout.COL_MAJOR: "ColMajor", Layout.NONE_BOX: "NoneBox"}
_PADS = {Pad.NULL: "Null", Pad.ZERO: "Zero", Pad.MAX: "Max", Pad.MIN: "Min"}
_COMPACTS = {Compact.NULL: "Null", Compact.NORMAL: "Normal", Compact.ROW_PLUS_ONE: "RowPlusOne"}
_F32_DIGITS = 9


def is_float(type_: ScalarType) -> bool:
    """Whether a type holds floating-point numbers that C++ has a type for."""
    return type_.name in _FLOATS


def is_integer(type_: ScalarType) -> bool:
    """Whether a type is `index` or an integer without a sign of its own, of a width that C++ has a type for."""
    return type_.name in ("index", "i1") or (type_.name.startswith("i") and bits_of(type_.name) in _WIDTHS)


def scalar_type(type_: ScalarType) -> str | None:
    """The C++ type of a scalar, None if there is none.

    `index` is as wide as it is in the tree, so that no product of sizes wraps around earlier than there.
    """
    if type_.name == "i1":
        return "bool"
    if is_float(type_):
        return _FLOATS[type_.name]
    if is_integer(type_):
        return f"int{bits_of(type_.name)}_t"
    sign, width = type_.name[:2], type_.name[2:]
    if sign not in ("si", "ui") or width not in map(str, _WIDTHS):
        return None
    return f"{'u' if sign == 'ui' else ''}int{width}_t"


def unsigned_type(type_: ScalarType) -> str:
    """The unsigned C++ type of the width of an integer."""
    return f"uint{bits_of(type_.name)}_t"


def wrapping_type(type_: ScalarType) -> str:
    """An unsigned C++ type in which sums and products of an integer wrap around, promotion to `int` or not."""
    return f"uint{max(bits_of(type_.name), 32)}_t"


def element_type(dtype: DType) -> str:
    """The C++ type of the elements of tiles and tensors."""
    spelled = scalar_type(ScalarType(dtype.spelling))
    assert spelled is not None, "every element type has one"
    return spelled


def pointer_type(dtype: DType) -> str:
    """The C++ type of a pointer into global memory."""
    return f"__gm__ {element_type(dtype)}*"


def tile_pointer_type(tile: TileType) -> str | None:
    """The C++ type of a pointer to the elements of a tile, None where there are no such pointers."""
    qualifier = _MEMORIES[tile.memory][1]
    return f"{qualifier} {element_type(tile.dtype)}*" if qualifier else None


def tile_type(tile: TileType, rows: int, cols: int) -> str:
    """The C++ type of a tile with valid sizes `rows` and `cols`, -1 for those that are known at run time only."""
    arguments = (
        f"TileType::{_MEMORIES[tile.memory][0]}",
        element_type(tile.dtype),
        str(tile.rows),
        str(tile.cols),
        f"BLayout::{_LAYOUTS[tile.blayout]}",
        str(rows),
        str(cols),
        f"SLayout::{_LAYOUTS[tile.slayout]}",
        str(tile.fractal),
        f"PadValue::{_PADS[tile.pad]}",
        f"CompactMode::{_COMPACTS[tile.compact]}",
    )
    return f"Tile<{', '.join(arguments)}>"


def literal(value: int | float, type_: ScalarType) -> str:
    """A constant of a type in C++."""
    if is_float(type_):
        return _float_literal(float(value), type_)
    number = wrapped(int(value), type_.name)
    if type_.name == "i1":
        return "true" if number else "false"
    if number == -1 << 63:
        return f"({number + 1} - 1)"
    return str(number)


def _float_literal(value: float, type_: ScalarType) -> str:
    held = rounded(value, type_.name)
    if math.isnan(held):
        return '__builtin_nan("")'
    if math.isinf(held):
        return "__builtin_inf()" if held > 0 else "-__builtin_inf()"
    if type_.name == "f64":
        return repr(held)
    digits = next(
        (text for count in range(1, _F32_DIGITS) if rounded(float(text := f"{held:.{count}g}"), "f32") == held),
        f"{held:.{_F32_DIGITS}g}",
    )
    return f"{digits if set(digits) & {'.', 'e'} else f'{digits}.0'}f"
