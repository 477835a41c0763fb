"""Kernels back to text."""

from syncopt.emit.rendering import render

__all__ = ["render"]
