"""The CP-SAT encoding of a problem."""
