"""What every op computes, by its name."""

from collections.abc import Mapping

from syncopt.execute.operands import Rule
from syncopt.execute.rules import elementwise, matmul, moves, others

RULES: Mapping[str, Rule] = {**moves.RULES, **matmul.RULES, **elementwise.RULES, **others.RULES}
"""Ops without an entry have no numeric meaning here."""

__all__ = ["RULES"]
