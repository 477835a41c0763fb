"""Where loops start: other arguments and other blocks than the given ones, as far as it matters.

A loop that starts at an argument or at the block index is checked as it starts for the given values. Where what it does
repeats with a period above 1 (parity, slots), the other starts within a period do other things; and loops of one upper
bound that start at different values go round together in other ways for other starts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from syncopt.ir.forcing import TripCounts
from syncopt.ir.kernel import For, Value
from syncopt.ir.trace import Setting

BLOCK_INDEX = "block_idx"
_MOST_SHIFTS = 3
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


def other_starts(trips: TripCounts, setting: Setting, periods: Mapping[int, int]) -> Iterator[Start]:
    """The starts to run besides the given ones.

    Parameters
    ----------
    trips : TripCounts
        The loops.
    setting : Setting
        The given arguments and block.
    periods : mapping of group index to int
        Iterations after which what the loops of a group do repeats, flags aside; 1 where left out.
    """
    loops = {loop.op.uid: loop.op for loop in trips.loops}
    found: dict[Start, None] = {}
    for index, group in enumerate(trips.groups):
        members = [loops[uid] for uid in group.loops]
        is_apart = len({trips.numbers[op.lower] for op in members}) > 1
        for name in dict.fromkeys(name for op in members for name in _names(trips, op)):
            given = setting.block_idx if name == BLOCK_INDEX else setting.arguments[name]
            values = _SMALL_STARTS if is_apart and name != BLOCK_INDEX else ()
            values += tuple(given + shift for shift in range(1, min(periods.get(index, 1), _MOST_SHIFTS + 1)))
            found.update((Start(name, value), None) for value in values if _exists(name, value, given, setting))
    yield from found


def _exists(name: str, value: int, given: int, setting: Setting) -> bool:
    return value != given and (name != BLOCK_INDEX or value < setting.block_num)


def _names(trips: TripCounts, loop: For) -> Iterator[str]:
    """The integer arguments, and the block index, that a loop's lower bound follows from."""
    for value in sorted(trips.definitions.ancestry(loop.lower), key=lambda value: trips.numbers[value]):
        if value in trips.definitions.arguments:
            yield value.name.removeprefix("%")
        elif _is_block_index(trips, value):
            yield BLOCK_INDEX


def _is_block_index(trips: TripCounts, value: Value) -> bool:
    op = trips.definitions.scalar(value)
    return op is not None and op.name == "pto.get_block_idx"
