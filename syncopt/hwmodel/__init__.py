"""The hardware model: machines, their figures, and what ops cost on them."""

from syncopt.hwmodel.cost import Cost, UnmodelledWork
from syncopt.hwmodel.figures import Figure
from syncopt.hwmodel.loader import load_machine, machine_names
from syncopt.hwmodel.machine import Machine, MemoryFacts, figures, sensitivity_machines

__all__ = [
    "Cost",
    "Figure",
    "Machine",
    "MemoryFacts",
    "UnmodelledWork",
    "figures",
    "load_machine",
    "machine_names",
    "sensitivity_machines",
]
