"""The text of a GEMM kernel."""

from functools import partial

from syncopt.gen.gemm.flags import Flags
from syncopt.gen.gemm.head import paragraphs
from syncopt.gen.gemm.kernel import GemmKernel
from syncopt.gen.gemm.lines import Lines
from syncopt.gen.gemm.loads import Views
from syncopt.gen.gemm.rules import check
from syncopt.gen.gemm.step import Step
from syncopt.gen.gemm.tiles import Accumulator, tiles_of
from syncopt.hwmodel import Machine


def text(kernel: GemmKernel, machine: Machine) -> str:
    """The text of a kernel that is legal on a machine.

    The machine does not show in the text, except that flags placed by hand come with barriers between the matmuls of
    an accumulator that is too small to do without.

    Raises
    ------
    InputError
        If the kernel breaks a rule.
    """
    check(kernel, machine)
    return _KernelText(kernel, machine).write()


class _KernelText:
    """The text of one kernel, written from top to bottom; each method writes what it is named after."""

    def __init__(self, kernel: GemmKernel, machine: Machine) -> None:
        self._kernel = kernel
        self._tiling = kernel.tiling
        self._lines = Lines()
        self._tiles = tiles_of(kernel)
        self._flags = Flags(kernel, machine, self._tiles, self._lines)
        self._views = Views(kernel, self._flags, self._lines)
        self._step = Step(kernel, self._tiles, self._views, self._flags, self._lines)

    def write(self) -> str:
        """The whole file."""
        for line in paragraphs(self._kernel):
            self._lines.note(line)
        pointers = dict.fromkeys("ab", self._kernel.dtype) | {self._views.output: self._kernel.stored}
        arguments = [f"%{name}: !pto.ptr<{dtype.spelling}>" for name, dtype in pointers.items()]
        arguments += [f"%{size}: i32" for size in "MNK"]
        with (
            self._lines.block("module"),
            self._lines.block(f"func.func @{self._kernel.name}({', '.join(arguments)})"),
        ):
            with self._lines.block("pto.section.cube"):
                self._section()
            self._lines.line("return")
        return self._lines.text()

    def _section(self) -> None:
        self._lines.constants_here()
        self._sizes()
        self._counts()
        self._views.write()
        for tile in self._tiles:
            self._lines.line(f"{tile} = pto.alloc_tile : {tile.type}")
        self._flags.prime()
        with self._lines.block(f"scf.for {self._item} = %block_idx to {self._items} step %block_num"):
            self._item_body()
        self._flags.drain()

    @property
    def _item(self) -> str:
        """What a block takes at a time: a tile of C, or one slice of K of it."""
        return "%tile" if self._kernel.splits == 1 else "%item"

    @property
    def _items(self) -> str:
        return self._item + "s"

    @property
    def _steps(self) -> str:
        """K steps per item."""
        return "%k_steps" if self._kernel.splits == 1 else "%slice_steps"

    def _sizes(self) -> None:
        for size in "MNK":
            self._lines.line(f"%{size.lower()}_size = arith.index_cast %{size} : i32 to index")
        for name in ("block_num", "block_idx"):
            self._lines.line(f"%{name}_i64 = pto.get_{name}")
            self._lines.line(f"%{name} = arith.index_cast %{name}_i64 : i64 to index")

    def _counts(self) -> None:
        """How many tiles there are, in numbers that only known multiples of the tile sizes give."""
        lines, l1, kernel = self._lines, self._tiling.l1, self._kernel
        n = lines.constant(l1.n)
        lines.index("m_tiles", "divsi", "%m_size", lines.constant(l1.m))
        lines.index("n_above", "addi", "%n_size", n)
        lines.index("n_padded", "subi", "%n_above", lines.constant(1))
        lines.index("n_tiles", "divsi", "%n_padded", n)
        lines.index("tiles", "muli", "%n_tiles", "%m_tiles")
        if kernel.panel:
            lines.index("panel_tiles", "muli", lines.constant(kernel.panel), "%m_tiles")
        lines.index("k_steps", "divsi", "%k_size", lines.constant(l1.k))
        if kernel.splits > 1:
            splits = lines.constant(kernel.splits)
            lines.index("slice_steps", "divsi", "%k_steps", splits)
            lines.index("items", "muli", "%tiles", splits)

    # One tile of C

    def _item_body(self) -> None:
        if self._tiling.buffers.l0c == 1:
            self._wait_acc_free(0)
            self._place()
            self._on_acc(0)
            return
        self._place()
        self._lines.note("tiles of C alternate between the buffers of L0C")
        self._lines.index("since_first", "subi", self._item, "%block_idx")
        self._lines.index("ordinal", "divsi", "%since_first", "%block_num")
        self._lines.index("acc_parity", "remsi", "%ordinal", self._lines.constant(2))
        self._lines.compare("is_even_tile", "eq", "%acc_parity", self._lines.constant(0))
        self._lines.if_else("%is_even_tile", partial(self._on_guarded_acc, 0), partial(self._on_guarded_acc, 1))

    def _on_guarded_acc(self, acc: int) -> None:
        self._wait_acc_free(acc)
        self._on_acc(acc)

    def _on_acc(self, acc: int) -> None:
        lines = self._lines
        zero, one = lines.constant(0), lines.constant(1)
        lines.note("first A of the tile")
        self._views.load_a("a_first", zero if self._kernel.splits == 1 else "%slice_offset", self._tiles.a[0])
        with lines.block(f"scf.for %k = {zero} to {self._steps} step {one}"):
            self._step.write(self._tiles.acc[acc], self._steps)
        self._store(acc, self._tiles.acc[acc])

    def _place(self) -> None:
        """Which tile of C, and which slice of K."""
        lines, l1 = self._lines, self._tiling.l1
        if self._kernel.splits > 1:
            lines.note("slice of K by slice")
            lines.index("slice", "divsi", "%item", "%tiles")
            lines.index("tile", "remsi", "%item", "%tiles")
            lines.index("slice_start", "muli", "%slice", "%slice_steps")
            lines.index("slice_offset", "muli", "%slice_start", lines.constant(l1.k))
        if self._kernel.panel:
            self._swizzle()
        else:
            lines.note("tile order: row by row")
            lines.index("m_tile", "divsi", "%tile", "%n_tiles")
            lines.index("n_tile", "remsi", "%tile", "%n_tiles")
        lines.index("m_offset", "muli", "%m_tile", lines.constant(l1.m))
        lines.index("n_offset", "muli", "%n_tile", lines.constant(l1.n))

    def _swizzle(self) -> None:
        lines, number = self._lines, self._kernel.panel
        panel, one = lines.constant(number), lines.constant(1)
        lines.note(f"tile order: panels of {number} tile columns, row by row; every second panel runs M backwards")
        lines.index("panel", "divsi", "%tile", "%panel_tiles")
        lines.index("in_panel", "remsi", "%tile", "%panel_tiles")
        lines.index("panel_start", "muli", "%panel", panel)
        lines.index("columns_left", "subi", "%n_tiles", "%panel_start")
        lines.compare("is_narrow", "slt", "%columns_left", panel)
        lines.index("columns", "select", "%is_narrow", "%columns_left", panel)
        lines.index("column", "remsi", "%in_panel", "%columns")
        lines.index("n_tile", "addi", "%panel_start", "%column")
        lines.index("m_forwards", "divsi", "%in_panel", "%columns")
        lines.index("m_rest", "subi", "%m_tiles", "%m_forwards")
        lines.index("m_backwards", "subi", "%m_rest", one)
        lines.index("panel_parity", "remsi", "%panel", lines.constant(2))
        lines.compare("is_backwards", "eq", "%panel_parity", one)
        lines.index("m_tile", "select", "%is_backwards", "%m_backwards", "%m_forwards")

    # The buffer of L0C, and its store

    def _wait_acc_free(self, acc: int) -> None:
        if not self._kernel.flags:
            return
        if self._tiling.buffers.l0c == 1:
            self._lines.compare("not_first_tile", "ne", self._item, "%block_idx")
        else:
            self._lines.compare("not_first_tile", "sge", "%ordinal", self._lines.constant(2))
        with self._lines.block("scf.if %not_first_tile"):
            self._flags.wait_acc_free(acc)

    def _store(self, acc: int, sums: Accumulator) -> None:
        lines, l0 = self._lines, self._tiling.l0
        top = "%m_offset"
        if self._kernel.splits > 1:
            lines.index("w_row", "muli", "%slice", "%m_size")
            top = lines.index("w_offset", "addi", "%w_row", "%m_offset")
        types: list[tuple[str, str]] = []
        for row, column in self._places():
            down = self._moved(top, row * l0.m, f"row_{row}_{column}")
            along = self._moved("%n_offset", column * l0.n, f"column_{row}_{column}")
            name = "c_tile" if len(self._places()) == 1 else f"c_tile_{row}_{column}"
            types.append((name, self._views.part_of_c(name, (down, along))))
        self._flags.acc_full(acc)
        for tile, (name, type_) in zip(sums, types, strict=True):
            lines.line(f"pto.tstore ins({tile} : {tile.type}) outs(%{name} : {type_})")
        self._give_acc_back(acc)

    def _places(self) -> list[tuple[int, int]]:
        return [(row, column) for row in range(self._tiling.rows) for column in range(self._tiling.columns)]

    def _moved(self, offset: str, by: int, name: str) -> str:
        return self._lines.index(name, "addi", offset, self._lines.constant(by)) if by else offset

    def _give_acc_back(self, acc: int) -> None:
        if not self._kernel.flags:
            return
        lines, stride = self._lines, "%block_num"
        if self._tiling.buffers.l0c == 2:
            stride = lines.index("two_rounds", "muli", "%block_num", lines.constant(2))
        lines.index("next_tile", "addi", self._item, stride)
        lines.compare("has_next_tile", "slt", "%next_tile", self._items)
        with lines.block("scf.if %has_next_tile"):
            self._flags.acc_free(acc)
