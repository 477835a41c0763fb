"""The kernel: its tree, its types, what its values are for concrete arguments, and the trace of what it executes."""
