"""Kernels from a tiling."""
