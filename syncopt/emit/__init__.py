"""Kernels back to text."""

from syncopt.emit.cpp import cpp_text
from syncopt.emit.edit import render

__all__ = ["cpp_text", "render"]
