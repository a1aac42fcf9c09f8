"""Prepositions: the task, its extractors, and the classifier of words that are used as prepositions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
