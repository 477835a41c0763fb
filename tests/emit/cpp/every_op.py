"""Text with every tile op in every combination of operands that it has a C++ form for."""

from collections.abc import Iterator
from dataclasses import dataclass

_LAYOUTS = {
    "vec": ("row_major", "none_box", 512),
    "mat": ("col_major", "row_major", 512),
    "left": ("row_major", "row_major", 512),
    "right": ("row_major", "col_major", 512),
    "acc": ("col_major", "row_major", 1024),
    "bias": ("row_major", "none_box", 512),
    "scaling": ("row_major", "none_box", 512),
}


def _tile(loc: str, dtype: str, rows: int, cols: int, pad: int = 0) -> str:
    """The type of a tile in the layout of its memory; a column of one element per row is column-major."""
    blayout, slayout, fractal = _LAYOUTS[loc]
    if cols == 1:
        blayout = "col_major"
    sizes = f"rows={rows}, cols={cols}, v_row={rows}, v_col={cols}"
    layout = f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}"
    return f"!pto.tile_buf<loc={loc}, dtype={dtype}, {sizes}, {layout}>"


TYPES = {
    "f": _tile("vec", "f32", 16, 16),
    "g": _tile("vec", "f32", 16, 16),
    "o": _tile("vec", "f32", 16, 16),
    "h": _tile("vec", "f16", 16, 16),
    "i": _tile("vec", "i32", 16, 16),
    "j": _tile("vec", "i32", 16, 16),
    "u": _tile("vec", "ui32", 16, 16),
    "padded": _tile("vec", "f32", 16, 16, pad=1),
    "mask": _tile("vec", "ui8", 16, 32),
    "col": _tile("vec", "f32", 16, 1),
    "row": _tile("vec", "f32", 1, 16),
    "irow": _tile("vec", "i32", 1, 16),
    "bytes": _tile("vec", "i32", 1, 16),
    "sort": _tile("vec", "f32", 1, 32),
    "sorted": _tile("vec", "f32", 1, 64),
    "places": _tile("vec", "ui32", 1, 32),
    "long": _tile("vec", "f32", 1, 256),
    "merged": _tile("vec", "f32", 1, 256),
    "a": _tile("mat", "f16", 16, 16),
    "b": _tile("mat", "f16", 16, 16),
    "l": _tile("left", "f16", 16, 16),
    "r": _tile("right", "f16", 16, 16),
    "lrow": _tile("left", "f16", 1, 16),
    "c": _tile("acc", "f32", 16, 16),
    "crow": _tile("acc", "f32", 1, 16),
    "d": _tile("bias", "f32", 1, 16),
    "s": _tile("scaling", "ui64", 1, 16),
    "q": _tile("mat", "i8", 16, 32),
    "cq": _tile("acc", "i32", 16, 32),
    "sq": _tile("scaling", "ui64", 1, 32),
    "x": "f32",
    "k": "i32",
    "p": "index",
    "w": "i64",
    "vf": "!pto.tensor_view<16x16xf32>",
    "vh": "!pto.tensor_view<16x16xf16>",
    "vq": "!pto.tensor_view<16x32xi8>",
}

