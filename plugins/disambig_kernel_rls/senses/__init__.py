"""Senses of words: which tokens belong to which word, and what labelled examples say of words."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
