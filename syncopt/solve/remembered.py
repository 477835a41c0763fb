"""What a search found as text, to be chosen from again where the same is searched."""

import json
from typing import Any

from syncopt.ir.pipes import Memory, Pipe, PipePair
from syncopt.model.flags.channels import Channel, Compensation, Placement, Priming
from syncopt.model.order import Order
from syncopt.model.planner import Plan, Planner
from syncopt.model.rewrite import Side, Site
from syncopt.model.slots import Slot
from syncopt.solve.driver import Found
from syncopt.solve.orders import Candidate


def written(found: Found) -> str:
    """A proven search as one line of JSON."""
    assert found.proven
    options = [_written_plan(option.plan) | {"makespan": option.makespan} for option in found.options]
    return json.dumps({"bound": found.bound, "options": options}, separators=(",", ":"))


def reread(text: str, planner: Planner) -> Found | None:
    """The search that a text tells of; None if the text is no such, or its plans do not take what it says.

    Parameters
    ----------
    text : str
        From `written`, for a planner with the same fingerprint.
    planner : Planner
        Replays the plans on its window.
    """
    try:
        found = _found(json.loads(text))
        true = all(planner.in_window(option.plan).cycles == option.makespan for option in found.options)
    except (ValueError, TypeError, LookupError):
        return None
    return found if true and found.options and found.proven else None


def _written_plan(plan: Plan) -> dict[str, object]:
    placement = plan.placement
    return {
        "order": [[list(key), list(heads)] for key, heads in plan.order.items()],
        "channels": [
            [
                *(str(c.pair.source), str(c.pair.target), _written_sites(c.sets), _written_sites(c.waits), c.primed),
                None if c.slot is None else [c.slot.tile, c.slot.number, c.slot.memory.name, c.slot.start, c.slot.end],
            ]
            for c in placement.channels
        ],
        "barriers": [[*_written_site(site), str(pipe)] for site, pipe in placement.barriers],
        "compensations": [_written_compensation(c) for c in placement.compensations],
        "priming": placement.priming.name,
        "ids": list(plan.ids),
    }


def _written_compensation(compensation: Compensation) -> list[object]:
    slot_at = compensation.slot_at
    written = None if slot_at is None else _written_site(slot_at)
    return [compensation.loop, list(compensation.waits), list(compensation.sets), written]


def _written_sites(sites: tuple[Site, ...]) -> list[list[object]]:
    return [_written_site(site) for site in sites]


def _written_site(site: Site) -> list[object]:
    return [site.uid, str(site.side), site.region]


def _found(document: Any) -> Found:
    options = tuple(Candidate(_plan(option), int(option["makespan"])) for option in document["options"])
    return Found(options, document["bound"], complete=True)


def _plan(document: Any) -> Plan:
    order: Order = {(int(uid), int(region)): tuple(heads) for (uid, region), heads in document["order"]}
    channels = tuple(
        Channel(PipePair(Pipe(source), Pipe(target)), _sites(sets), _sites(waits), primed, _slot(slot))
        for source, target, sets, waits, primed, slot in document["channels"]
    )
    barriers = tuple((_site(site), Pipe(pipe)) for *site, pipe in document["barriers"])
    compensations = tuple(map(_compensation, document["compensations"]))
    placement = Placement(channels, barriers, compensations, Priming[document["priming"]])
    return Plan(order, placement, tuple(document["ids"]))


def _compensation(document: Any) -> Compensation:
    loop, waits, sets, slot_at = document
    return Compensation(int(loop), tuple(waits), tuple(sets), None if slot_at is None else _site(slot_at))


def _slot(document: Any) -> Slot | None:
    if document is None:
        return None
    tile, number, memory, start, end = document
    return Slot(int(tile), int(number), Memory[memory], int(start), int(end))


def _sites(document: Any) -> tuple[Site, ...]:
    return tuple(_site(site) for site in document)


def _site(document: Any) -> Site:
    uid, side, region = document
    return Site(int(uid), Side(side), int(region))
