"""Kernels drawn at random: scalars, loops, branches, views, tiles and flags in any order, mostly not synchronised."""

from dataclasses import dataclass, field

from hypothesis import strategies as st

TILE = "!pto.tile_buf<vec, 16x32xf32>"
SLOTS = "!pto.multi_tile_buf<vec, 16x32xf32, count=3>"
PART = "!pto.tile_buf<vec, 4x16xf32>"
OPEN_PART = "!pto.tile_buf<vec, 4x16xf32, valid=?x16>"
WHOLE, BOX = "!pto.tensor_view<?x?xf32>", "!pto.tensor_view<?x?xf32>"
PIPES = ("MTE2", "V", "MTE3")
CONSTANTS = (0, 1, 2, 3, 5, 7, 8, 16, 32, 64)
UNSAFE = ("arith.divsi", "arith.remsi", "arith.divui", "arith.ceildivsi", "arith.floordivsi", "arith.remui")
"""Undefined by zero: they divide by a constant."""
SAFE = ("arith.addi", "arith.subi", "arith.muli", "arith.minsi", "arith.maxui", "arith.andi", "arith.xori")
PREDICATES = ("eq", "ne", "slt", "sge", "ult", "ugt")

HEAD = [
    "func.func @drawn(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index, %i: i32) {",
    *(f"%c{number} = arith.constant {number} : index" for number in CONSTANTS),
    *(f"%t{at} = pto.alloc_tile : {TILE}" for at in range(3)),
    f"%slots = pto.alloc_multi_tile : {SLOTS}",
    f"%xv = pto.make_tensor_view %x, shape = [%c64, %c64], strides = [%c64, %c1] : {WHOLE}",
    f"%yv = pto.make_tensor_view %y, shape = [%c64, %n], strides = [%n, %c1] : {WHOLE}",
]


@dataclass
class Names:
    """Values that are in scope, by kind, and how many names there are already."""

    numbers: list[str]
    tiles: list[str]
    count: list[int] = field(default_factory=lambda: [0])

    def inner(self) -> "Names":
        """The same for a block inside."""
        return Names([*self.numbers], [*self.tiles], self.count)

    def new(self) -> str:
        """A name that is not taken."""
        self.count[0] += 1
        return f"%v{self.count[0]}"


