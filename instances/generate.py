"""Write the GEMM kernels of `instances/gemm`.

    python instances/generate.py [FOLDER]

C = A * B^T in fp16 with fp32 accumulation. One 128 x 256 tile of C at a time, K in steps of 512 = eight 64-wide phases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

TILE_M, TILE_N, TILE_K, PHASE_K = 128, 256, 512, 64
PHASES = TILE_K // PHASE_K
HALF_K = TILE_K // 2
PHASES_PER_HALF = PHASES // 2
PANEL = 5
CONSTANTS = (0, 1, 2, PANEL, *range(PHASE_K, TILE_K, PHASE_K), TILE_K)


@dataclass(frozen=True, slots=True)
class Variant:
    """One kernel: how many tiles each operand has, and whether flags are written.

    Parameters
    ----------
    name : str
        File name without suffix; the function is called `gemm_<name>`.
    about : str
        The comment at the head of the file.
    buffers : int
        1, or 2 for A by parity of the K step, B by half of the K step and the L0 pair by phase.
    flags : bool
        Write record_event and wait_event where a kernel writer would.
    """

    name: str
    about: str
    buffers: int
    flags: bool = False


VARIANTS = (
    Variant(
        "single_buffered",
        "GEMM with one buffer for each operand and no flags: both halves of B and all K steps of A go through the same "
        "tiles, so loads, extracts and matmuls take turns.",
        buffers=1,
    ),
    Variant(
        "double_buffered",
        "GEMM with two buffers for each operand and no flags: A alternates by the parity of the K step, B by its "
        "halves, the L0 pair by phase.",
        buffers=2,
    ),
    Variant(
        "hand_synchronised",
        "The double-buffered GEMM with flags placed as kernel writers do it by hand. A token says that a buffer is "
        "free: on MTE1 -> MTE2 ids 0 and 1 are A, 2 and 3 are B; on M -> MTE1 ids 0 and 1 are the L0 pairs. All are "
        "recorded before the tile loop and waited for behind it. All MTE1 -> M events share id 0. At least one K step "
        "is taken for granted: with K < 512 the kernel hangs.",
        buffers=2,
        flags=True,
    ),
)
FORMULA = (
    "C (M x N) = A (M x K) * B (N x K) transposed, fp16 with fp32 accumulation; M, N, K are multiples of "
    f"{TILE_M}, {TILE_N}, {TILE_K}. Written by instances/generate.py: change that, then run `make instances`."
)


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

    name: str
    loc: str
    rows: int
    cols: int
    layouts: tuple[str, str]
    dtype: str = "f16"
    fractal: int = 512

    def tiles(self, count: int) -> tuple[Tile, ...]:
        """`count` tiles; their names carry a number if there are several."""
        stem, memory = self.name.split("_")
        names = [self.name] if count == 1 else [f"{stem}{i}_{memory}" for i in range(count)]
        return tuple(Tile(name, self._type()) for name in names)

    def _type(self) -> str:
        block, small = self.layouts
        shape = f"rows={self.rows}, cols={self.cols}, v_row={self.rows}, v_col={self.cols}"
        layout = f"blayout={block}, slayout={small}, fractal={self.fractal}, pad=0"
        return f"!pto.tile_buf<loc={self.loc}, dtype={self.dtype}, {shape}, {layout}>"


COL_ROW, ROW_COL, ROW_ROW = ("col_major", "row_major"), ("row_major", "col_major"), ("row_major", "row_major")
A_L1 = Operand("a_l1", "mat", TILE_M, TILE_K, COL_ROW)
B_L1 = Operand("b_l1", "mat", HALF_K, TILE_N, ROW_COL)
A_L0 = Operand("a_l0", "left", TILE_M, PHASE_K, ROW_ROW)
B_L0 = Operand("b_l0", "right", PHASE_K, TILE_N, ROW_COL)
C_L0 = Operand("c_l0", "acc", TILE_M, TILE_N, COL_ROW, dtype="f32", fractal=1024)

GM = "!pto.tensor_view<?x?xf16>"
LOAD, MOV, MATMUL, STORE = "TLOAD", "TMOV_M2L", "TMATMUL", "TSTORE_ACC"


class KernelText:
    """The text of one variant, written from top to bottom; each method writes what it is named after."""

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        self._lines: list[str] = []
        self._depth = 0
        self._a, self._b = A_L1.tiles(variant.buffers), B_L1.tiles(variant.buffers)
        self._left, self._right = A_L0.tiles(variant.buffers), B_L0.tiles(variant.buffers)
        (self._acc,) = C_L0.tiles(1)

    def write(self) -> str:
        """The whole file."""
        self._head()
        arguments = ", ".join([f"%{p}: !pto.ptr<f16>" for p in "abc"] + [f"%{n}: i32" for n in "MNK"])
        with self._block("module"), self._block(f"func.func @gemm_{self._variant.name}({arguments})"):
            with self._block("pto.section.cube"):
                self._section()
            self._line("return")
        return "\n".join(self._lines) + "\n"

    def _section(self) -> None:
        self._scalars()
        self._views()
        self._tiles()
        self._prime()
        with self._block("scf.for %tile = %block_idx to %tiles step %block_num"):
            self._tile_body()
        self._drain()

    # Lines, blocks, flags

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def _note(self, text: str) -> None:
        self._line(f"// {text}")

    @contextmanager
    def _block(self, head: str) -> Generator[None]:
        self._line(head + " {")
        self._depth += 1
        yield
        self._depth -= 1
        self._line("}")

    def _if_else(self, condition: str, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        with self._block(f"scf.if {condition}"):
            then()
            self._depth -= 1
            self._line("} else {")
            self._depth += 1
            otherwise()

    def _index(self, name: str, op: str, *operands: str) -> None:
        self._line(f"%{name} = arith.{op} {', '.join(operands)} : index")

    def _compare(self, name: str, predicate: str, left: str, right: str) -> None:
        self._line(f"%{name} = arith.cmpi {predicate}, {left}, {right} : index")

    def _record(self, source: str, target: str, event: int) -> None:
        self._event("record", source, target, event)

    def _wait(self, source: str, target: str, event: int) -> None:
        self._event("wait", source, target, event)

    def _event(self, kind: str, source: str, target: str, event: int) -> None:
        if self._variant.flags:
            ops = f"#pto.sync_op_type<{source}>, #pto.sync_op_type<{target}>"
            self._line(f"pto.{kind}_event[{ops}, <EVENT_ID{event}>]")

    # Before the tile loop

    def _head(self) -> None:
        for paragraph in (self._variant.about, FORMULA):
            for line in wrap(paragraph, 100):
                self._note(line)

    def _scalars(self) -> None:
        for value in CONSTANTS:
            self._line(f"%c{value} = arith.constant {value} : index")
        for size in "MNK":
            self._line(f"%{size.lower()}_size = arith.index_cast %{size} : i32 to index")
        for name in ("block_num", "block_idx"):
            self._line(f"%{name}_i64 = pto.get_{name}")
            self._line(f"%{name} = arith.index_cast %{name}_i64 : i64 to index")
        self._index("m_tiles", "divsi", "%m_size", f"%c{TILE_M}")
        self._index("n_above", "addi", "%n_size", f"%c{TILE_N}")
        self._index("n_padded", "subi", "%n_above", "%c1")
        self._index("n_tiles", "divsi", "%n_padded", f"%c{TILE_N}")
        self._index("tiles", "muli", "%n_tiles", "%m_tiles")
        self._index("panel_tiles", "muli", f"%c{PANEL}", "%m_tiles")
        self._index("k_steps", "divsi", "%k_size", f"%c{TILE_K}")

    def _views(self) -> None:
        for name, shape, strides, layout in (
            ("a", "%m_size, %k_size", "%k_size, %c1", ""),
            ("b", "%k_size, %n_size", "%c1, %k_size", " {layout = #pto.layout<dn>}"),
            ("c", "%m_size, %n_size", "%n_size, %c1", ""),
        ):
            view = f"shape = [{shape}], strides = [{strides}]{layout}"
            self._line(f"%{name}_gm = pto.make_tensor_view %{name}, {view} : {GM}")

    def _tiles(self) -> None:
        for tile in (*self._a, *self._b, *self._left, *self._right, self._acc):
            self._line(f"{tile} = pto.alloc_tile : {tile.type}")

    def _prime(self) -> None:
        for pair in range(len(self._left)):
            self._record(MATMUL, MOV, pair)
        for buffer in (*self._a, *self._b):
            self._record(MOV, LOAD, self._token(buffer))

    def _drain(self) -> None:
        for buffer in (*self._a, *self._b):
            self._wait(MOV, LOAD, self._token(buffer))
        for pair in range(len(self._left)):
            self._wait(MATMUL, MOV, pair)
        if self._variant.flags:
            self._line("pto.barrier #pto.pipe<PIPE_ALL>")

    def _token(self, buffer: Tile) -> int:
        return (*self._a, *self._b).index(buffer)

    # One tile of C

    def _tile_body(self) -> None:
        if self._variant.flags:
            self._compare("not_first_tile", "ne", "%tile", "%block_idx")
            with self._block("scf.if %not_first_tile"):
                self._wait(STORE, MATMUL, 0)
        self._swizzle()
        self._note("first A of the tile")
        self._partition("a_first", "a", ("%m_offset", "%c0"), A_L1)
        self._load("a_first", A_L1, self._a[0])
        with self._block("scf.for %k = %c0 to %k_steps step %c1"):
            self._k_step()
        self._store()

    def _swizzle(self) -> None:
        self._note(f"tile order: panels of {PANEL} tile columns, row by row; every second panel runs M backwards")
        self._index("panel", "divsi", "%tile", "%panel_tiles")
        self._index("in_panel", "remsi", "%tile", "%panel_tiles")
        self._index("panel_start", "muli", "%panel", f"%c{PANEL}")
        self._index("columns_left", "subi", "%n_tiles", "%panel_start")
        self._compare("is_narrow", "slt", "%columns_left", f"%c{PANEL}")
        self._index("columns", "select", "%is_narrow", "%columns_left", f"%c{PANEL}")
        self._index("column", "remsi", "%in_panel", "%columns")
        self._index("n_tile", "addi", "%panel_start", "%column")
        self._index("m_forwards", "divsi", "%in_panel", "%columns")
        self._index("m_rest", "subi", "%m_tiles", "%m_forwards")
        self._index("m_backwards", "subi", "%m_rest", "%c1")
        self._index("panel_parity", "remsi", "%panel", "%c2")
        self._compare("is_backwards", "eq", "%panel_parity", "%c1")
        self._index("m_tile", "select", "%is_backwards", "%m_backwards", "%m_forwards")
        self._index("m_offset", "muli", "%m_tile", f"%c{TILE_M}")
        self._index("n_offset", "muli", "%n_tile", f"%c{TILE_N}")

    def _store(self) -> None:
        self._partition("c_tile", "c", ("%m_offset", "%n_offset"), C_L0)
        self._record(MATMUL, STORE, 0)
        self._wait(MATMUL, STORE, 0)
        target = f"%c_tile : {_partition_type(C_L0)}"
        self._line(f"pto.tstore ins({self._acc} : {self._acc.type}) outs({target})")
        if self._variant.flags:
            self._index("next_tile", "addi", "%tile", "%block_num")
            self._compare("has_next_tile", "slt", "%next_tile", "%tiles")
            with self._block("scf.if %has_next_tile"):
                self._record(STORE, MATMUL, 0)

    # One K step

    def _k_step(self) -> None:
        self._index("k_offset", "muli", "%k", f"%c{TILE_K}")
        self._compare("is_first", "eq", "%k", "%c0")
        if self._variant.buffers == 1:
            self._step_on(self._a[0], self._a[0])
            return
        even, odd = self._a
        self._index("k_parity", "remsi", "%k", "%c2")
        self._compare("is_even", "eq", "%k_parity", "%c0")
        self._if_else("%is_even", lambda: self._step_on(even, odd), lambda: self._step_on(odd, even))

    def _step_on(self, a: Tile, next_a: Tile) -> None:
        for phase in range(PHASES):
            half = phase // PHASES_PER_HALF
            b = self._b[half % len(self._b)]
            if phase % PHASES_PER_HALF == 0:
                self._load_b_half(half, b)
            self._phase(phase, a, b)
        self._note("next A")
        self._index("k_next", "addi", "%k", "%c1")
        self._compare("has_next", "slt", "%k_next", "%k_steps")
        with self._block("scf.if %has_next"):
            self._index("next_offset", "addi", "%k_offset", f"%c{TILE_K}")
            self._partition("a_next", "a", ("%m_offset", "%next_offset"), A_L1)
            self._load("a_next", A_L1, next_a)

    def _load_b_half(self, half: int, b: Tile) -> None:
        self._note(f"half {half} of B")
        row = "%k_offset"
        if half:
            row = "%k_half"
            self._index("k_half", "addi", "%k_offset", f"%c{HALF_K}")
        self._partition(f"b_half{half}", "b", (row, "%n_offset"), B_L1)
        self._load(f"b_half{half}", B_L1, b)

    def _partition(self, name: str, source: str, offsets: tuple[str, str], operand: Operand) -> None:
        sizes = f"[%c{operand.rows}, %c{operand.cols}]"
        view = f"%{source}_gm, offsets = [{', '.join(offsets)}], sizes = {sizes}"
        self._line(f"%{name} = pto.partition_view {view} : {GM} -> {_partition_type(operand)}")

    def _load(self, part: str, operand: Operand, tile: Tile) -> None:
        token = self._token(tile)
        self._wait(MOV, LOAD, token)
        self._line(f"pto.tload ins(%{part} : {_partition_type(operand)}) outs({tile} : {tile.type})")
        self._record(LOAD, MOV, token)

    def _phase(self, phase: int, a: Tile, b: Tile) -> None:
        pair = phase % len(self._left)
        left, right = self._left[pair], self._right[pair]
        in_half = phase % PHASES_PER_HALF
        self._note(f"phase {phase}")
        self._wait(MATMUL, MOV, pair)
        if phase == 0:
            self._wait(LOAD, MOV, self._token(a))
        self._extract(a, ("%c0", f"%c{phase * PHASE_K}"), left)
        if phase == PHASES - 1:
            self._record(MOV, LOAD, self._token(a))
        if in_half == 0:
            self._wait(LOAD, MOV, self._token(b))
        self._extract(b, (f"%c{in_half * PHASE_K}", "%c0"), right)
        self._record(MOV, MATMUL, 0)
        if in_half == PHASES_PER_HALF - 1:
            self._record(MOV, LOAD, self._token(b))
        self._wait(MOV, MATMUL, 0)
        if phase == 0:
            self._if_else(
                "%is_first",
                lambda: self._matmul("tmatmul", left, right),
                lambda: self._matmul("tmatmul.acc", self._acc, left, right),
            )
        else:
            self._matmul("tmatmul.acc", self._acc, left, right)
        self._record(MATMUL, MOV, pair)

    def _extract(self, source: Tile, offsets: tuple[str, str], target: Tile) -> None:
        ins = f"{source}, {', '.join(offsets)} : {source.type}, index, index"
        self._line(f"pto.textract ins({ins}) outs({target} : {target.type})")

    def _matmul(self, op: str, *ins: Tile) -> None:
        names, types = ", ".join(map(str, ins)), ", ".join(tile.type for tile in ins)
        self._line(f"pto.{op} ins({names} : {types}) outs({self._acc} : {self._acc.type})")


def _partition_type(operand: Operand) -> str:
    return f"!pto.partition_tensor_view<{operand.rows}x{operand.cols}xf16>"


def generate(variant: Variant) -> str:
    """The text of one kernel."""
    return KernelText(variant).write()


def write_all(folder: Path) -> None:
    """Write every variant as `<name>.pto` into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        (folder / f"{variant.name}.pto").write_bytes(generate(variant).encode())


if __name__ == "__main__":
    write_all(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "gemm")
