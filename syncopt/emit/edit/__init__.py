"""Changed kernels as the text that they were read from, edited: what did not change stays as it was."""

from syncopt.emit.edit.cpp_called import check_writable
from syncopt.emit.edit.rendering import render

__all__ = ["check_writable", "render"]
