"""Senses of words: the task, the inventory of words from labelled examples, and the index of word forms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
