"""Searches that are not done twice: the same fingerprint finds the same, and what is kept is what was found."""

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from syncopt.hwmodel import load_machine
from syncopt.model.fingerprint import fingerprint
from syncopt.model.flags.channels import Priming
from syncopt.model.planner import Planner
from syncopt.solve.driver import Found, OrderMode, search_plans
from syncopt.solve.remembered import reread, written
from tests.check.kernels import setting, vector_kernel
from tests.solve.bodies import bodies
from tests.solve.problems import AMPLE

MACHINE = load_machine("910b2")
LOOP = "scf.for %i = %c0 to %n step %c1 {\nload t0\nadd t1 t0\nstore t1\nload t2\nadd t3 t2\nstore t3\n}"


def planner(body: str, n: int, m: int = 4) -> Planner:
    return Planner(vector_kernel(body), setting(n=n, m=m), MACHINE)


def found(of: Planner, mode: OrderMode = OrderMode.FREE) -> Found:
    return search_plans(of, mode, AMPLE, lambda _: None)


@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much])
@given(body=bodies(), mode=st.sampled_from(OrderMode), shapes=st.permutations([(3, 2), (5, 2), (7, 4), (12, 9)]))
def test_one_fingerprint_one_outcome(body: str, mode: OrderMode, shapes: list[tuple[int, int]]) -> None:
    """Two shapes of a random kernel whose fingerprints are equal: the same plans, makespans and bound."""
    one, other = (planner(body, *shape) for shape in shapes[:2])
    assume(fingerprint(one) == fingerprint(other))
    first, second = (search_plans(each, mode, replace(AMPLE, work=1.0), lambda _: None) for each in (one, other))
    assert first == second
    if first.proven:
        assert reread(written(first), other) == first


def test_what_is_kept_is_what_was_found() -> None:
    """A loop with primed channels and a compensation for no trip, for another number of rounds."""
    kept = found(planner(LOOP, 6))
    assert kept.proven
    assert reread(written(kept), planner(LOOP, 60)) == kept


def test_barriers_of_all_pipes_are_kept() -> None:
    """A load that reads what was stored before needs one."""
    kept = found(planner("load t0\nstore t0\nload t1 y", 4), OrderMode.FIXED)
    assert kept.options[0].plan.placement.barriers
    assert reread(written(kept), planner("load t0\nstore t0\nload t1 y", 4)) == kept


def test_where_channels_are_primed_is_kept() -> None:
    """With one id per pair the second loop's channel is primed where the first one's is drained."""

    def of(n: int) -> Planner:
        loops = [
            f"scf.for %{i} = %c0 to %n step %c1 {{\nload {a}\nadd {b} {a}\n}}\n"
            for i, a, b in (("i", "t0", "t1"), ("j", "t2", "t0"))
        ]
        body = "load t1\nadd t3 t1\n".join(loops)
        return Planner(vector_kernel(body), setting(n=n), load_machine("910b2", ["flag.event_ids=1"]))

    kept = found(of(4), OrderMode.FIXED)
    assert kept.options[0].plan.placement.priming is Priming.USE
    assert reread(written(kept), of(6)) == kept


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"bound":1,"options":[]}', '{"bound":1,"options":[{}]}']
)
def test_text_that_is_none_of_ours_is_forgotten(text: str) -> None:
    assert reread(text, planner(LOOP, 6)) is None


def test_plan_that_takes_other_cycles_is_forgotten() -> None:
    document = json.loads(written(found(planner(LOOP, 6))))
    document["bound"] -= 1
    for option in document["options"]:
        option["makespan"] -= 1
    assert reread(json.dumps(document), planner(LOOP, 6)) is None


def test_bound_that_proves_nothing_is_forgotten() -> None:
    document = json.loads(written(found(planner(LOOP, 6))))
    document["bound"] -= 1
    assert reread(json.dumps(document), planner(LOOP, 6)) is None
