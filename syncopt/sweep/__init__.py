"""Sweeps: many solves side by side, with rows on disk that survive any end of the process.

setup = Setup(machine=load_machine("910b2"), budget=Budget(60))
planned = kernel_tasks(kernel_files(["kernels/*.pto"]), shapes({"M": values("128:4224:512", "M")}), setup)
with opened(Path("rows.jsonl")) as results:
    run(to_do(planned.tasks, results), results, local_workers(2), default_folder())
rows = read_rows(Path("rows.jsonl"))
"""

from syncopt.sweep.asked import Asked, Task
from syncopt.sweep.axes import Shape, shapes, shapes_of_file, values
from syncopt.sweep.plans import PlanFolder, default_folder
from syncopt.sweep.rows.choosing import SHAPE, best_by, filtered, newest
from syncopt.sweep.rows.columns import Cell, Column, column_named, columns_of, shape_of
from syncopt.sweep.rows.export import csv_bytes, parquet_bytes
from syncopt.sweep.rows.plots import FORMATS, REFERENCES, Line, Panel, Point, panels, picture
from syncopt.sweep.rows.results import Results, opened, read_rows
from syncopt.sweep.rows.row import Figures, OnMachine, Outcome, Row
from syncopt.sweep.rows.rowtext import document
from syncopt.sweep.run import run, to_do
from syncopt.sweep.tasks import Setup, Tasks, gemm_tasks, kernel_files, kernel_tasks
from syncopt.sweep.tilings import AUTO, GemmForm
from syncopt.sweep.versions import Versions
from syncopt.sweep.workers import Workers, dask_workers, local_workers, processors

__all__ = [
    "AUTO",
    "FORMATS",
    "REFERENCES",
    "SHAPE",
    "Asked",
    "Cell",
    "Column",
    "Figures",
    "GemmForm",
    "Line",
    "OnMachine",
    "Outcome",
    "Panel",
    "PlanFolder",
    "Point",
    "Results",
    "Row",
    "Setup",
    "Shape",
    "Task",
    "Tasks",
    "Versions",
    "Workers",
    "best_by",
    "column_named",
    "columns_of",
    "csv_bytes",
    "dask_workers",
    "default_folder",
    "document",
    "filtered",
    "gemm_tasks",
    "kernel_files",
    "kernel_tasks",
    "local_workers",
    "newest",
    "opened",
    "panels",
    "parquet_bytes",
    "picture",
    "processors",
    "read_rows",
    "run",
    "shape_of",
    "shapes",
    "shapes_of_file",
    "to_do",
    "values",
]
