"""What makes two rows the same."""

from dataclasses import replace

import pytest

from syncopt.api import Budget, OrderMode, load_machine
from syncopt.sweep.asked import Asked, machine_hash
from syncopt.sweep.versions import Versions, versions
from tests.sweep.made import ASKED, stream_task

MACHINE = load_machine("910b2")


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, kernel_hash="f"),
        replace(ASKED, function="f"),
        replace(ASKED, arguments={"M": 128, "N": 256, "K": 1024}),
        replace(ASKED, assume=()),
        replace(ASKED, core=1),
        replace(ASKED, cores=20),
        replace(ASKED, machine_hash="f"),
        replace(ASKED, order="fixed"),
        replace(ASKED, budget=1.0),
        replace(ASKED, work=1.0),
        replace(ASKED, seed=1),
        replace(ASKED, versions=Versions("0.1.0", "89ac", "9.15")),
        replace(ASKED, versions=Versions("0.1.0", "89ab", "9.16")),
    ],
)
def test_what_the_answer_depends_on_makes_another_key(other: Asked) -> None:
    assert other.key != ASKED.key


def test_names_and_the_order_of_arguments_make_no_other_key() -> None:
    named = replace(ASKED, kernel="elsewhere.pto", tiling="128x256x512", machine="mine")
    assert named.key == ASKED.key
    assert replace(ASKED, arguments={"K": 512, "M": 128, "N": 256}).key == ASKED.key


def test_task_says_what_is_asked() -> None:
    asked = stream_task(6).asked
    assert (asked.arguments, asked.order, asked.budget, asked.cores) == ({"n": 6}, "free", 60, 0)
    assert asked.machine_hash == machine_hash(MACHINE)
    assert asked.versions == versions()
    task = replace(stream_task(6), order=OrderMode.FIXED, budget=Budget(5, 0.5, seed=3))
    assert (task.asked.order, task.asked.budget, task.asked.work, task.asked.seed) == ("fixed", 5, 0.5, 3)


def test_whole_numbers_make_no_other_key() -> None:
    whole, fraction = (replace(stream_task(6), budget=budget) for budget in (Budget(60, 2), Budget(60.0, 2.0)))
    assert whole.asked.key == fraction.asked.key


def test_machines_are_told_apart_by_the_figures_that_count() -> None:
    assert machine_hash(MACHINE) != machine_hash(MACHINE.with_queue_depth(16))
    assert machine_hash(MACHINE) != machine_hash(load_machine("910b1"))
    renamed = replace(MACHINE.with_figure("dispatch.issue", MACHINE.issue, "elsewhere"), name="mine")
    assert machine_hash(MACHINE) == machine_hash(renamed)


def test_versions_name_the_code() -> None:
    found = versions()
    assert len(found.code) == 16
    assert found.ortools.startswith("9.")
