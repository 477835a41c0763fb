"""C++ types as far as kernels use them, and the conversions between arithmetic types."""

from dataclasses import dataclass
from enum import Enum

from syncopt.ir.types import DType, ScalarType, TileType

DIMENSIONS = 5
"""Sizes of a `Shape` or `Stride`."""


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer type; `bool` has one bit and no sign."""

    bits: int
    signed: bool

    @property
    def scalar(self) -> ScalarType:
        """The type of its values in the IR, which have no sign of their own."""
        return ScalarType(f"i{self.bits}")

    @property
    def spelling(self) -> str:
        """A C++ name of the type."""
        return "bool" if self.bits == 1 else f"{'' if self.signed else 'u'}int{self.bits}_t"


@dataclass(frozen=True, slots=True)
class Float:
    """A floating point type by its name in the IR."""

    name: str

    @property
    def scalar(self) -> ScalarType:
        """The type of its values in the IR."""
        return ScalarType(self.name)

    @property
    def spelling(self) -> str:
        """A C++ name of the type."""
        return next(spelling for spelling, type_ in ARITHMETIC.items() if type_ == self)


class Space(Enum):
    """What a pointer points into."""

    GLOBAL = "global memory"
    ON_CHIP = "a memory of the core"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer to elements."""

    element: DType
    space: Space


class ExtentKind(Enum):
    """What five sizes are; the value is the name of the C++ template."""

    SHAPE = "Shape"
    STRIDE = "Stride"


@dataclass(frozen=True, slots=True)
class Extents:
    """`Shape<...>` or `Stride<...>`, None for what is given at run time."""

    kind: ExtentKind
    sizes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """`GlobalTensor<...>`; `layout` is nd, dn or nz."""

    element: DType
    shape: Extents
    stride: Extents
    layout: str


Number = Integer | Float
CppType = Integer | Float | Pointer | TileType | Extents | Tensor

BOOL, INT, UNSIGNED, LONG = Integer(1, False), Integer(32, True), Integer(32, False), Integer(64, True)
SIZE = Integer(64, False)

ARITHMETIC: dict[str, Number] = {
    "bool": BOOL,
    **{f"int{bits}_t": Integer(bits, True) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": Integer(bits, False) for bits in (8, 16, 32, 64)},
    "signed char": Integer(8, True),
    "unsigned char": Integer(8, False),
    **dict.fromkeys(("short", "short int"), Integer(16, True)),
    **dict.fromkeys(("unsigned short", "unsigned short int"), Integer(16, False)),
    **dict.fromkeys(("int", "signed", "signed int"), INT),
    **dict.fromkeys(("unsigned", "unsigned int"), UNSIGNED),
    **dict.fromkeys(("long", "long int", "long long", "long long int"), LONG),
    **dict.fromkeys(("unsigned long", "unsigned long int", "unsigned long long", "unsigned long long int"), SIZE),
    "size_t": SIZE,
    "uintptr_t": SIZE,
    "intptr_t": LONG,
    "ptrdiff_t": LONG,
    "event_t": INT,
    "float": Float("f32"),
    "double": Float("f64"),
    "half": Float("f16"),
    "bfloat16_t": Float("bf16"),
    **dict.fromkeys(("__fp16", "aclFloat16"), Float("f16")),
}
"""Arithmetic types by their C++ name."""

_FLOAT_ELEMENTS = {"f16": DType.F16, "bf16": DType.BF16, "f32": DType.F32}


def element(type_: Number) -> DType | None:
    """The type as elements of tiles, tensors and pointers, None if they cannot have it."""
    if isinstance(type_, Float):
        return _FLOAT_ELEMENTS.get(type_.name)
    return None if type_ == BOOL else DType[f"{'' if type_.signed else 'U'}I{type_.bits}"]


def promoted(type_: Integer) -> Integer:
    """The type after integer promotion: everything below `int` becomes `int`."""
    return type_ if type_.bits >= INT.bits else INT


def common(a: Number, b: Number) -> Number:
    """The type in which an operator works on two operands (the usual arithmetic conversions)."""
    if isinstance(a, Float) or isinstance(b, Float):
        floats = [type_ for type_ in (a, b) if isinstance(type_, Float)]
        return max(floats, key=_float_rank)
    a, b = promoted(a), promoted(b)
    if a.signed == b.signed:
        return max(a, b, key=_bits)
    signed, unsigned = (a, b) if a.signed else (b, a)
    return signed if signed.bits > unsigned.bits else unsigned


def _bits(type_: Integer) -> int:
    return type_.bits


def _float_rank(type_: Float) -> int:
    return ("f16", "bf16", "f32", "f64").index(type_.name)


def describe(type_: CppType) -> str:
    """What messages call a type."""
    match type_:
        case Integer() | Float():
            return type_.spelling
        case Pointer():
            return f"a pointer into {type_.space.value}"
        case TileType():
            return "a tile"
        case Extents():
            return f"a {type_.kind.value}"
        case Tensor():
            return "a GlobalTensor"
