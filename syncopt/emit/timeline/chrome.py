"""Timelines as trace events, as Perfetto and chrome://tracing read them.

One unit of the time axis, which viewers call a microsecond, is one cycle: so every time is a whole number, and nothing
is rounded. Every version is a process, every pipe a thread of it; arrows are flow events from set to wait.
"""

from collections.abc import Iterable, Mapping
from typing import TextIO

from syncopt.emit.timeline.events import Event, in_json
from syncopt.emit.timeline.slices import Slice, SliceKind
from syncopt.emit.timeline.versions import Arrows, Shown, Version, show
from syncopt.ir.pipes import PIPES, Pipe

_LANES: Mapping[Pipe, int] = {pipe: number for number, pipe in enumerate(PIPES, 1)}


def write_chrome(out: TextIO, versions: Iterable[Version], about: Mapping[str, str]) -> list[Shown]:
    """Write the versions side by side, event by event.

    Parameters
    ----------
    out : text file
        Where to.
    versions : iterable of Version
        One process each, in this order.
    about : mapping of str to str
        What else to say in the file: kernel, arguments, machine.

    Returns
    -------
    list of Shown
        What is in the file, version by version.
    """
    other = {**about, "time": "1 us on the time axis is 1 cycle"}
    out.write(f'{{"displayTimeUnit":"ns","otherData":{in_json(other)},"traceEvents":[')
    writer = _Writer(out)
    shown = [writer.version(number, version) for number, version in enumerate(versions, 1)]
    out.write("\n]}\n")
    return shown


class _Writer:
    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._separator = "\n"
        self._flows = 0

    def version(self, number: int, version: Version) -> Shown:
        """One process; what it holds is only known behind it, so its label comes last."""
        self._metadata("process_name", {"pid": number}, {"name": version.name})
        self._metadata("process_sort_index", {"pid": number}, {"sort_index": number})
        for pipe, rank in _LANES.items():
            lane = _place(number, pipe)
            self._metadata("thread_name", lane, {"name": str(pipe)})
            self._metadata("thread_sort_index", lane, {"sort_index": rank})
        arrows = Arrows()

        def write(piece: Slice) -> None:
            self._event(_slice(piece, number))
            arrow = arrows.arrow(piece)
            if arrow is not None:
                self._flow(number, *arrow)

        shown = show(version, write)
        self._metadata("process_labels", {"pid": number}, {"labels": shown.statement})
        return shown

    def _metadata(self, name: str, place: Event, args: Event) -> None:
        self._event({"ph": "M", "name": name, **place, "args": args})

    def _flow(self, number: int, set_slice: Slice, wait_slice: Slice) -> None:
        """An arrow; it ends in the last cycle of the wait, so that it never points back in time."""
        self._flows += 1
        common: Event = {"cat": "flag", "name": str(set_slice.flag), "id": self._flows}
        self._event({"ph": "s", **common, **_place(number, set_slice.lane), "ts": set_slice.start})
        ends = max(wait_slice.start, wait_slice.end - 1)
        self._event({"ph": "f", "bp": "e", **common, **_place(number, wait_slice.lane), "ts": ends})

    def _event(self, event: Event) -> None:
        self._out.write(self._separator + in_json(event))
        self._separator = ",\n"


def _place(number: int, pipe: Pipe) -> Event:
    # Perfetto takes a thread whose number is that of its process for the main one and lists it first.
    return {"pid": number, "tid": 10 * number + _LANES[pipe]}


def _slice(piece: Slice, number: int) -> Event:
    args: Event = {} if piece.line is None else {"line": piece.line}
    if piece.iteration:
        args |= {"iteration": ",".join(map(str, piece.iteration))}
    if piece.flag is not None:
        args |= {"flag": str(piece.flag)}
        if piece.kind is SliceKind.WAIT and piece.flag.set_line is not None:
            args |= {"set at line": piece.flag.set_line}
    if piece.stalls:
        args |= {"stall": "; ".join(f"{stall.cycles} {stall.unit}: {stall.cause}" for stall in piece.stalls)}
    if piece.done != piece.end:
        args |= {"done": piece.done}
    name = piece.name if piece.flag is None else f"{piece.name} {piece.flag}"
    times: Event = {"ts": piece.start, "dur": piece.end - piece.start}
    return {"ph": "X", "cat": piece.kind.value, "name": name, **_place(number, piece.lane), **times, "args": args}
