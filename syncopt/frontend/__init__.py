"""Text to Kernel: `.pto` and C++ files, every op with its byte span."""

from syncopt.frontend._module import FunctionRef, Module, parse_module, read_module

__all__ = ["FunctionRef", "Module", "parse_module", "read_module"]
