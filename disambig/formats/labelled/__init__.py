"""Labelled examples: places, or whole documents, with what is right there."""
