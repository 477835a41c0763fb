"""What a GEMM kernel is made of: its tiling, element types, layouts, tile order and flags."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from syncopt.ir.source import InputError
from syncopt.ir.types import DTYPES, DType

ACCUMULATORS: Mapping[DType, DType] = {
    DType.F16: DType.F32,
    DType.BF16: DType.F32,
    DType.F32: DType.F32,
    DType.I8: DType.I32,
}
"""Element types that the cube multiplies, and the type that it adds their products in (PTO-ISA headers, tmatmul)."""

OUTPUTS: Mapping[DType, tuple[DType, ...]] = {
    DType.F32: (DType.F16, DType.BF16, DType.F32),
    DType.I32: (DType.I32,),
}
"""What a store makes of an accumulator without a scale (PTO-ISA headers, tstore)."""


def element_type(spelling: str) -> DType:
    """The element type that a text names.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if spelling not in DTYPES:
        raise InputError(f"no element type {spelling!r}", help=f"one of {', '.join(DTYPES)}")
    return DTYPES[spelling]


def operand_type(spelling: str) -> DType:
    """The element type of A and B that a text names.

    Raises
    ------
    InputError
        If it is none that the cube multiplies.
    """
    found = DTYPES.get(spelling)
    if found is None or found not in ACCUMULATORS:
        raise not_multiplied(spelling)
    return found


def not_multiplied(spelling: str) -> InputError:
    """The error of an element type of A and B that the cube does not multiply."""
    known = ", ".join(dtype.spelling for dtype in ACCUMULATORS)
    return InputError(f"the cube does not multiply {spelling}", help=f"operands may be {known}")


def default_output(dtype: DType, splits: int = 1) -> DType:
    """The element type of C: that of A and B, where the cube can store it; partial sums stay as accumulated."""
    accumulator = ACCUMULATORS.get(dtype, dtype)
    return dtype if splits == 1 and dtype in OUTPUTS.get(accumulator, ()) else accumulator


class GlobalLayout(Enum):
    """How an operand lies in global memory: rows one after another (ND), or columns one after another (DN)."""

    ND = "nd"
    DN = "dn"


class Sync(Enum):
    """Which flags a kernel holds.

    `HAND` gives each buffer event ids of its own, and nothing depends on times. `HAND_SHARED` lets all MTE1 -> M events
    share id 0, as published kernels do. Only timing keeps that id from being set twice, and not always does: while
    matmuls wait for a store, the extracts of two of them may complete. It is here to write such kernels as they are.
    """

    NONE = "none"
    HAND = "hand"
    HAND_SHARED = "hand-shared"


@dataclass(frozen=True, slots=True)
class Extents:
    """Sizes of a tile step in elements: `m` rows of A, `n` columns of B, `k` products per element of C.

    Raises
    ------
    ValueError
        If a size is below 1.
    """

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        if min(self.m, self.n, self.k) < 1:
            raise ValueError(f"impossible sizes: {self}")

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


@dataclass(frozen=True, slots=True)
class Buffers:
    """How many tiles each operand has, 1 or 2: A and B in L1, their parts in L0A and L0B, C in L0C.

    Raises
    ------
    ValueError
        If a number is neither 1 nor 2.
    """

    a: int = 2
    b: int = 2
    l0a: int = 2
    l0b: int = 2
    l0c: int = 1

    def __post_init__(self) -> None:
        if not {self.a, self.b, self.l0a, self.l0b, self.l0c} <= {1, 2}:
            raise ValueError(f"impossible buffers: {self}")


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a GEMM is cut into tiles.

    Parameters
    ----------
    l1 : Extents
        The tile of C that a core works on at a time, and the K step whose operands L1 takes.
    l0 : Extents
        One matmul. Its sizes divide those of `l1`.
    b_parts : int
        Tiles in which the K step of B is loaded, one behind the other; A is loaded as one tile.
    buffers : Buffers
        Tiles per operand.

    Raises
    ------
    ValueError
        If `b_parts` is below 1.
    """

    l1: Extents
    l0: Extents
    b_parts: int = 1
    buffers: Buffers = Buffers()

    def __post_init__(self) -> None:
        if self.b_parts < 1:
            raise ValueError(f"impossible parts of B: {self.b_parts}")

    @property
    def b_k(self) -> int:
        """K rows of a tile of B in L1."""
        return self.l1.k // self.b_parts

    @property
    def rows(self) -> int:
        """Rows of matmuls in a tile of C."""
        return self.l1.m // self.l0.m

    @property
    def columns(self) -> int:
        """Columns of matmuls in a tile of C."""
        return self.l1.n // self.l0.n

    @property
    def k_phases(self) -> int:
        """Matmuls per K step that go into one accumulator."""
        return self.l1.k // self.l0.k

    @property
    def matmuls(self) -> int:
        """Matmuls per K step."""
        return self.k_phases * self.rows * self.columns


@dataclass(frozen=True, slots=True)
class GemmKernel:
    """A GEMM kernel: C (M x N) = A (M x K) * B (K x N), summed up in the type of `ACCUMULATORS`.

    Parameters
    ----------
    name : str
        Name of the function.
    tiling : Tiling
        How it is cut into tiles.
    dtype : DType
        Element type of A and B.
    output : DType or None
        Element type of C; None for `default_output`.
    a_layout, b_layout : GlobalLayout
        Where the elements of A (M x K) and B (K x N) lie: DN for operands that are stored transposed.
    panel : int
        Tile columns per panel of the swizzled tile order; 0 for tiles row by row.
    splits : int
        Slices of K that are computed by different blocks. From 2 on there is no C: slice s stores its partial sums as
        matrix s of a workspace of shape [splits, M, N], and the sum over s is left to the caller, as there are no
        atomic stores.
    sync : Sync
        Which flags it holds.
    about : str
        First paragraph of the comment at its head; one is made of the other fields if it is empty.
    origin : str
        Last sentence of that comment: who wrote the kernel.

    Raises
    ------
    ValueError
        If `panel` is negative or `splits` below 1.
    """

    name: str
    tiling: Tiling
    dtype: DType = DType.F16
    output: DType | None = None
    a_layout: GlobalLayout = GlobalLayout.ND
    b_layout: GlobalLayout = GlobalLayout.DN
    panel: int = 0
    splits: int = 1
    sync: Sync = Sync.NONE
    about: str = ""
    origin: str = ""

    def __post_init__(self) -> None:
        if self.panel < 0 or self.splits < 1:
            raise ValueError(f"impossible panel {self.panel} or splits {self.splits}")

    @property
    def accumulator(self) -> DType:
        """Element type of the accumulator."""
        return ACCUMULATORS[self.dtype]

    @property
    def stored(self) -> DType:
        """Element type of what is stored."""
        return self.output or default_output(self.dtype, self.splits)

    @property
    def k_multiple(self) -> int:
        """What K must be a multiple of."""
        return self.tiling.l1.k * self.splits

    @property
    def flags(self) -> bool:
        """Whether it holds any flag."""
        return self.sync is not Sync.NONE
