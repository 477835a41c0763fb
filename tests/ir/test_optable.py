"""The op table: pipes of forms that the public tools print, roles of operands, ops that are refused."""

import pytest

from syncopt.ir.optable import Family, lookup, op_names
from syncopt.ir.pipes import Memory, Pipe

GM, MAT, LEFT, RIGHT = Memory.GM, Memory.MAT, Memory.LEFT, Memory.RIGHT
ACC, VEC, BIAS, SCALING = Memory.ACC, Memory.VEC, Memory.BIAS, Memory.SCALING

PIPES_OF_FORMS = [
    ("pto.tload", (GM,), (MAT,), Pipe.MTE2),
    ("pto.tload", (GM,), (VEC,), Pipe.MTE2),
    ("pto.tprefetch", (GM,), (VEC,), Pipe.MTE2),
    ("pto.tstore", (ACC,), (GM,), Pipe.FIX),
    ("pto.tstore", (VEC,), (GM,), Pipe.MTE3),
    ("pto.tstore", (MAT,), (GM,), Pipe.MTE3),
    ("pto.tstore_fp", (ACC, SCALING), (GM,), Pipe.FIX),
    ("pto.textract", (MAT,), (LEFT,), Pipe.MTE1),
    ("pto.textract", (MAT,), (RIGHT,), Pipe.MTE1),
    ("pto.textract", (ACC,), (MAT,), Pipe.FIX),
    ("pto.textract", (ACC, SCALING), (MAT,), Pipe.FIX),
    ("pto.textract", (VEC,), (VEC,), Pipe.V),
    ("pto.tmov", (MAT,), (LEFT,), Pipe.MTE1),
    ("pto.tmov", (MAT,), (RIGHT,), Pipe.MTE1),
    ("pto.tmov", (MAT,), (BIAS,), Pipe.MTE1),
    ("pto.tmov", (MAT,), (SCALING,), Pipe.FIX),
    ("pto.tmov", (ACC,), (MAT,), Pipe.FIX),
    ("pto.tmov", (VEC,), (VEC,), Pipe.V),
    ("pto.tmov.fp", (ACC, SCALING), (MAT,), Pipe.FIX),
    ("pto.tinsert", (ACC,), (MAT,), Pipe.FIX),
    ("pto.tinsert", (VEC,), (VEC,), Pipe.V),
    ("pto.tmatmul", (LEFT, RIGHT), (ACC,), Pipe.M),
    ("pto.tmatmul.acc", (ACC, LEFT, RIGHT), (ACC,), Pipe.M),
    ("pto.tmatmul.acc", (LEFT, RIGHT), (ACC,), Pipe.M),
    ("pto.tmatmul.bias", (LEFT, RIGHT, BIAS), (ACC,), Pipe.M),
    ("pto.tgemv", (LEFT, RIGHT), (ACC,), Pipe.M),
    ("pto.tadd", (VEC, VEC), (VEC,), Pipe.V),
    ("pto.tadds", (VEC,), (VEC,), Pipe.V),
    ("pto.tsel", (VEC, VEC, VEC, VEC), (VEC,), Pipe.V),
    ("pto.trowsum", (VEC, VEC), (VEC,), Pipe.V),
    ("pto.tcvt", (VEC,), (VEC,), Pipe.V),
    ("pto.texpands", (), (VEC,), Pipe.V),
    ("pto.texpands", (), (MAT,), Pipe.MTE2),
    ("pto.tfillpad", (MAT,), (MAT,), Pipe.MTE2),
    ("pto.tgather", (VEC, VEC), (VEC, VEC), Pipe.V),
    ("pto.tsort32", (VEC, VEC), (VEC,), Pipe.V),
    ("pto.tgetval", (VEC,), (), Pipe.S),
    ("pto.tsetval", (), (VEC,), Pipe.S),
    ("pto.treshape", (VEC,), (VEC,), Pipe.S),
    # the public tools disagree on these
    ("pto.tci", (), (VEC,), Pipe.S),
    ("pto.tci", (VEC,), (VEC,), Pipe.V),
    ("pto.tscatter", (VEC, VEC), (VEC,), Pipe.S),
    ("pto.mgather", (GM, VEC), (MAT,), Pipe.MTE2),
    ("pto.mgather", (GM, VEC), (VEC,), Pipe.V),
]


