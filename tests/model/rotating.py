"""Placements with a flag for each slot of what rotates."""

from syncopt.hwmodel import load_machine
from syncopt.ir.kernel import Kernel
from syncopt.model.flags.channels import Placement
from syncopt.model.flags.insertion import with_flags
from syncopt.model.planner import Plan, Planner
from syncopt.solve.orders import with_ids
from tests.check.kernels import setting, vector_kernel

MACHINE = load_machine("910b2")


def slots_of(placement: Placement) -> list[int | None]:
    return [None if channel.slot is None else channel.slot.number for channel in placement.channels]


def rotating(body: str) -> tuple[Planner, Placement]:
    """The placement with most channels of slots."""
    planner = Planner(vector_kernel(body), setting(n=8), MACHINE)
    placements = planner.placements(planner.mobility.as_written())
    return planner, max(placements, key=lambda placement: len(set(slots_of(placement)) - {None}))


def flagged(planner: Planner, placement: Placement) -> Kernel:
    plan = with_ids(planner, Plan(planner.mobility.as_written(), placement))
    assert plan is not None
    return with_flags(planner.kernel, placement, plan.ids)
