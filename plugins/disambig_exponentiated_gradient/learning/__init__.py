"""Exponentiated gradient: the dual, its steps, its gap, for lists and for parts."""
