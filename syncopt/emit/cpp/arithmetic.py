"""Sums and products of sizes, strides and offsets, as far as they can be done before the kernel runs."""

from collections.abc import Iterable

Number = int | str
"""A constant, or a product in C++ that is not known before."""


def product(a: Number, b: Number) -> Number:
    """The product of two numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if 0 in (a, b):
        return 0
    factors = [str(factor) for factor in (a, b) if factor != 1]
    return " * ".join(factors)


def total(terms: Iterable[Number]) -> Number:
    """The sum of several numbers, constants last."""
    terms = list(terms)
    constant = sum(term for term in terms if isinstance(term, int))
    unknown = [term for term in terms if isinstance(term, str)]
    if not unknown:
        return constant
    return " + ".join([*unknown, *([str(constant)] if constant else [])])


def moved(pointer: str, offset: Number) -> str:
    """A pointer some elements further."""
    if offset == 0:
        return pointer
    return f"{pointer} + ({offset})" if " " in str(offset) else f"{pointer} + {offset}"
