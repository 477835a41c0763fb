"""Where loops start, and which ids and slots are taken: other arguments and blocks than given, as far as it matters.

A loop that starts at an argument or at the block index is checked as it starts for the given values. Where what it does
repeats with a period above 1 (parity, slots), the other starts within a period do other things; and loops of one upper
bound that start at different values go round together in other ways for other starts. Ids and slots that follow from
arguments or the block index are other ones for other values.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from syncopt.ir.forcing import TripCounts
from syncopt.ir.intervals import Assumptions
from syncopt.ir.kernel import Value
from syncopt.ir.trace import Setting

BLOCK_INDEX = "block_idx"
_MOST_SHIFTS = 3
_MOST_IDS = 8
_SMALL_STARTS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Start:
    """An argument, or the block index, with another value than given."""

    name: str
    value: int

    def __str__(self) -> str:
        return f"{self.name} = {self.value}"

    def of(self, setting: Setting) -> Setting:
        """The setting with this value."""
        if self.name == BLOCK_INDEX:
            return replace(setting, block_idx=self.value)
        return replace(setting, arguments={**setting.arguments, self.name: self.value})


def words_of(starts: Sequence[Start]) -> str:
    """Starts as messages list them: by name, values in a row as a range."""
    parts: list[str] = []
    for name in dict.fromkeys(start.name for start in starts):
        values = sorted(start.value for start in starts if start.name == name)
        firsts = [value for value in values if value - 1 not in values]
        lasts = [value for value in values if value + 1 not in values]
        ranges = (str(a) if a == b else f"{a}..{b}" for a, b in zip(firsts, lasts, strict=True))
        parts.append(f"{name} = {', '.join(ranges)}")
    return ", ".join(parts)


def other_starts(
    trips: TripCounts,
    setting: Setting,
    assumptions: Assumptions,
    periods: Mapping[int, int],
    chosen: Iterable[Value] = (),
) -> Iterator[Start]:
    """The starts to run besides the given ones.

    Parameters
    ----------
    trips : TripCounts
        The loops.
    setting : Setting
        The given arguments and block.
    assumptions : Assumptions
        Restrict the arguments.
    periods : mapping of group index to int
        Iterations after which what the loops of a group do repeats, flags aside; 1 where left out.
    chosen : iterable of Value
        Ids and slots.
    """
    found: dict[Start, None] = {}
    for name, value in (*_of_loops(trips, setting, periods), *_of_ids(trips, setting, chosen)):
        if _exists(name, value, setting, assumptions):
            found[Start(name, value)] = None
    yield from found


def _of_loops(trips: TripCounts, setting: Setting, periods: Mapping[int, int]) -> Iterator[tuple[str, int]]:
    loops = {loop.op.uid: loop.op for loop in trips.loops}
    for index, group in enumerate(trips.groups):
        members = [loops[uid] for uid in group.loops]
        is_apart = len({trips.numbers[op.lower] for op in members}) > 1
        for name in dict.fromkeys(name for op in members for name in _names(trips, op.lower)):
            given = _given(name, setting)
            values = _SMALL_STARTS if is_apart and name != BLOCK_INDEX else ()
            shifts = range(1, min(periods.get(index, 1), _MOST_SHIFTS + 1))
            yield from ((name, value) for value in (*values, *(given + shift for shift in shifts)))


def _of_ids(trips: TripCounts, setting: Setting, chosen: Iterable[Value]) -> Iterator[tuple[str, int]]:
    forced = {group.number for group in trips.groups}
    for value in chosen:
        if forced.isdisjoint(trips.numbers[source] for source in trips.definitions.ancestry(value)):
            for name in _names(trips, value):
                yield from ((name, _given(name, setting) + shift) for shift in range(1, _MOST_IDS))


def _given(name: str, setting: Setting) -> int:
    return setting.block_idx if name == BLOCK_INDEX else setting.arguments[name]


def _exists(name: str, value: int, setting: Setting, assumptions: Assumptions) -> bool:
    if name == BLOCK_INDEX:
        return setting.block_idx != value < setting.block_num
    low, high = assumptions.of(name)
    return value != setting.arguments[name] and low <= value <= high


def _names(trips: TripCounts, value: Value) -> Iterator[str]:
    """The integer arguments, and the block index, that a value follows from."""
    for source in sorted(trips.definitions.ancestry(value), key=lambda source: trips.numbers[source]):
        if source in trips.definitions.arguments:
            yield source.name.removeprefix("%")
        elif _is_block_index(trips, source):
            yield BLOCK_INDEX


def _is_block_index(trips: TripCounts, value: Value) -> bool:
    op = trips.definitions.scalar(value)
    return op is not None and op.name == "pto.get_block_idx"
