"""Optimal instruction order, flags, event ids and buffers for Ascend 910B kernels."""

from syncopt.api import CompareRequest, Job, Request, check, compare, explain, load_machine, simulate, solve

__all__ = ["CompareRequest", "Job", "Request", "check", "compare", "explain", "load_machine", "simulate", "solve"]
