"""Counts of the n-grams around a place, with each candidate in it."""
