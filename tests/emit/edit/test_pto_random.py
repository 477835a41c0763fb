"""Whatever is removed, moved or added: every op that stays keeps its text, and the output holds the changed tree."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from syncopt.emit import render
from syncopt.ir.kernel import Block, Kernel, Op, regions
from tests.emit.edit.trees import Ops, change, in_function, kernel_of, set_flag, shapes, text_of

COMMENTS = st.sampled_from(["", "  // größer {", "// a } b", "\t//"])
GAPS = st.sampled_from(["\n", "\n\n", " ", "\n    // above\n    ", "\r\n  ", " // behind\n\n  // above\n"])
LEAVES = st.sampled_from(
    ["pto.barrier <PIPE_V>", "pto.barrier\n  <PIPE_M>", "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>] loc(#l)"]
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> str:
    """The inside of a region; its ops depend on nothing but the arguments."""
    parts = [draw(GAPS)]
    for _ in range(draw(st.integers(0, 4))):
        op = draw(LEAVES)
        if depth and draw(st.booleans()):
            op = f"scf.if %run {{{draw(blocks(depth - 1))}}}"
            op += f" else {{{draw(blocks(depth - 1))}}}" if draw(st.booleans()) else ""
        comment = draw(COMMENTS)
        parts += [op, comment, "\n" if comment else "", draw(GAPS)]
    return "".join(parts)


@dataclass
class Shuffle:
    """Removes, moves and adds ops as hypothesis draws; `gone` and `added` say which."""

    data: st.DataObject
    added: int = 0

    def __call__(self, ops: Ops) -> Ops:
        kept = [op for op in ops if self.data.draw(st.booleans(), label="keep")]
        order: list[Op] = self.data.draw(st.permutations(kept), label="order") if kept else []
        for _ in range(self.data.draw(st.integers(0, 2), label="adds")):
            self.added += 1
            order.insert(self.data.draw(st.integers(0, len(order)), label="at"), set_flag(uid=-self.added))
        return tuple(order)


@given(body=blocks(), data=st.data())
def test_kept_ops_keep_their_text(body: str, data: st.DataObject) -> None:
    kernel = kernel_of(in_function(body))
    changed = change(kernel, Shuffle(data))
    output = render(kernel, changed)
    again = kernel_of(output)
    assert shapes(again) == shapes(changed)
    assert render(again, again) == output
    compare_texts(kernel, changed.body, again, again.body)


def compare_texts(kernel: Kernel, block: Block, again: Kernel, block_again: Block) -> None:
    """Ops without regions are spelled as in the file they came from."""
    for op, op_again in zip(block.ops, block_again.ops, strict=True):
        if op.uid >= 0 and not regions(op):
            assert text_of(again, op_again) == text_of(kernel, op)
        for region, region_again in zip(regions(op), regions(op_again), strict=True):
            compare_texts(kernel, region, again, region_again)


@given(body=blocks(), data=st.data())
def test_comments_survive_moves(body: str, data: st.DataObject) -> None:
    """Ops that only move take all their comments along."""
    kernel = kernel_of(in_function(body))
    changed = change(kernel, lambda ops: tuple(data.draw(st.permutations(ops))) if ops else ops)
    assert render(kernel, changed).count(b"//") == body.count("//")
