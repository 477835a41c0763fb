"""Flags as kernel writers place them: a token says that a buffer is free, an event that it is full.

| pair | says | ids |
|---|---|---|
| MTE2 -> MTE1 | a tile in L1 is loaded | one per tile of A, then of B |
| MTE1 -> MTE2 | nothing is left to extract from it: it may be loaded again | the same |
| MTE1 -> M | the parts that the next matmul takes are in L0 | one per tile in L0B, or 0 for all |
| M -> MTE1 | a tile in L0 was used for the last time | one per pair of tiles, or one per tile in L0A, then in L0B |
| M -> FIX | a tile of C is complete | one per buffer in L0C |
| FIX -> M | it is stored: its buffer may be overwritten | the same |

Tokens of L1 and L0 are recorded before the first tile and taken back behind the last one; those of L0C are guarded.
"""

from syncopt.gen.gemm.kernel import GemmKernel, Sync
from syncopt.gen.gemm.lines import Lines
from syncopt.gen.gemm.tiles import Tile, Tiles
from syncopt.hwmodel import Machine
from syncopt.ir.pipes import Memory, Pipe, PipePair
from syncopt.ir.work import Operand, Work

LOAD, MOV, MATMUL, STORE = "TLOAD", "TMOV_M2L", "TMATMUL", "TSTORE_ACC"
"""Op classes that stand for the pipes MTE2, MTE1, M and FIX."""


def in_pairs(kernel: GemmKernel) -> bool:
    """Whether the tiles in L0A and L0B are used in lock step, so that one token stands for both."""
    tiling = kernel.tiling
    return tiling.buffers.l0a == tiling.buffers.l0b and tiling.rows == tiling.columns == 1


def event_ids(kernel: GemmKernel) -> tuple[tuple[PipePair, int], ...]:
    """How many ids the flags of a kernel take of each pair of pipes."""
    if not kernel.flags:
        return ()
    buffers = kernel.tiling.buffers
    l1, l0 = buffers.a + buffers.b, buffers.l0a if in_pairs(kernel) else buffers.l0a + buffers.l0b
    return (
        (PipePair(Pipe.MTE2, Pipe.MTE1), l1),
        (PipePair(Pipe.MTE1, Pipe.MTE2), l1),
        (PipePair(Pipe.MTE1, Pipe.M), 1 if kernel.sync is Sync.HAND_SHARED else buffers.l0b),
        (PipePair(Pipe.M, Pipe.MTE1), l0),
        (PipePair(Pipe.M, Pipe.FIX), buffers.l0c),
        (PipePair(Pipe.FIX, Pipe.M), buffers.l0c),
    )


def needs_barriers(kernel: GemmKernel, machine: Machine) -> bool:
    """Whether an accumulator is so small that its matmuls need barriers between them."""
    l0 = kernel.tiling.l0
    sum_ = Work("pto.tmatmul.acc", Pipe.M, (), (Operand(Memory.ACC, kernel.accumulator, l0.m, l0.n),))
    return machine.same_pipe_barrier_needed(sum_, sum_)


class Flags:
    """Writes the flags and barriers of one kernel; nothing at all if it holds none."""

    def __init__(self, kernel: GemmKernel, machine: Machine, tiles: Tiles, lines: Lines) -> None:
        self._kernel = kernel
        self._barriers = kernel.flags and needs_barriers(kernel, machine)
        self._lines = lines
        self._l1 = (*tiles.a, *tiles.b)
        self._lefts, self._rights = len(tiles.left), len(tiles.right)
        self._pairs = in_pairs(kernel)

    def prime(self) -> None:
        """Before the first tile: every buffer of L0 and L1 is free."""
        for token in range(self._l0_tokens):
            self._record(MATMUL, MOV, token)
        for tile in self._l1:
            self.l1_free(tile)

    def drain(self) -> None:
        """Behind the last tile: take back all tokens."""
        for tile in self._l1:
            self.wait_l1_free(tile)
        for token in range(self._l0_tokens):
            self._wait(MATMUL, MOV, token)
        if self._kernel.flags:
            self._lines.line("pto.barrier #pto.pipe<PIPE_ALL>")

    def wait_l1_free(self, tile: Tile) -> None:
        """Before a load."""
        self._wait(MOV, LOAD, self._l1.index(tile))

    def l1_full(self, tile: Tile) -> None:
        """Behind a load."""
        self._record(LOAD, MOV, self._l1.index(tile))

    def wait_l1_full(self, tile: Tile) -> None:
        """Before the first extract from a loaded tile."""
        self._wait(LOAD, MOV, self._l1.index(tile))

    def l1_free(self, tile: Tile) -> None:
        """Behind the last extract from it."""
        self._record(MOV, LOAD, self._l1.index(tile))

    def wait_left_free(self, left: int) -> None:
        """Before an extract to tile `left` of L0A; of a pair, before the extracts to both."""
        self._wait(MATMUL, MOV, left)

    def wait_right_free(self, right: int) -> None:
        """Before an extract to tile `right` of L0B."""
        if not self._pairs:
            self._wait(MATMUL, MOV, self._lefts + right)

    def left_free(self, left: int) -> None:
        """Behind the last matmul with tile `left` of L0A."""
        self._record(MATMUL, MOV, left)

    def right_free(self, right: int) -> None:
        """Behind the matmul with tile `right` of L0B."""
        if not self._pairs:
            self._record(MATMUL, MOV, self._lefts + right)

    def l0_full(self, right: int) -> None:
        """Behind the extracts of a matmul with tile `right` of L0B."""
        self._record(MOV, MATMUL, self._full_id(right))

    def wait_l0_full(self, right: int) -> None:
        """Before that matmul."""
        self._wait(MOV, MATMUL, self._full_id(right))

    def between_sums(self) -> None:
        """Before the first of the matmuls that add another part of K to all accumulators of a tile of C."""
        if self._barriers:
            self._lines.line("pto.barrier <PIPE_M>")

    def wait_acc_free(self, acc: int) -> None:
        """Before the first matmul into buffer `acc` of L0C, if there was a tile in it before."""
        self._wait(STORE, MATMUL, acc)

    def acc_full(self, acc: int) -> None:
        """Between the last matmul and the store."""
        self._record(MATMUL, STORE, acc)
        self._wait(MATMUL, STORE, acc)

    def acc_free(self, acc: int) -> None:
        """Behind the store, if there will be a tile in it again."""
        self._record(STORE, MATMUL, acc)

    @property
    def _l0_tokens(self) -> int:
        return self._lefts if self._pairs else self._lefts + self._rights

    def _full_id(self, right: int) -> int:
        return 0 if self._kernel.sync is Sync.HAND_SHARED else right

    def _record(self, source: str, target: str, event: int) -> None:
        self._event("record", source, target, event)

    def _wait(self, source: str, target: str, event: int) -> None:
        self._event("wait", source, target, event)

    def _event(self, kind: str, source: str, target: str, event: int) -> None:
        if self._kernel.flags:
            ops = f"#pto.sync_op_type<{source}>, #pto.sync_op_type<{target}>"
            self._lines.line(f"pto.{kind}_event[{ops}, <EVENT_ID{event}>]")
