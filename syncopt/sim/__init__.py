"""Replay of a kernel with its flags: the reference meaning of a plan."""

from syncopt.sim.replay import Listener, Pricing, replay
from syncopt.sim.stress import StressedCosts
from syncopt.sim.timing import Deadlock, DoubleSet, FlagLeft, Replay, Timing

__all__ = [
    "Deadlock",
    "DoubleSet",
    "FlagLeft",
    "Listener",
    "Pricing",
    "Replay",
    "StressedCosts",
    "Timing",
    "replay",
]
