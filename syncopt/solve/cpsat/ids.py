"""Event ids by CP-SAT: one id per channel, different on conflict, as few per pair as possible."""

from collections.abc import Iterable, Mapping

from ortools.sat.python import cp_model

from syncopt.ir.pipes import EVENT_IDS
from syncopt.model.flags.channels import Placement, rotation_of
from syncopt.model.flags.ids import channels_by_pair
from syncopt.solve.cpsat.running import solved

_WORK = 2.0
"""Deterministic time for the fewest ids of a pair: a plan takes as long with more of them."""


def event_ids(
    placement: Placement, conflicts: Iterable[tuple[int, int]], available: int = EVENT_IDS
) -> tuple[int, ...] | None:
    """Id of every channel of a placement.

    Parameters
    ----------
    placement : Placement
        The channels.
    conflicts : iterable of (int, int)
        Numbers of channels of one pair that may not share an id.
    available : int
        Ids per pair.

    Returns
    -------
    tuple of int or None
        The fewest per pair that are found in a limited time. None if a pair would need more than the ids there are, or
        no colouring is found in that time.
    """
    ids = [0] * len(placement.channels)
    found = list(conflicts)
    for members in channels_by_pair(placement).values():
        rotations = {rotation_of(placement, number) for number in members}
        between = [(a, b) for a, b in found if a in members and b in members]
        coloured = _colour(members, between, sorted(rotations), available)
        if coloured is None:
            return None
        for number, colour in zip(members, coloured, strict=True):
            ids[number] = colour
    return tuple(ids)


def _colour(
    members: list[int], conflicts: list[tuple[int, int]], rotations: list[tuple[int, ...]], available: int
) -> list[int] | None:
    """Ids of the channels of a pair; those of the slots of a rotating tile are in a row."""
    model = cp_model.CpModel()
    colours = {n: model.new_int_var(0, available - 1, f"id{n}") for n in members}
    most = model.new_int_var(0, available - 1, "most")
    rotations_in_a_row = any(len(rotation) > 1 for rotation in rotations)
    for position, number in enumerate(members):
        if not rotations_in_a_row:
            # Channel n of a pair never needs an id above n: ids can be renamed in the order of the channels.
            model.add(colours[number] <= min(position, available - 1))
        model.add(most >= colours[number])
    for first, *others in rotations:
        for step, number in enumerate(others, 1):
            model.add(colours[number] == colours[first] + step)
    for a, b in sorted(conflicts):
        model.add(colours[a] != colours[b])
    found = _fewest(model, colours, most, None)
    if found is None:
        return None
    model.add(most <= max(found.values()))
    return list((_fewest(model, colours, sum(colours.values()), found) or found).values())


def _fewest(
    model: cp_model.CpModel,
    colours: Mapping[int, cp_model.IntVar],
    objective: cp_model.LinearExprT,
    known: Mapping[int, int] | None,
) -> dict[int, int] | None:
    """Colours with the least objective found in the time there is; None if none are found."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = _WORK
    for number, colour in (known or {}).items():
        model.add_hint(colours[number], colour)
    model.minimize(objective)
    if solved(solver, model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    return {number: solver.value(colour) for number, colour in colours.items()}
