"""One K step of a tile of C: its loads of B, its extracts and matmuls, and the load of the next A."""

from dataclasses import dataclass
from functools import partial

from syncopt.gen.gemm.flags import Flags
from syncopt.gen.gemm.kernel import GemmKernel
from syncopt.gen.gemm.lines import Lines
from syncopt.gen.gemm.loads import Views
from syncopt.gen.gemm.tiles import Accumulator, Tile, Tiles


@dataclass(frozen=True, slots=True)
class Phase:
    """One matmul of a K step.

    Parameters
    ----------
    number : int
        Place among the matmuls of the step.
    k, row, column : int
        Which part of K, which row and which column of the tile of C, each counted in matmuls.
    """

    number: int
    k: int
    row: int
    column: int


def phases(kernel: GemmKernel) -> tuple[Phase, ...]:
    """The matmuls of a K step in their order: K outermost, so that a part of A serves all columns of its row."""
    tiling = kernel.tiling
    places = [
        (k, row, column)
        for k in range(tiling.k_phases)
        for row in range(tiling.rows)
        for column in range(tiling.columns)
    ]
    return tuple(Phase(number, *place) for number, place in enumerate(places))


class Step:
    """Writes the body of the K loop.

    Parameters
    ----------
    kernel : GemmKernel
        The kernel that is written.
    tiles, views, flags : Tiles, Views, Flags
        What it consists of.
    lines : Lines
        Where to write.
    """

    def __init__(self, kernel: GemmKernel, tiles: Tiles, views: Views, flags: Flags, lines: Lines) -> None:
        self._kernel = kernel
        self._tiling = kernel.tiling
        self._tiles = tiles
        self._views = views
        self._flags = flags
        self._lines = lines
        self._phases = phases(kernel)

    def write(self, acc: Accumulator, k_steps: str) -> None:
        """A K step into a buffer of L0C; `k_steps` is the number of steps."""
        lines, depth = self._lines, self._lines.constant(self._tiling.l1.k)
        if self._kernel.splits == 1:
            lines.index("k_offset", "muli", "%k", depth)
        else:
            lines.index("k_in_slice", "muli", "%k", depth)
            lines.index("k_offset", "addi", "%slice_offset", "%k_in_slice")
        lines.compare("is_first", "eq", "%k", lines.constant(0))
        if not self._alternates():
            self._on_parity(acc, k_steps, 0)
            return
        lines.index("k_parity", "remsi", "%k", lines.constant(2))
        lines.compare("is_even", "eq", "%k_parity", lines.constant(0))
        lines.if_else("%is_even", partial(self._on_parity, acc, k_steps, 0), partial(self._on_parity, acc, k_steps, 1))

    def _alternates(self) -> bool:
        """Whether a buffer is used an odd number of times per step, so that odd steps begin with the other one."""
        return any(uses % count for uses, count in self._rotations())

    def _rotations(self) -> tuple[tuple[int, int], ...]:
        """How often per step a buffer of A, of B, in L0A and in L0B is filled, and how many there are."""
        tiling, buffers = self._tiling, self._tiling.buffers
        lefts = tiling.k_phases * tiling.rows
        return (1, buffers.a), (tiling.b_parts, buffers.b), (lefts, buffers.l0a), (tiling.matmuls, buffers.l0b)

    def _on_parity(self, acc: Accumulator, k_steps: str, parity: int) -> None:
        a = self._tiles.a[parity % len(self._tiles.a)]
        for phase in self._phases:
            part, in_part = divmod(phase.k, self._tiling.k_phases // self._tiling.b_parts)
            b = self._tiles.b[(parity * self._tiling.b_parts + part) % len(self._tiles.b)]
            if in_part == phase.row == phase.column == 0:
                self._load_b(part, b)
            self._extracts(phase, parity, a, b)
            self._product(phase, parity, acc)
        self._load_next_a(k_steps, self._tiles.a[(parity + 1) % len(self._tiles.a)])

    def _load_b(self, part: int, b: Tile) -> None:
        parts, lines = self._tiling.b_parts, self._lines
        if parts == 1:
            lines.note("B")
            self._views.load_b("b_step", "%k_offset", b)
            return
        word, number = ("half", "") if parts == 2 else ("part", str(part))
        lines.note(f"{word} {part} of B")
        row = "%k_offset"
        if part:
            row = lines.index(f"k_{word}{number}", "addi", "%k_offset", lines.constant(part * self._tiling.b_k))
        self._views.load_b(f"b_{word}{part}", row, b)

    def _load_next_a(self, k_steps: str, a: Tile) -> None:
        lines = self._lines
        lines.note("next A")
        lines.index("k_next", "addi", "%k", lines.constant(1))
        lines.compare("has_next", "slt", "%k_next", k_steps)
        with lines.block("scf.if %has_next"):
            lines.index("next_offset", "addi", "%k_offset", lines.constant(self._tiling.l1.k))
            self._views.load_a("a_next", "%next_offset", a)

    def _left(self, phase: Phase, parity: int) -> int:
        """The tile of L0A that a matmul takes: extracts alternate, and so do steps with an odd number of them."""
        per_step = self._tiling.k_phases * self._tiling.rows
        return (parity * per_step + phase.k * self._tiling.rows + phase.row) % len(self._tiles.left)

    def _right(self, phase: Phase, parity: int) -> int:
        return (parity * self._tiling.matmuls + phase.number) % len(self._tiles.right)

    def _extracts(self, phase: Phase, parity: int, a: Tile, b: Tile) -> None:
        tiling, flags = self._tiling, self._flags
        in_part = phase.k % (tiling.k_phases // tiling.b_parts)
        left, right = self._left(phase, parity), self._right(phase, parity)
        self._note(phase)
        if phase.column == 0:
            flags.wait_left_free(left)
            if phase.k == phase.row == 0:
                flags.wait_l1_full(a)
            self._extract(a, (phase.row * tiling.l0.m, phase.k * tiling.l0.k), self._tiles.left[left])
            if (phase.k, phase.row) == (tiling.k_phases - 1, tiling.rows - 1):
                flags.l1_free(a)
        flags.wait_right_free(right)
        if in_part == phase.row == phase.column == 0:
            flags.wait_l1_full(b)
        self._extract(b, (in_part * tiling.l0.k, phase.column * tiling.l0.n), self._tiles.right[right])
        flags.l0_full(right)
        last = (tiling.k_phases // tiling.b_parts - 1, tiling.rows - 1, tiling.columns - 1)
        if (in_part, phase.row, phase.column) == last:
            flags.l1_free(b)

    def _note(self, phase: Phase) -> None:
        place = "" if self._tiling.rows == self._tiling.columns == 1 else f": row {phase.row}, column {phase.column}"
        self._lines.note(f"phase {phase.number}{place}")

    def _product(self, phase: Phase, parity: int, acc: Accumulator) -> None:
        left, right = self._left(phase, parity), self._right(phase, parity)
        operands = self._tiles.left[left], self._tiles.right[right]
        sum_ = acc.tiles[phase.row][phase.column]
        self._flags.wait_l0_full(right)
        if phase.row == phase.column == 0:
            self._flags.between_sums()
        if phase.k == 0:
            self._lines.if_else(
                "%is_first",
                partial(self._matmul, "tmatmul", sum_, operands),
                partial(self._matmul, "tmatmul.acc", sum_, (sum_, *operands)),
            )
        else:
            self._matmul("tmatmul.acc", sum_, (sum_, *operands))
        if phase.column == self._tiling.columns - 1:
            self._flags.left_free(left)
        self._flags.right_free(right)

    def _extract(self, source: Tile, offsets: tuple[int, int], target: Tile) -> None:
        row, column = (self._lines.constant(offset) for offset in offsets)
        ins = f"{source}, {row}, {column} : {source.type}, index, index"
        self._lines.line(f"pto.textract ins({ins}) outs({target} : {target.type})")

    def _matmul(self, op: str, sum_: Tile, ins: tuple[Tile, ...]) -> None:
        names, types = ", ".join(map(str, ins)), ", ".join(tile.type for tile in ins)
        self._lines.line(f"pto.{op} ins({names} : {types}) outs({sum_} : {sum_.type})")
