"""Arithmetic on shapes: how sums, products, quotients and remainders move."""

from fractions import Fraction

from syncopt.ir.shapes import Shape, constant, divided, joined, minus, plus, remainder, times

ROUND = Shape(drift=1, start=0, least=0)
"""A loop variable from 0 by 1."""
BOUND = Shape(bound=Fraction(1), start=6, least=6)
"""The upper bound of a loop that goes round six times."""


def test_sums_add_up_what_moves() -> None:
    """3 i + n - i moves by 2 and holds the bound once: 6 at first."""
    tripled = times(ROUND, constant(3))
    assert tripled == Shape(drift=3, start=0, least=0)
    assert tripled is not None
    found = minus(plus(tripled, BOUND), ROUND)
    assert (found.drift, found.bound, found.start) == (2, 1, 6)


def test_quotients_move_once_in_several_rounds() -> None:
    """i / 4 is one more every four rounds, 6 i / 4 three more every two."""
    assert divided(ROUND, 4) == Shape(period=4, drift=1, start=0, least=0)
    by_six = times(ROUND, constant(6))
    assert by_six is not None
    assert divided(by_six, 4) == Shape(period=2, drift=3, start=0, least=0)


def test_remainders_come_back() -> None:
    """6 i mod 4 is 0, 2, 0, 2; the half of i mod 3 takes six rounds."""
    by_six = times(ROUND, constant(6))
    assert by_six is not None
    assert remainder(by_six, 4) == Shape(period=2, start=0, least=0)
    assert remainder(divided(ROUND, 2), 3) == Shape(period=6, start=0, least=0)


def test_what_moves_is_multiplied_by_known_constants_only() -> None:
    assert times(ROUND, ROUND) is None
    assert times(ROUND, BOUND) is None
    assert times(ROUND, constant(None)) is None


def test_half_the_bound_is_not_followed_as_a_multiple() -> None:
    half = divided(BOUND, 2)
    assert (half.bound, half.is_bent, half.follows_bound) == (Fraction(1, 2), True, True)


def test_functions_of_what_comes_back_come_back() -> None:
    """Periods 2 and 3 come together after 6."""
    assert joined(remainder(ROUND, 2), remainder(ROUND, 3)).period == 6
