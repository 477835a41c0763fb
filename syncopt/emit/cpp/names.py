"""C++ identifiers for the values of a kernel."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from syncopt.ir.kernel import Value

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
_USED_HERE = """
AICORE AtomicType BLayout CmpMode CompactMode GlobalTensor Layout MaskPattern PadValue ReluPreMode RoundMode SLayout
STPhase SaturationMode Shape Stride Tile TileType bfloat16_t event_t get_block_idx get_block_num get_subblockdim
get_subblockid half int16_t int32_t int64_t int8_t main pipe_barrier pto set_flag set_mask_norm set_vector_mask size_t
std uint16_t uint32_t uint64_t uint8_t wait_flag NULL INFINITY NAN assert
"""
_RESERVED = frozenset((*_KEYWORDS.split(), *_USED_HERE.split()))
_FAMILIES = re.compile(r"(?:PIPE|EVENT|PTO|ACL|__DAV)_?\w*|[TM][A-Z][A-Z0-9_]*")
"""Names of macros, enumerators and instructions of the PTO-ISA headers."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")


def identifier(name: str) -> str:
    """An SSA name as a C++ identifier that means nothing else; two names may give the same one."""
    words = _NO_WORD.sub("_", name).strip("_")
    if not words or words[0].isdigit():
        words = f"v{words}"
    return f"{words}_" if words in _RESERVED or _FAMILIES.fullmatch(words) else words


def function_name(name: str) -> str:
    """The name of a function, which its callers know it by: as it is where C++ takes it."""
    is_taken = name in _RESERVED or _FAMILIES.fullmatch(name)
    return name if _IDENTIFIER.fullmatch(name) and not is_taken else identifier(name)


class Names:
    """The identifiers that are visible at a point of the text; none hides another.

    A value gets the identifier of its SSA name, with a number behind it where that is visible already.
    """

    def __init__(self) -> None:
        self._scopes: list[set[str]] = [set()]
        self._names: dict[Value, str] = {}

    @contextmanager
    def scope(self) -> Generator[None]:
        """Identifiers that are declared inside are free again behind it."""
        self._scopes.append(set())
        yield
        self._scopes.pop()

    def declare(self, value: Value) -> str:
        """A new identifier for a value."""
        self._names[value] = self.fresh(identifier(value.name))
        return self._names[value]

    def fresh(self, base: str) -> str:
        """A new identifier that looks like `base`."""
        name, number = base, 2
        while any(name in scope for scope in self._scopes):
            name, number = f"{base}_{number}", number + 1
        self._scopes[-1].add(name)
        return name

    def share(self, value: Value, other: Value) -> None:
        """Makes a value go by the identifier of another one."""
        self._names[value] = self._names[other]

    def __getitem__(self, value: Value) -> str:
        return self._names[value]
