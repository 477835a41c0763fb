"""Bodies of functions in `.pto` text before and after a change of their trees."""

from collections.abc import Callable

import pytest

from syncopt.emit import render
from tests.emit.edit.trees import Ops, change, in_function, kernel_of, shapes


def rendered(text: str, how: Callable[[Ops], Ops]) -> str:
    """The text after a change of its blocks; it holds the ops of the changed tree."""
    kernel = kernel_of(text)
    changed = change(kernel, how)
    output = render(kernel, changed)
    assert shapes(kernel_of(output)) == shapes(changed)
    return output.decode()


def body_after(body: str, how: Callable[[Ops], Ops]) -> str:
    """What stands between the braces of the function after a change."""
    before, after = in_function("|").split("|")
    output = rendered(in_function(body), how)
    assert output.startswith(before)
    assert output.endswith(after)
    return output[len(before) : len(output) - len(after)]


def refused(body: str, how: Callable[[Ops], Ops]) -> str:
    """What is said of a change that no text can follow."""
    kernel = kernel_of(in_function(body))
    with pytest.raises(ValueError, match=r".") as error:
        render(kernel, change(kernel, how))
    return str(error.value)
