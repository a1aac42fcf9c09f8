"""Experiments that plugins bring: what one is, how its result is told, and what several of them share."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
