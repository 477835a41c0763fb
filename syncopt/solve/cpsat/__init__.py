"""The CP-SAT encoding of a problem."""

from syncopt.solve.cpsat.search import Search, SearchResult, Step

__all__ = ["Search", "SearchResult", "Step"]
