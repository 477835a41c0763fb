"""What changed from one tree of a kernel to another."""

from dataclasses import fields

from syncopt.ir.kernel import Kernel, Op


def check_same_file(original: Kernel, changed: Kernel) -> None:
    """Both trees must be of one file.

    Raises
    ------
    ValueError
        If they are not.
    """
    if original.source is not changed.source:
        raise ValueError("the changed kernel is of another file")


def changed_fields(old: Op, new: Op) -> list[str]:
    """Names of the fields in which an op differs.

    Raises
    ------
    ValueError
        If it became another kind of op.
    """
    if type(old) is not type(new):
        raise ValueError(f"op {old.uid} became a {type(new).__name__}")
    return [field.name for field in fields(old) if getattr(old, field.name) != getattr(new, field.name)]
