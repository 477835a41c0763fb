"""Which operands each tile op takes in C++, and what its call holds besides them.

The rule: the name in upper case with `_` for `.`, the destination first, then the sources as the text has them. An
operand is `t` for a tile, `v` for a view or `s` for a scalar. The signatures are those of the public PTO-ISA headers;
what becomes of an attribute is what the public ptoas makes of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of a tile op in C++.

    Parameters
    ----------
    shape : str
        Kinds of the ins, `->`, kind of the out: `ts->t`.
    out : str
        The destination.
    ins : tuple of str
        The sources.
    types : Mapping of str to str
        The C++ type of each tile and view among them.
    """

    shape: str
    out: str
    ins: tuple[str, ...]
    types: Mapping[str, str]


Build = Callable[[Operands, Mapping[str, str]], str | None]
"""A call from its operands and attributes; None if the attributes have no C++ form here."""


@dataclass(frozen=True, slots=True)
class Row:
    """The C++ of one tile op: the operands it is known with, the attributes it may have, its call."""

    shapes: tuple[str, ...]
    build: Build
    attributes: frozenset[str] = field(default_factory=frozenset[str])


def call_of(name: str) -> Row | None:
    """The row of a tile op; None if its C++ form is not known."""
    return _ROWS.get(name)


def _callee(name: str) -> str:
    return name.removeprefix("pto.").upper().replace(".", "_")


def _plain(callee: str, *more: str) -> Build:
    """Destination, sources, and arguments that never change."""
    return lambda operands, _: f"{callee}({', '.join([operands.out, *operands.ins, *more])})"


def _rows(shapes: str, names: str) -> Iterable[tuple[str, Row]]:
    """Ops that follow the rule."""
    for name in names.split():
        yield f"pto.{name}", Row(tuple(shapes.split()), _plain(_callee(name)))


# -- the exceptions ------------------------------------------------------------------------------------------------


def _templated(callee: str, operands: Operands, arguments: Iterable[str], ins: Iterable[str]) -> str:
    return f"{callee}<{', '.join(arguments)}>({', '.join([operands.out, *ins])})"


_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
_ROUNDINGS = ("NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD")
_MASKS = ("P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111")


def _comparison(callee: str) -> Build:
    """The relation comes last; equality if the text names none."""

    def build(operands: Operands, attributes: Mapping[str, str]) -> str | None:
        mode = attributes.get("cmpMode", "eq").upper()
        return _plain(callee, f"CmpMode::{mode}")(operands, attributes) if mode in _COMPARISONS else None

    return build


def _conversion(operands: Operands, attributes: Mapping[str, str]) -> str | None:
    """Rounding comes behind the operands, then saturation if the text has any; to nearest if it names no rounding."""
    rounding = attributes.get("rmode", "RINT").removeprefix("CAST_")
    saturations = [attributes[key] for key in ("sat_mode", "satmode") if key in attributes]
    if rounding not in _ROUNDINGS or len(saturations) > 1 or not {*saturations} <= {"ON", "OFF"}:
        return None
    more = [f"RoundMode::CAST_{rounding}", *(f"SaturationMode::{mode}" for mode in saturations)]
    return _plain("TCVT", *more)(operands, attributes)


def _column_sum(operands: Operands, attributes: Mapping[str, str]) -> str | None:
    """With a scratch tile it is told whether to add pair by pair."""
    binary = attributes.get("isBinary", "false")
    if binary not in ("true", "false") or (operands.shape == "t->t" and attributes):
        return None
    more = () if operands.shape == "t->t" else (binary,)
    return _plain("TCOLSUM", *more)(operands, attributes)


def _gather(operands: Operands, attributes: Mapping[str, str]) -> str | None:
    """By an index tile, or by a mask that is a template argument."""
    mask = attributes.get("maskPattern")
    if (mask is None) is (operands.shape == "t->t") or mask not in (None, *_MASKS):
        return None
    if mask is None:
        return _plain("TGATHER")(operands, attributes)
    types = (operands.types[operands.out], operands.types[operands.ins[0]])
    return _templated("TGATHER", operands, (*types, f"MaskPattern::{mask}"), operands.ins)


def _ramp(operands: Operands, attributes: Mapping[str, str]) -> str | None:
    """Tile, scratch tile, type of the start and direction are template arguments."""
    descending = {"false": "0", "true": "1"}.get(attributes.get("descending", "false"))
    start = operands.types.get(operands.ins[0])
    if descending is None or start not in ("int16_t", "int32_t"):
        return None
    tiles = [operands.types[name] for name in (operands.out, *operands.ins[1:])]
    return _templated("TCI", operands, (*tiles, start, descending), operands.ins)


_RELUS = {"no_relu": "NoRelu", "normal_relu": "NormalRelu"}
_ATOMICS = {"atomic_none": "AtomicNone", "atomic_add": "AtomicAdd"}
_PHASES = {"unspecified": "Unspecified", "partial": "Partial", "final": "Final"}


