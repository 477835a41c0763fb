"""Kernels back to the text that they were read from."""

from syncopt.emit.edit.cpp import render_cpp
from syncopt.emit.edit.pto import render_pto
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Language


def render(original: Kernel, changed: Kernel) -> bytes:
    """The whole file of a kernel with this function's text after its changed tree, in the language of the file.

    Parameters
    ----------
    original : Kernel
        The kernel as read.
    changed : Kernel
        The same kernel with ops removed, moved within their block or added (uid below 0), and addresses given to
        allocations that had none.

    Raises
    ------
    ValueError
        If the tree was changed in another way.
    InputError
        If C++ text cannot follow the tree: a statement moved over the assignment of a variable that it uses.
    """
    write = render_cpp if original.source.language is Language.CPP else render_pto
    return write(original, changed)
