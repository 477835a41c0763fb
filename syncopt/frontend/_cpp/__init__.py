"""Reads C++ kernels: tree-sitter-cpp parses the text, the readers turn every statement of a kernel into ops."""
