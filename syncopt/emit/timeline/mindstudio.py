"""Timelines as MindStudio Insight reads the traces of an operator simulator.

What its reader wants: `profilingType` and `op` before the first square bracket of the file; names, not numbers, for
processes and threads; a set or a wait as a begin and an end event with one id, which a set shares with its wait; an
arrow as a flow start and a flow step with that id; and no brace in what follows the `ph` of an event, so `ph` comes
last. One nanosecond on the time axis is one cycle.
"""

from collections.abc import Iterable, Mapping
from typing import TextIO

from syncopt.emit.timeline.events import Event, in_json
from syncopt.emit.timeline.slices import Slice, SliceKind
from syncopt.emit.timeline.versions import Arrows, Shown, Version, show
from syncopt.ir.pipes import PIPES, Pipe

_LANES: Mapping[Pipe, str] = {
    Pipe.S: "SCALAR",
    Pipe.MTE2: "MTE2",
    Pipe.MTE1: "MTE1",
    Pipe.M: "CUBE",
    Pipe.V: "VECTOR",
    Pipe.FIX: "FIXP",
    Pipe.MTE3: "MTE3",
}
_NAMES: Mapping[SliceKind, str] = {
    SliceKind.SET: "SET_FLAG",
    SliceKind.WAIT: "WAIT_FLAG",
    SliceKind.BARRIER: "BARRIER",
}


def write_mindstudio(out: TextIO, versions: Iterable[Version], about: Mapping[str, str], core: str) -> list[Shown]:
    """Write the versions side by side, event by event.

    Parameters
    ----------
    out : text file
        Where to.
    versions : iterable of Version
        One process each, in this order.
    about : mapping of str to str
        What else to say in the file: kernel, arguments, machine.
    core : str
        The core, as MindStudio calls it: `core0.cubecore0`.

    Returns
    -------
    list of Shown
        What is in the file, version by version.
    """
    said = {key: value.replace("[", "(").replace("]", ")") for key, value in about.items()}
    header: Event = {"profilingType": "op", "schemaVersion": 1, "displayTimeUnit": "ns"}
    out.write(in_json({**header, **said, "time": "1 ns on the time axis is 1 cycle"})[:-1] + ',"traceEvents":[')
    writer = _Writer(out, core)
    shown = [writer.version(number, version) for number, version in enumerate(versions, 1)]
    out.write("\n]}\n")
    return shown


class _Writer:
    def __init__(self, out: TextIO, core: str) -> None:
        self._out = out
        self._core = core
        self._separator = "\n"
        self._flags = 0

    def version(self, number: int, version: Version) -> Shown:
        """One process; the ids of its flags follow those of the version before."""
        process = f"{self._core} {version.name}"
        self._metadata("process_sort_index", {"pid": process}, {"sort_index": number})
        for rank, pipe in enumerate(PIPES, 1):
            self._metadata("thread_sort_index", _place(process, pipe), {"sort_index": rank})
        arrows, first = Arrows(), self._flags

        def write(piece: Slice) -> None:
            self._slice(piece, process, version.source.path, first)
            arrow = arrows.arrow(piece)
            if arrow is not None:
                self._arrow(process, *arrow, first)

        shown = show(version, write)
        self._metadata("process_labels", {"pid": process}, {"labels": shown.statement})
        return shown

    def _metadata(self, name: str, place: Event, args: Event) -> None:
        self._event({"args": args, "name": name, **place, "ph": "M"})

    def _slice(self, piece: Slice, process: str, path: str, first: int) -> None:
        code = path if piece.line is None else f"{path}:{piece.line}"
        head: Event = {"args": {"code": code, "detail": _detail(piece)}, "cname": piece.kind.value}
        named: Event = {"name": _NAMES.get(piece.kind, piece.name.upper()), **_place(process, piece.lane)}
        start, end = piece.start / 1000, piece.end / 1000
        if piece.flag is None:
            length = (piece.end - piece.start) / 1000
            self._event({**head, **named, "ts": start, "dur": length, "ph": "X"})
            return
        named["id"] = first + piece.flag.number
        self._flags = max(self._flags, first + piece.flag.number + 1)
        self._event({**head, **named, "ts": start, "ph": "B"})
        self._event({"args": {}, **named, "ts": end, "ph": "E"})

    def _arrow(self, process: str, set_slice: Slice, wait_slice: Slice, first: int) -> None:
        assert set_slice.flag is not None
        flag = set_slice.flag
        common: Event = {"cat": str(flag.pair), "name": str(flag), "id": first + flag.number}
        self._event({**common, **_place(process, set_slice.lane), "ts": set_slice.start / 1000, "ph": "s"})
        self._event({**common, **_place(process, wait_slice.lane), "ts": wait_slice.end / 1000, "ph": "t"})

    def _event(self, event: Event) -> None:
        self._out.write(self._separator + in_json(event))
        self._separator = ",\n"


def _place(process: str, pipe: Pipe) -> Event:
    return {"pid": process, "tid": _LANES[pipe]}


def _detail(piece: Slice) -> str:
    parts: list[str] = []
    if piece.flag is not None:
        pair = piece.flag.pair
        parts += [f"PIPE:{pair.source}", f"TRIGGERPIPE:{pair.target}", f"FLAGID:{piece.flag.event}"]
        if piece.kind is SliceKind.WAIT and piece.flag.set_line is not None:
            parts.append(f"SETLINE:{piece.flag.set_line}")
    elif piece.kind is SliceKind.BARRIER:
        parts.append(f"PIPE:{piece.name.removeprefix('barrier ')}")
    if piece.iteration:
        parts.append(f"ITERATION:{'.'.join(map(str, piece.iteration))}")
    parts += [f"STALL:{stall.cycles} {stall.unit} {stall.cause}" for stall in piece.stalls]
    return ",".join(parts)
