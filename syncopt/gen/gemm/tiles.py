"""The tile buffers of a GEMM: their types as text, and the memory they take."""

from collections.abc import Iterator
from dataclasses import dataclass

from syncopt.gen.gemm.kernel import GemmKernel, GlobalLayout
from syncopt.hwmodel import Machine
from syncopt.ir.pipes import Memory
from syncopt.ir.types import DType

_COL_ROW, _ROW_COL, _ROW_ROW = ("col_major", "row_major"), ("row_major", "col_major"), ("row_major", "row_major")
_LOADED = {GlobalLayout.ND: _COL_ROW, GlobalLayout.DN: _ROW_COL}
"""`blayout` and `slayout` of what a load makes of each layout in global memory."""

OPERAND_FRACTAL, ACCUMULATOR_FRACTAL = 512, 1024
"""Bytes of a fractal: 16 x 32 bytes of an operand, 16 x 16 x 4 bytes of an accumulator."""

COMMON_NAMES = {Memory.MAT: "L1", Memory.LEFT: "L0A", Memory.RIGHT: "L0B", Memory.ACC: "L0C"}
"""What kernel writers call the memories of a cube core."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile buffer by name, with its type as text."""

    name: str
    type: str

    def __str__(self) -> str:
        return f"%{self.name}"


@dataclass(frozen=True, slots=True)
class Operand:
    """Where the tiles of one role live and how they are laid out."""

    role: str
    memory: Memory
    rows: int
    cols: int
    dtype: DType
    layouts: tuple[str, str]

    @property
    def bytes(self) -> int:
        """Bytes of one tile."""
        return self.rows * self.cols * self.dtype.size

    @property
    def type(self) -> str:
        """The type of its tiles."""
        block, small = self.layouts
        fractal = ACCUMULATOR_FRACTAL if self.memory is Memory.ACC else OPERAND_FRACTAL
        shape = f"rows={self.rows}, cols={self.cols}, v_row={self.rows}, v_col={self.cols}"
        layout = f"blayout={block}, slayout={small}, fractal={fractal}, pad=0"
        return f"!pto.tile_buf<loc={self.memory}, dtype={self.dtype.spelling}, {shape}, {layout}>"

    def tiles(self, count: int, suffix: str = "") -> tuple[Tile, ...]:
        """`count` tiles; their names carry a number if there are several."""
        place = "l1" if self.memory is Memory.MAT else "l0"
        numbers = [""] if count == 1 else [str(number) for number in range(count)]
        return tuple(Tile(f"{self.role}{number}_{place}{suffix}", self.type) for number in numbers)


@dataclass(frozen=True, slots=True)
class Operands:
    """The five roles of tiles in a GEMM."""

    a_l1: Operand
    b_l1: Operand
    a_l0: Operand
    b_l0: Operand
    c_l0: Operand


def operands_of(kernel: GemmKernel) -> Operands:
    """The roles of a kernel's tiles."""
    tiling, dtype = kernel.tiling, kernel.dtype
    l1, l0 = tiling.l1, tiling.l0
    return Operands(
        a_l1=Operand("a", Memory.MAT, l1.m, l1.k, dtype, _LOADED[kernel.a_layout]),
        b_l1=Operand("b", Memory.MAT, tiling.b_k, l1.n, dtype, _LOADED[kernel.b_layout]),
        a_l0=Operand("a", Memory.LEFT, l0.m, l0.k, dtype, _ROW_ROW),
        b_l0=Operand("b", Memory.RIGHT, l0.k, l0.n, dtype, _ROW_COL),
        c_l0=Operand("c", Memory.ACC, l0.m, l0.n, kernel.accumulator, _COL_ROW),
    )


@dataclass(frozen=True, slots=True)
class Accumulator:
    """One buffer of a tile of C: a tile for each row and column of its matmuls."""

    tiles: tuple[tuple[Tile, ...], ...]

    def __iter__(self) -> Iterator[Tile]:
        return (tile for row in self.tiles for tile in row)


@dataclass(frozen=True, slots=True)
class Tiles:
    """All tile buffers of a kernel, one entry per buffer."""

    a: tuple[Tile, ...]
    b: tuple[Tile, ...]
    left: tuple[Tile, ...]
    right: tuple[Tile, ...]
    acc: tuple[Accumulator, ...]

    def __iter__(self) -> Iterator[Tile]:
        yield from (*self.a, *self.b, *self.left, *self.right)
        for accumulator in self.acc:
            yield from accumulator


def tiles_of(kernel: GemmKernel) -> Tiles:
    """The tile buffers of a kernel, in the order of their allocation."""
    roles, buffers = operands_of(kernel), kernel.tiling.buffers
    return Tiles(
        a=roles.a_l1.tiles(buffers.a),
        b=roles.b_l1.tiles(buffers.b),
        left=roles.a_l0.tiles(buffers.l0a),
        right=roles.b_l0.tiles(buffers.l0b),
        acc=_accumulators(kernel, roles.c_l0),
    )


def _accumulators(kernel: GemmKernel, role: Operand) -> tuple[Accumulator, ...]:
    tiling = kernel.tiling
    count = tiling.buffers.l0c
    if tiling.rows == tiling.columns == 1:
        return tuple(Accumulator(((tile,),)) for tile in role.tiles(count))
    made = [[role.tiles(count, f"_{row}_{column}") for column in range(tiling.columns)] for row in range(tiling.rows)]
    return tuple(Accumulator(tuple(tuple(tiles[buffer] for tiles in row) for row in made)) for buffer in range(count))


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """What the tiles of a kernel take of one memory.

    Parameters
    ----------
    memory : Memory
        The memory.
    used, size : int
        Bytes from 0 to the end of the last tile, and bytes there are.
    parts : tuple of (str, int, int)
        Role, number of tiles, bytes of one.
    """

    memory: Memory
    used: int
    size: int
    parts: tuple[tuple[str, int, int], ...]

    @property
    def name(self) -> str:
        """What kernel writers call the memory."""
        return COMMON_NAMES[self.memory]


def memory_use(kernel: GemmKernel, machine: Machine) -> tuple[MemoryUse, ...]:
    """What a kernel takes of each memory, with all its tiles one behind the other at aligned addresses."""
    roles, tiling = operands_of(kernel), kernel.tiling
    buffers = tiling.buffers
    accumulators = buffers.l0c * tiling.rows * tiling.columns
    return (
        _use(machine, (roles.a_l1, buffers.a), (roles.b_l1, buffers.b)),
        _use(machine, (roles.a_l0, buffers.l0a)),
        _use(machine, (roles.b_l0, buffers.l0b)),
        _use(machine, (roles.c_l0, accumulators)),
    )


def _use(machine: Machine, *counted: tuple[Operand, int]) -> MemoryUse:
    memory = counted[0][0].memory
    facts = machine.memory(memory)
    end = 0
    for operand, count in counted:
        for _ in range(count):
            end = -(-end // facts.alignment) * facts.alignment + operand.bytes
    parts = tuple((operand.role.upper(), count, operand.bytes) for operand, count in counted)
    return MemoryUse(memory, end, facts.bytes, parts)
