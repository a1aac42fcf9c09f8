"""Kernels of feature rows: linear ones, which collapse to weights, and true ones over the same rows."""
