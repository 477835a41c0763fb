"""What a tile op instance works on, as far as its cost depends on it."""

from dataclasses import dataclass

from syncopt.ir.pipes import Memory, Pipe
from syncopt.ir.types import DType, Layout


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand with the shape that it has in this instance.

    Parameters
    ----------
    memory : Memory
        Where it lives; `Memory.GM` for a view of global memory.
    dtype : DType
        Element type.
    rows, cols : int
        Valid shape in elements (of a view: the product of all sizes but the last, and the last).
    blayout, slayout : Layout
        Layout of the tile (`ROW_MAJOR`, `NONE_BOX` for a view).
    """

    memory: Memory
    dtype: DType
    rows: int
    cols: int
    blayout: Layout = Layout.ROW_MAJOR
    slayout: Layout = Layout.NONE_BOX

    @property
    def bytes(self) -> int:
        """Bytes of the valid part."""
        return self.rows * self.cols * self.dtype.size


@dataclass(frozen=True, slots=True)
class Work:
    """Name, pipe and operands of a tile op instance, the key of its cost. Scalar operands are left out of `ins`."""

    name: str
    pipe: Pipe
    ins: tuple[Operand, ...]
    outs: tuple[Operand, ...]
