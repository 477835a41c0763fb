"""Whatever moves: every statement of the output sees the values that it saw before, or the change is refused."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from syncopt.emit import render
from syncopt.ir.kernel import Block, Flag, Kernel, Op, Value, regions, walk
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting, Tracer
from syncopt.ir.values import is_pure, operands_of, results_of
from syncopt.model.rewrite import strip_flags, with_ops, with_regions
from tests.emit.edit.cpp_bodies import kernel_of
from tests.emit.edit.trees import Ops, change, set_flag

HEAD = "__global__ AICORE void k(int32_t x, int32_t y, bool c) {"
COMMENTS = st.sampled_from(["", "  // größer {", " /* } */ // b", "\t//"])
GAPS = st.sampled_from(["\n", "\n\n", " ", "\n    // above\n    ", "\r\n  ", " // behind\n\n  // above\n"])
NAMES = st.sampled_from("xyz")


@st.composite
def statements(draw: st.DrawFn, number: int) -> str:
    """One statement: flags whose id tells what they saw, and what changes that."""
    name, other = draw(NAMES), draw(NAMES)
    return draw(
        st.sampled_from(
            [
                f"set_flag(PIPE_V, PIPE_S, {number} * 1000 + {name});",
                f"set_flag(PIPE_V, PIPE_S, {number} * 1000 + {name});",
                f"{name} = {other} + 1;",
                f"{name} = {other};",
                f"{name} += {other} * 2;",
                f"int32_t own{number} = {name};",
                f"if (c) {{ {name} = {other} * 3; }}",
                f"if (c) set_flag(PIPE_V, PIPE_S, {number} * 1000 + {name}); else {name} = {other} - 1;",
                f"for (int i = 0; i < 2; ++i) {{ set_flag(PIPE_V, PIPE_S, {number} * 1000 + {name} + i); }};",
                f"for (int i = 0; i < 2; ++i) {name} += i;",
                f"for (int i = 2; i >= 0; --i) {{ if (i == {name}) continue; {name} += i; }}",
                f"{{ {name} = {other}; int32_t {other} = c; set_flag(PIPE_V, PIPE_S, {number} * 1000 + {other}); }}",
                f"int32_t i{number} = 0; while (i{number} < 2) {{ {name} += i{number}; i{number} += 1; }}",
                f"if ({name} > {other} * 2) return;",
                f"if (c) {{ set_flag(PIPE_V, PIPE_S, {number} * 1000 + {name}); return; }}",
            ]
        )
    )


@st.composite
def bodies(draw: st.DrawFn) -> str:
    parts = ["\n  int32_t z = y + 5;", draw(GAPS)]
    for number in range(draw(st.integers(0, 7))):
        comment = draw(COMMENTS)
        parts += [draw(statements(number)), comment, "\n" if comment else "", draw(GAPS)]
    name, flag = draw(NAMES), "set_flag(PIPE_V, PIPE_S, 9000 + z);"
    last = draw(
        st.sampled_from(
            [
                "",
                f"if ({name} > 12) {{ if (c) return; {flag} }}",
                f"if ({name} > 12) {{ {flag} return; }} else if (c) {flag}",
                f"{{ {flag} if (c) {{ return; }} {flag} }}",
            ]
        )
    )
    return "".join((*parts, last, "\n"))


def shuffled(ops: Ops, data: st.DataObject) -> Ops:
    """The ops in another order in which every value is made before it is used."""
    makers = {value: op for op in ops for value in results_of(op)}
    order: dict[Op, None] = {}

    def place(op: Op) -> None:
        for value in needs(op):
            if value in makers and makers[value] is not op:
                place(makers[value])
        order[op] = None

    heads = [op for op in ops if not is_pure(op)]
    ends = [op for op in heads if op.span.start == op.span.end]
    moving = [op for op in heads if op not in ends]
    for op in data.draw(st.permutations(moving), label="order") if moving else ():
        place(op)
    for op in (*(op for op in ops if op not in ends), *ends):
        place(op)
    return tuple(order)


def needs(op: Op) -> Iterator[Value]:
    inside = (inner for region in regions(op) for inner in walk(region))
    return (value for one in (op, *inside) for value in operands_of(one))


def events(kernel: Kernel) -> list[int]:
    """What the flags of a kernel saw, sorted; each has a number of its own in the thousands."""
    found: list[int] = []
    for chosen in (0, 1):
        setting = Setting({"x": 7, "y": 11, "c": chosen}, 0, 1)
        found += [instance.event + 100_000_000 * chosen for instance in Tracer(kernel, setting)]
    return sorted(found)


@settings(max_examples=200)
@given(body=bodies(), data=st.data())
def test_moved_statements_see_the_values_that_they_saw(body: str, data: st.DataObject) -> None:
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    changed = change(kernel, lambda ops: shuffled(ops, data))
    assert events(changed) == events(kernel)
    try:
        output = render(kernel, changed)
    except InputError:
        return
    assert events(kernel_of(output)) == events(kernel), output.decode()
    assert output.count(b"//") == body.count("//")


@settings(max_examples=100)
@given(body=bodies(), data=st.data())
def test_text_without_its_flags_and_with_others_can_be_read(body: str, data: st.DataObject) -> None:
    """Nothing of what stays needs what went, and what stays are the ops of the tree."""
    kernel = kernel_of(f"{HEAD}{body}}}\n")
    bare = strip_flags(kernel)
    assert not [op for op in walk(kernel_of(render(kernel, bare)).body) if isinstance(op, Flag)]
    flagged = replace(bare, body=flags_added(bare.body, data, count(-1, -1)))
    again = kernel_of(render(kernel, flagged))
    assert passed(again) == passed(flagged), again.source.data.decode()
    assert render(again, change(again, lambda ops: ops)) == again.source.data


def flags_added(block: Block, data: st.DataObject, uids: Iterator[int]) -> Block:
    """The block with flags anywhere in it and in the blocks inside it."""
    ops: list[Op] = []
    for op in block.ops:
        inner = with_regions(op, [flags_added(region, data, uids) for region in regions(op)])
        here = data.draw(st.booleans(), label="flag") if ops or op.span.start < op.span.end else False
        number = next(uids)
        ops += [*([set_flag(event=number % 8, uid=number)] if here else []), inner]
    return with_ops(block, ops)


def passed(kernel: Kernel) -> list[list[int]]:
    """The ids of the flags that a kernel comes past, in order, for both values of its condition."""
    settings = [Setting({"x": 7, "y": 11, "c": chosen}, 0, 1) for chosen in (0, 1)]
    return [[instance.event for instance in Tracer(kernel, setting)] for setting in settings]
