"""A small network over the words around a place."""