@pytest.mark.parametrize(("name", "sources", "destinations", "pipe"), PIPES_OF_FORMS)
def test_pipe_of_a_form(name: str, sources: tuple[Memory, ...], destinations: tuple[Memory, ...], pipe: Pipe):
    row = lookup(name)
    assert row is not None
    assert row.pipe(sources, destinations) is pipe


@pytest.mark.parametrize(
    ("name", "sources", "destinations"),
    [
        ("pto.tload", (GM,), (LEFT,)),
        ("pto.tstore", (GM,), (VEC,)),
        ("pto.tstore", (LEFT,), (GM,)),
        ("pto.tmov", (ACC,), (VEC,)),  # the 910B has no way from L0C to UB
        ("pto.tmov", (VEC,), (MAT,)),
        ("pto.tinsert", (VEC,), (MAT,)),
        ("pto.tmatmul", (RIGHT, LEFT), (ACC,)),
        ("pto.tmatmul", (MAT, MAT), (ACC,)),
        ("pto.tadd", (VEC, GM), (VEC,)),
        ("pto.tadd", (), (VEC,)),
        ("pto.tadd", (VEC, VEC), ()),
        ("pto.tgetval", (VEC,), (VEC,)),
        ("pto.tgather", (VEC, VEC), (VEC, MAT)),
    ],
)
def test_form_that_does_not_exist(name: str, sources: tuple[Memory, ...], destinations: tuple[Memory, ...]):
    row = lookup(name)
    assert row is not None
    assert row.pipe(sources, destinations) is None


@pytest.mark.parametrize(
    "name",
    [
        "pto.tmatmul.mx",
        "pto.trem",
        "pto.tpow",
        "pto.trowexpandexpdif",
        "pto.tpush",
        "pto.tquant",
        "tadd",
        "pto.nothing",
    ],
)
def test_op_without_a_row(name: str):
    assert lookup(name) is None


@pytest.mark.parametrize(
    ("name", "scratch"),
    [
        ("pto.trowsum", (1,)),
        ("pto.trowmax", (1,)),
        ("pto.tcolsum", (1,)),
        ("pto.tcolmax", ()),
        ("pto.tsel", (3,)),
        ("pto.tsels", (2,)),
        ("pto.tsort32", (2,)),
        ("pto.tgather", (2,)),
        ("pto.trowexpandmul", (2,)),
        ("pto.trsqrt", (1,)),
        ("pto.tci", (1,)),
        ("pto.tadd", ()),
    ],
)
def test_scratch_operands_are_written(name: str, scratch: tuple[int, ...]):
    row = lookup(name)
    assert row is not None
    assert row.scratch == scratch


def test_ops_that_read_what_their_outs_held():
    """Accumulation, a destination of which only a part is written."""
    rows = [row for name in op_names() if (row := lookup(name)) is not None]
    assert {row.name for row in rows if row.reads_outs} == {
        "pto.tmatmul.acc",
        "pto.tgemv.acc",
        "pto.taxpy",
        "pto.tinsert",
        "pto.tinsert_fp",
        "pto.tsetval",
        "pto.tscatter",
    }


def test_unpriced_ops_say_so():
    rows = [row for name in op_names() if (row := lookup(name)) is not None]
    unpriced = {"pto.tprefetch", "pto.mgather", "pto.tgatherb", "pto.tsort32", "pto.tmrgsort"}
    assert {row.name for row in rows if not row.priced} == unpriced


def test_no_op_stands_twice():
    """Each name has a row of its own name, and every form of a vector family but a fill runs on V."""
    for name in op_names():
        row = lookup(name)
        assert row is not None
        assert row.name == name
        assert row.forms
    exp = lookup("pto.texp")
    assert exp is not None
    assert exp.family is Family.EXP
    assert str(exp.family) == "exp"
