"""Kernels back to text."""

from syncopt.emit.pto import render

__all__ = ["render"]
