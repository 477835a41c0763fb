"""Tiles, the slots of rotating tiles and parts of tiles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syncopt.emit.cpp.arithmetic import Number, moved, product, total
from syncopt.emit.cpp.names import identifier
from syncopt.emit.cpp.spelling import tile_pointer_type, tile_type
from syncopt.emit.cpp.writer import Writer
from syncopt.ir.kernel import AllocMultiTile, AllocTile, MultiTileGet, Op, SubView, Value
from syncopt.ir.types import Compact, Layout, MultiTileType, TileType

_RUN_BYTES = 32
"""Rows of a row-major tile, and columns of a column-major one, take a multiple of this."""
_AXES = (("rows", "GetValidRow"), ("cols", "GetValidCol"))

_Given = Value | Number | None
"""A valid size as the text gives it, as C++, or not at all."""


@dataclass(frozen=True, slots=True)
class _Form:
    """A tile in C++: its type, and what its constructor takes for the valid sizes that the type leaves open."""

    type: str
    arguments: tuple[str, ...]


class Tiles:
    """Writes the ops that make tiles.

    Parameters
    ----------
    writer : Writer
        Takes the lines.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._types: dict[Value, str] = {}
        self._physical: dict[Value, TileType] = {}
        self._rotating: dict[Value, AllocMultiTile] = {}

    def knows(self, value: Value) -> bool:
        """Whether a tile was written."""
        return value in self._types

    def type_of(self, value: Value) -> str:
        """The C++ type of a tile that was written."""
        return self._types[value]

    def take_over(self, value: Value, other: Value) -> None:
        """Makes known that a tile is of the C++ type of another one."""
        self._types[value] = self._types[other]
        self._physical[value] = self._physical[other]

    def alloc_tile(self, op: AllocTile) -> None:
        """A tile at its address."""
        tile = op.result.type
        assert isinstance(tile, TileType)
        self._declare(op, op.result, tile, (op.valid_row, op.valid_col))
        self._assign(op.result, self._address(op))

    def alloc_multi_tile(self, op: AllocMultiTile) -> None:
        """Nothing by itself: its slots are tiles of their own."""
        self._rotating[op.result] = op

    def multi_tile_get(self, op: MultiTileGet) -> None:
        """The tile in a slot, at the address of the first slot and so many steps."""
        multi, whole = op.source.type, self._rotating[self._writer.origin(op.source)]
        assert isinstance(multi, MultiTileType)
        alignment = self._writer.setting.alignment.get(multi.tile.memory, 1)
        step = -(-multi.tile.size // alignment) * alignment
        self._declare(op, op.result, multi.tile, (whole.valid_row, whole.valid_col))
        self._assign(op.result, total([self._address(whole), product(self._writer.number(op.slot), step)]))

    def sub_view(self, op: SubView) -> None:
        """A tile over part of another one's elements, with the steps from row to row and column to column of that."""
        part, whole = op.result.type, self._physical[op.source]
        assert isinstance(part, TileType)
        pointer = tile_pointer_type(whole)
        if pointer is None:
            self._writer.fail(op, f"{op.result}: part of a tile in {whole.memory}")
        rows, cols = self._physical_shape(op, whole)
        valid = self._valid_sizes(op, part)
        self._refuse_open_width(op, whole, valid)
        self._declare(op, op.result, replace(part, rows=rows, cols=cols), (valid[0], valid[1]), op.sizes)
        base = self._writer.names.fresh(f"{self._writer.names[op.result]}_base")
        self._writer.line(f"{pointer} {base} = {self._writer.names[op.source]}.data();")
        offset = self._offset(op, whole)
        inside = moved(base, offset)
        address = self._writer.names.fresh(f"{self._writer.names[op.result]}_address")
        self._writer.line(f"uint64_t {address} = reinterpret_cast<uint64_t>({inside});")
        self._assign(op.result, address)

    def _valid_sizes(self, op: SubView, part: TileType) -> Sequence[_Given]:
        """The valid sizes that the op gives; of those that it leaves open, what is left of the whole tile's."""
        if op.valid:
            return op.valid
        return [
            self._left(op, axis) if static is None else None
            for axis, static in enumerate((part.valid_rows, part.valid_cols))
        ]

    def _left(self, op: SubView, axis: int) -> Number:
        """Valid rows (0) or columns (1) of the whole tile behind the first of a part, see `ir.runtime.valid_left`."""
        (what, method), size = _AXES[axis], op.sizes[axis]
        whole = f"{self._writer.names[op.source]}.{method}()"
        offset = self._writer.number(op.offsets[axis])
        name = self._writer.names.fresh(f"{identifier(op.result.name)}_{what}")
        behind = f"(int64_t) {whole} - {offset} % (int64_t) {whole}" if offset != 0 else f"(int64_t) {whole}"
        self._writer.line(f"int64_t {name} = {behind};")
        return f"{name} < {size} ? {name} : {size}"

    def _physical_shape(self, op: SubView, whole: TileType) -> tuple[int, int]:
        """Rows and columns of a tile with the steps of the whole one, which only one of the two determines."""
        rows, cols = op.sizes
        is_row_major = whole.blayout is Layout.ROW_MAJOR
        part = op.result.type
        assert isinstance(part, TileType)
        if (part.dtype, part.blayout, part.slayout) != (whole.dtype, whole.blayout, whole.slayout):
            self._writer.fail(op, f"{op.result}: part of a tile of another layout or with other elements")
        if whole.compact is Compact.ROW_PLUS_ONE:
            self._writer.fail(op, f"{op.result}: part of a tile that is packed row plus one")
        if whole.slayout is not Layout.NONE_BOX:
            kept, full = (cols, whole.cols) if is_row_major else (rows, whole.rows)
            beside = op.offsets[1] if is_row_major else op.offsets[0]
            if kept != full or self._writer.constant(beside) != 0:
                what = "columns" if is_row_major else "rows"
                self._writer.fail(op, f"{op.result}: part of a tile with fractals that leaves out {what}")
        if _stands_alone(op, whole):
            return rows, cols
        return (rows, whole.cols) if is_row_major else (whole.rows, cols)

    def _refuse_open_width(self, op: SubView, whole: TileType, valid: Sequence[_Given]) -> None:
        """C++ shows how far a part goes across its tile by a static valid size only: the type has the tile's width."""
        across = 1 if whole.blayout is Layout.ROW_MAJOR else 0
        given, full = valid[across], (whole.rows, whole.cols)[across]
        is_open = isinstance(given, str) or (isinstance(given, Value) and self._writer.constant(given) is None)
        if is_open and op.sizes[across] != full and not _stands_alone(op, whole):
            what = f"{op.result}: a part that is narrower than its tile and whose valid width is known at run time only"
            self._writer.fail(op, what, "give it a constant valid width")

    def _offset(self, op: SubView, whole: TileType) -> Number:
        """Elements from the first of the whole tile to the first of the part.

        The offset beside the fractals is zero, so that their own size does not matter.
        """
        row, col = (self._writer.number(offset) for offset in op.offsets)
        steps = (whole.cols, 1) if whole.blayout is Layout.ROW_MAJOR else (1, whole.rows)
        return total([product(row, steps[0]), product(col, steps[1])])

    def _address(self, op: AllocTile | AllocMultiTile) -> Number:
        if op.address is not None:
            return self._writer.names[op.address]
        addresses = self._writer.setting.addresses
        if op.uid not in addresses:
            self._writer.fail(op, f"{op.result}: it has no address")
        return addresses[op.uid]

    def _declare(
        self,
        op: Op,
        value: Value,
        tile: TileType,
        valid: tuple[_Given, _Given],
        sizes: tuple[int, ...] = (),
    ) -> None:
        form = self._form(op, tile, valid, sizes or (tile.rows, tile.cols))
        self._types[value], self._physical[value] = form.type, tile
        name = self._writer.names.declare(value)
        call = f" = {form.type}({', '.join(form.arguments)})" if form.arguments else ""
        self._writer.line(f"{form.type} {name}{call};")

    def _form(self, op: Op, tile: TileType, valid: tuple[_Given, _Given], sizes: tuple[int, ...]) -> _Form:
        numbers = [
            self._valid(op, given, static)
            for given, static in zip(valid, (tile.valid_rows, tile.valid_cols), strict=True)
        ]
        # No valid part at all is not among the static sizes that C++ tiles have.
        fixed = [isinstance(number, int) and 0 < number <= size for number, size in zip(numbers, sizes, strict=True)]
        rows, cols = (int(number) if known else -1 for number, known in zip(numbers, fixed, strict=True))
        arguments = tuple(str(number) for number, known in zip(numbers, fixed, strict=True) if not known)
        return _Form(tile_type(tile, rows, cols), arguments)

    def _valid(self, op: Op, given: _Given, static: int | None) -> Number:
        if isinstance(given, Value):
            return self._writer.number(given)
        if given is not None:
            return given
        if static is None:
            self._writer.fail(
                op, "a tile whose valid size is `?` and not given", "give it with valid_row and valid_col"
            )
        return static

    def _assign(self, value: Value, address: Number) -> None:
        self._writer.line(f"TASSIGN({self._writer.names[value]}, {address});")


def _stands_alone(op: SubView, whole: TileType) -> bool:
    """Whether a part is a single row or column, so that no step of the whole tile matters, and is a tile in C++."""
    rows, cols = op.sizes
    along, length = (rows, cols) if whole.blayout is Layout.ROW_MAJOR else (cols, rows)
    return along == 1 and whole.slayout is Layout.NONE_BOX and length * whole.dtype.size % _RUN_BYTES == 0
