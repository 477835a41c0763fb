"""Hardware pipes, memories and the flag pairs between pipes of the Ascend 910B."""

from enum import Enum
from typing import NamedTuple


class Pipe(Enum):
    """An in-order instruction pipe of a core, in the order in which timelines draw them."""

    S = "S"
    MTE2 = "MTE2"
    MTE1 = "MTE1"
    M = "M"
    V = "V"
    FIX = "FIX"
    MTE3 = "MTE3"
    ALL = "ALL"

    # A member is its own identity; the hash of Enum is Python code, on the hottest paths.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


PIPES: tuple[Pipe, ...] = (Pipe.S, Pipe.MTE2, Pipe.MTE1, Pipe.M, Pipe.V, Pipe.FIX, Pipe.MTE3)
"""The pipes that execute instructions (`Pipe.ALL` only names them together in a barrier)."""


class PipePair(NamedTuple):
    """An ordered pair of pipes: flags are set behind `source` and hold `target`."""

    source: Pipe
    target: Pipe

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


_BOTH_WAYS = (
    (Pipe.MTE2, Pipe.MTE1),
    (Pipe.MTE1, Pipe.M),
    (Pipe.M, Pipe.FIX),
    (Pipe.MTE2, Pipe.V),
    (Pipe.V, Pipe.MTE3),
    (Pipe.MTE3, Pipe.MTE2),
    (Pipe.MTE2, Pipe.M),
    (Pipe.M, Pipe.V),
    (Pipe.MTE1, Pipe.V),
    (Pipe.MTE1, Pipe.MTE3),
    (Pipe.FIX, Pipe.MTE2),
    (Pipe.FIX, Pipe.MTE3),
    (Pipe.S, Pipe.MTE2),
    (Pipe.S, Pipe.MTE3),
    (Pipe.S, Pipe.V),
)
_ONE_WAY = ((Pipe.MTE2, Pipe.FIX), (Pipe.M, Pipe.S), (Pipe.FIX, Pipe.S), (Pipe.FIX, Pipe.MTE1))

LEGAL_PAIRS: frozenset[PipePair] = frozenset(
    [PipePair(a, b) for a, b in _BOTH_WAYS]
    + [PipePair(b, a) for a, b in _BOTH_WAYS]
    + [PipePair(a, b) for a, b in _ONE_WAY]
)
"""Pairs for which the hardware has event ids (official intrinsics pages)."""

EVENT_IDS = 8
"""Event ids 0..7 exist per ordered pair of pipes."""


class Memory(Enum):
    """A memory of a core by its PTO `loc` name, and global memory."""

    GM = "gm"
    MAT = "mat"
    LEFT = "left"
    RIGHT = "right"
    ACC = "acc"
    VEC = "vec"
    BIAS = "bias"
    SCALING = "scaling"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


class SectionKind(Enum):
    """The kind of core that runs a part of a kernel."""

    CUBE = "cube"
    VECTOR = "vector"