def _store(operands: Operands, attributes: Mapping[str, str]) -> str | None:
    """What is done on the way is a template argument behind the types; a scale for quantisation comes last."""
    phase = _PHASES.get(attributes.get("stPhase", "unspecified"))
    atomic = _ATOMICS.get(attributes.get("atomicType", "atomic_none"))
    relu = _RELUS.get(attributes.get("reluPreMode", "no_relu"))
    if phase is None or atomic is None or relu is None:
        return None
    [source, *scale] = operands.ins
    arguments: list[str] = [] if phase == "Unspecified" else [f"STPhase::{phase}"]
    if scale or relu != "NoRelu" or atomic != "AtomicNone":
        arguments += [operands.types[source], operands.types[operands.out], f"AtomicType::{atomic}"]
    if scale or relu != "NoRelu":
        arguments.append(f"ReluPreMode::{relu}")
    ins = [source, *(f"(uint64_t) {value}" for value in scale)]
    return _templated("TSTORE", operands, arguments, ins) if arguments else _plain("TSTORE")(operands, attributes)


def _move(operands: Operands, attributes: Mapping[str, str]) -> str | None:
    """A rectifier is a template argument behind the types; a scale for quantisation comes last."""
    relu = _RELUS.get(attributes.get("reluPreMode", "no_relu"))
    [source, *scale] = operands.ins
    if relu is None:
        return None
    if not scale and relu == "NoRelu":
        return _plain("TMOV")(operands, attributes)
    arguments = [operands.types[operands.out], operands.types[source]]
    if relu != "NoRelu":
        arguments.append(f"ReluPreMode::{relu}")
    return _templated("TMOV", operands, arguments, [source, *(f"(uint64_t) {value}" for value in scale)])


def _accumulation(callee: str) -> Build:
    """The accumulator that is read is of the type of the one that is written; it may be the same without saying so."""

    def build(operands: Operands, attributes: Mapping[str, str]) -> str | None:
        first = operands.types[operands.ins[0]]
        if operands.shape == "ttt->t" and first != operands.types[operands.out]:
            return None
        return _plain(callee)(operands, attributes)

    return build


def _set_value(operands: Operands, _: Mapping[str, str]) -> str:
    """One element of a tile is a member of it."""
    return f"{operands.out}.SetValue({', '.join(operands.ins)})"


_ROWS: Mapping[str, Row] = dict(
    [
        *_rows("t->t", "tabs tneg tnot trelu texp tlog tsqrt trecip tfillpad"),
        *_rows("t->t", "trowexpand tcolexpand tcolmax tcolmin tcolprod"),
        *_rows("tt->t", "tadd tsub tmul tdiv tmax tmin tand tor tgatherb tscatter"),
        *_rows("tt->t", "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv tcolexpandmax tcolexpandmin"),
        *_rows("tt->t ttt->t", "trowexpandadd trowexpandsub trowexpandmul trowexpanddiv trowexpandmax trowexpandmin"),
        *_rows("tt->t", "trowsum trowmax trowmin trowprod"),
        *_rows("ts->t", "tadds tsubs tmuls tmaxs tmins tands tors tshls tshrs taxpy tlrelu tmrgsort"),
        *_rows("ts->t st->t", "tdivs"),
        *_rows("s->t", "texpands"),
        *_rows("t->t tt->t", "trsqrt"),
        *_rows("tt->t ttt->t", "tsort32"),
        *_rows("tttt->t", "tsel"),
        *_rows("ttts->t", "tsels"),
        *_rows("tss->t", "textract tinsert"),
        *_rows("ttss->t", "textract_fp tinsert_fp"),
        *_rows("tt->t", "tmatmul tgemv tmov.fp"),
        *_rows("ttt->t", "tmatmul.bias tgemv.bias"),
        *_rows("v->t", "tload tprefetch"),
        *_rows("tt->v", "tstore_fp"),
        *_rows("vt->t", "mgather"),
        ("pto.tcmp", Row(("tt->t",), _comparison("TCMP"), frozenset({"cmpMode"}))),
        ("pto.tcmps", Row(("ts->t",), _comparison("TCMPS"), frozenset({"cmpMode"}))),
        ("pto.tcvt", Row(("t->t", "tt->t"), _conversion, frozenset({"rmode", "sat_mode", "satmode"}))),
        ("pto.tcolsum", Row(("t->t", "tt->t"), _column_sum, frozenset({"isBinary"}))),
        ("pto.tgather", Row(("t->t", "ttt->t"), _gather, frozenset({"maskPattern"}))),
        ("pto.tci", Row(("s->t", "st->t"), _ramp, frozenset({"descending"}))),
        ("pto.tstore", Row(("t->v", "ts->v"), _store, frozenset({"stPhase", "atomicType", "reluPreMode"}))),
        ("pto.tmov", Row(("t->t", "ts->t"), _move, frozenset({"reluPreMode"}))),
        ("pto.tmatmul.acc", Row(("ttt->t", "tt->t"), _accumulation("TMATMUL_ACC"))),
        ("pto.tgemv.acc", Row(("ttt->t",), _accumulation("TGEMV_ACC"))),
        ("pto.tsetval", Row(("ss->t",), _set_value)),
    ]
)
"""By name. `pto.tgetval` hands out a number, which ops in destination-passing form do not; `pto.treshape` gives its
destination the address of its source, which is not the address that the destination has in the tree."""
