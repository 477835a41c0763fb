"""Runs the trace of a GEMM kernel on numbers: every load, extract, matmul and store in program order.

What a tile op touches comes from the footprints of the trace; flags have no effect here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from syncopt.ir.footprint import Footprint
from syncopt.ir.kernel import Kernel, TileOp, Value
from syncopt.ir.pipes import Memory
from syncopt.ir.trace import Instance, Setting, Tracer
from syncopt.ir.types import Layout
from syncopt.ir.work import Operand

Matrix = NDArray[np.float64]


@dataclass
class Evaluation:
    """What the blocks of a kernel did with global memory.

    Parameters
    ----------
    memory : mapping of pointer name (without `%`) to array
        Flat arrays of elements; the stored one is changed.
    matmuls, loaded, stores : int
        Matmuls, bytes loaded, and writes of elements.
    """

    memory: Mapping[str, Matrix]
    matmuls: int = 0
    loaded: int = 0
    stores: int = 0
    _tiles: dict[tuple[Memory, int], Matrix] = field(default_factory=dict[tuple[Memory, int], Matrix])

    def run(self, kernel: Kernel, setting: Setting) -> None:
        """Run one block; nothing is left in its tiles from the one before."""
        self._tiles.clear()
        for instance in Tracer(kernel, setting):
            if isinstance(instance.op, TileOp):
                self._step(instance.op, instance)

    def _step(self, op: TileOp, instance: Instance) -> None:
        work = instance.work
        assert work is not None
        read = [access.footprint for access in instance.accesses if not access.writes]
        (written,) = [access.footprint for access in instance.accesses if access.writes]
        match op.name:
            case "pto.tload":
                self.loaded += work.ins[0].bytes
                self._tiles[_key(written)] = self._loaded(read[0], work.ins[0], work.outs[0])
            case "pto.textract":
                row, column = (_constant(value) for value in op.ins[1:])
                rows, columns = work.outs[0].rows, work.outs[0].cols
                part = self._tiles[_key(read[0])][row : row + rows, column : column + columns]
                assert part.shape == (rows, columns)
                self._tiles[_key(written)] = part
            case "pto.tmatmul" | "pto.tmatmul.acc":
                self.matmuls += 1
                left, right = (self._tiles[_key(footprint)] for footprint in read if footprint.space is not Memory.ACC)
                before = self._tiles[_key(written)] if op.name.endswith(".acc") else 0
                self._tiles[_key(written)] = before + left @ right
            case "pto.tstore":
                self.stores += work.outs[0].rows * work.outs[0].cols
                elements = _elements(written, work.outs[0])
                self.memory[_pointer(written)][elements] = self._tiles[_key(read[0])].ravel()
            case _:
                raise AssertionError(op.name)

    def _loaded(self, footprint: Footprint, view: Operand, tile: Operand) -> Matrix:
        """What a load makes of a view: columns behind one another (DN) in a tile with `blayout=row_major`."""
        found = self.memory[_pointer(footprint)][_elements(footprint, view)]
        if tile.blayout is Layout.COL_MAJOR:
            return found.reshape(view.rows, view.cols)
        return found.reshape(view.cols, view.rows).T


def _key(footprint: Footprint) -> tuple[Memory, int]:
    assert isinstance(footprint.space, Memory)
    return footprint.space, footprint.start


def _pointer(footprint: Footprint) -> str:
    assert isinstance(footprint.space, Value)
    return footprint.space.name.removeprefix("%")


def _constant(value: Value) -> int:
    """The number in the name of a constant such as `%c64`."""
    return int(value.name.removeprefix("%c"))


def _elements(footprint: Footprint, view: Operand) -> NDArray[np.intp]:
    """Places of a footprint's elements, in the order of their addresses."""
    size = view.dtype.size
    places = np.array([footprint.start // size])
    for count, stride in footprint.dims:
        places = (places[:, None] + np.arange(count) * (stride // size)).ravel()
    places = (places[:, None] + np.arange(footprint.width // size)).ravel()
    assert len(places) == view.rows * view.cols
    return places
