"""Kernels out of short lines for two pipelines, with tiles and views that meet in part of their bytes.

`load t0 x`, `store t0 y`, `add t0 t1`, `put t0` (a scalar op on a tile), `extract l0 a0`, `matmul d0 l0 r0`,
`set V MTE3 1`, `wait V MTE3 1`, `barrier V`; every other line stands in the kernel as it is. `%n` and `%m` are index
arguments, `%flag` is an i1.

What a value decides: `set V MTE3 %s` has its id at run time, `slot u0 %s` makes u0 slot %s of a rotating tile of two,
`rows v0 y %i 32` makes v0 the view of 64 rows that begins with row 32 * %i.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.pipes import SectionKind
from syncopt.ir.source import Source

_BOX = "blayout={}_major, slayout={}_major"
_MAT = f"!pto.tile_buf<mat, 64x64xf16, {_BOX.format('col', 'row')}>"
_LEFT = f"!pto.tile_buf<left, 64x64xf16, {_BOX.format('row', 'row')}>"
_RIGHT = f"!pto.tile_buf<right, 64x64xf16, {_BOX.format('row', 'col')}>"
_ACC = "!pto.tile_buf<acc, {0}x{0}xf32, " + _BOX.format("col", "row") + ", fractal=1024>"
_VEC = "!pto.tile_buf<vec, 64x64xf32>"
_HALF = "!pto.tile_buf<vec, 64x32xf32>"


class Pipeline(Enum):
    """Which pipes a kernel uses: MTE2, V and MTE3, or MTE2, MTE1, M and FIX."""

    VECTOR = SectionKind.VECTOR
    CUBE = SectionKind.CUBE


@dataclass(frozen=True, slots=True)
class Names:
    """What the lines of a pipeline can name.

    Parameters
    ----------
    tiles : dict of str to (str, int)
        Type and byte address.
    parts : dict of str to (str, int)
        Halves of a tile: which, and from which column on.
    dtype : str
        Elements of global memory.
    slot : str
        Type of a slot of the rotating tile.
    slots_at : int
        Byte address of the rotating tile.
    """

    tiles: dict[str, tuple[str, int]]
    parts: dict[str, tuple[str, int]]
    dtype: str
    slot: str
    slots_at: int

    @property
    def view(self) -> str:
        """The type of a view."""
        return f"!pto.partition_tensor_view<64x64x{self.dtype}>"

    @property
    def corner(self) -> str:
        """The type of the view of a fractal."""
        return f"!pto.partition_tensor_view<16x16x{self.dtype}>"

    def operands(self, *tiles: str) -> str:
        """Tiles with their types, as they stand in an op."""
        return f"{', '.join(f'%{tile}' for tile in tiles)} : {', '.join(map(self._kind, tiles))}"

    @property
    def rotating(self) -> str:
        """The type of the rotating tile."""
        return f"!pto.multi_tile_buf<{self.slot}, count = 2>"

    def _kind(self, tile: str) -> str:
        if tile in self.parts:
            return _HALF
        return self.tiles[tile][0] if tile in self.tiles else self.slot


NAMES = {
    # t1 shares its first half with the second half of t0; p0 and p1 are columns of t2
    Pipeline.VECTOR: Names(
        tiles={"t0": (_VEC, 0), "t1": (_VEC, 8192), "t2": (_VEC, 32768), "t3": (_VEC, 49152)},
        parts={"p0": ("t2", 0), "p1": ("t2", 32)},
        dtype="f32",
        # its slots are t2 and t3
        slot=_VEC,
        slots_at=32768,
    ),
    # d1 is the first fractal of d0: matmuls into d1 need barriers, those into d0 alone do not
    Pipeline.CUBE: Names(
        tiles={
            "a0": (_MAT, 0),
            "a1": (_MAT, 4096),
            "b0": (_MAT, 16384),
            "l0": (_LEFT, 0),
            "l1": (_LEFT, 8192),
            "r0": (_RIGHT, 0),
            "d0": (_ACC.format(64), 0),
            "d1": (_ACC.format(16), 0),
            "d2": (_ACC.format(64), 16384),
        },
        parts={},
        dtype="f16",
        # slot 0 shares its first half with a1, slot 1 is b0
        slot=_MAT,
        slots_at=8192,
    ),
}
VIEWS = {"x": ("x", "c0"), "y": ("y", "c0"), "z": ("y", "c32"), "w": ("y", "c64")}
"""Views of 64 rows: the pointer and the first row. z meets y and w, which lie apart."""


def short_kernel(lines: str, pipeline: Pipeline = Pipeline.VECTOR) -> Kernel:
    """The kernel with a body of short lines; it begins with those of the tiles and views that they name."""
    names = NAMES[pipeline]
    dtype = names.dtype
    text = [f"func.func @short(%x: !pto.ptr<{dtype}>, %y: !pto.ptr<{dtype}>, %n: index, %m: index, %flag: i1) {{"]
    text += [f"%c{number} = arith.constant {number} : index" for number in (0, 1, 2, 3, 16, 32, 64)]
    text += [*_head(set(lines.split()), names), f"pto.section.{pipeline.value.value} {{"]
    text += [_line(line, names) for line in lines.strip("\n").splitlines()]
    text += ["}", "return", "}", ""]
    return parse_module(Source("short.pto", "\n".join(text).encode())).kernel()


def _head(used: set[str], names: Names) -> Iterator[str]:
    """Tiles, parts and views, as far as they are used."""
    wholes = {tile for part, (tile, _) in names.parts.items() if part in used}
    for tile, (kind, address) in names.tiles.items():
        if tile in used | wholes:
            yield f"%{tile}_at = arith.constant {address} : i64"
            yield f"%{tile} = pto.alloc_tile addr = %{tile}_at : {kind}"
    for part, (tile, column) in names.parts.items():
        if part in used:
            yield f"%{part} = pto.subview %{tile}[%c0, %c{column}] sizes [64, 32] : {names.tiles[tile][0]} -> {_HALF}"
    if "put" in used:
        yield "%one = arith.constant 1.0 : f32"
    if "slot" in used:
        yield f"%slots_at = arith.constant {names.slots_at} : i64"
        yield f"%slots = pto.alloc_multi_tile addr = %slots_at : {names.rotating}"
    whole = f"!pto.tensor_view<?x?x{names.dtype}>"
    for pointer in dict.fromkeys(VIEWS[view][0] for view in sorted(used & VIEWS.keys())):
        shape = "shape = [%c64, %c64], strides = [%c64, %c1]"
        yield f"%{pointer}_all = pto.make_tensor_view %{pointer}, {shape} : {whole}"
    for view in sorted(used & VIEWS.keys()):
        pointer, row = VIEWS[view]
        yield _rows(view, pointer, row, names)


def _rows(view: str, pointer: str, row: str, names: Names) -> str:
    """A view of 64 x 64 elements; for matmuls also its first fractal, which is as large as d1."""
    parts = [("view", 64, names.view)]
    if names is NAMES[Pipeline.CUBE]:
        parts.append(("corner", 16, names.corner))
    whole = f"!pto.tensor_view<?x?x{names.dtype}>"
    return "\n".join(
        f"%{view}_{part} = pto.partition_view %{pointer}_all, offsets = [%{row}, %c0], sizes = [%c{size}, %c{size}]"
        f" : {whole} -> {kind}"
        for part, size, kind in parts
    )


def _line(line: str, names: Names) -> str:
    of, view = names.operands, names.view
    match line.split():
        case ["load", tile, name]:
            return f"pto.tload ins(%{name}_view : {view}) outs({of(tile)})"
        case ["store", "d1", name]:
            return f"pto.tstore ins({of('d1')}) outs(%{name}_corner : {names.corner})"
        case ["store", tile, name]:
            return f"pto.tstore ins({of(tile)}) outs(%{name}_view : {view})"
        case ["add", to, source]:
            return f"pto.tadd ins({of(source, source)}) outs({of(to)})"
        case ["put", tile]:
            return f"pto.tsetval ins(%c0, %one : index, f32) outs({of(tile)})"
        case ["extract", to, source]:
            return f"pto.textract ins(%{source}, %c0, %c0 : {_MAT}, index, index) outs({of(to)})"
        case ["matmul", to, left, right]:
            return f"pto.tmatmul ins({of(left, right)}) outs({of(to)})"
        case words:
            return _moving(words, names) or _flag_or_barrier(words) or line


def _moving(words: list[str], names: Names) -> str | None:
    match words:
        case ["slot", tile, number]:
            return f"%{tile} = pto.multi_tile_get %slots[{number}] : {names.rotating} -> {names.slot}"
        case ["rows", view, pointer, number, step]:
            row = f"%{view}_row = arith.muli {number}, %c{step} : index"
            return f"{row}\n{_rows(view, pointer, f'{view}_row', names)}"
        case _:
            return None


def _flag_or_barrier(words: list[str]) -> str | None:
    match words:
        case ["set" | "wait" as what, source, target, event] if event.startswith("%"):
            return f"pto.{what}_flag_dyn[<PIPE_{source}>, <PIPE_{target}>, {event}]"
        case ["set" | "wait" as what, source, target, event]:
            return f"pto.{what}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"
        case ["barrier", pipe]:
            return f"pto.barrier <PIPE_{pipe}>"
        case _:
            return None
