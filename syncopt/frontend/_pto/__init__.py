"""Reads `.pto` text: tree-sitter-mlir finds the ops and regions, the readers take every token of an op."""
