"""How figures are written."""

from syncopt.api.words import arguments, binding, count, counted, percent, share, times

__all__ = ["arguments", "binding", "count", "counted", "percent", "share", "times"]
