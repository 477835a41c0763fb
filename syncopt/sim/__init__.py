"""Replay of a kernel with its flags: the reference meaning of a plan."""

from syncopt.sim.critical import CriticalPath, critical_path
from syncopt.sim.paths import Cause, Stretch
from syncopt.sim.replay import Listener, Pricing, replay
from syncopt.sim.stress import StressedCosts
from syncopt.sim.timing import Deadlock, DoubleSet, FlagLeft, Replay, Timing

__all__ = [
    "Cause",
    "CriticalPath",
    "Deadlock",
    "DoubleSet",
    "FlagLeft",
    "Listener",
    "Pricing",
    "Replay",
    "StressedCosts",
    "Stretch",
    "Timing",
    "critical_path",
    "replay",
]
