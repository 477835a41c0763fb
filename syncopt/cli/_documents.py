"""What `--json` prints; the keys stay stable, more may be added."""

import json
import math
from collections.abc import Mapping
from pathlib import Path

from syncopt.api import (
    Checked,
    Figure,
    Finding,
    Job,
    Machine,
    Replay,
    Report,
    Simulation,
    Solved,
    Subject,
    changed_figures,
    figures,
)
from syncopt.api.words import share

Document = dict[str, object]


def dumped(document: Document) -> str:
    """One JSON document."""
    return json.dumps(document, indent=2, allow_nan=False)


def solve_document(solved: Solved, outputs: Mapping[str, Path], diff: str | None) -> Document:
    """The answer of `solve`; `seconds` is the only part that is not the same from run to run."""
    solution, run = solved.solution, solved.replay
    gap = share(solution.makespan - solution.bound, solution.bound)
    document: Document = {
        **_head(solved.job, solved.subject),
        "status": "optimal" if solution.optimal else "feasible",
        "proof": {"scope": solution.scope, "model_bound": solution.bound},
        "window": {
            "ops": solution.window_ops,
            "makespan": solution.makespan,
            "lower_bound": solution.bound,
            "gap": gap,
        },
        "cycles": run.cycles,
        "lower_bound": solved.bound.cycles,
        "gap": solved.gap,
        "bound_by": solved.bound.bound_by,
        "baseline": _baseline(solved),
        "speedup": _finite(solved.speedup),
        "sensitivity": [
            {
                "machine": row.machine,
                "cycles": row.cycles,
                "baseline": row.baseline,
                "speedup": row.speedup,
                "valid": row.valid,
                "faults": list(row.faults),
            }
            for row in solved.sensitivity
        ],
        "also": _also(solved),
        "slower_on": list(solved.slower_on),
        "slower_plan": solved.slower_plan,
        "busy": busy_of(run),
        "stalls": dict(run.stalls),
        "sync": sync_of(run),
        "moved": [
            {
                "op": move.op,
                "line": move.line,
                "from": move.place_before,
                "to": move.place_now,
                "line_in_output": move.moved_to,
            }
            for move in solved.moves
        ],
        "check": {
            "verdict": str(solved.report.verdict),
            "executions": solved.report.executions,
            "covers": solved.report.covers,
            "proven": list(solved.report.proven),
            "unproven": list(solved.report.unproven),
            "assumptions": list(solved.report.assumptions),
        },
        "notes": list(solved.subject.notes),
        "seconds": {"total": round(solved.seconds, 3), "solve": round(solution.search_seconds, 3)},
        "outputs": {kind: str(path) for kind, path in outputs.items()},
    }
    return document if diff is None else document | {"diff": diff}


def simulate_document(simulation: Simulation) -> Document:
    """The answer of `simulate`."""
    run = simulation.replay
    return {
        **_head(simulation.job, simulation.subject),
        "cycles": run.cycles,
        "busy": busy_of(run),
        "stalls": dict(run.stalls),
        "sync": sync_of(run),
        "lower_bound": simulation.bound.cycles,
        "bound_by": simulation.bound.bound_by,
        "synchronised": simulation.is_synchronised,
        "verdict": str(simulation.verdict),
        "findings": [finding_document(finding) for finding in simulation.findings],
        "per_core": [
            {"core": core.core, "cycles": core.cycles, "verdict": str(core.verdict)} for core in simulation.cores
        ],
        "notes": list(simulation.subject.notes),
    }


def check_document(checked: Checked) -> Document:
    """The answer of `check`."""
    return {
        **_head(checked.job, checked.subject),
        **report_document(checked.report),
        "notes": list(checked.subject.notes),
    }


def report_document(report: Report) -> Document:
    """What a check of all executions found."""
    return {
        "verdict": str(report.verdict),
        "findings": [finding_document(finding) for finding in report.findings],
        "executions": report.executions,
        "covers": report.covers,
        "proven": list(report.proven),
        "unproven": list(report.unproven),
        "assumptions": list(report.assumptions),
    }


def machine_document(machine: Machine) -> Document:
    """The answer of `machine`."""
    rows: list[Document] = [
        {
            "key": figure.key,
            "value": figure_number(figure),
            "unit": figure.unit,
            "source": figure.source,
            "informational": figure.informational,
        }
        for figure in figures(machine)
    ]
    return {"machine": machine.name, "figures": rows}


def _head(job: Job, subject: Subject) -> Document:
    return {
        "kernel": str(job.path),
        "function": subject.kernel.name,
        "machine": job.machine.name,
        "machine_set": {figure.key: figure_number(figure) for figure in changed_figures(job.machine)},
        "arguments": dict(subject.setting.arguments),
        "core": subject.setting.block_idx,
        "cores": subject.setting.block_num,
    }


def _baseline(solved: Solved) -> Document:
    baseline = solved.baseline
    return {
        "cycles": baseline.cycles,
        "kind": baseline.kind.value,
        "valid": baseline.valid,
        "errors": [finding_document(finding) for finding in baseline.errors],
    }


def _also(solved: Solved) -> list[Document]:
    return [
        {
            "arguments": dict(row.arguments),
            "cycles": row.cycles,
            "baseline": row.baseline,
            "speedup": row.speedup,
            "valid": row.valid,
            "faults": list(row.faults),
        }
        for row in solved.also
    ]


def busy_of(run: Replay) -> Document:
    """Busy share of every pipe."""
    return {str(pipe): share(cycles, run.cycles) for pipe, cycles in run.busy.items()}


def sync_of(run: Replay) -> Document:
    """Flags and barriers executed, and ids per pair of pipes."""
    return {
        "sets": run.sets,
        "waits": run.waits,
        "barriers": run.barriers,
        "ids": {str(pair): number for pair, number in run.ids.items()},
    }


def finding_document(finding: Finding) -> Document:
    """A finding."""
    return {
        "kind": str(finding.kind),
        "severity": str(finding.severity),
        "line": finding.line,
        "message": finding.message,
        "execution": None if finding.execution is None else str(finding.execution),
        "iteration": finding.iteration,
        "hint": finding.hint,
    }


def figure_number(figure: Figure) -> int | float | str:
    """The value of a figure."""
    value = figure.value
    if isinstance(value, str):
        return value
    return value.numerator if value.denominator == 1 else float(value)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
