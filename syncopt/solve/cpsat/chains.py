"""Who may directly follow whom, on dispatch or on one pipe, given the open decisions of a problem."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from syncopt.model.order import BlockKey
from syncopt.model.problem import BlockRun, Decision, Head, Problem


class Link(NamedTuple):
    """Item `earlier` comes before item `later`, always or when `decision` has the value `holds`."""

    earlier: int
    later: int
    decision: Decision | None = None
    holds: bool = True


@dataclass(frozen=True, slots=True)
class _Ends:
    """Items that can come first and last in a part of the tree."""

    first: tuple[int, ...]
    last: tuple[int, ...]


_EMPTY = _Ends((), ())


class _Step(NamedTuple):
    """A step from the root of the tree to an item."""

    run: BlockRun
    head: Head


class Chains:
    """Links between the items of a problem.

    Parameters
    ----------
    problem : Problem
        Its tree.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._before = {block.key: block.before for block in problem.mobility.blocks}
        self._place = {
            block.key: {head: number for number, head in enumerate(block.heads)} for block in problem.mobility.blocks
        }
        self._paths: dict[int, tuple[_Step, ...]] = {}
        self._note_paths(problem.tree, ())

    def _note_paths(self, run: BlockRun, path: tuple[_Step, ...]) -> None:
        for head in run.heads:
            for part in head.content:
                if isinstance(part, BlockRun):
                    self._note_paths(part, (*path, _Step(run, head)))
                else:
                    self._paths[part] = (*path, _Step(run, head))

    def surely_before(self, earlier: int, later: int) -> bool:
        """Whether an item comes before another one in every order."""
        for a, b in zip(self._paths[earlier], self._paths[later], strict=False):
            if a.run is not b.run:
                break
            if a.head is not b.head:
                return self.is_before(a.run.key, a.head, b.head, earlier < later) is True
        return earlier < later

    def is_before(self, key: BlockKey, a: Head, b: Head, written: bool) -> bool | None:
        """Whether head a is before head b in every order (True), in none (False), or in some (None)."""
        if not a.unit and not b.unit:
            return written
        if b.unit:
            return self.fixed(key, b.uid, a.uid)
        order = self.fixed(key, a.uid, b.uid)
        return None if order is None else not order

    def links(self, member: Callable[[int], bool]) -> list[Link]:
        """Links among the items for which `member` holds."""
        found: list[Link] = []
        self._run(self._problem.tree, member, found)
        return found

    def _run(self, run: BlockRun, member: Callable[[int], bool], found: list[Link]) -> _Ends:
        heads = [(head, self._content(head.content, member, found)) for head in run.heads]
        heads = [(head, ends) for head, ends in heads if ends.first]
        if not heads:
            return _EMPTY
        anchored = [(head, ends) for head, ends in heads if not head.unit]
        units = [(head, ends) for head, ends in heads if head.unit]
        for (_, a), (_, b) in pairwise(anchored):
            found.extend(Link(last, first) for last in a.last for first in b.first)
        for number, (unit, ends) in enumerate(units):
            for other, other_ends in (*anchored, *units[:number]):
                found.extend(self._pair(run.key, unit, ends, other, other_ends))
        first = [*(anchored[0][1].first if anchored else ()), *(i for _, e in units for i in e.first)]
        last = [*(anchored[-1][1].last if anchored else ()), *(i for _, e in units for i in e.last)]
        return _Ends(tuple(first), tuple(last))

    def _content(self, content: Sequence[int | BlockRun], member: Callable[[int], bool], found: list[Link]) -> _Ends:
        first: tuple[int, ...] = ()
        last: tuple[int, ...] = ()
        for part in content:
            if isinstance(part, BlockRun):
                ends = self._run(part, member, found)
            else:
                ends = _Ends((part,), (part,)) if member(part) else _EMPTY
            if not ends.first:
                continue
            found.extend(Link(a, b) for a in last for b in ends.first)
            first, last = first or ends.first, ends.last
        return _Ends(first, last)

    def _pair(self, key: BlockKey, unit: Head, ends: _Ends, other: Head, other_ends: _Ends) -> Iterator[Link]:
        """Links between a unit and another head of one block execution."""
        order = self.fixed(key, unit.uid, other.uid)
        decision = (key, unit.uid, other.uid)
        if order is not True:
            held = None if order is False else decision
            yield from (Link(a, b, held, False) for a in ends.last for b in other_ends.first)
        if order is not False:
            held = None if order is True else decision
            yield from (Link(a, b, held, True) for a in other_ends.last for b in ends.first)

    def fixed(self, key: BlockKey, unit: int, other: int) -> bool | None:
        """Whether a unit is always after another head (True), always before it (False), or neither (None)."""
        if other not in self._place[key]:
            # Flags at the edge of a block stand before or behind everything in it; -1 is the first place.
            return other == -1
        if (unit, other) in self._before[key]:
            return False
        return True if (other, unit) in self._before[key] else None


class Places:
    """Least and greatest number of queue entries of a pipe that come before each of its items."""

    def __init__(self, problem: Problem, chains: Chains, member: Callable[[int], bool]) -> None:
        self._items = problem.items
        self._chains = chains
        self._member = member
        self.least: dict[int, int] = {}
        self.most: dict[int, int] = {}
        self._run(problem.tree, 0, 0)
        self._by_place = sorted(self.most, key=lambda n: self.most[n])
        self._first = [self.most[n] for n in self._by_place]

    def holder(self, entry: int) -> int | None:
        """The last item whose first entry is surely number `entry` (from 0) of the pipe or before; all leave as one."""
        at = bisect_right(self._first, entry)
        return self._by_place[at - 1] if at else None

    def _count(self, content: Sequence[int | BlockRun]) -> int:
        total = 0
        for part in content:
            if isinstance(part, BlockRun):
                total += sum(self._count(head.content) for head in part.heads)
            elif self._member(part):
                total += self._items[part].entries
        return total

    def _run(self, run: BlockRun, least: int, most: int) -> None:
        sizes = [self._count(head.content) for head in run.heads]
        for number, head in enumerate(run.heads):
            if not sizes[number]:
                continue
            surely, maybe = 0, 0
            for other_number, other in enumerate(run.heads):
                if other_number == number or not sizes[other_number]:
                    continue
                before = self._chains.is_before(run.key, other, head, other_number < number)
                surely += sizes[other_number] if before else 0
                maybe += sizes[other_number] if before is not False else 0
            self._content(head.content, least + surely, most + maybe)

    def _content(self, content: Sequence[int | BlockRun], least: int, most: int) -> None:
        for part in content:
            if isinstance(part, BlockRun):
                self._run(part, least, most)
                size = self._count([part])
            elif self._member(part):
                self.least[part], self.most[part] = least, most
                size = self._items[part].entries
            else:
                size = 0
            least, most = least + size, most + size
