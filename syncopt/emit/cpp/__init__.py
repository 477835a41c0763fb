"""Kernels as PTO-ISA C++, in the style of ptoas but with the names of the text."""

from syncopt.emit.cpp.kernel import cpp_text

__all__ = ["cpp_text"]
