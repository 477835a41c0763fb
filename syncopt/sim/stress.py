"""Machines that are not as fast as they should be: every op with a cost factor of its own."""

import random
from fractions import Fraction
from math import ceil

from syncopt.hwmodel import Cost, Machine
from syncopt.ir.trace import Instance

SLOWEST, FASTEST = Fraction(2), Fraction(1, 2)
_STEPS = 1000


class StressedCosts:
    """Costs of tile ops times a factor between 0.5 and 2, drawn once per op of the kernel.

    Parameters
    ----------
    machine : Machine
        Whose costs.
    seed : int
        Draws the factors; the same seed gives the same factors.
    """

    def __init__(self, machine: Machine, seed: int) -> None:
        self._machine = machine
        self._seed = seed
        self._factors: dict[int, Fraction] = {}

    def __call__(self, instance: Instance) -> Cost:
        """The cost of an instance in this run, in cycles, rounded up."""
        assert instance.work is not None, "a tile op"
        cost = self._machine.cost(instance.work)
        factor = self._factor(instance.op.uid)
        return Cost(ceil(cost.occupancy * factor), ceil(cost.latency * factor), cost.entries)

    def _factor(self, uid: int) -> Fraction:
        found = self._factors.get(uid)
        if found is None:
            step = random.Random(f"{self._seed} {uid}").randrange(_STEPS + 1)
            found = self._factors[uid] = FASTEST + (SLOWEST - FASTEST) * Fraction(step, _STEPS)
        return found
