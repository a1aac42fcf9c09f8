"""Exponentiated-gradient training: the learner, its dual problems, and their compiled functions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
