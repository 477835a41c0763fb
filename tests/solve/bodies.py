"""Random bodies of small vector kernels, in the short lines of `tests.check.kernels`."""

from hypothesis import strategies as st

TILE = st.integers(0, 3)
OPS = st.one_of(
    st.builds("load t{}".format, TILE),
    st.builds("store t{}".format, TILE),
    st.builds("store t{} x".format, TILE),
    st.builds("add t{} t{}".format, TILE, TILE),
)
SOME_OPS = st.lists(OPS, min_size=1, max_size=3).map("\n".join)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Straight code, then loops with ops, branches by parity or argument, and guarded prefetches."""
    parts = [draw(SOME_OPS)]
    for number in range(draw(st.integers(0, 2))):
        inner = draw(SOME_OPS)
        match draw(st.sampled_from(["plain", "parity", "guard", "flag", "nest"])):
            case "parity":
                condition = f"%r{number} = arith.remui %i{number}, %c2 : index\n"
                condition += f"%e{number} = arith.cmpi eq, %r{number}, %c0 : index\n"
                inner += f"\n{condition}scf.if %e{number} {{\n{draw(SOME_OPS)}\n}} else {{\n{draw(SOME_OPS)}\n}}"
            case "guard":
                condition = f"%p{number} = arith.addi %i{number}, %c1 : index\n"
                condition += f"%g{number} = arith.cmpi slt, %p{number}, %n : index\n"
                inner += f"\n{condition}scf.if %g{number} {{\n{draw(SOME_OPS)}\n}}"
            case "flag":
                inner += f"\nscf.if %flag {{\n{draw(SOME_OPS)}\n}}"
            case "nest":
                inner += f"\nscf.for %j{number} = %c0 to %m step %c1 {{\n{draw(SOME_OPS)}\n}}"
            case _:
                pass
        parts.append(f"scf.for %i{number} = %c0 to %n step %c1 {{\n{inner}\n}}")
        parts.append(draw(SOME_OPS))
    return "\n".join(parts)
