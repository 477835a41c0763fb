"""What `compare --json` prints."""

from syncopt.api import Compared, Explanation, PathStep, Pause, Place, Standing, Version, changed_figures
from syncopt.cli._documents import Document, busy_of, figure_number, report_document, sync_of


def compare_document(compared: Compared) -> Document:
    """The answer of `compare`."""
    first, machine = compared.versions[0].subject.setting, compared.machine
    return {
        "machine": machine.name,
        "machine_set": {figure.key: figure_number(figure) for figure in changed_figures(machine)},
        "arguments": dict(first.arguments),
        "core": first.block_idx,
        "cores": first.block_num,
        "rows": [_row(compared, version) for version in compared.versions],
        "best": None if compared.best is None else compared.best.name,
        "same_work": not compared.differences,
        "differences": [{"name": difference.name, "text": difference.text} for difference in compared.differences],
        "sensitivity": _sensitivity(compared),
        "notes": list(compared.notes),
    }


def explanation_document(explanation: Explanation | None) -> Document | None:
    """The answer to `--why`; none where no version that ends is slower than the best one."""
    if explanation is None:
        return None
    standing = explanation.standing
    return {
        "slowest": explanation.slow.name,
        "best": explanation.best.name,
        "difference": explanation.difference,
        "totals": [
            {"name": total.name, "cycles": total.slow, "cycles_of_best": total.best} for total in explanation.totals
        ],
        "stalls": [_step(step) for step in explanation.stalls],
        "work": [_step(step) for step in explanation.work],
        "busiest_pipe": None if standing is None else _standing(standing),
    }


def _row(compared: Compared, version: Version) -> Document:
    solved = version.solved
    row: Document = {
        "name": version.name,
        "kind": version.kind.value,
        "maker": version.maker,
        "kernel": str(version.job.path),
        "function": version.kernel.name,
        "arguments": dict(version.subject.setting.arguments),
        "cycles": version.cycles,
        "ratio_to_best": compared.ratio_to_best(version),
        "percent_of_optimum": compared.percent_of_optimum(version),
        "beats_optimum_on": compared.beats_optimum_on(version),
        "busy": busy_of(version.replay),
        "stalls": dict(version.replay.stalls),
        "sync": sync_of(version.replay),
        "work": {"ops": dict(version.work.ops), "loaded": version.work.loaded, "stored": version.work.stored},
        "hangs": version.hangs,
        "valid": version.valid,
        **report_document(version.report),
    }
    if solved is not None:
        row["status"] = "optimal" if solved.solution.optimal else "feasible"
        row["scope"] = solved.solution.scope
    return row


def _sensitivity(compared: Compared) -> list[Document]:
    reference = compared.reference
    return [
        {
            "machine": measured.machine,
            "reference": None if reference is None else reference.name,
            "versions": [
                {
                    "name": version.name,
                    "cycles": version.sensitivity[place].cycles,
                    "ratio": ratio,
                    "valid": not version.sensitivity[place].faults,
                    "faults": list(version.sensitivity[place].faults),
                }
                for version, ratio in zip(compared.versions, compared.ratios_on(place), strict=True)
            ],
        }
        for place, measured in enumerate(compared.versions[0].sensitivity)
    ]


def _step(step: PathStep) -> Document:
    return {
        "cause": step.cause,
        "link": step.link,
        "op": _place(step.op),
        "behind": _place(step.behind),
        "via": [_place(place) for place in step.via],
        "also_lines": list(step.also_lines),
        "cycles": step.slow,
        "cycles_of_best": step.best,
        "more": step.more,
    }


def _standing(standing: Standing) -> Document:
    return {
        "pipe": str(standing.pipe),
        "work": standing.slow,
        "work_of_best": standing.best,
        "pauses": [_pause(pause) for pause in standing.pauses],
    }


def _pause(pause: Pause) -> Document:
    return {
        "kind": str(pause.kind),
        "cause": pause.cause,
        "op": _place(pause.op),
        "lines": list(pause.lines),
        "cycles": pause.slow,
        "cycles_of_best": pause.best,
        "more": pause.more,
    }


def _place(place: Place | None) -> Document | None:
    return None if place is None else {"name": place.name, "pipe": str(place.pipe), "line": place.line}
