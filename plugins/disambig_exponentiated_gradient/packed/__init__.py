"""Parsers of packed charts: features of edges, their costs, training, decoding. No grammar is made here."""
