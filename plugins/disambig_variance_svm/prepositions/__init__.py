"""Prepositions: the task, whether a word is used as a preposition, and what kind of word its neighbours are."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
