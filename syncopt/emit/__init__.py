"""Kernels back to text."""

from syncopt.emit.cpp import cpp_text
from syncopt.emit.edit import check_writable, render

__all__ = ["check_writable", "cpp_text", "render"]
