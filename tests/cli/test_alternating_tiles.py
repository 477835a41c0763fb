"""Tiles that take turns in C++ (`odd ? b : a`), one of them loaded ahead: solved, and read again."""

from pathlib import Path

import pytest

from tests.cli.running import document, syncopt

KERNEL = """__global__ AICORE void turns(__gm__ float *x, __gm__ float *y, int32_t n) {
  using View = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
  Tile<TileType::Vec, float, 64, 64> a, b, c;
  TASSIGN(a, 0);
  TASSIGN(b, 16384);
  TASSIGN(c, 32768);
  View first(x), to(y);
  TLOAD(a, first);
  for (int32_t i = 0; i < n; ++i) {
    int32_t turn = i & 1;
    View next(x + (i + 1) * 4096);
    if (i + 1 < n) {
      TLOAD(turn == 1 ? a : b, next);
    }
    TADD(c, turn == 1 ? b : a, turn == 1 ? b : a);
  }
}
"""
FLAGGED = """  View first(x), to(y);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  TLOAD(a, first);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  for (int32_t i = 0; i < n; ++i) {
    int32_t turn = i & 1;
    View next(x + (i + 1) * 4096);
    if (i + 1 < n) {
      wait_flag(PIPE_V, PIPE_MTE2, (turn == 1) ? EVENT_ID0 : EVENT_ID1);
      TLOAD(turn == 1 ? a : b, next);
      set_flag(PIPE_MTE2, PIPE_V, (turn == 1) ? EVENT_ID0 : EVENT_ID1);
    }
    wait_flag(PIPE_MTE2, PIPE_V, (turn == 1) ? EVENT_ID1 : EVENT_ID0);
    pipe_barrier(PIPE_V);
    TADD(c, turn == 1 ? b : a, turn == 1 ? b : a);
    set_flag(PIPE_V, PIPE_MTE2, (turn == 1) ? EVENT_ID1 : EVENT_ID0);
  }
  const bool no_trip = (int32_t) 0 >= (int32_t) n;
  if (no_trip) {
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  pipe_barrier(PIPE_ALL);
"""


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The kernel with its plan, and what the solve has said."""
    folder = tmp_path_factory.mktemp("turns")
    path, output = folder / "turns.cpp", folder / "o.cpp"
    path.write_text(KERNEL, encoding="utf-8")
    return output, document(syncopt("solve", path, "--args", "8", "-o", output, "--json"))


def test_every_flag_has_the_id_of_its_tile(solved: tuple[Path, dict[str, object]]) -> None:
    output, _ = solved
    assert output.read_text(encoding="utf-8").partition("TASSIGN(c, 32768);\n")[2] == f"{FLAGGED}}}\n"


def test_plan_is_proven_for_any_number_of_rounds(solved: tuple[Path, dict[str, object]]) -> None:
    output, _ = solved
    found = document(syncopt("check", output, "--args", "8", "--json"))
    assert (found["verdict"], found["findings"]) == ("clean", [])
    assert found["proven"] == ["all trip counts >= 0 of the i loop, period 2"]


def test_loads_never_wait_for_the_add_right_before(solved: tuple[Path, dict[str, object]]) -> None:
    """See test_rotation: flags rise 8 cycles after they are set, a load takes 280 and 264 more, an add 128 and 24 more.

    Load 0 starts at 10, when the flags that are set at 1 and 2 have risen; it is complete at 554, and add 0 runs from
    562 to 690 and is complete at 714, so that load 2 starts at 722. Load 1 starts right behind load 0 and its set, at
    291, is complete at 835, add 1 starts at 843. Two rounds take the 712 cycles from load 0 to load 2. The last of 8
    adds starts 3 * 712 after add 1 and is complete 152 later.
    """
    _, found = solved
    assert found["cycles"] == 843 + 3 * 712 + 152
