"""What a program holds, and what cannot be executed."""

import numpy as np
import pytest

from syncopt.execute import program, read_program
from syncopt.execute.rules import RULES
from syncopt.hwmodel import load_machine
from syncopt.ir.optable import op_names
from syncopt.ir.pipes import Memory
from syncopt.ir.source import InputError
from syncopt.ir.trace import Setting
from tests.execute.kernels import Number, Tile, kernel_of, one_op, result, run, view
from tests.execute.streams import program_of, stream

TILE = "!pto.tile_buf<vec, 8x64xf32>"
LOAD = f"pto.tload ins(%xp : !pto.partition_tensor_view<8x64xf32>) outs(%t : {TILE})"
STORE = f"pto.tstore ins(%t : {TILE}) outs(%xp : !pto.partition_tensor_view<8x64xf32>)"
HEAD = f"{view('x', 'f32', 8, 64)}%a = arith.constant 0 : i64\n%t = pto.alloc_tile addr = %a : {TILE}\n"


def refusal(body: str, arguments: str = "%x: !pto.ptr<f32>, %n: index, %s: f32", **given: int) -> str:
    with pytest.raises(InputError) as refused:
        run(kernel_of(arguments, body), **given)
    return str(refused.value)


def test_rules_are_for_known_ops() -> None:
    assert set(RULES) <= set(op_names())


def test_memories_have_the_sizes_of_the_machine_and_of_what_is_reached() -> None:
    """4 blocks of 8 x 64 f32 behind either pointer."""
    start = program_of(stream(), blocks=4).start.arrays
    sizes = {str(space) if isinstance(space, Memory) else space.name: len(array) for space, array in start.items()}
    assert sizes == {
        "mat": 524288,
        "left": 65536,
        "right": 65536,
        "acc": 131072,
        "vec": 196608,
        "bias": 1024,
        "scaling": 7168,
        "%x": 4 * 2048,
        "%y": 4 * 2048,
    }


def test_numbers_behind_pointers_are_small_and_come_again() -> None:
    first, again, other = (program_of(stream(), seed=seed) for seed in (1, 1, 2))
    arrays = [list(program.start.arrays.values())[-1].view(np.float32) for program in (first, again, other)]
    assert np.array_equal(arrays[0], arrays[1])
    assert not np.array_equal(arrays[0], arrays[2])
    assert set(np.unique(arrays[0])) == {n / 2 for n in range(-4, 5)}


@pytest.mark.parametrize(
    ("dtype", "lowest", "highest"), [("i8", -4, 4), ("ui16", 0, 7), ("i32", -4, 4), ("bf16", -2, 2)]
)
def test_numbers_of_every_type(dtype: str, lowest: int, highest: int) -> None:
    a, _ = result("trowexpand" if dtype == "ui16" else "tmov", [Tile(dtype, 32, 32)], Tile(dtype, 32, 32))
    assert (a.min(), a.max()) == (lowest, highest)


def test_float_arguments_have_a_number() -> None:
    """y = x * s with s from the seed."""
    body = f"{HEAD}{LOAD}\npto.tmuls ins(%t, %s : {TILE}, f32) outs(%t : {TILE})\n{STORE}"
    done = run(kernel_of("%x: !pto.ptr<f32>, %s: f32", body))
    before, after = done.before("x"), done.after("x")
    factor = after[before == 2][0] / 2
    assert factor > 0
    assert np.array_equal(after, before * factor)


