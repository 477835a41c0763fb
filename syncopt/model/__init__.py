"""The optimisation problem of a kernel and its plans, without a solver: orders, flags, windows, addresses."""
