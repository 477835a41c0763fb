"""Timelines of replays: files for viewers, and the slices that they are made of."""

from syncopt.emit.timeline.chrome import write_chrome
from syncopt.emit.timeline.mindstudio import write_mindstudio
from syncopt.emit.timeline.slices import FlagUse, Slice, SliceKind, Stall, slices
from syncopt.emit.timeline.versions import Arrows, Cycles, Shown, Version, lanes_of, show

__all__ = [
    "Arrows",
    "Cycles",
    "FlagUse",
    "Shown",
    "Slice",
    "SliceKind",
    "Stall",
    "Version",
    "lanes_of",
    "show",
    "slices",
    "write_chrome",
    "write_mindstudio",
]
