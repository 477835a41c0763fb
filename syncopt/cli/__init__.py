"""The command line."""

from syncopt.cli._app import app, main

__all__ = ["app", "main"]
