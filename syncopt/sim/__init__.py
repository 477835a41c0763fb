"""Replay of a kernel with its flags: the reference meaning of a plan."""

from syncopt.sim.replay import Listener, replay
from syncopt.sim.timing import Deadlock, DoubleSet, FlagLeft, Replay, Timing

__all__ = ["Deadlock", "DoubleSet", "FlagLeft", "Listener", "Replay", "Timing", "replay"]
