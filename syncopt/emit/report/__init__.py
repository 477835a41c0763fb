"""Reports on a plan."""

from syncopt.emit.report.content import Content, Drawn, Table
from syncopt.emit.report.library import chart_library
from syncopt.emit.report.page import render_page

__all__ = ["Content", "Drawn", "Table", "chart_library", "render_page"]
