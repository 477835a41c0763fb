"""Views of global memory, loads and stores."""

from syncopt.gen.gemm.flags import Flags
from syncopt.gen.gemm.kernel import GemmKernel, GlobalLayout
from syncopt.gen.gemm.lines import Lines
from syncopt.gen.gemm.tiles import Operand, Tile, operands_of
from syncopt.ir.types import DType


class Views:
    """Writes the views of the operands in global memory, and what moves between them and tiles.

    Parameters
    ----------
    kernel : GemmKernel
        The kernel that is written.
    flags : Flags
        Its flags.
    lines : Lines
        Where to write.
    """

    def __init__(self, kernel: GemmKernel, flags: Flags, lines: Lines) -> None:
        self._kernel = kernel
        self._flags = flags
        self._lines = lines
        self._roles = operands_of(kernel)

    @property
    def output(self) -> str:
        """Name of the pointer that is stored to: C, or the workspace of partial sums."""
        return "w" if self._kernel.splits > 1 else "c"

    def write(self) -> None:
        """The views of whole matrices."""
        one, kernel = self._lines.constant(1), self._kernel
        self._view("a", "m_size", "k_size", kernel.a_layout, kernel.dtype)
        self._view("b", "k_size", "n_size", kernel.b_layout, kernel.dtype)
        if kernel.splits == 1:
            rows = "m_size"
        else:
            self._lines.note(f"partial sums: {kernel.splits} matrices of M x N, one below the other")
            self._lines.index("w_rows", "muli", "%m_size", self._lines.constant(kernel.splits))
            rows = "w_rows"
        shape = f"shape = [%{rows}, %n_size], strides = [%n_size, {one}]"
        self._lines.line(f"%{self.output}_gm = pto.make_tensor_view %{self.output}, {shape} : {_gm(kernel.stored)}")

    def _view(self, name: str, rows: str, cols: str, layout: GlobalLayout, dtype: DType) -> None:
        one = self._lines.constant(1)
        is_nd = layout is GlobalLayout.ND
        strides = f"%{cols}, {one}" if is_nd else f"{one}, %{rows}"
        attribute = "" if is_nd else " {layout = #pto.layout<dn>}"
        view = f"shape = [%{rows}, %{cols}], strides = [{strides}]{attribute}"
        self._lines.line(f"%{name}_gm = pto.make_tensor_view %{name}, {view} : {_gm(dtype)}")

    def load_a(self, name: str, k_offset: str, tile: Tile) -> None:
        """Load a K step of A for the tile of C at hand."""
        self._load("a", name, ("%m_offset", k_offset), self._roles.a_l1, tile)

    def load_b(self, name: str, k_offset: str, tile: Tile) -> None:
        """Load a part of B for the tile of C at hand."""
        self._load("b", name, (k_offset, "%n_offset"), self._roles.b_l1, tile)

    def _load(self, source: str, name: str, offsets: tuple[str, str], role: Operand, tile: Tile) -> None:
        part = self._partition(name, source, offsets, role, self._kernel.dtype)
        self._flags.wait_l1_free(tile)
        self._lines.line(f"pto.tload ins(%{name} : {part}) outs({tile} : {tile.type})")
        self._flags.l1_full(tile)

    def part_of_c(self, name: str, offsets: tuple[str, str]) -> str:
        """A part of the output of the size of an accumulator; its type."""
        return self._partition(name, self.output, offsets, self._roles.c_l0, self._kernel.stored)

    def _partition(self, name: str, source: str, offsets: tuple[str, str], role: Operand, dtype: DType) -> str:
        sizes = f"[{self._lines.constant(role.rows)}, {self._lines.constant(role.cols)}]"
        type_ = f"!pto.partition_tensor_view<{role.rows}x{role.cols}x{dtype.spelling}>"
        view = f"%{source}_gm, offsets = [{', '.join(offsets)}], sizes = {sizes}"
        self._lines.line(f"%{name} = pto.partition_view {view} : {_gm(dtype)} -> {type_}")
        return type_


def _gm(dtype: DType) -> str:
    return f"!pto.tensor_view<?x?x{dtype.spelling}>"
