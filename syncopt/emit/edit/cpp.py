"""A changed kernel as C++ text: the file it was read from with statements of its blocks removed, added, moved.

A statement is what stands or moves; it may stand for several ops or for none. Where a changed tree puts the ops of a
statement is where the statement goes. Statements that only make names follow the names: they stand before what uses
them, and no variable is given another value between a statement and what it used to stand for there.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from syncopt.emit.edit.blocktext import INDENT, Added, BlockText, Item, Kept
from syncopt.emit.edit.changes import changed_fields, check_same_file
from syncopt.emit.edit.cpp_called import check_writable
from syncopt.emit.edit.cpp_ends import at_ends
from syncopt.emit.edit.cpp_order import Hold, OrderConflictError, Unit, arranged
from syncopt.emit.edit.cpp_spelling import address_line, is_expression, names_made, names_read, spell_cpp
from syncopt.ir.kernel import AllocTile, Block, For, If, Kernel, Op, Scalar, Section, Statement, regions
from syncopt.ir.source import InputError, Source, Span
from syncopt.ir.values import is_pure

_REST_OF_LINE = re.compile(rb"[^\S\n]*(?:/\*[^\n]*?\*/[^\S\n]*)*(?://[^\n]*)?\n")
_NOTHING: frozenset[str] = frozenset()
_BEFORE_MANY = (b"{", b"}", b";")
_STEP = 2.0**-20
"""How far the ranks of added statements are apart; those of the file are whole numbers."""


def render_cpp(original: Kernel, changed: Kernel) -> bytes:
    """The whole C++ file of a kernel with this function's text after its changed tree; see `render`."""
    check_same_file(original, changed)
    data, place = original.source.data, original.body.span
    if changed.body is original.body:
        return data
    check_writable(original)
    body = at_ends(original.source, changed.body)
    written = _Writer(original.source).block(original.body, body, original.span.start)
    return data[: place.start] + written.text + data[place.end :]


@dataclass(frozen=True, slots=True)
class _Written:
    """Text, and the names that it uses and gives values outside of itself."""

    text: bytes
    reads: frozenset[str] = _NOTHING
    writes: frozenset[str] = _NOTHING


@dataclass(frozen=True, slots=True)
class _Change:
    """A statement with its ops before and after; ops for which no text stands are left out."""

    statement: Statement
    old: tuple[Op, ...]
    new: tuple[Op, ...]

    @property
    def is_pure(self) -> bool:
        """Whether it only made values."""
        return all(is_pure(op) for op in self.old)

    @property
    def stays(self) -> bool:
        """Whether the tree still has what it does; what has no ops stays as far as the tree goes."""
        done = [op for op in self.old if not is_pure(op)]
        left = {op.uid for op in self.new}
        kept = [op for op in done if op.uid in left]
        if kept and len(kept) < len(done):
            raise ValueError(f"op {done[0].uid} stays without the rest of its statement")
        return bool(kept) if done else bool(self.new) or not self.old


