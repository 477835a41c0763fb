"""Kernels back to text."""

from syncopt.emit.cpp import cpp_text
from syncopt.emit.cpp_called import check_writable
from syncopt.emit.rendering import render

__all__ = ["check_writable", "cpp_text", "render"]
