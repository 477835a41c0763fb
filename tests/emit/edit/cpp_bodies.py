"""Bodies of functions in C++ text before and after a change of their trees."""

from collections.abc import Callable

import pytest

from syncopt.emit import render
from syncopt.frontend import parse_module
from syncopt.ir.kernel import Kernel
from syncopt.ir.source import Source
from syncopt.model.rewrite import strip_flags
from tests.emit.edit.trees import Ops, change

HEAD = "__global__ AICORE void k(__gm__ float* p, int32_t n, bool c) {"
SET, WAIT = "set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);", "wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);"
BASE = """
  // größer als nötig: 8 × 8
  using Buffer = Tile<TileType::Vec, float, 8, 8>;  // a type
  Buffer a, b; /* two */
  TASSIGN(a, 0);

  TASSIGN(b, 1024);
  #if defined(__DAV_VEC__)  // section
  // loop
  for (int i = 0; i < n; ++i) {  // steps
    // wait
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);  // old
    TADD(b,
         a, a);
    if (c) { pipe_barrier(PIPE_V); } else { };
    // end of the body
  }
  #endif // __DAV_VEC__
  return;
"""


def kernel_of(text: str | bytes) -> Kernel:
    """The only kernel of a text."""
    return parse_module(Source("k.cpp", text.encode() if isinstance(text, str) else text)).kernel()


def rendered(text: str, how: Callable[[Ops], Ops]) -> str:
    """The text after a change of its blocks; it can be read again."""
    kernel = kernel_of(text)
    output = render(kernel, change(kernel, how))
    kernel_of(output)
    return output.decode()


def body_after(body: str, how: Callable[[Ops], Ops]) -> str:
    """What stands between the braces of the function after a change."""
    output = rendered(f"{HEAD}{body}}}\n", how)
    assert output.startswith(HEAD)
    assert output.endswith("}\n")
    return output.removeprefix(HEAD).removesuffix("}\n")


def stripped(body: str) -> str:
    """The body without the flags and what served only them."""
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    return render(kernel, strip_flags(kernel)).decode().removeprefix(HEAD).removesuffix("}\n")


def refused(body: str, how: Callable[[Ops], Ops]) -> str:
    """What is said of a change that no text can follow."""
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    with pytest.raises(ValueError, match=r"an op|no text|became") as caught:
        render(kernel, change(kernel, how))
    return str(caught.value)