class Writer:
    """Draws the lines of a kernel."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._lines: list[str] = []

    def kernel(self) -> str:
        """The whole text."""
        names = Names(["%n", *(f"%c{number}" for number in CONSTANTS)], [f"%t{at}" for at in range(3)])
        self._lines = [*HEAD, "%i0 = arith.index_cast %i : i32 to index"]
        names.numbers.append("%i0")
        self._block(names, 2)
        return "\n".join([*self._lines, "return", "}", ""])

    def _one(self, among: list[str]) -> str:
        return self._draw(st.sampled_from(among))

    def _below(self, limit: int, names: Names) -> str:
        """A number from 0 to `limit` - 1."""
        return self._scalar(names, f"arith.remui {self._one(names.numbers)}, %c{limit} : index")

    def _scalar(self, names: Names, text: str) -> str:
        name = names.new()
        self._lines.append(f"{name} = {text}")
        names.numbers.append(name)
        return name

    def _block(self, names: Names, depth: int) -> None:
        makers = [self._arithmetic, self._tile_op, self._move, self._flag, self._slot, self._part]
        if depth:
            makers += [self._loop, self._branch]
        for _ in range(self._draw(st.integers(1, 5))):
            maker = self._draw(st.sampled_from(makers))
            maker(names, depth)

    def _arithmetic(self, names: Names, _depth: int) -> None:
        kind = self._draw(st.integers(0, 3))
        a, b = self._one(names.numbers), self._one(names.numbers)
        if kind == 0:
            self._scalar(names, f"{self._one([*UNSAFE])} {a}, %c{self._draw(st.sampled_from(CONSTANTS[1:]))} : index")
        elif kind == 1:
            self._scalar(names, f"{self._one([*SAFE])} {a}, {b} : index")
        elif kind == 2:
            condition = self._condition(names)
            self._scalar(names, f"arith.select {condition}, {a}, {b} : index")
        else:
            narrow = names.new()
            self._lines.append(f"{narrow} = arith.index_cast {a} : index to i32")
            self._scalar(names, f"arith.index_castui {narrow} : i32 to index")

    def _condition(self, names: Names) -> str:
        name, predicate = names.new(), self._one([*PREDICATES])
        a, b = self._one(names.numbers), self._one(names.numbers)
        self._lines.append(f"{name} = arith.cmpi {predicate}, {a}, {b} : index")
        return name

    def _tile_op(self, names: Names, _depth: int) -> None:
        a, b, to = (self._one(names.tiles) for _ in range(3))
        self._lines.append(f"pto.tadd ins({a}, {b} : {TILE}, {TILE}) outs({to} : {TILE})")

    def _move(self, names: Names, _depth: int) -> None:
        """A load or a store through a box at a drawn place."""
        row, column = self._below(32, names), self._below(16, names)
        box, tile = names.new(), self._one(names.tiles)
        view = self._one(["%xv", "%yv"])
        offsets = f"offsets = [{row}, {column}], sizes = [%c16, %c32]"
        self._lines.append(f"{box} = pto.partition_view {view}, {offsets} : {WHOLE} -> {BOX}")
        if view == "%xv":
            self._lines.append(f"pto.tload ins({box} : {BOX}) outs({tile} : {TILE})")
        else:
            self._lines.append(f"pto.tstore ins({tile} : {TILE}) outs({box} : {BOX})")

    def _flag(self, names: Names, _depth: int) -> None:
        source, target = self._draw(st.permutations(PIPES))[:2]
        word = self._one(["set_flag", "wait_flag"])
        match self._draw(st.integers(0, 2)):
            case 0:
                self._lines.append(f"pto.barrier <PIPE_{self._one([*PIPES, 'ALL'])}>")
            case 1:
                event = self._draw(st.integers(0, 7))
                self._lines.append(f"pto.{word}[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]")
            case _:
                event = self._below(8, names)
                self._lines.append(f"pto.{word}_dyn[<PIPE_{source}>, <PIPE_{target}>, {event}]")

    def _slot(self, names: Names, _depth: int) -> None:
        name = names.new()
        self._lines.append(f"{name} = pto.multi_tile_get %slots[{self._below(3, names)}] : {SLOTS} -> {TILE}")
        names.tiles.append(name)

    def _part(self, names: Names, _depth: int) -> None:
        """An op on part of a tile, all of its rows valid or as many as drawn."""
        name, tile = names.new(), self._one(names.tiles)
        type_, valid = PART, ""
        if self._draw(st.booleans()):
            type_, valid = OPEN_PART, f"valid [{self._below(5, names)}, %c16] "
        offsets = f"{self._below(8, names)}, {self._below(16, names)}"
        self._lines.append(f"{name} = pto.subview {tile}[{offsets}] sizes [4, 16] {valid}: {TILE} -> {type_}")
        self._lines.append(f"pto.tabs ins({name} : {type_}) outs({name} : {type_})")

    def _loop(self, names: Names, depth: int) -> None:
        inner = names.inner()
        i, upper = inner.new(), f"%c{self._draw(st.sampled_from(CONSTANTS[:4]))}"
        carried = [inner.new() for _ in range(self._draw(st.integers(0, 2)))]
        inits = [self._one(names.numbers) for _ in carried]
        results = names.new()
        head = f"scf.for {i} = %c0 to {upper} step %c1"
        if carried:
            pairs = ", ".join(f"{name} = {init}" for name, init in zip(carried, inits, strict=True))
            head = f"{results}:{len(carried)} = {head} iter_args({pairs}) -> ({', '.join(['index'] * len(carried))})"
        self._lines.append(f"{head} {{")
        inner.numbers += [i, *carried]
        self._block(inner, depth - 1)
        self._yield([self._one(inner.numbers) for _ in carried])
        self._lines.append("}")
        names.numbers += [f"{results}#{at}" for at in range(len(carried))]

    def _branch(self, names: Names, depth: int) -> None:
        condition, result = self._condition(names), names.new()
        has_result = self._draw(st.booleans())
        self._lines.append(f"{result} = scf.if {condition} -> (index) {{" if has_result else f"scf.if {condition} {{")
        for _ in range(1 + (has_result or self._draw(st.booleans()))):
            inner = names.inner()
            self._block(inner, depth - 1)
            self._yield([self._one(inner.numbers)] * has_result)
            self._lines.append("} else {")
        self._lines[-1] = "}"
        if has_result:
            names.numbers.append(result)

    def _yield(self, values: list[str]) -> None:
        if values:
            self._lines.append(f"scf.yield {', '.join(values)} : {', '.join(['index'] * len(values))}")


@st.composite
def kernels(draw: st.DrawFn) -> str:
    """The text of a kernel that reads and writes inside 64 x 64 elements of its arguments."""
    return Writer(draw).kernel()
