"""Experiments that plugins provide: the protocol, results and their formats, and shared functions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
