"""Sparse rows, one an instance: what the extractors that make them share."""
