"""Changed kernels as the text that they were read from, edited: what did not change stays as it was."""

from syncopt.emit.edit.rendering import render

__all__ = ["render"]
