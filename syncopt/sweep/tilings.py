"""The tilings of a GEMM as an axis of a sweep."""

import re
from dataclasses import dataclass, replace

from syncopt.api import InputError, Machine
from syncopt.gen import gemm
from syncopt.sweep.axes import Shape

AUTO = "auto"
"""Stands for all tilings that fill the memories of the machine and divide the shape."""

_SIZES = r"([1-9]\d{0,8})x([1-9]\d{0,8})x([1-9]\d{0,8})"
_TILING = re.compile(rf"{_SIZES}(?:/{_SIZES})?(?:/b([1-9]\d{{0,3}}))?(?:/c([12]))?")
_NEEDED = ("M", "N", "K")


@dataclass(frozen=True, kw_only=True)
class GemmForm:
    """What the GEMM kernels of a sweep have in common.

    Parameters
    ----------
    dtype : str
        Element type of A and B.
    a_layout, b_layout : GlobalLayout
        Where their elements lie.
    panel : int
        Tile columns per panel of the tile order, 0 for tiles row by row.
    sync : Sync
        Which flags the kernels hold: those placed by hand become the baseline.
    """

    dtype: str = "f16"
    a_layout: gemm.GlobalLayout = gemm.GlobalLayout.ND
    b_layout: gemm.GlobalLayout = gemm.GlobalLayout.DN
    panel: int = 5
    sync: gemm.Sync = gemm.Sync.NONE


def tilings_of(form: GemmForm, text: str, shape: Shape, machine: Machine) -> tuple[gemm.Tiling, ...]:
    """The tilings to try for a shape.

    Parameters
    ----------
    form : GemmForm
        Element type and layouts.
    text : str
        `auto`, or a tiling such as `128x256x512` (L1), `128x256x512/128x256x64` (L1 and L0), either with `/b2` (parts
        of B per K step) and `/c2` (buffers in L0C). What is left out is chosen to fit the machine.
    shape : mapping
        M, N and K.
    machine : Machine
        On which they are legal.

    Returns
    -------
    tuple of Tiling
        Those that divide the shape.

    Raises
    ------
    InputError
        If a size is missing, the text is no tiling, or the tiling is illegal.
    """
    sizes = _extents(shape)
    if text.strip().lower() == AUTO:
        return gemm.legal_tilings(machine, gemm.operand_type(form.dtype), form.a_layout, form.b_layout, sizes)
    tiling = _parsed(form, text, machine)
    l1 = tiling.l1
    return (tiling,) if sizes.m % l1.m == sizes.n % l1.n == sizes.k % l1.k == 0 else ()


def in_text(tiling: gemm.Tiling) -> str:
    """A tiling as `tilings_of` takes it, with nothing left out."""
    return f"{tiling.l1}/{tiling.l0}/b{tiling.b_parts}/c{tiling.buffers.l0c}"


def file_name(form: GemmForm, tiling: gemm.Tiling) -> str:
    """What the generated kernel is called in results and messages; there is no such file."""
    return f"{_name(form, tiling)}.pto"


def kernel_text(form: GemmForm, tiling: gemm.Tiling, machine: Machine) -> str:
    """The text of a kernel.

    Raises
    ------
    InputError
        If it is illegal.
    """
    return gemm.text(_kernel(form, tiling), machine)


def _name(form: GemmForm, tiling: gemm.Tiling) -> str:
    return f"gemm_{form.dtype}_{re.sub('[^0-9a-z]', '_', in_text(tiling))}"


def _kernel(form: GemmForm, tiling: gemm.Tiling) -> gemm.GemmKernel:
    return gemm.GemmKernel(
        name=_name(form, tiling),
        tiling=tiling,
        dtype=gemm.operand_type(form.dtype),
        a_layout=form.a_layout,
        b_layout=form.b_layout,
        panel=form.panel,
        sync=form.sync,
        origin="Written by `syncopt sweep`.",
    )


def _extents(shape: Shape) -> gemm.Extents:
    missing = [name for name in _NEEDED if name not in shape]
    if missing:
        names = " and ".join(missing)
        raise InputError(f"the shapes of a GEMM lack {names}", help="give --m, --n and --k, or all three in the file")
    if min(shape[name] for name in _NEEDED) < 1:
        raise InputError(f"M, N and K are at least 1, not {', '.join(str(shape[name]) for name in _NEEDED)}")
    return gemm.Extents(*(shape[name] for name in _NEEDED))


def _parsed(form: GemmForm, text: str, machine: Machine) -> gemm.Tiling:
    match = _TILING.fullmatch(text.strip().lower())
    if match is None:
        help = f"{AUTO}, or for example 128x256x512 or 128x256x512/128x256x64/b2/c1"
        raise InputError(f"--tilings {text!r} is not a tiling", help=help)
    numbers = [None if part is None else int(part) for part in match.groups()]
    l1 = gemm.Extents(*(number for number in numbers[:3] if number is not None))
    given = [number for number in numbers[3:6] if number is not None]
    parts, l0c = numbers[6:]
    tiling = gemm.Tiling(l1, gemm.Extents(*given) if given else l1, parts or 1, gemm.Buffers(l0c=l0c or 1))
    kernel = _kernel(form, tiling)
    if parts is None:
        kernel = replace(kernel, tiling=gemm.fewest_parts(kernel, machine))
    if not given:
        kernel = replace(kernel, tiling=gemm.deepest_l0(kernel, machine))
    gemm.check(kernel, machine)
    return kernel.tiling