class _Writer:
    """Writes blocks of one file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._data = source.data
        self._text = BlockText(source.data, _REST_OF_LINE)

    # -- blocks ----------------------------------------------------------------------------------------------------

    def block(self, old: Block, new: Block, owner: int) -> _Written:
        """Text between the braces, or around what has none, of a block whose op begins at byte `owner`."""
        changes = _changes(old, new)
        written = [self._statement(change) for change in changes]
        staying = _staying(changes, written)
        names = [written[place] for place in staying]
        reads = frozenset[str]().union(*(part.reads for part in names))
        declared = frozenset[str]().union(*(_declared(changes[place].statement) for place in staying))
        writes = frozenset[str]().union(*(part.writes for part in names)) - declared
        if old is new:
            return _Written(self._data[old.span.start : old.span.end], reads, writes)
        units = self._units(new, changes, written, staying)
        try:
            items = [unit.item for unit in arranged(units)]
        except OrderConflictError as conflict:
            raise self._refusal(conflict, changes) from conflict
        return _Written(self._filled(old, items, owner), reads, writes)

    def _filled(self, old: Block, items: Sequence[Item], owner: int) -> bytes:
        spans = [statement.span for statement in old.statements]
        if old.span.start == old.span.end and self._data[old.span.start - 1 : old.span.start] != b"{":
            return b" else " + self._braced(items, owner) if items else b""
        # What begins right behind a brace or a semicolon is what follows on a branch that jumps.
        if self._data[old.span.start - 1 : old.span.start] in _BEFORE_MANY or self._data[owner : owner + 1] == b"#":
            return self._text.fill(old.span, spans, items, owner)
        single = self._data[old.span.start : old.span.end]
        match items:
            case [Kept(place=0, text=text)]:
                return text
            case [] if not spans:
                return single
            case _:
                # A jump alone is no statement of the block, and stays behind all of them.
                return self._braced(items, owner, [] if spans else [single])

    def _braced(self, items: Sequence[Item], owner: int, jump: Sequence[bytes] = ()) -> bytes:
        """A block in braces, in the place of a single statement."""
        outer = self._text.indent_at(owner)
        lines = [*(line for item in items for line in _lines(item)), *jump]
        inside = b"".join(outer + INDENT.encode() + line + self._text.line_end for line in lines)
        return b"{" + self._text.line_end + inside + outer + b"}"

    def _units(
        self, new: Block, changes: Sequence[_Change], written: Sequence[_Written], staying: Sequence[int]
    ) -> list[Unit]:
        """What stands in the block, in the order of the tree; what has no op there behind what it stood behind."""
        mains = {change.new[-1].uid: place for place, change in enumerate(changes) if place in staying and change.new}
        units: list[Unit] = []
        rank = -1.0
        for op in new.ops:
            if op.uid < 0:
                rank += _STEP
                if is_expression(op):
                    continue
                self._check_added(op, units[-1] if units else None, changes)
                units.append(Unit(Added(spell_cpp(op)), rank, Hold.ORDER, names_read(op), names_made(op)))
            elif op.uid in mains:
                rank = float(mains[op.uid])
                units.append(_unit(changes[mains[op.uid]], written[mains[op.uid]], mains[op.uid]))
        for place in sorted(set(staying) - set(mains.values())):
            units.insert(_beside(units, place), _unit(changes[place], written[place], place))
        return units

    def _check_added(self, op: Op, before: Unit | None, changes: Sequence[_Change]) -> None:
        """What stands behind a loop for the case that it does not go round must see its bounds as the loop did."""
        changed = names_read(op) & before.writes if before is not None and isinstance(before.item, Kept) else _NOTHING
        if changed and isinstance(op, Scalar):
            names = ", ".join(sorted(changed))
            message = f"this loop changes {names}, which its bounds use, so that nothing behind it can tell its trips"
            assert before is not None, "nothing is changed by nothing"
            hint = "give the bounds names of their own in front of the loop"
            raise InputError(message, self._source, _span(before, changes), hint)

    def _refusal(self, conflict: OrderConflictError, changes: Sequence[_Change]) -> InputError:
        """Why a tree cannot be written: the text of a statement would mean something else at its new place."""
        names = ", ".join(sorted(conflict.names))
        moved, before = (_span(unit, changes) for unit in (conflict.moved, conflict.before))
        line = self._source.line(before.start)
        message = f"the plan moves this statement over line {line}, where {names} stands for something else"
        return InputError(message, self._source, moved, f"give {names} one value only, or use --order fixed")

    # -- statements ------------------------------------------------------------------------------------------------

    def _statement(self, change: _Change) -> _Written:
        """Text of a statement, itself perhaps changed."""
        statement = change.statement
        parts, reads, writes = [b""], set(statement.reads), set(statement.writes)
        at = statement.span.start
        olds = {op.uid: op for op in change.old}
        for new in change.new:
            old = olds[new.uid]
            for before, after in _changed_regions(old, new):
                written = self.block(before, after, old.span.start)
                parts += [self._data[at : before.span.start], written.text]
                at = before.span.end
                reads |= written.reads
                writes |= written.writes
        parts.append(self._data[at : statement.span.end])
        for line, name in _addresses(change):
            parts.append(self._text.line_end + self._text.indent_at(statement.span.start) + line.encode())
            reads.add(name)
        return _Written(b"".join(parts), frozenset(reads), frozenset(writes))


def _lines(item: Item) -> list[bytes]:
    return [item.text] if isinstance(item, Kept) else [line.encode() for line in item.lines]


def _changes(old: Block, new: Block) -> list[_Change]:
    """The statements of a block with their ops."""
    spans = {statement.span for statement in old.statements}
    before = [op for op in old.ops if op.span in spans]
    if any(op.span.start < op.span.end for op in old.ops if op.span not in spans):
        raise ValueError("the original kernel is not as it was read")
    known = {op.uid for op in old.ops}
    after = [op for op in new.ops if op.uid >= 0]
    if len({op.uid for op in after}) < len(after) or not {op.uid for op in after} <= known:
        raise ValueError("an op stands twice in a block, or moved to another one")
    return [
        _Change(
            statement,
            tuple(op for op in before if op.span == statement.span),
            tuple(op for op in after if op.span == statement.span),
        )
        for statement in old.statements
    ]


def _declared(statement: Statement) -> frozenset[str]:
    """Names that a statement declares; one that assigns a name counts as using it."""
    return statement.writes - statement.reads


def _staying(changes: Sequence[_Change], written: Sequence[_Written]) -> list[int]:
    """Places of the statements that stay: those of the tree, and those that make names that these use.

    A statement without ops that names what is no longer made goes, unless something that stays uses it.
    """
    stays = [change.stays for change in changes]
    gone = frozenset[str]().union(
        *(change.statement.writes for change, stay in zip(changes, stays, strict=True) if not stay and change.is_pure)
    )
    needed: set[int] = set()
    for place, change in enumerate(changes):
        for name in change.statement.writes if not change.old and change.statement.reads & gone else ():
            gone |= {name}
        if stays[place] and (change.old or change.statement.reads.isdisjoint(gone)):
            needed.add(place)
    waiting = list(needed)
    while waiting:
        reads = written[waiting.pop()].reads
        for place, change in enumerate(changes):
            if place not in needed and change.is_pure and not change.statement.writes.isdisjoint(reads):
                needed.add(place)
                waiting.append(place)
    return sorted(needed)


def _unit(change: _Change, written: _Written, place: int) -> Unit:
    free = all(is_pure(op) for op in change.new)
    hold = Hold.NAMES if free else Hold.ORDER
    return Unit(Kept(place, written.text), float(place), hold, written.reads, written.writes)


def _span(unit: Unit, changes: Sequence[_Change]) -> Span:
    """Where a statement, or the one that an added statement stands behind, is in the file."""
    return changes[max(0, int(unit.rank))].statement.span


def _beside(units: Sequence[Unit], place: int) -> int:
    """Where a statement that has no op in the tree goes: before the nearest one that stood behind it and did not move,
    and the waits there; else behind the last one that stood before it."""
    unmoved = sorted(_unmoved(units))
    behind = next((number for number in unmoved if units[number].rank > place), None)
    if behind is None:
        return max(unmoved, default=-1) + 1
    while behind > 0 and _waits(units[behind - 1].item):
        behind -= 1
    return behind


def _unmoved(units: Sequence[Unit]) -> list[int]:
    """Positions of kept statements that stand in their old order, as many as possible."""
    tails: list[float] = []
    ends: list[int] = []
    before: dict[int, int] = {}
    for number, unit in enumerate(units):
        if isinstance(unit.item, Kept):
            length = bisect_left(tails, unit.rank)
            tails[length:], ends[length:] = [unit.rank, *tails[length + 1 :]], [number, *ends[length + 1 :]]
            before[number] = ends[length - 1] if length else -1
    found: list[int] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(at)
        at = before[at]
    return found


def _waits(item: Item) -> bool:
    return isinstance(item, Added) and all(line.startswith("wait_flag") for line in item.lines)


def _changed_regions(old: Op, new: Op) -> Sequence[tuple[Block, Block]]:
    """The regions of an op before and after."""
    changes = [] if old is new else changed_fields(old, new)
    if isinstance(old, AllocTile) and changes == ["address"] and old.address is None:
        return ()
    if changes and not (isinstance(old, For | If | Section) and {*changes} <= {"body", "then", "orelse"}):
        raise ValueError(f"no text for {type(old).__name__} {old.uid} with another {', '.join(changes)}")
    blocks = regions(old)
    if len(blocks) != len(regions(new)):
        raise ValueError(f"no text for op {old.uid} with other regions")
    return list(zip(blocks, regions(new), strict=True))


def _addresses(change: _Change) -> list[tuple[str, str]]:
    """Statements that give the tiles of a declaration their addresses, and the names of these."""
    olds = {op.uid: op for op in change.old}
    found: list[tuple[str, str]] = []
    for op in change.new:
        old = olds[op.uid]
        if isinstance(op, AllocTile) and isinstance(old, AllocTile) and old.address is None and op.address is not None:
            found.append((address_line(op.result, op.address), op.address.name.removeprefix("%")))
    return found
