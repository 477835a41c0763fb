"""The search for the best plan: lower bounds, the CP-SAT encoding, the driver with budget and progress."""