# Per op its sources, its destination, its attributes; one tile to another where nothing else is said.
_VECTOR = """
tabs tneg tnot:i>j trelu texp tlog tsqrt trecip trowexpand:col>o tcolexpand:row>o tcolmax:f>row tcolmin:f>row
tcolprod:f>row tfillpad:f>padded tadd:f,g>o tsub:f,g>o tmul:f,g>o tdiv:f,g>o tmax:f,g>o tmin:f,g>o tand:i,j>j tor:i,j>j
tgatherb:f,u>o tscatter:f,u>o tcolexpandadd:f,row>o tcolexpandsub:f,row>o tcolexpandmul:f,row>o tcolexpanddiv:f,row>o
tcolexpandmax:f,row>o tcolexpandmin:f,row>o trowexpandadd:f,col>o trowexpandadd:f,col,g>o trowexpandsub:f,col>o
trowexpandsub:f,col,g>o trowexpandmul:f,col>o trowexpandmul:f,col,g>o trowexpanddiv:f,col>o trowexpanddiv:f,col,g>o
trowexpandmax:f,col>o trowexpandmax:f,col,g>o trowexpandmin:f,col>o trowexpandmin:f,col,g>o trowsum:f,g>col
trowmax:f,g>col trowmin:f,g>col trowprod:f,g>col tadds:f,x>o tsubs:f,x>o tmuls:f,x>o tmaxs:f,x>o tmins:f,x>o tands:i,k>j
tors:i,k>j tshls:i,k>j tshrs:i,k>j taxpy:f,x>o tlrelu:f,x>o tmrgsort:long,k>merged tdivs:f,x>o tdivs:x,f>o texpands:x>o
trsqrt trsqrt:f,g>o tsort32:sort,places>sorted tsort32:sort,places,long>sorted tsel:mask,f,g,o>o tsels:mask,f,g,x>o
textract:f,p,p>o tinsert:f,p,p>o tload:vf>f tprefetch:vf>f tmov:f>o mgather:vf,u>o tcolsum:f>row tsetval:p,x>o
tstore:f>vf
"""
_VECTOR_WITH_ATTRIBUTES = """
tcmp:f,g>mask {cmpMode = #pto<cmp gt>}
tcmp:f,g>mask
tcmps:f,x>mask {cmpMode = #pto<cmp le>}
tcvt:f>h {rmode = #pto<round_mode ROUND>}
tcvt:f>h
tcvt:f>h {rmode = #pto<round_mode TRUNC>, sat_mode = #pto<saturation_mode OFF>}
tcvt:f,g>h {rmode = #pto<round_mode CAST_RINT>}
tcolsum:f,g>row {isBinary = true}
tgather:f,i,j>o
tgather:f>o {maskPattern = #pto.mask_pattern<P0101>}
tci:k>irow {descending = true}
tci:k,bytes>irow
tstore:f>vf {atomicType = #pto<atomic_type atomic_add>}
"""
_CUBE = """
textract:a,p,p>l textract:b,p,p>r tmov:a>l tmov:b>r tmov:c>b tmov:a>d tmov:a>s tinsert:c,p,p>a tmatmul:l,r>c
tgemv:lrow,r>crow tmatmul.bias:l,r,d>c tgemv.bias:lrow,r,d>crow tmatmul.acc:c,l,r>c tmatmul.acc:l,r>c
tgemv.acc:crow,lrow,r>crow
tload:vh>a tprefetch:vh>a tstore:c>vf tfillpad:a>a texpands:x>a textract_fp:cq,sq,p,p>q tinsert_fp:cq,sq,p,p>q
tmov.fp:cq,sq>q tmov:cq,w>q tstore_fp:cq,sq>vq tstore:cq,w>vq
"""
_CUBE_WITH_ATTRIBUTES = """
tstore:c>vf {atomicType = #pto<atomic_type atomic_add>}
tstore:c>vf {stPhase = #pto<st_phase final>}
tstore:c>vh {reluPreMode = #pto<relu_pre_mode normal_relu>}
tmov:c>b {reluPreMode = #pto<relu_pre_mode normal_relu>}
"""


@dataclass(frozen=True)
class Use:
    """One op on named operands."""

    name: str
    ins: tuple[str, ...]
    out: str
    attributes: str = ""

    def line(self) -> str:
        """The op as text."""
        values, types = (", ".join(parts) for parts in ([f"%{n}" for n in self.ins], [TYPES[n] for n in self.ins]))
        return f"pto.{self.name} ins({values} {self.attributes}: {types}) outs(%{self.out} : {TYPES[self.out]})"


def _uses(plain: str, with_attributes: str) -> Iterator[Use]:
    for word in plain.split():
        yield _use(word)
    for line in with_attributes.strip().splitlines():
        word, _, attributes = line.partition(" ")
        yield _use(word, f"{attributes} " if attributes else "")


def _use(word: str, attributes: str = "") -> Use:
    name, _, operands = word.partition(":")
    ins, _, out = (operands or "f>o").partition(">")
    return Use(name, tuple(ins.split(",")), out, attributes)


VECTOR = tuple(_uses(_VECTOR, _VECTOR_WITH_ATTRIBUTES))
CUBE = tuple(_uses(_CUBE, _CUBE_WITH_ATTRIBUTES))


def text_with(section: str, uses: tuple[Use, ...]) -> str:
    """A kernel that executes ops one after the other on tiles that all lie at the same address."""
    tiles = {name: type_ for name, type_ in TYPES.items() if type_.startswith("!pto.tile_buf")}
    lines = [
        "func.func @every(%pf: !pto.ptr<f32>, %ph: !pto.ptr<f16>, %pq: !pto.ptr<i8>, %x: f32, %k: i32, %w: i64) {",
        f"pto.section.{section} {{",
        *(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 16, 32)),
        "%p = arith.constant 0 : index",
        "%at = arith.constant 0 : i64",
        *(f"%{name} = pto.alloc_tile addr = %at : {type_}" for name, type_ in tiles.items()),
        f"%vf = pto.make_tensor_view %pf, shape = [%c16, %c16], strides = [%c16, %c1] : {TYPES['vf']}",
        f"%vh = pto.make_tensor_view %ph, shape = [%c16, %c16], strides = [%c16, %c1] : {TYPES['vh']}",
        f"%vq = pto.make_tensor_view %pq, shape = [%c16, %c32], strides = [%c32, %c1] : {TYPES['vq']}",
        *(use.line() for use in uses),
        "}",
        "return",
        "}",
    ]
    return "\n".join([*lines, ""])