def test_op_without_numeric_meaning_is_refused_by_name() -> None:
    message = refusal(f"{HEAD}{LOAD}\npto.tsort32 ins(%t, %t : {TILE}, {TILE}) outs(%t : {TILE})\n{STORE}")
    assert message.startswith("f.pto:12:1: error: pto.tsort32 has no numeric meaning here")
    assert "help: check without --execute judges it by order" in message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (LOAD, "nothing is stored to global memory: there is no number to compare"),
        (f"{LOAD}\n{STORE}".replace("%xp", "%up"), "what is reached through %x is not known, or stands before it"),
        (
            f"%h = arith.truncf %s : f32 to f16\n%b = arith.cmpf oeq, %h, %h : f16\nscf.if %b {{\n{STORE}\n}}",
            "the condition of scf.if is not known from the arguments",
        ),
        (f"pto.barrier <PIPE_S>\n{STORE}", "the scalar pipe has no barrier"),
        (f"{STORE} {{quant = [1]}}", "attribute [1] is not understood"),
    ],
)
def test_kernel_that_cannot_be_executed(body: str, message: str) -> None:
    below = (
        "%m1 = arith.constant -1 : index\n%up = pto.partition_view %xv, offsets = [%m1, %c0], sizes = [%c8, %c64]"
        " : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>\n"
    )
    found = refusal(f"{HEAD}{below}{body}")
    assert message in found
    assert found.startswith("f.pto:")


def test_kernel_without_pointers_is_refused() -> None:
    """There is nothing to see."""
    kernel = kernel_of("%n: index", f"%a = arith.constant 0 : i64\n%t = pto.alloc_tile addr = %a : {TILE}")
    with pytest.raises(InputError, match="f has no pointer argument"):
        run(kernel)


def test_too_many_instructions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """4 blocks take 2 + 4 * 11 + 3 instructions."""
    monkeypatch.setattr(program, "MOST_INSTRUCTIONS", 48)
    with pytest.raises(InputError) as refused:
        program_of(stream(), blocks=4)
    assert "more than 48 instructions with these arguments: too many to execute" in str(refused.value)
    assert "help: give smaller arguments with --set" in str(refused.value)
    monkeypatch.setattr(program, "MOST_INSTRUCTIONS", 49)
    assert len(program_of(stream(), blocks=4).instances) == 49


def test_too_much_memory_is_refused() -> None:
    """Block 300,000 of 2,048 bytes."""
    with pytest.raises(InputError, match=r"614,402,048 bytes of %x are reached: too many to execute"):
        program_of(stream(body="%far = arith.constant 300000 : index\nrows %far\nload t0\nstore t0\n"))


def test_address_behind_the_memory_is_refused() -> None:
    kernel, op = one_op("tadds", [Tile("f32", 8, 64), Number(1.0, "f32")], Tile("f32", 8, 64))
    text = kernel.source.data.decode().replace("arith.constant 32768 : i64", "arith.constant 196352 : i64")
    assert op in text
    with pytest.raises(InputError, match=r"bytes 196,352 to 198,400 are not there: vec has 196,608 bytes"):
        run(kernel_of("%p0: !pto.ptr<f32>, %out: !pto.ptr<f32>", text.split("{\n", 2)[2].rsplit("}\nreturn", 1)[0]))


def test_layout_of_fractals_in_global_memory_is_refused() -> None:
    body = f"{HEAD}{LOAD}\n{STORE}".replace("strides = [%c64, %c1]", "strides = [%c64, %c1] {layout = #pto.layout<nz>}")
    assert "%xp has the layout nz, which has no meaning here" in refusal(body)


def test_blocks_of_other_cores_are_left_alone() -> None:
    """Core 1 of 2 of a kernel that does what its block index says."""
    body = (
        f"{HEAD}%i = pto.get_block_idx\n%b = arith.index_cast %i : i64 to index\n%r = arith.muli %b, %c8 : index\n"
        "%wv = pto.make_tensor_view %x, shape = [%c16, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>\n"
        "%wp = pto.partition_view %wv, offsets = [%r, %c0], sizes = [%c8, %c64]"
        " : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x64xf32>\n"
        f"%z = arith.constant 9.0 : f32\npto.texpands ins(%z : f32) outs(%t : {TILE})\n{STORE.replace('%xp', '%wp')}"
    )
    kernel = kernel_of("%x: !pto.ptr<f32>", body)
    found = read_program(kernel, Setting({}, 1, 2), load_machine("910b2"))
    assert list(found.sizes.values()) == [16 * 64 * 4]
