"""The problem's own rules, and its decisions."""

from dataclasses import replace

import pytest

from syncopt.hwmodel import load_machine
from syncopt.ir.pipes import Pipe
from syncopt.ir.source import InputError
from syncopt.model.flags.channels import Placement
from syncopt.model.planner import Planner
from syncopt.model.problem import Problem, problem_of, refuse_oversized
from tests.check.kernels import setting, vector_kernel

MACHINE = load_machine("910b2")


def problem(body: str) -> Problem:
    planner = Planner(vector_kernel(body), setting(), MACHINE)
    return problem_of(
        planner.kernel, planner.window_trace(), Placement(), planner.mobility, planner.machine, planner.shared
    )


def test_a_good_problem_passes():
    problem("load t0\nadd t1 t0").check()


def test_hazards_point_forwards():
    bad = replace(problem("load t0\nadd t1 t0"), hazards=((1, 0),))
    with pytest.raises(ValueError, match="a hazard points backwards"):
        bad.check()


def test_an_op_fits_its_queue():
    good = problem("load t0")
    item = replace(good.items[0], entries=MACHINE.queue_depth(Pipe.MTE2) + 1)
    bad = replace(good, items=(item,))
    with pytest.raises(ValueError, match="entries of the MTE2 queue"):
        bad.check()
    with pytest.raises(InputError, match=r"vector\.pto:19:1: error: this op takes 33 entries"):
        refuse_oversized(bad, vector_kernel("load t0"))


def test_open_decisions_are_those_that_hazards_leave():
    """Two loads, two adds; each load precedes its own add, the rest is open."""
    found = problem("load t0\nadd t1 t0\nload t2\nadd t3 t2")
    (block,) = found.mobility.blocks
    first, add, second, last = block.heads
    assert list(found.decisions()) == [(block.key, first, last), (block.key, second, add), (block.key, second, first)]


def test_decisions_make_an_order():
    found = problem("load t0\nadd t1 t0\nload t2\nadd t3 t2")
    (block,) = found.mobility.blocks
    first, add, second, last = block.heads
    none = dict.fromkeys(found.decisions(), False)
    assert found.order_of(none) == {block.key: (second, first, add, last)}
    assert found.order_of({**none, (block.key, second, first): True}) == {block.key: (first, second, add, last)}


def test_each_byte_range_has_its_last_accesses():
    """RAW from the load to the add, WAR from the add to the second load, RAW again, and WAW of the two adds."""
    found = problem("load t0\nadd t1 t0\nload t0\nadd t1 t0")
    assert set(found.hazards) >= {(0, 1), (1, 2), (2, 3), (1, 3)}
