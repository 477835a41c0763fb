"""Optimal instruction order, flags, event ids and buffers for Ascend 910B kernels."""

from syncopt.api import Job, Request, check, load_machine, simulate, solve

__all__ = ["Job", "Request", "check", "load_machine", "simulate", "solve"]
